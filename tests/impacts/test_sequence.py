"""Several contacts, one after the other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from impact_problems import batch_of_problems

from stiction._base.compile import quick_jit
from stiction.impacts import ImpactProblem, impact_law


def three_balls(e) -> ImpactProblem:
    """Equal balls in a row, the first moving: two contacts without tangential motion."""
    J = np.array([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])
    W = np.zeros((4, 4))
    W[1::2, 1::2] = J @ J.T
    two = jnp.ones(2)
    return ImpactProblem(
        W=jnp.asarray(W),
        velocity=jnp.array([[0.0, -1.0], [0.0, 0.0]]),
        active=jnp.array([True, True]),
        restitution=e * two,
        mu_static=0.3 * two,
        mu_dynamic=0.2 * two,
        stribeck_speed=1e-4 * two,
        stribeck_exponent=two,
        kinetic=jnp.asarray(0.5),
        energetic=jnp.asarray(1.0),
    )


@pytest.mark.parametrize("name", ["no-slip", "stronge"])
def test_three_balls_pass_the_push_on(name):
    law = quick_jit(impact_law(name, "off", True))
    J = np.array([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])
    for e, expected in ((1.0, [0, 0, 1]), (0.5, [0.203125, 0.234375, 0.5625])):
        s = law(three_balls(e))
        after = np.array([1.0, 0.0, 0.0]) + J.T @ np.asarray(s.impulse)[:, 1]
        np.testing.assert_allclose(after, expected, atol=1e-12)
        assert s.feasible


def test_nothing_approaches_afterwards_and_stronge_s_law_creates_no_energy():
    p = batch_of_problems(np.random.default_rng(1), 400, 2, 2, coupling=0.6)
    s = quick_jit(jax.vmap(impact_law("stronge", "off")))(p)
    after = np.asarray(quick_jit(jax.vmap(lambda p, i: p.velocity_after(i)))(p, s.impulse))
    work = np.asarray(quick_jit(jax.vmap(lambda p, i: jnp.sum(p.work(i))))(p, s.impulse))
    assert after[..., -1].min() > -1e-9
    assert work.max() < 1e-12
    assert np.asarray(s.impulse)[..., -1].min() >= 0
