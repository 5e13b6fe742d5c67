"""Depths, points, rates: against MuJoCo's collisions, closed forms and finite differences."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from stiction.identify.contact.geometry import BodyState, candidates
from stiction.identify.contact.plates import compound_stiffness, plate_stiffness, plates
from stiction.identify.contact.shapes import Corners, Cylinder, Sphere, box, convex_mesh, h_peg
from stiction.identify.path.coordinates import (
    acceleration_of,
    mean_orientation,
    motion_of,
    rodrigues,
)

HALF = np.array([0.03, 0.05, 0.02])
SHAPES = {
    "box": (box(HALF), '<geom type="box" size="0.03 0.05 0.02"/>'),
    "sphere": (
        Sphere(jnp.array([0.01, 0.0, 0.02]), jnp.array(0.03)),
        '<geom type="sphere" size="0.03" pos="0.01 0 0.02"/>',
    ),
    "cylinder": (
        Cylinder(jnp.zeros(3), jnp.array([0.0, 0.0, 1.0]), jnp.array(0.02), jnp.array(0.04)),
        '<geom type="cylinder" size="0.02 0.04"/>',
    ),
}
GROUND = plates([[0.0, 0.0, 0.0]], [[0.0, 0.0, 1.0]])


@jax.jit
def on_ground(shape, position, rotation):
    motion = BodyState(position, rotation, jnp.zeros(3), jnp.zeros(3))
    return candidates((shape,), GROUND, jnp.ones((1, shape.n_points), bool), motion)


def random_pose(rng, height):
    turn = Rotation.random(rng=rng).as_matrix()
    return np.array([0.1, -0.2, height]), turn


@pytest.mark.parametrize("name", SHAPES)
def test_depth_and_point_agree_with_mujoco(name, rng):
    shape, geom = SHAPES[name]
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><geom type="plane" size="1 1 1"/>'
        f"<body><freejoint/>{geom}</body></worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    met = 0
    for _ in range(40):
        p, R = random_pose(rng, rng.uniform(0.01, 0.05))
        data.qpos[:3] = p
        data.qpos[3:] = Rotation.from_matrix(R).as_quat(scalar_first=True)
        mujoco.mj_forward(model, data)
        found = on_ground(shape, jnp.asarray(p), jnp.asarray(R))
        ours = float(np.max(np.where(found.near, found.depth, -np.inf)))
        if data.ncon == 0:
            assert ours <= 1e-9
            continue
        met += 1
        deepest = int(np.argmin(data.contact.dist))
        assert ours == pytest.approx(-data.contact.dist[deepest], abs=1e-9)
        # MuJoCo gives the point halfway between the surfaces.
        i = int(np.argmax(found.depth[0]))
        middle = np.asarray(found.point[0, i]) + np.array([0, 0, ours / 2])
        np.testing.assert_allclose(middle, data.contact.pos[deepest], atol=1e-8)
    assert met > 10


@pytest.mark.parametrize("name", SHAPES)
def test_depth_rate_is_the_rate_of_depth(name, rng):
    """Also where the point wanders over the body: there the depth is stationary along it."""
    shape, _ = SHAPES[name]
    p, R = random_pose(rng, 0.02)
    v, w = rng.normal(size=3), rng.normal(size=3)
    motion = BodyState(*(jnp.asarray(a) for a in (p, R, v, w)))
    rates = candidates((shape,), GROUND, jnp.ones((1, shape.n_points), bool), motion).depth_rate
    h = 1e-6

    def depth(s):
        turned = Rotation.from_rotvec(s * w).as_matrix() @ R
        return on_ground(shape, jnp.asarray(p + s * v), jnp.asarray(turned)).depth

    np.testing.assert_allclose(rates, (depth(h) - depth(-h)) / (2 * h), rtol=1e-6, atol=1e-8)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_contact_does_not_depend_on_the_world_frame(seed):
    rng = np.random.default_rng(seed)
    p, R = random_pose(rng, 0.02)
    v, w = rng.normal(size=3), rng.normal(size=3)
    T, shift = Rotation.random(rng=rng).as_matrix(), rng.normal(size=3)
    shape = box(HALF)
    here = on_ground(shape, jnp.asarray(p), jnp.asarray(R))
    moved_plate = plates([shift], [T[:, 2]])
    motion = BodyState(*(jnp.asarray(a) for a in (T @ p + shift, T @ R, T @ v, T @ w)))
    there = candidates((shape,), moved_plate, jnp.ones((1, 8), bool), motion)
    np.testing.assert_allclose(here.depth, there.depth, atol=1e-12)
    still = BodyState(*(jnp.asarray(a) for a in (p, R, v, w)))
    before = candidates((shape,), GROUND, jnp.ones((1, 8), bool), still)
    np.testing.assert_allclose(before.slip @ T.T, there.slip, atol=1e-12)
    np.testing.assert_allclose(before.depth_rate, there.depth_rate, atol=1e-12)


def test_a_plate_ends_at_its_edge():
    small = plates([[0.0, 0.0, 0.0]], [[0.0, 0.0, 1.0]], [[0.02, 0.04]])
    motion = BodyState(jnp.array([0.0, 0.0, 0.01]), jnp.eye(3), jnp.zeros(3), jnp.zeros(3))
    found = candidates((box(HALF),), small, jnp.ones((1, 8), bool), motion)
    assert not np.any(found.near)  # all corners reach beyond it
    inner = candidates((box(0.5 * HALF),), small, jnp.ones((1, 8), bool), motion)
    assert np.sum(inner.touching) == 0  # over it, but not down to it
    low = BodyState(jnp.array([0.0, 0.0, 0.005]), jnp.eye(3), jnp.zeros(3), jnp.zeros(3))
    assert np.sum(candidates((box(0.5 * HALF),), small, jnp.ones((1, 8), bool), low).touching) == 4


def test_a_mesh_keeps_only_its_corners(rng):
    inside = 0.5 * rng.uniform(-1, 1, size=(50, 3)) * HALF
    corners = np.asarray(box(HALF).points)
    mesh = convex_mesh(np.concatenate([inside, corners, corners]))
    assert {tuple(p) for p in np.asarray(mesh.points)} == {tuple(p) for p in corners}


def test_h_peg_in_the_square_hole_touches_one_to_five_plates():
    """Four sides and a bottom; as the peg grows it meets 1, 3 and 5 of them (ma Sec. 3, item 6)."""
    hole = plates(
        [[0.04, 0, 0.05], [-0.04, 0, 0.05], [0, 0.015, 0.05], [0, -0.015, 0.05], [0, 0, 0]],
        [[-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0], [0, 0, 1]],
        [[0.06, 0.06]] * 5,
    )
    touched = []
    for width, depth in ((0.07, 0.02), (0.09, 0.02), (0.09, 0.04)):
        peg = h_peg(width=width, depth=depth)
        motion = BodyState(jnp.array([0.0, 0.0, -0.001]), jnp.eye(3), jnp.zeros(3), jnp.zeros(3))
        found = candidates((peg,), hole, jnp.ones((5, 16), bool), motion)
        touched.append(int(np.sum(np.any(found.touching, axis=1))))
    assert touched == [1, 3, 5]


def test_h_peg_has_the_outline_of_an_h():
    points = np.asarray(h_peg(width=0.08, height=0.12, depth=0.03, leg=0.02).points)
    assert isinstance(h_peg(), Corners)
    assert len(points) == 16
    assert sorted({round(x, 6) for x in points[:, 0]}) == [-0.04, -0.02, 0.02, 0.04]


@settings(max_examples=50)
@given(st.lists(st.floats(100.0, 1e5), min_size=4, max_size=4))
def test_compound_stiffness_is_that_of_a_plate_pressed_at_its_centre(springs):
    """(16) from the rigid plate's own balance."""
    square = [[1, 1], [-1, 1], [-1, -1], [1, -1]]
    assert compound_stiffness(springs) == pytest.approx(
        plate_stiffness(springs, square, [0, 0]), rel=1e-9
    )


