"""Ellipsoids and cylinders on everything: distances are MuJoCo's, motions those of equal shapes."""

import itertools

import mujoco
import numpy as np
import pytest

from stiction.mujoco import Driver, RigidLaw
from worlds.drive import FLOOR, G, drive, make

SHAPES = {
    "sphere": 'type="sphere" size=".06"',
    "capsule": 'type="capsule" size=".03 .08"',
    "box": 'type="box" size=".05 .08 .03"',
    "cylinder": 'type="cylinder" size=".06 .05"',
    "ellipsoid": 'type="ellipsoid" size=".05 .09 .03"',
    "mesh": 'type="mesh" mesh="m"',
}
CURVED = ("cylinder", "ellipsoid")
COUPLES = [
    (a, b) for a, b in itertools.combinations_with_replacement(SHAPES, 2) if {a, b} & set(CURVED)
]
MESH = (
    '<asset><mesh name="m" vertex=".06 0 0 -.05 .01 0 0 .07 0 .01 -.06 .02 0 .01 .05 0 0 -.04"/>'
    "</asset>"
)
WEIGHTLESS = '<option gravity="0 0 0"/>'


@pytest.mark.parametrize(("one", "two"), COUPLES)
def test_gaps_are_the_distances_that_mujoco_finds(one, two):
    """At random poses, half a millimetre apart; its search is told to be exact."""
    bodies = "".join(f"<body><freejoint/><geom {SHAPES[s]}/></body>" for s in (one, two))
    model = make(bodies, extra=MESH, option=WEIGHTLESS)
    model.opt.ccd_tolerance, model.opt.ccd_iterations = 1e-12, 500
    rng = np.random.default_rng(0)
    for _ in range(12):
        data = mujoco.MjData(model)
        data.qpos[:3] = 0.3 * (direction := rng.normal(size=3)) / np.linalg.norm(direction)
        for at in (3, 10):
            data.qpos[at : at + 4] = rng.normal(size=4)
        mujoco.mj_normalizeQuat(model, data.qpos)
        distance, ends = 1.0, np.zeros(6)
        for _ in range(50):
            mujoco.mj_kinematics(model, data)
            distance = mujoco.mj_geomDistance(model, data, 0, 1, 1.0, ends)
            if abs(distance - 5e-4) < 1e-4:
                break
            along = (ends[3:] - ends[:3]) / distance
            data.qpos[:3] += (distance - 5e-4) * along
        assert abs(distance - 5e-4) < 1e-4
        data.qvel[:] = rng.normal(size=12)
        driver = Driver(model, data, until=1e-9)
        driver.go()
        M = driver.machine
        gaps = driver.x[M.c.gap : M.c.gap + M.pairs.count]
        there = M.pairs.kind.numpy() != int(driver.design.core.contacts.NOTHING)
        np.testing.assert_allclose(gaps[there].min(), distance, atol=2e-7)


@pytest.mark.parametrize(
    "on",
    [
        'type="sphere" size=".1"',
        'type="capsule" size=".05 .2" euler="1.2 0.3 0"',
        'type="box" size=".1 .1 .1" euler=".7 .4 .2"',
        'type="cylinder" size=".1 .05"',
        'type="cylinder" size=".1 .1" euler="1.2 .3 0"',
        'type="mesh" mesh="m"',
    ],
    ids=["sphere", "capsule", "box", "rim", "cylinder", "mesh"],
)
def test_an_ellipsoid_with_equal_axes_is_a_ball(on):
    """It falls on something, bounces, and rolls off: events and motion are those of a ball."""
    fixed = f"<geom {on}/>"
    body = '<body pos=".03 .02 .25"><freejoint/><geom type="{}" size="{}" mass="1"/></body>'
    law = RigidLaw(restitution=0.4, mu_static=0.5)
    spin = [0.2, 0.1, 0, 3.0, 2.0, 1.0]
    ball = drive(fixed + body.format("sphere", ".05"), until=0.5, v=spin, law=law, extra=MESH)
    same = drive(
        fixed + body.format("ellipsoid", ".05 .05 .05"), until=0.5, v=spin, law=law, extra=MESH
    )
    assert len(ball.events()) > 0
    np.testing.assert_allclose(same.events()[:, 0], ball.events()[:, 0], atol=1e-7)
    np.testing.assert_allclose(same.q, ball.q, atol=1e-6)
    np.testing.assert_allclose(same.v, ball.v, atol=1e-6)


