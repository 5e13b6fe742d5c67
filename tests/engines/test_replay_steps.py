"""Derivatives of fixed steps: along the run's impulses, by central differences.

Where the number of steps and what contacts do stay the same, the end is a smooth function.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import stiction
from helpers import jit_once
from stiction import Solver, Stepping, find_contacts, simulate
from stiction._base.errors import InputError
from stiction.control import HarmonicControl

CART = """<mujoco><option gravity="0 0 -9.81"/><worldbody><geom type="plane" size="9 9 1"/>
<body name="cart" pos="0 0 0.1"><joint name="x" type="slide" axis="1 0 0" damping="0.3"/>
<joint name="z" type="slide" axis="0 0 1"/><geom type="sphere" size="0.1" mass="2"/>
<body name="arm"><joint name="turn" type="hinge" axis="0 1 0" stiffness="3" damping="0.1"/>
<geom name="tip" type="sphere" size="0.05" mass="0.3" pos="0 0 0.3"/></body></body></worldbody>
<actuator><position joint="turn" kp="20" kv="1"/><motor joint="x"/></actuator></mujoco>"""
ROOM = Solver(max_steps=100)


def differences(f, x, h):
    """Central differences of f by every entry of x."""
    return np.stack([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(x.size)], axis=-1)


@pytest.fixture(scope="module")
def cart():
    mechanism = stiction.load(CART)
    return mechanism, find_contacts(mechanism)


@pytest.mark.parametrize("law", ["newton", "poisson"])
def test_an_end_and_its_books_and_events(cart, law):
    """A cart with a sprung and a driven joint lands, rebounds and slides; by speed, friction,
    restitution, duration and the drive.
    """
    mechanism, contacts = cart

    def f(x):
        acts = Stepping(
            dt=0.01, restitution=0.3 + x[2], mu_static=0.5 + x[1], mu_dynamic=0.3 + x[1],
            restitution_law=law, energetic=0.9,
        )  # fmt: skip
        told = jnp.array([0.2, 1.0])
        control = HarmonicControl(told + x[4], 0.3 * told, jnp.array([2.0, 3.0]), 0.1 * told)
        run = simulate(
            mechanism, jnp.array([0.0, 0.003, 0.1]), jnp.array([2.0, -1.0, 0.5]) + x[0],
            until=0.397 + x[3], contacts=contacts, law=acts, solver=ROOM, samples=2,
            max_events=20, control=control,
        )  # fmt: skip
        log, books = run.log, (run.friction_loss, run.impact_loss, run.actuator_work)
        return jnp.concatenate(
            [run.q[-1], run.v[-1], *(x[-1:] for x in books), run.damping_loss[-1:],
             log.impulse[0].ravel(), log.time[:2], log.v_after[1], run.effort[-1]]
        )  # fmt: skip

    x = jnp.zeros(5)
    expected = differences(jit_once(f), x, 1e-6)
    assert_allclose(jit_once(jax.jacfwd(f))(x), expected, atol=2e-7, rtol=1e-7)


def test_a_box_on_redundant_corners(rng):
    """It slides and turns on four corners in space. How they share its weight is one choice of
    many, and what turns it depends on that a little: derivatives choose the least change.
    """
    mechanism = stiction.load("box")
    contacts = find_contacts(mechanism)
    q = jnp.asarray([0, 0, 0.05, 1, 0, 0, 0.0])

    def f(x):
        law = Stepping(dt=0.005, mu_static=0.4 + x[1], mu_dynamic=0.4 + x[1])
        v = jnp.array([1.0, 0.2, 0, 0, 0, 2.0]) + x[0] * jnp.array([1, 0, 0, 0, 0, 1.0])
        run = simulate(
            mechanism, q, v,
            until=0.1, contacts=contacts, law=law, solver=ROOM, samples=2, max_events=20,
        )  # fmt: skip
        return jnp.concatenate([run.q[-1], run.v[-1]])

    x = jnp.zeros(2)
    expected = differences(f, x, 1e-5)
    assert_allclose(jit_once(jax.jacfwd(f))(x), expected, atol=1e-4)


def test_pyramids_in_space_are_refused_by_name():
    mechanism = stiction.load("box")

    def f(x):
        return simulate(
            mechanism, mechanism.q_reference, jnp.zeros(6), until=0.1 * x, samples=2, solver=ROOM,
            contacts=find_contacts(mechanism), law=Stepping(dt=0.01, solver="lcp"),
        ).q[-1]  # fmt: skip

    with pytest.raises(InputError, match="pyramids"):
        jax.jacfwd(f)(jnp.asarray(1.0))


def test_a_top_that_turns_far_in_a_step():
    """Its forces are at the mean velocity of the step: in flight, when it lands, and on its tip."""
    top = """<mujoco><worldbody><geom type="plane" size="9 9 1"/><body><freejoint/>
<inertial pos="0 0 0" mass=".5" diaginertia="3e-4 4e-4 2e-4"/>
<geom type="sphere" size=".01" pos="0 0 -.09"/></body></worldbody></mujoco>"""
    mechanism = stiction.load(top)
    contacts = find_contacts(mechanism)

    def f(x):
        run = simulate(
            mechanism, jnp.array([0, 0, 0.1005, 1, 0.03, 0, 0.0]),
            jnp.array([0, 0, -0.1, 2.0, 1.0, 200.0]) + jnp.concatenate([jnp.zeros(3), x]),
            until=0.03, contacts=contacts, law=Stepping(dt=1e-3, mu_static=0.3, mu_dynamic=0.3),
            solver=ROOM, samples=2, max_events=20,
        )  # fmt: skip
        return jnp.concatenate([run.q[-1], run.v[-1]])

    x = jnp.zeros(3)
    assert_allclose(jax.jvp(f, (x,), (x,))[0], f(x), atol=1e-9)
    assert_allclose(jax.jacfwd(f)(x), differences(f, x, 1e-5), atol=1e-5, rtol=1e-5)
