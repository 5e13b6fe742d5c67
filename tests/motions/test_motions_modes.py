"""Mechanisms and spatial bodies, by enumeration of contact modes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from agreement import answer
from brute_force import linear_parts
from problems import spatial
from random_problems import random_problem
from scipy.spatial.transform import Rotation

from stiction._base.errors import InputError
from stiction.motions import Verdict, possible_accelerations

G = 9.81


def enumerate_planar(p, change=None):
    """A planar problem in coordinates x = S z, as a mechanism of three degrees of freedom."""
    n_row, t_row, h, g, v_n, v_t = linear_parts(p)
    S = np.eye(3) if change is None else change
    touching = np.abs(v_n) <= 1e-9 * np.linalg.norm(p.velocity)
    return possible_accelerations(
        mass_matrix=S.T @ np.diag([p.mass, p.mass, p.inertia]) @ S,
        applied=S.T @ np.array([*p.force, p.torque]),
        jacobian=np.stack([t_row @ S, n_row @ S], axis=1)[touching],
        bias=np.stack([g, h], axis=1)[touching],
        slip_velocity=v_t[touching][:, None],
        mu=p.mu[touching],
        rest_speed=1e-9 * max(np.linalg.norm(p.velocity), 1.0),
    ).with_separated(touching)


@pytest.mark.parametrize("seed", range(60))
def test_enumeration_agrees_with_the_exact_method_in_any_coordinates(seed):
    rng = np.random.default_rng(seed)
    p = random_problem(rng, 1 + seed % 4)
    p.mu = np.maximum(p.mu, 0.01)  # frictionless contacts are not told apart by their sliding
    S = np.eye(3) + 0.4 * rng.uniform(-1, 1, (3, 3))
    exact, found = answer(p), enumerate_planar(p, S)
    assert exact.verdict == found.verdict
    assert exact.zero_reaction == found.zero_reaction
    assert exact.zero_net_force == found.zero_net_force
    told = {m.modes: m for m in found.motions}
    assert {m.modes for m in exact.motions} == set(told)
    for m in exact.motions:
        other = told[m.modes]
        assert (m.family is None) == (other.family is None)
        if m.family is None:
            np.testing.assert_allclose(S @ other.acceleration, m.acceleration, atol=1e-8)
            assert other.forces_unique == m.forces_unique
            np.testing.assert_allclose(other.forces, m.forces, atol=1e-6)
        else:
            assert m.family.dimension == other.family.dimension
            assert len(m.family.rays) == len(other.family.rays) or m.family.dimension == 2
        if m.family is not None and m.family.dimension == 1:
            ours = sorted(map(tuple, (other.family.corners @ S.T).round(7)))
            theirs = sorted(map(tuple, m.family.corners.round(7)))
            np.testing.assert_allclose(ours, theirs, atol=1e-6)


# ------------------------------------------------------------------ spatial bodies

CORNERS = np.array([[-0.5, -0.5, -0.5], [0.5, -0.5, -0.5], [0.5, 0.5, -0.5], [-0.5, 0.5, -0.5]])
UP = np.tile([0.0, 0.0, 1.0], (4, 1))


def box(**options):
    values = {
        "mass": 1.0,
        "inertia": (0.1, 0.1, 0.1),
        "points": CORNERS,
        "normals": UP,
        "mu": 0.5,
        "force": (0.0, 0.0, -G),
    }
    return spatial(**(values | options))


def test_box_on_a_table_rests():
    result = box()
    assert str(result.verdict) == "unique"
    assert result.zero_net_force
    motion = result.motions[0]
    np.testing.assert_allclose(motion.acceleration, 0, atol=1e-10)
    np.testing.assert_allclose(motion.forces[:, -1], G / 4, atol=1e-9)
    assert not motion.forces_unique


def test_pushed_box_slides_with_what_friction_leaves():
    """Along an edge of the friction pyramid the linearised cone is exact."""
    motion = box(force=(6.0, 0.0, -G)).motions[0]
    assert motion.modes == ("slip",) * 4
    np.testing.assert_allclose(motion.acceleration, [6 - 0.5 * G, 0, 0, 0, 0, 0], atol=1e-9)


def test_tipped_box_turns_about_an_edge():
    """About the edge x = 1/2 at torque T: α = (T - m g/2) / (I + m/2)."""
    motion = box(torque=(0.0, 6.0, 0.0)).motions[0]
    assert motion.modes == ("break", "stick", "stick", "break")
    alpha = (6.0 - G * 0.5) / (0.1 + 0.5)
    np.testing.assert_allclose(motion.acceleration[4], alpha, atol=1e-9)


def test_sliding_box_brakes_exactly_against_its_velocity():
    velocity = np.array([1.0, 0.37, 0.0])
    motion = box(velocity=velocity).motions[0]
    np.testing.assert_allclose(
        motion.acceleration[:3], -0.5 * G * velocity / np.linalg.norm(velocity), atol=1e-9
    )


def test_collision_names_the_contact():
    result = box(angular_velocity=(0.0, 0.2, 0.0))
    assert result.verdict == Verdict.COLLISION
    assert result.collisions == {1: pytest.approx(0.1), 2: pytest.approx(0.1)}


@pytest.mark.parametrize(("spin", "expected"), [(0.0, "inconsistent"), (4.0, "ambiguous")])
def test_painleves_rod_in_space(spin, expected):
    """A plate on two feet that moves as the planar rod does."""
    arm = np.array([1.0, 2.0]) / np.sqrt(5)
    result = spatial(
        mass=1.0,
        inertia=(0.5, 0.5, 1 / 3),
        center=(*arm, 0.0),
        points=[[0, 0, 0.2], [0, 0, -0.2]],
        normals=[[0, 1, 0]] * 2,
        mu=1.5,
        velocity=(-1 - spin * arm[1], spin * arm[0], 0.0),
        angular_velocity=(0.0, 0.0, spin),
        force=(0.0, -G, 0.0),
    )
    assert str(result.verdict) == expected


@pytest.mark.parametrize("seed", range(6))
def test_spatial_motions_satisfy_their_equations(seed):
    """Newton, Coulomb (the pyramid where at rest) and the second variation, to 1e-10."""
    rng = np.random.default_rng(seed)
    k = 1 + seed % 3
    points, normals = rng.normal(size=(k, 3)), rng.normal(size=(k, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    inertia, mu = np.array([0.5, 0.8, 1.1]), rng.uniform(0.1, 1.0, k)
    force, torque = rng.normal(size=3), rng.normal(size=3)
    result = spatial(
        mass=1.5,
        inertia=inertia,
        points=points,
        normals=normals,
        mu=mu,
        force=force,
        torque=torque,
        directions=6,
    )
    assert result.motions
    for m in result.motions:
        a, alpha = m.acceleration[:3], m.acceleration[3:]
        gap = np.sum(normals * (a + np.cross(alpha, points)), axis=1)
        aside = np.eye(3)[np.argmin(np.abs(normals), axis=1)]
        t1 = np.cross(aside, normals)
        t1 /= np.linalg.norm(t1, axis=1, keepdims=True)
        t2 = np.cross(normals, t1)
        f = m.forces[:, :1] * t1 + m.forces[:, 1:2] * t2 + m.forces[:, 2:] * normals
        assert np.abs(1.5 * a - force - f.sum(axis=0)).max() < 1e-10
        assert np.abs(inertia * alpha - torque - np.cross(points, f).sum(axis=0)).max() < 1e-10
        assert gap.min() > -1e-10
        assert np.abs(gap * m.forces[:, -1]).max() < 1e-10
        assert m.forces[:, -1].min() > -1e-10
        assert np.all(np.linalg.norm(m.forces[:, :-1], axis=1) <= mu * m.forces[:, -1] + 1e-10)


@pytest.mark.parametrize("kind", ["vertex-on-face", "face-on-vertex", "edge-on-edge"])
@pytest.mark.parametrize("seed", range(2))
def test_spatial_gap_acceleration_is_the_second_derivative_of_the_gap(kind, seed):
    """A frictionless contact presses with what its gap lacks: f = -(free gap acceleration) / w."""
    rng = np.random.default_rng(seed)
    mass, inertia = 1.2, np.array([0.5, 0.8, 1.1])
    point = rng.normal(size=3)  # the center of mass is at the origin
    u, w = rng.normal(size=3), rng.normal(size=3)
    normal = np.cross(u, w) / np.linalg.norm(np.cross(u, w))
    omega = rng.normal(size=3)
    along = rng.normal(size=3)
    v_point = along - (along @ normal) * normal
    velocity = v_point - np.cross(omega, point)

    def turned(angle, vector):  # exact for a constant rate
        size = jnp.sqrt(angle @ angle + 1e-300)
        axis = angle / size
        return (
            vector * jnp.cos(size)
            + jnp.cross(axis, vector) * jnp.sin(size)
            + axis * (axis @ vector) * (1 - jnp.cos(size))
        )

    def gap(t):
        moved = t * velocity + turned(t * omega, jnp.array(point)) - point
        if kind == "vertex-on-face":
            return moved @ normal
        if kind == "face-on-vertex":
            return moved @ turned(t * omega, jnp.array(normal))
        across = jnp.cross(turned(t * omega, jnp.array(u)), jnp.array(w))
        return moved @ across / jnp.sqrt(across @ across)

    t0 = 1e-4  # off zero, where the rotation's formula divides by zero; central difference of two
    h = (jax.grad(jax.grad(gap))(t0) + jax.grad(jax.grad(gap))(-t0)) / 2
    lever = np.cross(point, normal)
    gyroscopic = -np.cross(omega, inertia * omega) / inertia
    push = -50.0 * normal
    free = float(h) + lever @ gyroscopic + push @ normal / mass
    result = spatial(
        mass=mass,
        inertia=inertia,
        points=[point],
        normals=[normal],
        mu=0.0,
        velocity=velocity,
        angular_velocity=omega,
        force=push,
        kinds=[kind],
        body_edges=[u],
        obstacle_edges=[w],
    )
    expected = -free / (1 / mass + lever @ (lever / inertia))
    assert result.motions[0].forces[0, -1] == pytest.approx(expected, rel=1e-6)


def test_sliding_contacts_do_not_depend_on_the_frame():
    """Their friction has its exact direction, so a rotated problem has the rotated answer."""
    R = Rotation.from_rotvec([0.3, -0.5, 0.8]).as_matrix()
    options = {"velocity": np.array([1.0, 0.4, 0.0]), "torque": np.array([0.1, 0.2, 0.3])}
    plain = box(**options).motions[0].acceleration
    turned = box(
        points=CORNERS @ R.T,
        normals=UP @ R.T,
        force=R @ [0.0, 0.0, -G],
        **{name: R @ value for name, value in options.items()},
    ).motions[0]
    np.testing.assert_allclose(turned.acceleration[:3], R @ plain[:3], atol=1e-9)
    np.testing.assert_allclose(turned.acceleration[3:], R @ plain[3:], atol=1e-9)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"inertia": (1.0, 1.0, -1.0)}, "`inertia`"),
        ({"mass": 0.0}, "`mass`"),
        ({"kinds": ["vertex-on-face"] * 3}, "`kinds`"),
        ({"kinds": ["edge-on-edge"] * 4}, "`body_edges`"),
        ({"directions": 2}, "`directions`"),
        ({"mu": -1.0}, "`mu`"),
    ],
)
def test_bad_values_are_named(options, name):
    with pytest.raises(InputError, match=name):
        box(**options)
