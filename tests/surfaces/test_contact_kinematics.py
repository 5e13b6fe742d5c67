"""Contact velocities and accelerations are the time derivatives of gaps and of velocities.

On a mechanism with every kind of contact: corners, capsule ends, ellipsoids and balls on a slope
that travels and shakes with a belt on it, balls on a height field, balls on balls.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import stiction
from stiction.mechanism import link_kinematics, rate
from stiction.surfaces import (
    SupportMotion,
    contact_kinematics,
    contact_places,
    find_contacts,
    height_field,
    planes,
    slope_rotation,
)

XML = """
<mujoco><worldbody>
  <body name="box" pos="0 0 1"><freejoint/><geom name="box" type="box" size=".1 .2 .3"/>
    <body name="arm" pos=".3 0 0"><joint name="hinge" axis="0 1 1"/>
      <geom name="egg" type="ellipsoid" size=".1 .2 .3" pos=".2 0 0" euler="20 30 40"/>
      <geom name="rod" type="capsule" size=".05 .2" pos="0 .2 0"/></body></body>
  <body name="one" pos="2 0 1"><freejoint/>
    <geom name="one" type="sphere" size=".1" pos=".05 0 0"/></body>
  <body name="two" pos="2 1 1"><freejoint/><geom name="two" type="sphere" size=".2"/></body>
</worldbody></mujoco>
"""


@pytest.fixture(scope="module")
def setting():
    mechanism = stiction.load(XML)
    shaking = SupportMotion(
        velocity=jnp.array([[0.1, 0.2, 0.3]]),
        amplitude=jnp.array([[0.2, 0.1, 0.4]]),
        frequency=jnp.array([1.5]),
        phase=jnp.array([0.3]),
        belt=jnp.array([[0.7, -0.4]]),
    )
    slope = planes([[0, 0, -0.5]], [slope_rotation(0.3)], ["slope"], shaking)
    grid = np.random.default_rng(0).normal(size=(9, 8)) * 0.03
    field = height_field(grid, [0.8, 0.9])
    on_slope = find_contacts(mechanism, ground=slope)
    nothing = planes([], [], [])
    on_field = find_contacts(mechanism, points=["one", "two"], ground=nothing, field=field)
    return mechanism, {"slope": on_slope, "field": on_field}


@pytest.mark.parametrize("ground", ["slope", "field"])
def test_rates_are_derivatives(setting, ground):
    mechanism, cases = setting
    contacts = cases[ground]
    assert contacts.dim == 3

    def look(q, v, t):
        return contact_kinematics(mechanism, contacts, link_kinematics(mechanism, q), v, t)

    @jax.jit
    def compare(q, v, a, t):
        tangents = (rate(mechanism, q, v), a, jnp.ones_like(t))
        seen, change = jax.jvp(look, (q, v, t), tangents)
        expected = jnp.einsum("nkd,d->nk", seen.jacobian, a) + seen.bias
        J = jax.jacfwd(lambda v: look(q, v, t).velocity)(v)
        return change.gap - seen.velocity[:, -1], change.velocity - expected, J - seen.jacobian

    for seed in range(5):
        q, v = stiction.random_state(mechanism, jax.random.key(seed), spread=0.3)
        a = jax.random.normal(jax.random.key(seed + 100), v.shape)
        for error in compare(q, v, a, jnp.asarray(0.37)):
            np.testing.assert_allclose(error, np.zeros_like(error), atol=1e-10)


def test_frames_are_right_handed_and_orthonormal(setting):
    mechanism, cases = setting
    q, _ = stiction.random_state(mechanism, jax.random.key(3), spread=0.3)
    for contacts in cases.values():
        places = contact_places(contacts, stiction.world_poses(mechanism, q), jnp.asarray(0.2))
        F = np.asarray(places.frame)
        np.testing.assert_allclose(
            F @ np.swapaxes(F, 1, 2), np.tile(np.eye(3), (len(F), 1, 1)), atol=1e-12
        )
        np.testing.assert_allclose(np.linalg.det(F), 1, atol=1e-12)


def test_ellipsoid_gap_is_the_least_height_of_its_surface(setting):
    """Against a brute-force sample of the surface."""
    mechanism, cases = setting
    contacts = cases["slope"]
    q, _ = stiction.random_state(mechanism, jax.random.key(5), spread=0.3)
    poses = stiction.world_poses(mechanism, q)
    t = jnp.asarray(0.0)
    places = contact_places(contacts, poses, t)
    index = contacts.names.index("egg")
    shape = mechanism.shape("egg")
    body = mechanism.shapes.bodies[shape]
    rng = np.random.default_rng(0)
    ball = rng.normal(size=(200_000, 3))
    ball /= np.linalg.norm(ball, axis=1, keepdims=True)
    local = ball * np.asarray(mechanism.shapes.size[shape])
    R, p = np.asarray(poses.rotation[body]), np.asarray(poses.position[body])
    inner = np.asarray(mechanism.shapes.rotation[shape])
    world = p + (local @ inner.T + np.asarray(mechanism.shapes.position[shape])) @ R.T
    n = slope_rotation(0.3)[:, 2]
    heights = (world - [0, 0, -0.5]) @ n
    assert 0 <= heights.min() - places.gap[index] < 1e-4


def test_ball_on_a_field_touches_at_the_nearest_point(setting):
    mechanism, cases = setting
    contacts = cases["field"]
    q = mechanism.q_reference
    places = contact_places(contacts, stiction.world_poses(mechanism, q), jnp.asarray(0.0))
    index = contacts.names.index("two")
    center, radius = np.asarray(q[-7:-4]), 0.2
    x, y = np.meshgrid(*(center[k] + np.linspace(-1, 1, 801) for k in (0, 1)), indexing="ij")
    z = jax.vmap(jax.vmap(contacts.field.elevation))(jnp.asarray(x), jnp.asarray(y))
    distance = np.sqrt((x - center[0]) ** 2 + (y - center[1]) ** 2 + (z - center[2]) ** 2).min()
    assert abs(places.gap[index] - (distance - radius)) < 1e-4


@pytest.mark.parametrize(
    ("name", "planar", "count"),
    [("double-pendulum", True, 1), ("bicycle", True, 2), ("box", False, 8), ("rod", True, 2)],
)
def test_planar_mechanisms_are_recognised(name, planar, count):
    mechanism = stiction.load(name)
    points = {"double-pendulum": ["tip"], "rod": ["end_a", "end_b"]}.get(name)
    contacts = find_contacts(mechanism, points=points)
    assert contacts.planar is planar
    assert contacts.count == count


def test_nothing_to_touch_is_said():
    with pytest.raises(stiction.InputError, match="nothing can touch"):
        find_contacts(stiction.load("mass-spring-friction"))
    with pytest.raises(stiction.InputError, match="no site or geom"):
        find_contacts(stiction.load("box"), points=["lid"])
