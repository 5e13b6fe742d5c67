"""Friction between bodies, spinning and rolling: closed forms."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from stiction.mujoco import RigidLaw
from worlds.drive import FLOOR, G, drive

PLASTIC = RigidLaw(mu_static=0.5)
CUBE = (
    '<body name="{name}" pos="{x} 0 {z}"><freejoint/>'
    '<geom type="box" size="{s} {s} {h}" mass="{m}"/></body>'
)


def cube(name, x, z, s, h, m):
    return CUBE.format(name=name, x=x, z=z, s=s, h=h, m=m)


@pytest.mark.parametrize(("push", "together"), [(0.99, True), (1.01, False)])
def test_a_block_on_a_block_goes_along_until_friction_is_used_up(push, together):
    """Pulled by F on frictionless ground, both go with F / (m₁ + m₂) as long as the upper block
    needs no more than μ g; beyond that it gets μ g, the lower one (F - μ m₂ g) / m₁.
    """
    m1, m2, mu = 2.0, 1.0, 0.3
    F = push * mu * G * (m1 + m2)
    lower = '<body name="low" pos="0 0 .1"><joint type="slide" axis="1 0 0"/>'
    lower += f'<geom type="box" size="1 .5 .1" mass="{m1}"/></body>'
    upper = cube("up", 0, 0.3, 0.1, 0.1, m2)
    motor = f'<actuator><motor joint="j" gear="{F}" ctrllimited="false"/></actuator>'
    lower = lower.replace("<joint ", '<joint name="j" ')
    run = drive(lower + upper, until=0.2, law=RigidLaw(mu_static=mu), extra=motor, ctrl=1.0)
    a1 = a2 = F / (m1 + m2)
    if not together:
        a1, a2 = (F - mu * m2 * G) / m1, mu * G
    np.testing.assert_allclose(run.v[:2], [0.2 * a1, 0.2 * a2], rtol=1e-8)


def test_ten_boxes_stand_on_each_other_and_do_not_creep():
    """Nothing happens in 10 s, and all that moves is the rounding of places."""
    boxes = "".join(cube(f"b{i}", 0.01 * (i % 3), 0.1 + 0.2 * i, 0.1, 0.1, 1) for i in range(10))
    run = drive(FLOOR + boxes, until=10.0, law=PLASTIC, room=128, max_events=20)
    assert len(run.events()) == 0
    q = run.q.reshape(10, 7)
    assert np.abs(q[:, 2] - (0.1 + 0.2 * np.arange(10))).max() < 1e-13
    assert np.abs(q[:, 0] - 0.01 * (np.arange(10) % 3)).max() < 1e-13
    assert np.abs(run.v).max() < 1e-20


@pytest.mark.parametrize("condim", [4, 6])
def test_a_spinning_ball_stops_as_its_friction_of_spin_says(condim):
    """The torque is that coefficient times the weight: ω falls evenly to zero."""
    mu, spin, r, omega = 0.6, 0.01, 0.1, 5.0
    geom = f'<geom type="sphere" size="{r}" mass="1" condim="{condim}"'
    geom += f' friction="{mu} {spin} .001"/>'
    floor = FLOOR.replace("/>", f' friction="{mu} {spin} .001"/>')
    law = RigidLaw()
    stop = omega * 0.4 * r * r / (spin * G)
    half = drive(
        f'{floor}<body pos="0 0 {r}"><freejoint/>{geom}</body>',
        until=stop / 2, v=[0, 0, 0, 0, 0, omega], law=law,
    )  # fmt: skip
    np.testing.assert_allclose(half.v[5], omega / 2, rtol=1e-8)
    after = drive(
        f'{floor}<body pos="0 0 {r}"><freejoint/>{geom}</body>',
        until=1.5 * stop, v=[0, 0, 0, 0, 0, omega], law=law,
    )  # fmt: skip
    assert np.abs(after.v).max() < 1e-12
    np.testing.assert_allclose(after.events()[-1, 0], stop, rtol=1e-7)


def test_a_rolling_ball_stops_where_its_friction_of_rolling_says():
    """MuJoCo's cone holds sliding and rolling together, (f / μ)² + (M / c)² ≤ N², against the slip
    (u, c ω / μ): the ball creeps a little while it rolls. Two equations, integrated by SciPy.
    """
    r, c, v = 0.1, 0.002, 0.5
    geom = f'<geom type="sphere" size="{r}" mass="1" condim="6" friction="1 .005 {c}"/>'
    floor = FLOOR.replace("/>", f' friction="1 .005 {c}"/>')

    def rate(_, y):
        u, w = y[0] - y[1] * r, c * y[1]
        f, M = -G * np.array([u, w * c]) / np.hypot(u, w)
        return [f, (M - f * r) / (0.4 * r * r), y[0]]

    def stops(_, y):
        return y[0] - 1e-6

    stops.terminal = True
    known = solve_ivp(
        rate, [0, 20], [v, v / r, 0], "Radau", rtol=1e-10, atol=1e-13, max_step=0.01, events=stops
    )
    run = drive(
        f'{floor}<body pos="0 0 {r}"><freejoint/>{geom}</body>',
        until=1.2 * known.t[-1], v=[v, 0, 0, 0, v / r, 0], law=RigidLaw(),
    )  # fmt: skip
    np.testing.assert_allclose(run.q[0], known.y[2, -1], rtol=1e-6)
    assert np.abs(run.v).max() < 1e-10


def test_a_cylinder_rolls_down_a_slope():
    """v̇ = (2/3) g sin α while tan α < 3 μ."""
    tilt = 0.3
    floor = f'<geom type="plane" size="9 9 .1" euler="0 {tilt} 0"/>'
    n = np.array([np.sin(tilt), 0, np.cos(tilt)])
    body = f'<body pos="{0.1 * n[0]} 0 {0.1 * n[2]}" euler="{np.pi / 2} 0 0"><freejoint/>'
    body += '<geom type="cylinder" size=".1 .2" mass="1"/></body>'
    run = drive(floor + body, until=1.0, law=PLASTIC)
    speed = 2 / 3 * G * np.sin(tilt)
    np.testing.assert_allclose(np.linalg.norm(run.v[:3]), speed, rtol=1e-7)


def grip(part, until):
    """A cube between two jaws that press with such a part of what is needed to hold it."""
    mu, m = 0.4, 0.5
    N = part * m * G / (2 * mu)
    jaw = (
        '<body pos="{x} 0 1"><joint name="{n}" type="slide" axis="{a} 0 0"/>'
        '<geom type="box" size=".02 .05 .05" mass="1"/></body>'
    )
    bodies = jaw.format(x=-0.07, n="l", a=1) + jaw.format(x=0.07, n="r", a=-1)
    bodies += '<body pos="0 0 1"><freejoint/>'
    bodies += f'<geom type="box" size=".05 .03 .03" mass="{m}"/></body>'
    motors = f'<actuator><motor joint="l" gear="{N}"/><motor joint="r" gear="{N}"/></actuator>'
    return drive(bodies, until=until, law=RigidLaw(mu_static=mu), extra=motors, ctrl=1.0)


def test_a_cube_is_held_where_friction_just_bears_its_weight():
    """Two jaws press with N each: held as 2 μ N ≥ m g."""
    assert abs(grip(1.001, 0.5).q[4] - 1.0) < 1e-12


@pytest.mark.parametrize("part", [0.9, 0.99, 0.999])
def test_a_cube_that_is_hardly_held_slides_straight_down(part):
    """Forces are shared over the patch: it falls with g - 2 μ N / m. That it turns about one of its
    corners would be consistent too.
    """
    run = grip(part, 0.1)
    np.testing.assert_allclose(run.v[2:5], [0, 0, -0.1 * (1 - part) * G], atol=1e-9)
    assert np.abs(run.v[5:]).max() < 1e-8
    assert np.abs(run.q[6:]).max() < 1e-10
    assert len(run.events()) == 0
