"""The human of 38 freedoms drops, steps and jumps: forward runs with impacts and a control."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stiction.control import make_reference
from stiction.engines import RESULTS, reactions_of, simulate
from stiction.engines.reactions import APPROACH, CONTACT, IMPACT
from stiction.mechanism import center_of_mass, difference, mass_matrix, momentum, total_mass
from stiction.scenes import scene

G, MASS, MU = 9.81, 84.0728, 0.7
KNOTS = 201
UNTIL = {"human-drop": 1.2, "human-step": 0.6, "human-jump": 2.4}  # [s]: steps of 1 ms


@pytest.fixture(scope="module")
def runs():
    """All three scenes, with a sample for each step. References have as many knots, on the scenes'
    own splines: the same motions, and one compiled program.
    """
    done = {}
    for name, until in UNTIL.items():
        human = scene(name)
        time = np.linspace(0, until, KNOTS)
        values = jax.jit(jax.vmap(lambda t, r=human.control.reference: r(t)[0]))(jnp.asarray(time))
        denser = make_reference(time, np.asarray(values), at_rest=False)
        done[name] = simulate(
            human.mechanism, human.q, human.v, until=until, contacts=human.contacts, law=human.law,
            control=eqx.tree_at(lambda c: c.reference, human.control, denser),
            samples=round(1e3 * until) + 1, solver=human.solver,
            max_events=human.scenario.contact.max_events, throw=False,
        ).to_numpy()  # fmt: skip
    return done


@pytest.fixture(scope="module")
def whole(runs):
    """Centre of mass and momentum of all runs."""
    m = runs["human-drop"].mechanism
    of = jax.jit(jax.vmap(lambda q, v: (center_of_mass(m, q), momentum(m, q, v)[0])))
    states = {name: (jnp.asarray(r.q), jnp.asarray(r.v)) for name, r in runs.items()}
    return {name: tuple(np.asarray(x) for x in of(*state)) for name, state in states.items()}


@pytest.mark.parametrize("name", UNTIL)
def test_steps_solve_their_contact_problem(runs, name):
    assert np.nanmax(runs[name].residual) < 1e-5


@pytest.mark.parametrize("name", UNTIL)
def test_laws_of_contact_energy_and_momentum(runs, name):
    run = runs[name]
    t = run
    assert t.result == RESULTS.successful
    # Of second order in the step, some 2 m/s and 1 ms: 1.1e-5 m were seen.
    assert float(t.drift) < 2e-5  # [m]
    assert np.abs(t.ledger_error + of_the_middle(t)).max() < 0.2  # of 200 J that move
    assert abs(t.ledger_error[-1]) < 0.1
    force = np.asarray(t.force)
    assert np.all(force[..., -1] >= -1e-9)
    friction = np.linalg.norm(force[..., :-1], axis=-1)
    # What a residual of 1e-8 of the contact velocities is worth in one step.
    assert np.all(friction <= MU * force[..., -1] + 1e-2)
    for e in run.events():
        if e.kind == "impact":
            assert e.impulse[-1] >= 0
            assert np.hypot(*e.impulse[:2]) <= MU * e.impulse[-1] + 1e-9
            # Energies are those of the middles of steps: weight and actuators work between them.
            i = np.searchsorted(np.asarray(t.time), e.time)
            fallen, driven = (np.asarray(x)[i - 1 : i + 2] for x in (t.potential, t.actuator_work))
            assert e.kinetic_after - e.kinetic_before < np.ptp(fallen) + np.ptp(driven)
    hits = impacts(t)
    assert np.all(np.sum(np.asarray(t.log.work)[hits], axis=(1, 2)) <= 1e-9)
    # Forces are known step by step, and may change from one to the next by as much as they are.
    reactions = reactions_of(run)
    assert reactions is not None
    apart = np.diff(reactions.time).max()
    assert reactions.balance_error < apart * np.abs(reactions.force.sum(axis=1)).max()


def of_the_middle(run):
    """What samples of energy are short of: the velocity at t_k is the mean of those on both sides,
    and its square is less than the mean of their squares by ΔvᵀMΔv / 4.
    """
    m, h = run.mechanism, float(run.time[1] - run.time[0])
    q, hits = jnp.asarray(run.q), impacts(run)
    v = np.array(jax.jit(jax.vmap(lambda a, b: difference(m, a, b)))(q[:-1], q[1:])) / h
    steps = np.searchsorted(np.asarray(run.time), np.asarray(run.log.time)[hits], "right") - 1
    v[steps] = np.asarray(run.log.v_after)[hits]
    energy = jax.jit(jax.vmap(lambda q, v: v @ mass_matrix(m, q) @ v / 2))
    short = np.zeros(len(q))
    short[1:-1] = energy(q[1:-1], jnp.asarray(np.diff(v, axis=0))) / 4
    short[steps] = 0.0  # there the state before the impact is sampled
    return short


def impacts(run):
    """Their places in the log."""
    return np.flatnonzero(np.asarray(run.log.impact)[: int(run.n_events)])


@pytest.mark.parametrize("name", ["human-drop", "human-jump"])
def test_it_ends_standing_with_half_the_weight_on_each_foot(runs, name):
    mechanism = runs[name].mechanism
    half = float(total_mass(mechanism)) * float(np.linalg.norm(mechanism.gravity)) / 2
    assert half == pytest.approx(412.38, abs=0.01)  # rodic's 412 N: what the scene's model weighs
    force = np.asarray(runs[name].force)[-40:, :, -1].reshape(-1, 2, 4).sum(axis=2)
    # It still sways a little: what is left of balance's exponential.
    np.testing.assert_allclose(force, half, rtol=2e-3)


def test_the_centre_of_mass_falls_and_flies_on_a_parabola(runs, whole):
    for name in ("human-drop", "human-jump"):
        t = runs[name]
        flying = np.all(np.asarray(t.modes) == 0, axis=1)
        start = np.flatnonzero(flying)[0]
        end = start + np.argmin(flying[start:])  # the first flight
        time, height = np.asarray(t.time)[start:end], whole[name][0][start:end, 2]
        fit = np.polyfit(time, height, 2)
        # The centre of mass of bodies that swing is integrated to second order in the step.
        np.testing.assert_allclose(2 * fit[0], -G, rtol=2e-3)
        np.testing.assert_allclose(np.polyval(fit, time), height, atol=1e-4)

    first = next(e for e in runs["human-drop"].events() if e.kind == "impact")
    assert first.time == pytest.approx(np.sqrt(2 * 0.2 / G), abs=1e-4)


def test_the_jump_leaves_the_ground_and_rises_as_its_speed_says(runs, whole):
    reactions = reactions_of(runs["human-jump"])
    flights = reactions.flights()
    assert len(flights) == 1
    center, moved = whole["human-jump"]
    start = np.searchsorted(reactions.time, flights[0]["start"])
    speed = moved[start, 2] / MASS
    assert flights[0]["rise"] == pytest.approx(speed**2 / (2 * G), rel=0.03)
    assert flights[0]["rise"] > 0.1
    assert center[-1, 2] > 0.95  # it stands


def test_a_step_goes_through_approach_impact_and_contact(runs):
    run = runs["human-step"]
    reactions = reactions_of(run)
    left = reactions.phase[:, reactions.bodies.index("left_foot")]
    order = left[np.flatnonzero(np.diff(left, prepend=-1))]
    assert list(order[:3]) == [APPROACH, IMPACT, CONTACT]
    hits = [e for e in run.events() if e.kind == "impact"]
    assert hits[0].contact.startswith("left_heel")  # heel first
    events = run.events()
    lifted = {e.contact for e in events if e.kind == "lift-off"}
    assert {"right_toe_inner", "right_toe_outer"} <= lifted
