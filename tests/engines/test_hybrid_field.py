"""Rolling over uneven ground."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import stiction
from stiction import Hybrid, Solver, find_contacts, simulate
from stiction.surfaces import height_field, planes

BALL = """
<mujoco><option gravity="0 0 -9.81"/><worldbody><body name="ball"><freejoint name="ball"/>
<geom name="ball" type="sphere" size="0.05" mass="1"/></body></worldbody></mujoco>
"""
# Ridges along y at x = 0 and ±1.6, valleys between; level beyond.
HEIGHTS = 0.05 * (1 + np.cos(np.linspace(-2 * np.pi, 2 * np.pi, 33)))[:, None] * np.ones((1, 5))


@pytest.fixture(scope="module")
def roll():
    mechanism = stiction.load(BALL)
    field = height_field(HEIGHTS, [0.1, 1.0])
    contacts = find_contacts(mechanism, ground=planes([], [], []), field=field)

    def run(x, v, until=3.0, **law):
        q = jnp.array([x, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0])
        trajectory = simulate(
            mechanism, q, jnp.array([v, 0.0, 0.0, 0.0, 0.0, 0.0]), until=until, contacts=contacts,
            law=Hybrid(**law), solver=Solver(1e-9, 1e-10, max_steps=20_000),
        )  # fmt: skip
        return trajectory, trajectory.events()

    return run


def test_the_spline_goes_through_the_heights_and_is_level_at_the_edge():
    grid = np.random.default_rng(0).normal(size=(5, 4))
    field = height_field(grid, [0.5, 0.25], [1.0, 2.0, 3.0])
    x, y = 1 + 0.5 * (np.arange(5) - 2), 2 + 0.25 * (np.arange(4) - 1.5)
    places = jnp.asarray(np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2))
    height, slope, _ = jax.vmap(field.shape)(places)
    np.testing.assert_allclose(height, 3 + grid.reshape(-1), atol=1e-12)
    np.testing.assert_allclose(slope.reshape(5, 4, 2)[[0, -1], :, 0], 0.0, atol=1e-12)
    np.testing.assert_allclose(slope.reshape(5, 4, 2)[:, [0, -1], 1], 0.0, atol=1e-12)


def test_slope_and_curvature_are_derivatives():
    field = height_field(np.random.default_rng(0).normal(size=(5, 4)), [0.5, 0.25])
    at = jnp.array([[0.13, 0.11], [-0.7, 0.3], [1.7, 0.05], [3.0, 3.0]])  # the last is beyond
    _, slope, second = jax.vmap(field.shape)(at)
    by_rule = jax.vmap(jax.grad(lambda xy: field.shape(xy)[0]))(at)
    np.testing.assert_allclose(slope, by_rule, atol=1e-12)
    by_rule = jax.vmap(jax.jacfwd(lambda xy: field.shape(xy)[1]))(at)
    np.testing.assert_allclose(second, by_rule, atol=1e-12)


def test_a_ball_swings_through_a_valley_and_keeps_its_energy(roll):
    run, events = roll(0.5, 0.0, restitution=0.0, mu_static=0.0, mu_dynamic=0.0)
    x, energy = np.asarray(run.q[:, 0]), np.asarray(run.kinetic + run.potential)
    assert events[0].kind == "impact"
    assert {e.kind for e in events[1:]} <= {"reversal"}
    landed = np.asarray(run.time) > events[0].time
    np.testing.assert_allclose(energy[landed], energy[-1], atol=1e-7)
    assert x.min() > 0.4  # between two ridges, up to where it came from on the other side
    assert x.max() == pytest.approx(1.6 - x[landed].min(), abs=0.01)
    assert float(run.drift) < 1e-9


def test_rolling_off_the_edge_of_the_grid_loses_nothing(roll):
    run, _ = roll(0.0, 1.5, restitution=0.0, mu_static=1.0, mu_dynamic=1.0)
    assert run.q[-1, 0] > 2.0  # beyond the grid, which ends at 1.6
    assert np.abs(run.ledger_error).max() < 1e-5
    assert float(run.drift) < 1e-9
