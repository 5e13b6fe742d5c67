"""What must hold for every mechanism in every state, on states drawn by hypothesis."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stiction
from helpers import EVERY_JOINT, jit_once, quiet_load
from stiction._base.spatial import quat_multiply, quat_normalize, quat_to_matrix
from stiction.mechanism import rate

MECHANISMS = ["double-pendulum", "jumping-leg", "bicycle", "human", EVERY_JOINT]
seeds = st.integers(0, 2**32 - 1)
sizes = st.sampled_from([1e-3, 1.0, 30.0])  # of velocities


def named(source):
    return "every-joint" if source is EVERY_JOINT else source


def over_mechanisms(test):
    return pytest.mark.parametrize("source", MECHANISMS, ids=named)(settings(max_examples=25)(test))


@functools.cache
def compiled(source, function):
    mechanism = quiet_load(source)
    return jit_once(functools.partial(function, mechanism))


def state(source, seed, speed=1.0):
    return stiction.random_state(quiet_load(source), jax.random.key(seed), speed=speed)


def normal(seed, n):
    return jnp.asarray(np.random.default_rng(seed).normal(size=n))


@over_mechanisms
@given(seed=seeds)
def test_mass_matrix_is_symmetric_positive_definite(source, seed):
    q, _ = state(source, seed)
    M = compiled(source, stiction.mass_matrix)(q)
    np.testing.assert_array_equal(M, M.T)
    assert np.linalg.eigvalsh(M)[0] > 0


@over_mechanisms
@given(seed=seeds, speed=sizes)
def test_kinetic_energy_is_the_quadratic_form_of_the_mass_matrix(source, seed, speed):
    q, v = state(source, seed, speed)
    M = compiled(source, stiction.mass_matrix)(q)
    T = compiled(source, stiction.kinetic_energy)(q, v)
    np.testing.assert_allclose(T, v @ M @ v / 2, rtol=1e-12)


def _power(mechanism, q, v, force):
    """Rate of change of the energy along the motion, by differentiating the energies."""
    acceleration = stiction.forward_dynamics(mechanism, q, v, force)
    rates = (rate(mechanism, q, v), acceleration)
    _, dT = jax.jvp(lambda q, v: stiction.kinetic_energy(mechanism, q, v), (q, v), rates)
    _, dV = jax.jvp(lambda q: stiction.potential_energy(mechanism, q), (q,), rates[:1])
    return dT + dV


@over_mechanisms
@given(seed=seeds, speed=sizes)
def test_energy_changes_by_the_power_of_the_forces(source, seed, speed):
    """d(T + V)/dt = v · τ, with τ the joint forces beyond gravity and springs."""
    q, v = state(source, seed, speed)
    extra = normal(seed, v.size)
    spring = compiled(source, stiction.mechanism.spring_force)(q)
    power = compiled(source, _power)(q, v, spring + extra)
    scale = abs(v) @ (abs(compiled(source, stiction.bias_force)(q, v)) + abs(extra))
    np.testing.assert_allclose(power, v @ extra, atol=1e-11 * float(scale))


@over_mechanisms
@given(seed=seeds, speed=sizes)
def test_inverse_dynamics_undoes_forward_dynamics(source, seed, speed):
    q, v = state(source, seed, speed)
    force = speed * normal(seed, v.size)
    acceleration = compiled(source, stiction.forward_dynamics)(q, v, force)
    back = compiled(source, stiction.inverse_dynamics)(q, v, acceleration)
    M = compiled(source, stiction.mass_matrix)(q)
    # Both pass through M a; rounding is relative to its largest part.
    scale = float(jnp.max(abs(M) @ abs(acceleration)))
    np.testing.assert_allclose(back, force, atol=1e-12 * scale)


def _point_by_differentiation(mechanism, q, v, point):
    """Velocity and bias acceleration of a point of the last body as derivatives of its position."""
    body = mechanism.n_bodies - 1

    def position(q):
        return stiction.point_position(mechanism, q, body, point)

    def velocity(q):
        return jax.jvp(position, (q,), (rate(mechanism, q, v),))[1]

    return velocity(q), jax.jvp(velocity, (q,), (rate(mechanism, q, v),))[1]


def _point_by_jacobian(mechanism, q, v, point):
    body = mechanism.n_bodies - 1
    return (
        stiction.point_jacobian(mechanism, q, body, point) @ v,
        stiction.point_bias_acceleration(mechanism, q, v, body, point),
    )


@over_mechanisms
@given(seed=seeds, speed=sizes)
def test_jacobian_and_its_rate_are_derivatives_of_the_position(source, seed, speed):
    q, v = state(source, seed, speed)
    point = normal(seed, 3)
    velocity, acceleration = compiled(source, _point_by_jacobian)(q, v, point)
    expected = compiled(source, _point_by_differentiation)(q, v, point)
    np.testing.assert_allclose(velocity, expected[0], atol=1e-12 * speed * 30)
    np.testing.assert_allclose(acceleration, expected[1], atol=1e-12 * (speed * 30) ** 2)


def test_jacobian_equals_the_finite_difference_of_the_position():
    """Once without automatic differentiation, on the mechanism with every type of joint."""
    mechanism = stiction.load(EVERY_JOINT)
    q, _ = stiction.random_state(mechanism, jax.random.key(7))
    point, body, h = jnp.array([0.3, -0.2, 0.5]), mechanism.n_bodies - 1, 1e-6
    position = jit_once(lambda q: stiction.point_position(mechanism, q, body, point))
    J = stiction.point_jacobian(mechanism, q, body, point)
    for d in range(mechanism.nv):
        step = jnp.zeros(mechanism.nv).at[d].set(h)
        ahead = position(stiction.add_velocity(mechanism, q, step))
        behind = position(stiction.add_velocity(mechanism, q, -step))
        np.testing.assert_allclose(J[:, d], (ahead - behind) / (2 * h), atol=1e-8)


@pytest.mark.parametrize("source", ["human", "jumping-leg", "box"])
@settings(max_examples=25)
@given(seed=seeds)
def test_turning_and_shifting_the_world_changes_nothing_inside(source, seed):
    """Joint-space inertia, energy and joint bias forces do not know where the world's axes are."""
    mechanism = quiet_load(source)
    q, v = state(source, seed)
    key = jax.random.key(seed)
    turn = quat_normalize(jax.random.normal(key, (4,)))
    shift = 100 * normal(seed, 3)
    R = quat_to_matrix(turn)
    moved = q.at[:3].set(R @ q[:3] + shift).at[3:7].set(quat_multiply(turn, q[3:7]))
    v_moved = v.at[:3].set(R @ v[:3])
    turned = eqx.tree_at(lambda m: m.gravity, mechanism, R @ mechanism.gravity)

    def joint_forces(mechanism, q, v):
        return stiction.bias_force(mechanism, q, v), stiction.kinetic_energy(mechanism, q, v)

    run = jit_once(joint_forces)
    (c, T), (c_moved, T_moved) = run(mechanism, q, v), run(turned, moved, v_moved)
    scale = float(jnp.max(abs(c)))
    np.testing.assert_allclose(T_moved, T, rtol=1e-11)
    np.testing.assert_allclose(c_moved[3:], c[3:], atol=1e-11 * scale)
    np.testing.assert_allclose(c_moved[:3], R @ c[:3], atol=1e-11 * scale)


