"""The total reaction against the mechanism's own equations of motion, and against closed forms."""

import functools

import equinox as eqx
import jax
import numpy as np
from helpers_biped import person
from numpy.testing import assert_allclose

import stiction
from stiction.biped.grf.momentum import point_motion, total_reaction
from stiction.biped.subject.subject import Points, subject_of_mechanism
from stiction.mechanism import load_mechanism, rate

DISC = """
<mujoco><option gravity="0 0 -9.81"/><worldbody>
  <body name="wheel" pos="0 0 1"><freejoint name="base"/>
    <inertial pos="0 0 0" mass="2" diaginertia="0.3 0.4 0.5"/></body>
</worldbody></mujoco>
"""


@eqx.filter_jit
def derivatives(mechanism, q, v, v_dot):
    """q̇ and q̈ along the motion: v̇ changes the rate, and so does the change of q itself."""
    q_rate = rate(mechanism, q, v)
    _, q_acceleration = jax.jvp(lambda q, v: rate(mechanism, q, v), (q, v), (q_rate, v_dot))
    return q_rate, q_acceleration


def moved(subject, q, v, v_dot):
    """The motion of one instant, as a single frame."""
    mechanism = subject.bodies.poses.mechanism
    found = (q, *derivatives(mechanism, q, v, v_dot))
    return subject.motion(*(np.asarray(x)[None] for x in found))


def test_it_is_the_first_six_rows_of_the_equations_of_motion():
    """M v̇ + c along the free joint of the 38-DOF human: force, and moment about the pelvis."""
    subject = person()
    mechanism = subject.bodies.poses.mechanism
    inverse_dynamics = jax.jit(functools.partial(stiction.inverse_dynamics, mechanism))
    for seed in range(3):
        key = jax.random.key(seed)
        q, v = stiction.random_state(mechanism, key, spread=0.4)
        v_dot = jax.random.normal(key, v.shape)
        tau, motion = inverse_dynamics(q, v, v_dot), moved(subject, q, v, v_dot)
        reaction = total_reaction(subject.bodies, motion)
        assert_allclose(reaction.force[0], tau[:3], rtol=1e-10, atol=1e-9)
        base = mechanism.body("pelvis")
        position, rotation = motion.pose.position[0, base], motion.pose.rotation[0, base]
        about = reaction.moment[0] - np.cross(position, reaction.force[0])
        # The joint's torques are along the pelvis' own axes.
        assert_allclose(rotation.T @ about, tau[3:6], rtol=1e-9, atol=1e-8)


def test_nothing_holds_a_body_in_free_fall():
    """A body that turns freely and falls needs no ground: Euler's equations for the spin."""
    subject = subject_of_mechanism(load_mechanism(DISC))
    I, w = np.array([0.3, 0.4, 0.5]), np.array([1.0, -2.0, 0.7])
    v = np.concatenate([[0.3, 0.1, -2.0], w])
    v_dot = np.concatenate([[0.0, 0.0, -9.81], -np.cross(w, I * w) / I])
    q = np.array([0.2, 0.3, 1.0, 0.9, 0.1, -0.3, 0.2])
    q[3:] /= np.linalg.norm(q[3:])
    reaction = total_reaction(subject.bodies, moved(subject, q, v, v_dot))
    assert_allclose(reaction.force, 0, atol=1e-12)
    assert_allclose(reaction.moment, 0, atol=1e-12)


def test_standing_still_the_ground_carries_the_weight_under_the_center_of_mass():
    subject = person()
    q = subject.defaults[None]
    reaction = total_reaction(subject.bodies, subject.motion(q, 0 * q, 0 * q))
    assert_allclose(reaction.force[0], [0, 0, subject.weight], atol=1e-9)
    expected = np.cross(reaction.center, reaction.force)
    assert_allclose(reaction.moment, expected, atol=1e-9)


def test_points_of_balls_are_their_lowest_and_move_as_the_body_does():
    """A ball that rolls: the point that touches stands still."""
    mechanism = load_mechanism(DISC)
    subject = subject_of_mechanism(mechanism)
    radius, speed = 0.25, 1.2
    q = np.array([0.0, 0.0, radius, 1.0, 0.0, 0.0, 0.0])
    v = np.array([speed, 0.0, 0.0, 0.0, speed / radius, 0.0])
    ball = Points(("b",), np.array([mechanism.body("wheel")]), np.zeros((1, 3)), np.array([radius]))
    position, velocity = point_motion(ball, moved(subject, q, v, 0 * v), subject.up)
    assert_allclose(position[0], [[0, 0, 0]], atol=1e-15)
    assert_allclose(velocity[0], [[0, 0, 0]], atol=1e-14)
