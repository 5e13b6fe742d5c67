"""The coefficient of friction that each slip after an impact needs."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from stiction.impacts import ImpactProblem, friction_map
from stiction.impacts.no_slip import no_slip

SLIP = jnp.linspace(-3, 3, 61)
MAP = eqx.filter_jit(friction_map)


def problem(seed: int, *, n: int = 1, dim: int = 2, restitution: float = 0.5) -> ImpactProblem:
    random = np.random.default_rng(seed)
    half = random.normal(size=(n * dim, n * dim + 2))
    velocity = random.normal(size=(n, dim))
    velocity[:, -1] = -1 - random.random(n)
    each = jnp.ones(n)
    return ImpactProblem(
        W=jnp.asarray(half @ half.T),
        velocity=jnp.asarray(velocity),
        active=jnp.ones(n, bool),
        restitution=restitution * each,
        mu_static=0.5 * each,
        mu_dynamic=0.25 * each,
        stribeck_speed=1e-4 * each,
        stribeck_exponent=each,
        kinetic=jnp.asarray(10.0),
        energetic=jnp.asarray(jnp.inf),
    )


@pytest.mark.parametrize(("n", "dim"), [(1, 2), (2, 2), (1, 3), (3, 3)])
def test_impulses_give_the_velocities_they_were_asked_for(n, dim):
    """Every point of the curve against a dense solve of (4.8)."""
    p = problem(1, n=n, dim=dim)
    direction = jnp.asarray(np.random.default_rng(2).normal(size=(n, dim - 1)))
    found = MAP(p, SLIP, direction)
    for i in (0, 17, 60):
        after = np.concatenate([SLIP[i] * direction, -0.5 * p.velocity[:, -1:]], axis=1)
        impulse = np.linalg.solve(p.W, (after - p.velocity).ravel()).reshape(n, dim)
        assert_allclose(found.normal[i], impulse[:, -1], rtol=1e-8)
        mu = np.linalg.norm(impulse[:, :-1], axis=1) / np.abs(impulse[:, -1])
        assert_allclose(found.mu[i], mu, rtol=1e-8)
        work = np.sum(impulse * (p.velocity + after)) / 2
        assert_allclose(found.energy[i], work, rtol=1e-8, atol=1e-10)


def test_the_curve_meets_the_no_slip_law_at_zero():
    p = problem(5, n=2)
    found = MAP(p, jnp.zeros(1), jnp.ones((2, 1)))
    stuck = eqx.filter_jit(no_slip)(p)
    assert bool(stuck.feasible)
    assert bool((stuck.impulse[:, -1] > 0).all())
    assert_allclose(found.mu[0], stuck.mu, rtol=1e-9)
    assert_allclose(found.mu_stick, stuck.mu, rtol=1e-9)


def test_far_away_it_tends_to_its_limit_and_has_one_pole():
    p = problem(3)
    found = MAP(p, jnp.array([-1e7, 1e7]), jnp.ones((1, 1)))
    assert_allclose(found.mu[:, 0], found.mu_limit[0], rtol=1e-5)
    at_pole = MAP(p, found.pole, jnp.ones((1, 1)))
    assert abs(at_pole.normal[0, 0]) < 1e-12 * abs(found.normal[0, 0])


def test_a_ball_has_a_wedge_of_its_own():
    """A uniform ball is uncoupled: μ = (2/7) |s - v_t| / ((1 + e) |v_n|), without limit or pole."""
    m, e, v_t, v_n = 2.0, 0.6, 1.5, -3.0
    p = eqx.tree_at(
        lambda p: (p.W, p.velocity),
        problem(0, restitution=e),
        (jnp.diag(jnp.array([7 / (2 * m), 1 / m])), jnp.array([[v_t, v_n]])),
    )
    found = MAP(p, SLIP, jnp.ones((1, 1)))
    assert_allclose(found.mu[:, 0], 2 / 7 * np.abs(SLIP - v_t) / ((1 + e) * -v_n), atol=1e-12)
    assert np.isinf(found.mu_limit[0])
    assert np.isinf(found.pole[0])


def test_contacts_apart_take_no_part_and_gradients_are_finite():
    p = eqx.tree_at(lambda p: p.active, problem(4, n=2), jnp.array([True, False]))
    found = MAP(p, SLIP, jnp.ones((2, 1)))
    alone = eqx.tree_at(lambda a: (a.W, a.velocity), problem(4), (p.W[:2, :2], p.velocity[:1]))
    assert_allclose(found.mu[:, 0], MAP(alone, SLIP, jnp.ones((1, 1))).mu[:, 0], rtol=1e-9)
    assert not np.any(found.mu[:, 1])

    def total(W):
        changed = eqx.tree_at(lambda p: p.W, p, W)
        return jnp.sum(friction_map(changed, SLIP, jnp.ones((2, 1))).normal)

    assert np.isfinite(jax.jit(jax.grad(total))(p.W)).all()
