"""The total reaction against the mechanism's own equations of motion, and against closed forms."""

import jax
import jax.numpy as jnp
import numpy as np
from helpers_biped import person
from numpy.testing import assert_allclose

import stiction
from stiction.biped.momentum import point_motion, total_reaction
from stiction.biped.subject import subject_of_mechanism
from stiction.mechanism import load_mechanism, rate

DISC = """
<mujoco><option gravity="0 0 -9.81"/><worldbody>
  <body name="wheel" pos="0 0 1"><freejoint name="base"/>
    <inertial pos="0 0 0" mass="2" diaginertia="0.3 0.4 0.5"/></body>
</worldbody></mujoco>
"""


def test_it_is_the_first_six_rows_of_the_equations_of_motion():
    """M v̇ + c along the free joint of the 38-DOF human: force, and moment about the pelvis."""
    subject = person()
    mechanism = subject.bodies.poses.mechanism

    @jax.jit
    def both(q, v, v_dot):
        q_rate = rate(mechanism, q, v)
        # d²q/dt² along the motion: v̇ changes the rate, and so does the change of q itself.
        _, q_acceleration = jax.jvp(lambda q, v: rate(mechanism, q, v), (q, v), (q_rate, v_dot))
        tau = stiction.inverse_dynamics(mechanism, q, v, v_dot)
        pose = subject.bodies.poses(q)
        return tau, total_reaction(subject.bodies, q, q_rate, q_acceleration), pose

    for seed in range(3):
        key = jax.random.key(seed)
        q, v = stiction.random_state(mechanism, key, spread=0.4)
        v_dot = jax.random.normal(key, v.shape)
        tau, reaction, pose = both(q, v, v_dot)
        assert_allclose(reaction.force, tau[:3], rtol=1e-10, atol=1e-9)
        base = mechanism.body("pelvis")
        about = reaction.moment - np.cross(pose.position[base], reaction.force)
        # The joint's torques are along the pelvis' own axes.
        assert_allclose(pose.rotation[base].T @ about, tau[3:6], rtol=1e-9, atol=1e-8)


def test_nothing_holds_a_body_in_free_fall():
    """A body that turns freely and falls needs no ground: Euler's equations for the spin."""
    mechanism = load_mechanism(DISC)
    subject = subject_of_mechanism(mechanism)
    I, w = jnp.array([0.3, 0.4, 0.5]), jnp.array([1.0, -2.0, 0.7])
    v = jnp.concatenate([jnp.array([0.3, 0.1, -2.0]), w])
    w_dot = -jnp.cross(w, I * w) / I
    v_dot = jnp.concatenate([jnp.array([0.0, 0.0, -9.81]), w_dot])
    q = jnp.array([0.2, 0.3, 1.0, 0.9, 0.1, -0.3, 0.2])
    q = q.at[3:].set(q[3:] / jnp.linalg.norm(q[3:]))

    @jax.jit
    def falling(q, v, v_dot):
        q_rate = rate(mechanism, q, v)
        _, q_acc = jax.jvp(lambda q, v: rate(mechanism, q, v), (q, v), (q_rate, v_dot))
        return total_reaction(subject.bodies, q, q_rate, q_acc)

    reaction = falling(q, v, v_dot)
    assert_allclose(reaction.force, 0, atol=1e-12)
    assert_allclose(reaction.moment, 0, atol=1e-12)


def test_standing_still_the_ground_carries_the_weight_under_the_center_of_mass():
    subject = person()
    q = jnp.asarray(subject.defaults)
    reaction = jax.jit(lambda q: total_reaction(subject.bodies, q, 0 * q, 0 * q))(q)
    assert_allclose(reaction.force, [0, 0, subject.weight], atol=1e-9)
    expected = np.cross(reaction.center, reaction.force)
    assert_allclose(reaction.moment, expected, atol=1e-9)


def test_points_of_balls_are_their_lowest_and_move_as_the_body_does():
    """A ball that rolls: the point that touches stands still."""
    mechanism = load_mechanism(DISC)
    subject = subject_of_mechanism(mechanism)
    radius, speed = 0.25, 1.2
    q = jnp.array([0.0, 0.0, radius, 1.0, 0.0, 0.0, 0.0])
    v = jnp.array([speed, 0.0, 0.0, 0.0, speed / radius, 0.0])
    body = mechanism.body("wheel")

    @jax.jit
    def rolling(q, v):
        at, size = jnp.zeros((1, 3)), jnp.array([radius])
        return point_motion(subject.bodies, (body,), at, size, q, rate(mechanism, q, v))

    found = rolling(q, v)
    assert_allclose(found.position[0], [0, 0, 0], atol=1e-15)
    assert_allclose(found.velocity[0], 0, atol=1e-14)