def _momentum_rate(mechanism, q, v):
    acceleration = stiction.forward_dynamics(mechanism, q, v, jnp.zeros_like(v))
    return jax.jvp(
        lambda q, v: stiction.momentum(mechanism, q, v),
        (q, v),
        (rate(mechanism, q, v), acceleration),
    )[1]


@pytest.mark.parametrize("source", ["human", "jumping-leg", "box"])
@settings(max_examples=25)
@given(seed=seeds)
def test_in_flight_only_gravity_changes_momentum(source, seed):
    mechanism = quiet_load(source)
    q, v = state(source, seed)
    linear, angular = compiled(source, _momentum_rate)(q, v)
    weight = stiction.total_mass(mechanism) * mechanism.gravity
    np.testing.assert_allclose(linear, weight, atol=1e-9 * float(jnp.max(abs(weight))))
    np.testing.assert_allclose(angular, np.zeros(3), atol=1e-9 * float(jnp.max(abs(weight))))


def _acceleration(mechanism, q, v):
    return stiction.forward_dynamics(mechanism, q, v, jnp.zeros_like(v))


def test_single_precision_stays_single():
    mechanism = quiet_load("human").astype(jnp.float32)
    q, v = stiction.random_state(mechanism, jax.random.key(0))
    run = jit_once(_acceleration)
    acceleration = run(mechanism, q, v)
    assert acceleration.dtype == jnp.float32
    exact = run(quiet_load("human"), q.astype(float), v.astype(float))
    assert np.max(abs(np.asarray(acceleration, float) - exact)) < 1e-2 * np.max(abs(exact))


@pytest.mark.parametrize("source", ["double-pendulum", "jumping-leg", "human"])
def test_derivative_of_forward_dynamics_agrees_with_finite_differences(source):
    """By q, v and every mass, in forward and in reverse mode."""
    mechanism = quiet_load(source)
    q, v = state(source, 1)
    dq, dv = normal(2, v.size), normal(3, v.size)
    dm = normal(4, mechanism.n_bodies) * mechanism.bodies.mass

    @jax.jit
    def along(s):
        moved = stiction.add_velocity(mechanism, q, s * dq)
        heavier = eqx.tree_at(lambda m: m.bodies.mass, mechanism, mechanism.bodies.mass + s * dm)
        return _acceleration(heavier, moved, v + s * dv)

    h = 1e-6
    expected = (along(h) - along(-h)) / (2 * h)
    _, forward = jax.jvp(along, (0.0,), (1.0,))
    scale = float(jnp.max(abs(expected)))
    np.testing.assert_allclose(forward, expected, atol=1e-7 * scale)
    weights = normal(5, v.size)
    reverse = jax.grad(lambda s: weights @ along(s))(0.0)
    np.testing.assert_allclose(reverse, weights @ forward, rtol=1e-10)
