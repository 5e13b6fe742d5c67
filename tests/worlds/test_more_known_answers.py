"""Shapes of MuJoCo's on each other, in closed form."""

import numpy as np
import pytest
from scipy.optimize import brentq

from stiction.mujoco import RigidLaw
from worlds.drive import FLOOR, G, drive


def test_a_ball_rolls_down_a_groove():
    """Its axis goes through both contacts, r/√2 below its centre: v̇ = g sin α / (1 + 0.4 · 2)."""
    r, tilt = 0.1, 0.2
    wall = '<geom type="plane" size="9 9 .1" euler="{} 0 0"/>'
    walls = wall.format(np.pi / 4) + wall.format(-np.pi / 4)
    ball = f'<body pos="0 0 {r * np.sqrt(2)}"><freejoint/>'
    ball += f'<geom type="sphere" size="{r}" mass="1"/></body>'
    gravity = f'<option gravity="{G * np.sin(tilt)} 0 {-G * np.cos(tilt)}"/>'
    run = drive(walls + ball, until=0.5, law=RigidLaw(mu_static=0.6), option=gravity)
    speed = 0.5 * G * np.sin(tilt) / 1.8
    np.testing.assert_allclose(run.v[[0, 4]], [speed, speed * np.sqrt(2) / r], rtol=1e-8)
    np.testing.assert_allclose(run.q[1:3], [0, r * np.sqrt(2)], atol=1e-9)


@pytest.mark.parametrize(("part", "stays"), [(1.01, True), (0.99, False)])
def test_a_ladder_stays_where_both_of_its_ends_hold(part, stays):
    """Both ends at their limit: N₁ = m g / (1 + μ²), N₂ = μ N₁. Moments about the lower end give
    the least μ; the ends of the ladder are round.
    """
    length, r, angle = 2.0, 0.02, 1.0
    c, s = length * np.cos(angle), length * np.sin(angle)

    def moment(mu):
        return r * mu + mu * s + mu * mu * (c + r) - (1 + mu * mu) * c / 2

    mu = part * brentq(moment, 0.01, 2.0)
    wall = f'<geom type="plane" size="5 5 .1" pos="{c + r} 0 0" euler="0 {-np.pi / 2} 0"/>'
    ends = f"{-c / 2} 0 {-s / 2} {c / 2} 0 {s / 2}"
    ladder = f'<body pos="{c / 2} 0 {s / 2 + r}"><joint type="slide" axis="1 0 0"/>'
    ladder += '<joint type="slide" axis="0 0 1"/><joint type="hinge" axis="0 1 0"/>'
    ladder += f'<geom type="capsule" size="{r}" fromto="{ends}" mass="3"/></body>'
    run = drive(FLOOR + wall + ladder, until=0.3, law=RigidLaw(mu_static=mu))
    if stays:
        assert np.abs(run.q).max() < 1e-12
    else:
        assert run.q[1] < -1e-4  # it slides down
        assert abs(run.ledger_error()) < 1e-9


def test_a_convex_mesh_moves_as_the_box_it_is_made_of():
    corners = " ".join(
        f"{x} {y} {z}" for x in (-0.1, 0.1) for y in (-0.2, 0.2) for z in (-0.3, 0.3)
    )
    mesh = f'<asset><mesh name="m" vertex="{corners}"/></asset>'
    body = '<body pos="0 0 .5" euler=".3 .2 .1"><freejoint/><inertial pos="0 0 0" mass="2"'
    body += ' diaginertia=".09 .07 .03"/><geom {}/></body>'
    law = RigidLaw(restitution=0.5, mu_static=0.4)
    box = drive(FLOOR + body.format('type="box" size=".1 .2 .3"'), until=0.5, law=law)
    same = drive(FLOOR + body.format('type="mesh" mesh="m"'), until=0.5, law=law, extra=mesh)
    assert len(box.events()) > 2
    np.testing.assert_allclose(same.events()[:, 0], box.events()[:, 0], atol=1e-8)
    np.testing.assert_allclose(same.q, box.q, atol=1e-6)


def test_an_ellipsoid_falls_on_another():
    """On its top, along the common axis: at z = c₁ + c₂."""
    fixed = '<geom type="ellipsoid" size=".1 .2 .05"/>'
    body = (
        '<body pos="0 0 .5"><freejoint/><geom type="ellipsoid" size=".2 .1 .07" mass="1"/></body>'
    )
    run = drive(fixed + body, until=0.4, law=RigidLaw(restitution=0.5, mu_static=0.4))
    fall = np.sqrt(2 * 0.38 / G)
    np.testing.assert_allclose(run.events()[0, 0], fall, atol=1e-8)
    np.testing.assert_allclose(run.v[2], 0.5 * G * fall - G * (0.4 - fall), rtol=1e-6)


@pytest.mark.parametrize("shape", ['type="sphere" size=".1"', 'type="box" size=".1 .1 .1"'])
def test_a_cradle_hands_the_speed_on(shape):
    """One collision after the other: the last leaves with the speed of the first."""
    body = '<body pos="{} 0 0"><joint type="slide" axis="1 0 0"/><geom {} mass="1"/></body>'
    row = "".join(body.format(x, shape) for x in (-0.1, 0.2, 0.4, 0.6, 0.8))
    law = RigidLaw(restitution=1.0, mu_static=0.0, impact="newton")
    gravity = '<option gravity="0 0 0"/>'
    run = drive(row, until=0.3, v=[1, 0, 0, 0, 0], law=law, option=gravity)
    np.testing.assert_allclose(run.v, [0, 0, 0, 0, 1], atol=1e-12)


def test_a_standing_cylinder_stops_spinning_as_the_pressure_on_its_rim_says():
    """All its load is on points of the rim: ω falls by μ m g R / (½ m R²)."""
    R, mu, omega = 0.1, 0.3, 5.0
    body = f'<body pos="0 0 .05"><freejoint/><geom type="cylinder" size="{R} .05" mass="1"/></body>'
    stop = omega * R / (2 * mu * G)
    law = RigidLaw(mu_static=mu)
    half = drive(FLOOR + body, until=stop / 2, v=[0, 0, 0, 0, 0, omega], law=law)
    np.testing.assert_allclose(half.v[5], omega / 2, rtol=1e-7)
    after = drive(FLOOR + body, until=1.2 * stop, v=[0, 0, 0, 0, 0, omega], law=law)
    assert np.abs(after.v).max() < 1e-9