def test_compound_stiffness_of_equal_springs_is_their_sum():
    assert compound_stiffness([250.0] * 4) == pytest.approx(1000.0)


def test_stiffness_is_constant_near_the_centre_as_the_document_says():
    """Within 5 % of the springs' distance: less than 1 % error (ma Sec. 3)."""
    square = 0.5 * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    off = plate_stiffness([250.0] * 4, square, [0.05, 0.0])
    assert 0 < 1 - off / 1000.0 < 0.0101


def test_path_coordinates_give_rotation_and_its_rates(rng):
    """Rodrigues parameters: orientation, angular velocity and acceleration by differences."""
    center = Rotation.random(rng=rng).as_matrix()
    x0, v0, a0 = (0.3 * rng.normal(size=6) for _ in range(3))

    def state(t):
        return x0 + v0 * t + 0.5 * a0 * t**2, v0 + a0 * t

    def rotation(t):
        x, v = state(t)
        return np.asarray(motion_of(jnp.asarray(center), jnp.asarray(x), jnp.asarray(v)).rotation)

    h = 1e-6
    here = motion_of(jnp.asarray(center), jnp.asarray(x0), jnp.asarray(v0))
    np.testing.assert_allclose(here.rotation.T @ here.rotation, np.eye(3), atol=1e-14)
    W = (rotation(h) - rotation(-h)) / (2 * h) @ rotation(0).T
    np.testing.assert_allclose(
        here.angular_velocity, [W[2, 1], W[0, 2], W[1, 0]], rtol=1e-7, atol=1e-8
    )
    _, alpha = acceleration_of(*(jnp.asarray(a) for a in (center, x0, v0, a0)))

    def omega(t):
        x, v = state(t)
        return motion_of(*(jnp.asarray(a) for a in (center, x, v))).angular_velocity

    np.testing.assert_allclose(alpha, (omega(h) - omega(-h)) / (2 * h), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(
        rodrigues(center, np.asarray(here.rotation)[None])[0], x0[3:], atol=1e-12
    )


def test_mean_orientation_lies_between(rng):
    R = Rotation.from_rotvec([[0, 0, 0.1], [0, 0, 0.5]]).as_matrix()
    turn = Rotation.from_matrix(mean_orientation(R)).as_rotvec()
    np.testing.assert_allclose(turn, [0, 0, 0.3], atol=1e-12)
