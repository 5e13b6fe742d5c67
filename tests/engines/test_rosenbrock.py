"""Implicit steps: their order, and that they damp what is stiff."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from stiction.engines.rosenbrock import rosenbrock_step
from stiction.engines.state import State


def integrate(look, y, until, n):
    h = jnp.asarray(until / n)

    def step(i, carry):
        y, k = carry
        y, k, *_ = rosenbrock_step(look, lambda y: y, i * h, y, k, h)
        return y, k

    start = (y, look(jnp.asarray(0.0), y)[0])
    return jax.jit(lambda: jax.lax.fori_loop(0, n, step, start)[0])()


@pytest.fixture
def flat():
    """A state of one coordinate."""
    return State(jnp.array([0.3]), jnp.array([0.5]), jnp.zeros(5), jnp.zeros(1))


def test_order_is_five_with_time_and_with_what_is_booked(flat):
    """x(t) = 0.3 cos t + 0.5 sin t is made the solution of an equation that is neither linear nor
    autonomous; booked are v² and t x, whose integrals are known.
    """

    def known(t):
        return 0.3 * jnp.cos(t) + 0.5 * jnp.sin(t), -0.3 * jnp.sin(t) + 0.5 * jnp.cos(t)

    def look(t, y):
        x, v = known(t)
        pull = -x + (x**3 - y.q**3) + (v - y.v) * v
        return State(y.v, pull, jnp.tile(y.v**2, 5), t * y.q), ()

    t = 2.0
    x, v = known(t)
    work = 0.09 * (t / 2 - np.sin(2 * t) / 4) + 0.25 * (t / 2 + np.sin(2 * t) / 4)
    work += -0.15 * np.sin(t) ** 2
    moment = 0.3 * (t * np.sin(t) + np.cos(t) - 1) + 0.5 * (np.sin(t) - t * np.cos(t))
    exact = np.array([x, v, work, moment])
    errors = []
    for n in (40, 80):
        y = integrate(look, flat, t, n)
        errors.append(np.abs(np.array([y.q[0], y.v[0], y.ledger[0], y.gap[0]]) - exact))
    assert_allclose(np.log2(errors[0] / errors[1]), 5.0, atol=0.5)


def test_a_stiff_rate_is_followed_with_long_steps(flat):
    """v' = -1e8 (v - cos t): ten steps of 0.1, each ten million times the rate's own time."""

    def look(t, y):
        return State(y.v, -1e8 * (y.v - jnp.cos(t)), jnp.tile(y.v**2, 5), y.q), ()

    y = integrate(look, flat, 1.0, 10)
    assert_allclose(y.v[0], np.cos(1.0), atol=1e-7)
    assert_allclose(y.q[0], 0.3 + np.sin(1.0), atol=1e-5)
