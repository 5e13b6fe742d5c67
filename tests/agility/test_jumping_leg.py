"""The jump of the leg (flickinger 6.4): from the guess, and from the best posture."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stiction.agility.stance import stance_maps
from stiction.engines import RESULTS
from stiction.mechanism import center_of_mass, link_kinematics
from stiction.reproduce import flickinger_agility as chapter
from stiction.reproduce.flickinger_jumps import WEIGHT, jump
from stiction.scenes import scene
from stiction.surfaces import gaps_and_velocities


@pytest.fixture(scope="module")
def jumps():
    return {name: jump(name)[1:] for name in ("guess", "optimized")}


def test_the_optimum_rises_higher_and_both_as_the_document_says(jumps):
    guess, best = (jumps[n][1] for n in ("guess", "optimized"))
    assert best.left
    assert best.stance_duration < 0.01
    assert best.rise == pytest.approx(0.40, rel=0.25)  # the document's 40 cm
    assert guess.rise == pytest.approx(0.02, rel=0.25)  # the document's 2 cm


def test_the_guess_stands_until_the_springs_pull_its_foot_off(jumps):
    """Sec. 6.4.2: the force by the contact dynamics at the start, then by the run."""
    run, outcome = jumps["guess"]
    stance, _ = chapter.leg()
    q, still = jnp.asarray(chapter.posture("guess")), jnp.zeros(stance.mechanism.nv)
    maps = stance_maps(stance, q, still)
    force = -np.linalg.solve(maps.W, maps.u0 + maps.C @ np.asarray(run.effort[0]))
    np.testing.assert_allclose(run.force[0, 0], force, rtol=1e-9)
    assert force[2] > 20 * WEIGHT
    assert np.hypot(*force[:2]) < 0.5 * force[2]  # it holds
    kinds = [(e.kind, e.time) for e in run.events() if e.contact == "foot"]
    lift = next(t for kind, t in kinds if kind == "lift-off")
    assert 1e-3 < lift < outcome.stance_duration
    assert sum(kind == "impact" for kind, _ in kinds) > 2


def test_friction_bounds_how_flat_a_short_push_can_be(jumps):
    """The impulse of the ground, from the momentum that it gave, is inside the cone."""
    _, outcome = jumps["optimized"]
    x, y, z = outcome.take_off
    given = z + 9.81 * outcome.stance_duration
    assert np.hypot(x, y) <= 0.5 * given
    assert np.degrees(np.arctan2(z, np.hypot(x, y))) > 63


def test_the_direction_of_a_jump_is_that_of_the_flight(jumps):
    """The centre of mass flies a parabola: its take-off, from where it is later."""
    run, outcome = jumps["optimized"]
    m, when = run.mechanism, 0.2
    at = int(np.searchsorted(run.time, when))
    off = next(e.time for e in run.events() if e.kind == "switch")
    place = jax.jit(lambda q: center_of_mass(m, q))
    start = int(np.searchsorted(run.time, off))
    ends = [np.asarray(place(jnp.asarray(run.q[i]))) for i in (start, at)]
    flown = float(run.time[at] - run.time[start])
    launch = (ends[1] - ends[0]) / flown - 0.5 * flown * np.array([0, 0, -9.81])
    np.testing.assert_allclose(outcome.take_off, launch, atol=0.02)
    wanted = np.array([-1, 0, 1]) / np.sqrt(2)
    angle = np.arccos(launch @ wanted / np.linalg.norm(launch))
    assert outcome.off_course == pytest.approx(angle, abs=0.01)
    assert abs(outcome.sideways) > 0.02  # out of the plane that the document draws


@pytest.mark.parametrize("name", ["guess", "optimized"])
def test_torques_keep_their_limits_and_the_ledger_closes(jumps, name):
    run, _ = jumps[name]
    t = run
    assert t.result == RESULTS.successful
    effort = np.asarray(t.effort)
    assert np.nanmax(np.abs(effort)) <= 2.5
    # The springs do most of the work: relative to the energy that is there.
    assert np.max(np.abs(t.ledger_error)) < 1e-5 * np.max(t.energy)
    assert np.min(t.force[:, 0, 2]) >= -1e-6


def test_all_three_motors_work_and_only_while_pushing(jumps):
    run, _ = jumps["optimized"]
    t = run
    effort = np.abs(np.asarray(t.effort))
    assert np.all(effort.max(axis=0) > 1.0)
    switches = [e.time for e in t.events() if e.kind == "switch"]
    flying = (t.time > switches[0]) & (t.time < (*switches, np.inf)[2])
    assert flying.sum() > 3
    assert not effort[flying].any()
    assert np.all(np.diff(t.actuator_work[flying]) == 0)


def test_slip_before_lift_off_is_counted(jumps):
    """The modes between the events, once more by hand."""
    run, outcome = jumps["optimized"]
    events = run.events()
    away = [e.time for e in events if e.kind == "switch"][1]
    foot = [e for e in events if e.contact == "foot" and e.time < away]
    touches = [0.0, *(e.time for e in foot if e.kind == "impact")]
    lifts = [e.time for e in foot if e.kind == "lift-off"]
    # It slips whenever it touches: friction is on the dynamic cone from the start.
    force = run.force[0, 0]
    assert np.hypot(*force[:2]) == pytest.approx(0.25 * force[2])
    assert outcome.slips == len(touches) == len(lifts)
    assert outcome.slipped == pytest.approx(np.sum(np.subtract(lifts, touches)), rel=1e-9)
    assert outcome.stance_duration == pytest.approx(lifts[-1])


@pytest.mark.parametrize("name", ["guess", "optimized"])
def test_it_lands(name, jumps):
    """It pushes, flies, and comes down on corners that slip, stick and bounce.

    From the optimum that takes the whole scene; from the guess it lands after 0.22 s.
    """
    guess = name == "guess"
    run = jumps[name][0] if guess else scene("jumping-leg").run(start={"keyframe": name})
    t, m, contacts = run, run.mechanism, run.contacts
    assert t.result == RESULTS.successful
    events = t.events()
    landed = [e for e in events if e.kind == "impact" and e.time > 0.1]
    assert any(e.contact.startswith("body") for e in landed)
    if name == "optimized":
        assert landed[0].time > 0.5

    def gaps(q):
        still = jnp.zeros(m.nv)
        return gaps_and_velocities(m, contacts, link_kinematics(m, q), still, jnp.asarray(0.0))[0]

    gap = np.asarray(jax.jit(jax.vmap(gaps))(jnp.asarray(t.q)))
    assert gap.min() > -1e-8
    assert np.abs(t.ledger_error).max() <= 1e-5 * t.energy[0]