def test_a_cylinder_rolls_down_a_tilted_box():
    """On its rims, which lie on a face: a = ⅔ g sin α."""
    tilt = 0.2
    slope = '<geom type="box" size="3 .5 .1" pos="0 0 -.1"/>'
    body = (
        f'<body pos="0 0 .1"><freejoint/><geom type="cylinder" size=".1 .2" mass="2"'
        f' euler="{np.pi / 2} 0 0"/></body>'
    )
    gravity = f'<option gravity="{G * np.sin(tilt)} 0 {-G * np.cos(tilt)}"/>'
    run = drive(slope + body, until=0.5, law=RigidLaw(mu_static=0.5), option=gravity)
    speed = 2 / 3 * G * np.sin(tilt) * 0.5
    np.testing.assert_allclose(run.v[[0, 4]], [speed, speed / 0.1], rtol=1e-8)
    np.testing.assert_allclose(run.q[2], 0.1, atol=1e-9)


def test_a_cylinder_rolls_between_two_that_lie():
    """Three parallel cylinders: the upper one lies in the gap of the lower, on lines."""
    lying = '<geom type="cylinder" size=".1 .3" pos="{} 0 .1" euler="1.5707963267948966 0 0"/>'
    upper = (
        '<body pos="0 0 .35"><freejoint/><geom type="cylinder" size=".1 .2" mass="1"'
        ' euler="1.5707963267948966 0 0"/></body>'
    )
    run = drive(
        FLOOR + lying.format(-0.12) + lying.format(0.12) + upper,
        until=1.0,
        law=RigidLaw(mu_static=0.5),
    )
    np.testing.assert_allclose(run.q[2], 0.1 + np.sqrt(0.2**2 - 0.12**2), atol=1e-9)
    np.testing.assert_allclose(run.v, 0, atol=1e-9)


@pytest.mark.parametrize("rail", ["capsule", "box"])
def test_a_cylinder_stands_with_its_end_on_two_rails(rail):
    """Its rim crosses each of them twice: it bounces, comes to rest flat, and they bear it."""
    size = {"capsule": ".02 .5", "box": ".02 .5 .02"}[rail]
    turn = {"capsule": 'euler="1.5707963267948966 0 0"', "box": ""}[rail]
    rails = "".join(
        f'<geom type="{rail}" size="{size}" pos="{x} 0 .3" {turn}/>' for x in (-0.06, 0.05)
    )
    body = (
        '<body pos="0 0 .5" euler=".1 .05 0"><freejoint/>'
        '<geom type="cylinder" size=".1 .05" mass="2"/></body>'
    )
    run = drive(rails + body, until=3.0, law=RigidLaw(restitution=0.2, mu_static=0.5))
    np.testing.assert_allclose(run.q[2], 0.37, atol=1e-8)
    np.testing.assert_allclose(run.q[4:6], 0, atol=1e-7)
    np.testing.assert_allclose(run.v, 0, atol=1e-7)
    assert abs(run.ledger_error()) < 1e-6 * 2 * G * 0.13


@pytest.mark.parametrize(("inside", "stays"), [(0.004, True), (-0.004, False)])
def test_a_cylinder_on_an_edge_stands_as_long_as_its_middle_is_over_the_face(inside, stays):
    """The six points of its rim alone would let it tip a centimetre earlier."""
    block = '<geom type="box" size=".2 .2 .1" pos="0 0 .1"/>'
    body = (
        f'<body pos="{0.2 - inside} 0 .25" euler="0 0 .1"><freejoint/>'
        f'<geom type="cylinder" size=".1 .05" mass="2"/></body>'
    )
    run = drive(block + body, until=0.5, law=RigidLaw(mu_static=0.8))
    tilt = 2 * np.hypot(*run.q[4:6])
    assert tilt < 1e-9 if stays else tilt > 0.01
