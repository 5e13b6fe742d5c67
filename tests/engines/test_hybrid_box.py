"""A box on its corners: more contacts than it takes to hold it, so forces are not unique."""

import jax.numpy as jnp
import numpy as np
import pytest

import stiction
from stiction import Hybrid, Solver, find_contacts, simulate
from stiction.engines import rest_time
from stiction.scenes.contact import build_ground
from stiction.scenes.scenario import GroundFields

G = 9.81
HALF = 0.05  # of its height [m]


@pytest.fixture(scope="module")
def put():
    """Run a box from a state; the ground may be a slope, down in the direction of +x."""
    mechanism = stiction.load("box")

    def run(q, v, *, slope=0.0, until=2.0, **law):
        ground = build_ground(GroundFields(slope_deg=slope), mechanism, False)
        contacts = find_contacts(mechanism, ground=ground)
        trajectory = simulate(
            mechanism, jnp.array(q), jnp.array(v), until=until, contacts=contacts,
            law=Hybrid(**law), solver=Solver(max_steps=4000),
        )  # fmt: skip
        return trajectory, trajectory.events()

    return run


def turned(angle, axis):
    return [np.cos(angle / 2), *(np.sin(angle / 2) * np.array(axis))]


def height_of_lowest(q):
    """The lowest corner over the floor."""
    w, x, y, z = np.asarray(q[:, 3:]).T
    row = np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)])
    return np.asarray(q[:, 2]) - np.abs(row).T @ np.array([0.1, 0.075, HALF])


def forces_push(run):
    return np.min(np.asarray(run.force)[..., -1]) >= -1e-9 * 1.2 * G


@pytest.mark.parametrize("e", [0.0, 0.3])
def test_dropped_flat_it_lands_flat_and_rests(put, e):
    run, _ = put([0, 0, 0.3, 1, 0, 0, 0.0], [0.0] * 6, restitution=e)
    assert rest_time(run) is not None
    np.testing.assert_allclose(run.q[-1], [0, 0, HALF, 1, 0, 0, 0], atol=1e-9)
    np.testing.assert_allclose(np.sum(run.force[-1, :, -1]), 1.2 * G, rtol=1e-9)
    assert forces_push(run)


@pytest.mark.parametrize("v", [[0.0] * 6, [1.0, 0.5, 0.0, 1.0, 2.0, 3.0]])
def test_dropped_on_a_corner_it_comes_to_lie(put, v):
    run, events = put([0, 0, 0.3, *turned(0.4, (0.6, 0.8, 0.0))], v, restitution=0.3)
    assert rest_time(run) is not None
    assert run.q[-1, 2] == pytest.approx(HALF, abs=1e-9)
    assert height_of_lowest(run.q).min() > -1e-9
    assert forces_push(run)
    impacts = [e for e in events if e.kind == "impact"]
    assert all(e.kinetic_after <= e.kinetic_before * (1 + 1e-9) for e in impacts)
    assert np.abs(run.ledger_error).max() < 1e-6 * 1.2 * G * 0.3


@pytest.mark.parametrize(("mu", "slides"), [(0.3, True), (0.8, False)])
def test_flat_on_a_slope_it_slides_as_it_should_or_stays(put, mu, slides):
    a = np.radians(35.0)
    q = [HALF * np.sin(a), 0, HALF * np.cos(a), *turned(a, (0, 1, 0))]
    run, events = put(q, [0.0] * 6, slope=35.0, until=1.0, mu_static=mu, mu_dynamic=mu)
    expected = G * (np.sin(a) - mu * np.cos(a)) if slides else 0.0
    np.testing.assert_allclose(np.linalg.norm(run.v[-1, :3]), expected, atol=1e-9)
    np.testing.assert_allclose(run.v[-1, 3:], 0.0, atol=1e-9)
    assert not [e for e in events if e.kind == "lift-off"]
    assert forces_push(run)
    assert float(run.drift) < 1e-9


def test_kept_for_ten_seconds_it_does_not_drift(put):
    """Sliding and spinning on ice: all four corners touch all the time."""
    run, _ = put([0, 0, HALF, 1, 0, 0, 0.0], [0.3, 0, 0, 0, 0, 2.0], until=10.0, mu_static=0.0,
                 mu_dynamic=0.0)  # fmt: skip
    assert np.abs(height_of_lowest(run.q)).max() < 1e-9
    np.testing.assert_allclose(run.v[-1], [0.3, 0, 0, 0, 0, 2.0], atol=1e-9)
