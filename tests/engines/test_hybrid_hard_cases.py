"""Where engines stumble: every run ends, with a result that says how, and what it computed."""

import jax.numpy as jnp
import numpy as np
import pytest
from known_models import PLANAR_SPHERE, pendulum_over_floor, planar_block

import stiction
from stiction import Hybrid, Solver, find_contacts, simulate
from stiction.engines import RESULTS
from stiction.scenes.contact import build_ground
from stiction.scenes.scenario import GroundFields

G = 9.81


@pytest.fixture(scope="module")
def throw():
    """A sphere of 2 kg over a floor: run and events."""
    mechanism = stiction.load(PLANAR_SPHERE)

    def run(q, v, *, slope=0.0, until=3.0, max_steps=4000, max_events=1000, **law):
        ground = build_ground(GroundFields(slope_deg=slope), mechanism, False)
        contacts = find_contacts(mechanism, ground=ground)
        trajectory = simulate(
            mechanism, jnp.array(q), jnp.array(v), until=until, contacts=contacts,
            law=Hybrid(**law), solver=Solver(max_steps=max_steps), max_events=max_events,
            throw=False,
        )  # fmt: skip
        return trajectory, trajectory.events()

    return run


def kinds(events):
    return [e.kind for e in events]


@pytest.mark.parametrize("speed", [0.0, -1.0, 1.0])
def test_starting_inside_the_ground_is_refused_however_it_moves(throw, speed):
    run, events = throw([0.0, -0.01, 0.0], [0.0, speed, 0.0])
    assert run.result == RESULTS.began_inside
    assert "0.01 m inside" in run.message
    assert events == []
    assert run.q[0, 1] == -0.01
    assert np.isnan(run.q[1:]).all()


def test_exactly_at_rest_it_stays(throw):
    run, events = throw([0.0, 0.0, 0.0], [0.0, 0.0, 0.0])
    assert events == []
    assert np.all(run.v == 0)
    np.testing.assert_allclose(run.force[1:, 0, 1], 2 * G, rtol=1e-12)


def test_without_friction_nothing_turns(throw):
    run, _ = throw([0.0, 1.0, 0.0], [1.0, 0.0, 0.0], restitution=0.5, mu_static=0.0, mu_dynamic=0.0)
    np.testing.assert_allclose(run.v[:, 0], 1.0, atol=1e-12)
    np.testing.assert_allclose(run.v[:, 2], 0.0, atol=1e-12)


def test_with_endless_friction_it_rolls_from_the_first_touch(throw):
    run, events = throw(
        [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], restitution=0.5, mu_static=1e6, mu_dynamic=1e6
    )
    assert events[0].velocity_after[0] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(run.v[-1, 0], 5 / 7, rtol=1e-9)


@pytest.mark.parametrize(("e", "hits"), [(0.0, 1), (1.0, 3)])
def test_no_rebound_and_whole_rebound(throw, e, hits):
    run, events = throw([0.0, 1.0, 0.0], [0.0, 0.0, 0.0], restitution=e)
    assert kinds(events).count("impact") == hits
    energy = np.asarray(run.kinetic + run.potential) - 2 * G * 0.1  # on the floor none
    assert energy[-1] == pytest.approx(e * energy[0], abs=1e-9)


def test_down_a_slope_of_89_degrees(throw):
    """Far too steep to roll: it slides and spins up, g (sin - μ cos) along the slope."""
    slope, mu = np.radians(89.0), 0.4
    touching = [0.1 * np.sin(slope), 0.1 * np.cos(slope) - 0.1, 0.0]
    run, _ = throw(touching, [0.0, 0.0, 0.0], slope=89.0, until=1.0, mu_static=mu, mu_dynamic=mu)
    speed = G * (np.sin(slope) - mu * np.cos(slope))
    np.testing.assert_allclose(np.hypot(run.v[-1, 0], run.v[-1, 1]), speed, rtol=1e-9)
    np.testing.assert_allclose(abs(run.v[-1, 2]), 2.5 * mu * G * np.cos(slope) / 0.1, rtol=1e-9)
    assert float(run.drift) < 1e-9


def test_a_limit_of_steps_or_events_keeps_what_was_computed(throw):
    limits = dict(max_events=4, until=3.0)
    many, events = throw([0.0, 1.0, 0.0], [0.0, 0.0, 0.0], restitution=0.9, max_steps=60, **limits)
    assert many.result == RESULTS.events_used_up
    assert kinds(events) == ["impact"] * 4
    long, _ = throw([0.0, 1.0, 0.0], [1e8, 0.0, 0.0], restitution=0.0, max_steps=20, **limits)
    assert long.result == RESULTS.max_steps_reached
    kept = np.isfinite(long.q[:, 0])
    assert 1 < kept.sum() < len(kept)
    t = np.asarray(long.time)[kept]
    early = t < np.sqrt(2 / G)
    np.testing.assert_allclose(long.q[kept, 1][early], 1 - G * t[early] ** 2 / 2, atol=1e-9)


def test_no_number_in_gives_no_endless_run(throw):
    run, _ = throw([0.0, 1.0, 0.0], [np.nan, 0.0, 0.0])
    assert run.result == RESULTS.not_finite


@pytest.mark.parametrize("clearance", [1e-6, 0.0, -1e-12])
def test_a_grazing_touch_changes_nothing(clearance):
    """The tip of a pendulum just misses the floor, touches it, or would by less than rounding."""
    mechanism = stiction.load(pendulum_over_floor(clearance))
    contacts = find_contacts(mechanism, points=["tip"])
    run = simulate(
        mechanism, jnp.array([1.0]), jnp.array([0.0]), until=3.0, contacts=contacts,
        law=Hybrid(restitution=0.5), solver=Solver(1e-10, 1e-12, max_steps=4000),
    )  # fmt: skip
    energy = run.kinetic + run.potential
    np.testing.assert_allclose(energy, energy[0], atol=2e-5)
    assert run.q.min() < -0.99


def test_two_impacts_at_one_instant_are_one_event():
    """A block that falls flat lands on both corners at once and does not tip."""
    mechanism = stiction.load(planar_block(0.5, 1.0))
    contacts = find_contacts(mechanism, points=["left", "right"])
    run = simulate(
        mechanism, jnp.array([0.0, 0.2, 0.0]), jnp.array([0.3, 0.0, 0.0]), until=1.0,
        contacts=contacts, law=Hybrid(restitution=0.5, impact="no-slip"),
        solver=Solver(max_steps=4000),
    )  # fmt: skip
    first = [e for e in run.events() if e.kind == "impact"][:2]
    assert first[0].time == first[1].time == pytest.approx(np.sqrt(0.4 / G), abs=1e-9)
    np.testing.assert_allclose(run.q[:, 2], 0.0, atol=1e-9)
