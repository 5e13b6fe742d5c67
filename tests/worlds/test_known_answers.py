"""Worlds of MuJoCo whose motion is known in closed form."""

import numpy as np
import pytest

from worlds.drive import FLOOR, G, drive


def test_dry_friction_of_a_joint_takes_the_same_from_every_swing():
    """Amplitudes fall by 2 F / k each half period, until the spring is weaker than friction."""
    k, load = 100.0, 2.0
    joint = f'<joint type="slide" axis="1 0 0" stiffness="{k}" frictionloss="{load}"/>'
    body = f'<body gravcomp="1">{joint}<geom type="sphere" size=".05" mass="1"/></body>'
    run = drive(body, until=2.0, q=[0.15])
    times = run.events()[:, 0]
    np.testing.assert_allclose(times, np.pi / 10 * np.arange(1, 5), atol=1e-7)
    np.testing.assert_allclose(run.q, [-0.01], atol=1e-8)  # 0.15, -0.11, 0.07, -0.03, -0.01
    assert run.v == 0


def test_a_pendulum_bounces_off_its_limit():
    """The speed at the limit follows from energy; it comes back with e times that."""
    hinge = '<joint type="hinge" axis="0 1 0" range="-.5 .5"/>'
    bob = '<geom type="sphere" size="1e-3" pos="0 0 -.5" mass="1"/>'
    run = drive(f"<body>{hinge}{bob}</body>", until=0.3, v=[3.0])
    I = 0.25 + 0.4 * 1e-6
    speed = np.sqrt(9.0 - 2 * G * 0.5 * (1 - np.cos(0.5)) / I)
    (event,) = run.events()
    before, after = event[-2], event[-1]
    np.testing.assert_allclose([before, after], [speed, -0.3 * speed], rtol=1e-7)


def test_a_ball_on_a_box_bounces_when_it_should():
    """A ball falls on a fixed box: times of impact of a bouncing ball."""
    ball = '<body pos="0.1 0 1"><freejoint/><geom type="sphere" size=".1" mass="1"/></body>'
    box = '<geom type="box" size=".3 .3 .2" pos="0 0 .2"/>'
    run = drive(FLOOR + box + ball, until=1.0)
    fall = np.sqrt(2 * 0.5 / G)
    hops = fall * 2 * 0.3 ** np.arange(1, 6)
    np.testing.assert_allclose(run.events()[:6, 0], fall + np.cumsum([0, *hops]), atol=1e-9)
    np.testing.assert_allclose(run.q[:3], [0.1, 0, 0.5], atol=1e-12)


@pytest.mark.parametrize("turn", [0.0, np.pi / 4], ids=["faces", "edges-cross"])
def test_a_box_comes_to_rest_on_another(turn):
    box = '<body pos="0 0 {}" euler="0 0 {}"><freejoint/><geom type="box" size=".1 .1 .1"/></body>'
    run = drive(FLOOR + box.format(0.1, 0) + box.format(0.35, turn), until=2.0)
    np.testing.assert_allclose(run.q[[2, 9]], [0.1, 0.3], atol=1e-12)
    np.testing.assert_allclose(run.v, 0, atol=1e-12)
    assert abs(run.ledger_error()) < 1e-9


def test_two_welded_bodies_move_as_one():
    inertia = '<inertial pos="0 0 0" mass="{}" diaginertia=".01 .02 .03"/>'
    body = '<body name="{}" pos="{} 0 3"><freejoint/>' + inertia + "</body>"
    spin = [0.3, 0, 0, 1.0, 2.0, 3.0]
    start = [*spin, 0.3, 0.4 * 3.0, -0.4 * 2.0, 1.0, 2.0, 3.0]
    weld = '<equality><weld body1="a" body2="b"/></equality>'
    two = drive(body.format("a", 0, 1) + body.format("b", 0.4, 2), until=0.5, v=start, extra=weld)
    # Steiner about the common centre of mass, at x = 0.4 · 2/3.
    I = 2 * np.array([0.01, 0.02, 0.03]) + [0, 1, 1] * np.array(1 * 2 / 3 * 0.4**2)
    one = f'<inertial pos="{0.8 / 3} 0 0" mass="3" diaginertia="{I[0]} {I[1]} {I[2]}"/>'
    whole = drive(f'<body pos="0 0 3"><freejoint/>{one}</body>', until=0.5, v=spin)
    np.testing.assert_allclose(two.q[:7], whole.q, atol=1e-8)
    np.testing.assert_allclose(two.v[:6], whole.v, atol=1e-7)


def test_a_four_bar_stays_closed_and_keeps_its_energy():
    """A parallelogram: both cranks always have the same angle, and the coupler does not turn."""
    bar = (
        '<geom type="capsule" size=".02" fromto="0 0 0 {}" mass=".3" contype="0" conaffinity="0"/>'
    )
    hinge = '<joint type="hinge" axis="0 1 0"/>'
    c = f'<body name="c" pos=".5 0 0">{hinge}{bar.format("0 0 -.3")}</body>'
    b = f'<body pos="0 0 .3">{hinge}{bar.format(".5 0 0")}{c}</body>'
    a = f"<body>{hinge}{bar.format('0 0 .3')}{b}</body>"
    loop = '<equality><connect body1="c" body2="world" anchor="0 0 -.3"/></equality>'
    run = drive(a, until=5.0, v=[1.0, -1.0, 1.0], extra=loop, max_steps=10_000)
    np.testing.assert_allclose(run.q[1:], [-run.q[0], run.q[0]], atol=1e-11)
    assert abs(run.q[0]) > 10  # it goes round
    assert abs(run.ledger_error()) < 1e-7
