"""Derivatives of runs by replay: closed forms, central differences, and both directions agree.

Differences of runs that are exact to about 1e-11 are exact to about 1e-6.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import stiction
from helpers import jit_once
from stiction import Compliant, Hybrid, Solver, Stepping, find_contacts, simulate
from stiction.laws import HuntCrossley

G = 9.81
BALL = """<mujoco><option gravity="0 0 -9.81"/><worldbody><geom type="plane" size="1 1 1"/>
<body name="ball"><joint type="slide" axis="0 0 1"/>
<geom type="sphere" size="0.1" mass="2" pos="0 0 0.1"/></body></worldbody>
<actuator><motor joint="{joint}" name="push"/></actuator></mujoco>"""
BLOCK = """<mujoco><option gravity="0 0 -9.81"/><worldbody><geom type="plane" size="9 9 1"/>
<body name="block" pos="0 0 0.1"><joint name="x" type="slide" axis="1 0 0"/>
<joint name="z" type="slide" axis="0 0 1"/><geom type="sphere" size="0.1" mass="2"/></body>
</worldbody></mujoco>"""
TIGHT = Solver(rtol=1e-11, atol=1e-12, max_steps=1000)


@pytest.fixture(scope="module")
def ball():
    text = BALL.replace('joint type="slide"', 'joint name="z" type="slide"').format(joint="z")
    mechanism = stiction.load(text)
    return mechanism, find_contacts(mechanism)


@pytest.fixture(scope="module")
def block():
    mechanism = stiction.load(BLOCK)
    return mechanism, find_contacts(mechanism)


def differences(f, x, h):
    """Central differences of f by every entry of x."""
    return np.stack([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(x.size)], axis=-1)


def bounce(ball, height, e, g, until, samples=2):
    mechanism, contacts = ball
    heavy = eqx.tree_at(lambda m: m.gravity, mechanism, jnp.array([0.0, 0.0, -1.0]) * g)
    return simulate(
        heavy, height[None], jnp.zeros(1), until=until, contacts=contacts, samples=samples,
        law=Hybrid(restitution=e, impact="no-slip"), solver=TIGHT, max_events=40,
    )  # fmt: skip


def closed_form(x):
    """Where a dropped ball is after one bounce, when it touched, and how fast it left."""
    height, e, g, until = x
    touch = jnp.sqrt(2 * height / g)
    up = e * jnp.sqrt(2 * g * height)
    since = until - touch
    return jnp.stack([up * since - g * since**2 / 2, up - g * since, touch, up])


def test_a_bounce_has_the_derivatives_of_its_closed_form(ball):
    """By height, restitution, gravity (a number of the mechanism) and duration; both ways."""

    def f(x):
        run = bounce(ball, *x)
        log = run.log
        return jnp.stack([run.q[-1, 0], run.v[-1, 0], log.time[0], log.v_after[0, 0]])

    x = jnp.array([0.7, 0.6, G, 0.6])
    exact = jax.jacfwd(closed_form)(x)
    assert_allclose(jit_once(f)(x), closed_form(x), rtol=1e-10)
    assert_allclose(jit_once(jax.jacfwd(f))(x), exact, atol=1e-9)
    assert_allclose(jit_once(jax.jacrev(f))(x), exact, atol=1e-9)


def test_lanes_of_vmap_are_runs_alone(ball):
    """Heights and laws in one batch; masses and gravity one after the other."""

    def end(height, e, g):
        return bounce(ball, height, e, g, jnp.asarray(0.6)).q[-1, 0]

    heights, es = jnp.array([0.5, 0.7]), jnp.array([0.3, 0.6])
    alone = [float(end(a, b, jnp.asarray(G))) for a, b in zip(heights, es, strict=True)]
    together = jax.vmap(lambda a, b: end(a, b, jnp.asarray(G)))(heights, es)
    assert_allclose(together, alone, rtol=0, atol=0)
    moons = jit_once(jax.vmap(end, (None, None, 0)))(heights[0], es[0], jnp.array([G, 1.6]))
    assert_allclose(moons, [float(end(heights[0], es[0], g)) for g in jnp.array([G, 1.6])])


def test_sliding_to_rest_has_the_derivatives_of_its_closed_form(block):
    """v²/(2 μ g): the slip ends at an event, and then the block stays."""
    mechanism, contacts = block

    def f(x):
        run = simulate(
            mechanism, jnp.zeros(2), jnp.array([1.0, 0.0]) * x[0], until=1.0, contacts=contacts,
            law=Hybrid(mu_static=0.6, mu_dynamic=x[1]), solver=TIGHT, samples=3, max_events=6,
        )  # fmt: skip
        return jnp.stack([run.q[-1, 0], run.log.time[0], run.friction_loss[-1]])

    def exact(x):
        speed, mu = x
        return jnp.stack([speed**2 / (2 * mu * G), speed / (mu * G), speed**2])

    x = jnp.array([1.5, 0.4])
    assert_allclose(jit_once(f)(x), exact(x), rtol=1e-8)
    assert_allclose(jit_once(jax.jacfwd(f))(x), jax.jacfwd(exact)(x), atol=1e-7)


def test_a_compliant_bounce_agrees_with_differences(ball):
    """By stiffness, damping and speed; touch and parting are events."""
    mechanism, contacts = ball

    def f(x):
        law = Compliant(HuntCrossley(stiffness=2e4 * x[0], dissipation=0.3 * x[1]))
        run = simulate(
            mechanism, jnp.array([0.01]), -x[2:], until=0.08, contacts=contacts, law=law,
            solver=TIGHT, samples=2, max_events=4,
        )  # fmt: skip
        return jnp.stack([run.q[-1, 0], run.v[-1, 0], run.impact_loss[-1], run.log.time[1]])

    x = jnp.ones(3)
    assert_allclose(jit_once(jax.jacfwd(f))(x), differences(f, x, 1e-4), atol=1e-6)


def test_fixed_steps_agree_with_differences(block):
    """A block that lands, rebounds and slides, by speed and friction."""
    mechanism, contacts = block
    solver = Solver(max_steps=100)

    def f(x):
        law = Stepping(dt=0.01, restitution=0.3, mu_static=0.5 + x[1], mu_dynamic=0.3 + x[1])
        run = simulate(
            mechanism, jnp.array([0.0, 0.003]), jnp.array([2.0, -1.0]) + x[0], until=0.4,
            contacts=contacts, law=law, solver=solver, samples=2, max_events=20,
        )  # fmt: skip
        return jnp.concatenate([run.q[-1], run.v[-1]])

    x = jnp.zeros(2)
    expected = differences(f, x, 1e-6)
    assert_allclose(jit_once(jax.jacfwd(f))(x), expected, atol=1e-6)
    assert_allclose(jit_once(jax.jacrev(f))(x), expected, atol=1e-6)


def test_a_plain_function_may_close_over_what_is_differentiated(ball):
    """A push by a lambda: free fall and a bounce under g - u/m."""
    mechanism, contacts = ball

    def end(push):
        return simulate(
            mechanism, jnp.array([0.7]), jnp.zeros(1), until=0.6, contacts=contacts, samples=2,
            law=Hybrid(restitution=0.6, impact="no-slip"), solver=TIGHT, max_events=4,
            control=lambda t, q, v, modes: push[None],
        ).q[-1, 0]  # fmt: skip

    def exact(push):
        return closed_form(jnp.stack([0.7, 0.6, G - push / 2.0, 0.6]))[0]

    push = jnp.asarray(3.0)
    assert float(end(push)) == pytest.approx(float(exact(push)), abs=1e-9)
    assert float(jax.grad(end)(push)) == pytest.approx(float(jax.grad(exact)(push)), abs=1e-8)


def test_too_few_passes_give_no_derivative_rather_than_a_wrong_one(block):
    mechanism, contacts = block

    def end(speed):
        return simulate(
            mechanism, jnp.zeros(2), speed * jnp.array([1.0, 0.0]), until=0.2, contacts=contacts,
            law=Stepping(dt=0.01), solver=Solver(max_steps=3), samples=2,
        ).q[-1, 0]  # fmt: skip

    assert np.isnan(jit_once(jax.jacfwd(end))(jnp.asarray(1.0)))
