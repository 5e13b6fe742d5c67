"""Gap and sliding accelerations against twice-differentiated geometry.

The body follows any smooth path; the gap of two circles (or of a vertex and a line, a line and a
vertex) is a closed formula of its pose, so its second derivative needs no contact kinematics at
all. Circles suffice: to second order a curve is its circle of curvature.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stiction.motions.kinematics import contact_terms

INF = np.inf
TOLERANCE = 1e-11  # rounding in sums of terms of order ten


def rotate(angle, vector):
    c, s = jnp.cos(angle), jnp.sin(angle)
    return jnp.stack([c * vector[0] - s * vector[1], s * vector[0] + c * vector[1]])


def gap_of(kb, ko, point, normal, center0):
    """The gap as a function of the pose (x, y, θ); zero at (center0, 0)."""
    to_point = point - center0  # in the body
    if np.isinf(kb) and ko == 0:  # body vertex on a fixed line
        return lambda q: (q[:2] + rotate(q[2], to_point) - point) @ normal
    if np.isinf(ko) and kb == 0:  # body line on a fixed vertex
        return lambda q: (q[:2] + rotate(q[2], to_point) - point) @ rotate(q[2], normal)
    rb = 0.0 if np.isinf(kb) else 1.0 / kb
    body_center = to_point + rb * normal
    if ko == 0:  # body circle on a fixed line
        return lambda q: (q[:2] + rotate(q[2], body_center) - point) @ normal - rb
    ro = 0.0 if np.isinf(ko) else 1.0 / ko  # negative: the body is inside a hole
    side = 1.0 if rb + ro > 0 else -1.0

    def between_circles(q):
        offset = q[:2] + rotate(q[2], body_center) - (point - ro * normal)
        return side * jnp.sqrt(offset @ offset) - rb - ro

    return between_circles


@pytest.mark.parametrize(
    ("kb", "ko"),
    [
        (INF, 0.0),
        (0.0, INF),
        (INF, 2.0),
        (INF, -0.7),
        (1.5, 0.0),
        (1.5, INF),
        (2.0, 1.2),
        (3.0, -0.8),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_gap_acceleration_is_the_second_derivative_of_the_gap(kb, ko, seed):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi)
    normal = np.array([np.cos(angle), np.sin(angle)])
    tangent = np.array([normal[1], -normal[0]])
    center, point, rho = rng.normal(size=2), rng.normal(size=2), 0.7
    arm = center - point
    # Any velocity that keeps the contact: the contact point moves along the tangent.
    omega = rng.normal()
    v_point = rng.normal() * tangent
    velocity = v_point + omega * np.array([-arm[1], arm[0]])
    acceleration = rng.normal(size=3)

    contact = contact_terms(
        normal=tuple(normal),
        arm=tuple(arm),
        gyration_radius=rho,
        velocity=(*velocity, omega),
        curvature_body=np.float64(kb),
        curvature_obstacle=np.float64(ko),
    )
    a = acceleration * [1, 1, rho]
    formula = np.array(contact.normal) @ a + contact.h

    gap = gap_of(kb, ko, jnp.array(point), jnp.array(normal), jnp.array(center))
    start = jnp.array([*center, 0.0])
    rate = jnp.array([*velocity, omega])
    path = lambda t: start + t * rate + 0.5 * t**2 * jnp.array(acceleration)  # noqa: E731
    along = lambda t: gap(path(t))  # noqa: E731
    assert abs(along(0.0)) < TOLERANCE
    assert abs(jax.grad(along)(0.0)) < TOLERANCE
    assert abs(contact.normal_velocity) < TOLERANCE
    assert formula == pytest.approx(float(jax.grad(jax.grad(along))(0.0)), abs=TOLERANCE)


def test_what_is_curved_without_measure_is_a_vertex():
    given = {"arm": (0.2, 0.1), "gyration_radius": 0.3, "velocity": (0.4, 0.1, -0.7)}
    sharp, vertex = (
        contact_terms(
            normal=(0.6, 0.8),
            curvature_body=np.float64(kb),
            curvature_obstacle=np.float64(100),
            **given,
        )
        for kb in (1e307, INF)
    )
    assert sharp.h == pytest.approx(vertex.h, rel=1e-12)


def test_rolling_wheel_keeps_contact_without_help():
    """A wheel on a flat floor: its center moves on a line, so h = 0."""
    radius = 0.4
    contact = contact_terms(
        normal=(0.0, 1.0),
        arm=(0.0, radius),
        gyration_radius=0.3,
        velocity=(2.0, 0.0, -2.0 / radius),
        curvature_body=np.float64(1 / radius),
        curvature_obstacle=np.float64(0.0),
    )
    assert contact.h == pytest.approx(0.0, abs=TOLERANCE)
    assert contact.tangent_velocity == pytest.approx(0.0, abs=TOLERANCE)


@pytest.mark.parametrize("seed", range(3))
def test_sliding_acceleration_is_that_of_the_material_point(seed):
    """Differentiate the position of the body's point that is in contact, turning with no slip."""
    rng = np.random.default_rng(seed)
    angle, omega, rho = rng.uniform(0, 2 * np.pi), rng.normal(), 0.6
    normal = np.array([np.cos(angle), np.sin(angle)])
    tangent = np.array([normal[1], -normal[0]])
    arm, acceleration = rng.normal(size=2), rng.normal(size=3)
    velocity = omega * np.array([-arm[1], arm[0]])  # the contact point is at rest
    contact = contact_terms(
        normal=tuple(normal),
        arm=tuple(arm),
        gyration_radius=rho,
        velocity=(*velocity, omega),
        curvature_body=np.float64(INF),
        curvature_obstacle=np.float64(0.0),
    )
    formula = np.array(contact.tangent) @ (acceleration * [1, 1, rho]) + contact.g

    def position(t):
        pose = t * jnp.array([*velocity, omega]) + 0.5 * t**2 * jnp.array(acceleration)
        return (pose[:2] + rotate(pose[2], -jnp.array(arm))) @ tangent

    assert formula == pytest.approx(float(jax.grad(jax.grad(position))(0.0)), abs=TOLERANCE)
