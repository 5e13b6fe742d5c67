"""Impacts at many points as one complementarity problem, rodic (35)-(53)."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from impact_problems import batch_of_problems

from stiction._base.compile import quick_jit
from stiction.complementarity import cone_errors
from stiction.impacts import IMPACT_LAWS, ImpactProblem

COUNT, CONTACTS = 40, 3


@pytest.fixture(scope="module")
def problems():
    """Random impacts in space; the last contact of every second one takes no part."""
    batch = batch_of_problems(np.random.default_rng(5), COUNT, CONTACTS, 3, coupling=0.3)
    active = jnp.ones((COUNT, CONTACTS), bool).at[::2, -1].set(False)
    return jax.vmap(lambda p, a: eqx.tree_at(lambda p: p.active, p, a))(batch, active)


@pytest.mark.parametrize("name", ["lcp", "lcp-cone"])
def test_impulses_obey_the_law(problems, name):
    s = quick_jit(jax.vmap(IMPACT_LAWS[name]))(problems)
    p, active = np.asarray(s.impulse), np.asarray(problems.active)
    assert np.all(s.feasible)
    assert np.all(p[~active] == 0)
    assert np.all(p[..., -1] >= -1e-12)
    before = np.asarray(problems.velocity)
    after = np.asarray(jax.vmap(lambda q, p: q.velocity_after(p))(problems, s.impulse))
    mu = np.asarray(problems.mu_dynamic)
    limit = mu * p[..., -1] + 1e-9
    if name == "lcp":
        # A square: each tangent has a law of its own, (41), (42), and dissipates, (43).
        assert np.all(np.abs(p[..., :2]) <= limit[..., None])
        assert np.all((p[..., :2] * after[..., :2])[active] <= 1e-9)
        assert np.any(np.linalg.norm(p[..., :2], axis=-1) > 1.1 * mu * p[..., -1])
    else:
        assert np.all(np.linalg.norm(p[..., :2], axis=-1) <= limit)
    # Newton: u_n⁺ + e u_n⁻ is complementary to the impulse.
    room = after[..., -1] + np.asarray(problems.restitution) * before[..., -1]
    assert np.all(room[active] >= -1e-9)
    np.testing.assert_allclose((room * p[..., -1])[active], 0, atol=1e-8)
    if name == "lcp-cone":
        errors = jax.vmap(lambda W, u, m, p: cone_errors(W, u - W @ p, m, p).dissipation)(
            problems.W, jnp.asarray(after.reshape(COUNT, -1)), problems.mu_dynamic,
            jnp.asarray(p.reshape(COUNT, -1)),
        )  # fmt: skip
        assert float(jnp.max(jnp.where(problems.active, errors, 0.0))) < 1e-7


def test_an_ellipse_that_sticks_at_the_end_of_compression_is_a_solved_impact(rng):
    """Then only rounding is left of its velocities, which says nothing of the problem's size."""
    count, a, b, mass = 50, 0.2, 0.1, 1.0
    inertia, tilt = mass * (a * a + b * b) / 4, rng.uniform(0, np.pi, count)
    height = np.hypot(a * np.sin(tilt), b * np.cos(tilt))
    ahead = (a * a - b * b) * np.sin(tilt) * np.cos(tilt) / height
    arms = np.stack([height, ahead], axis=1)
    W = np.eye(2) / mass + arms[:, :, None] * arms[:, None, :] / inertia
    u = rng.normal(size=(count, 1, 2))
    u[..., -1] = -np.abs(u[..., -1]) - 0.05
    mu, e = rng.uniform(0, 1, (2, count, 1))
    one = np.ones((count, 1))
    given = (W, u, one > 0, e, mu, mu, 1e-4 * one, one, 100 * one[:, 0], one[:, 0])
    batch = jax.vmap(ImpactProblem)(*map(jnp.asarray, given))
    s = quick_jit(jax.vmap(IMPACT_LAWS["lcp-cone-poisson"]))(batch)
    assert np.all(s.feasible)
    # Compression sticks if the impulse that stops both velocities is inside of the cone.
    stop = -np.linalg.solve(W, u.reshape(count, 2, 1))[..., 0]
    sticks = np.abs(stop[:, 0]) < mu[:, 0] * stop[:, 1]
    assert 0.2 < sticks.mean() < 0.8
    p = np.asarray(s.impulse)[:, 0]
    assert np.all(p[sticks, 1] >= ((1 + e[:, 0]) * stop[:, 1])[sticks] - 1e-9)
