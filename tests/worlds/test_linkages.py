"""Loops and couplings in closed form: a four-bar, a gear."""

import mujoco
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from worlds.drive import G, drive

HINGE = '<joint type="hinge" axis="0 1 0"/>'
OFF = '<option gravity="0 0 0"/>'


def bar(length, mass):
    """A rod along x from a hinge at its one end; its inertia is that of a line."""
    about = mass * length**2 / 12
    return f'<inertial pos="{length / 2} 0 0" mass="{mass}" diaginertia="1e-6 {about} {about}"/>'


class FourBar:
    """Crank a, coupler b, rocker c, and the ground d between their hinges, in the x-z plane."""

    a, b, c, d = 0.2, 0.5, 0.45, 0.5
    masses = (0.3, 0.7, 0.5)

    def closed(self, crank):
        """Angles of coupler and rocker [Freudenstein's equation], up from x."""
        p = self.a * np.array([np.cos(crank), np.sin(crank)])
        to = np.array([self.d, 0]) - p
        r = np.hypot(*to)
        inner = np.arccos((self.b**2 + r**2 - self.c**2) / (2 * self.b * r))
        coupler = np.arctan2(to[1], to[0]) + inner
        end = p + self.b * np.array([np.cos(coupler), np.sin(coupler)])
        return coupler, np.arctan2(end[1], end[0] - self.d)

    def speeds(self, crank):
        """Of coupler and rocker, over that of the crank: their common end moves along both."""
        coupler, rocker = self.closed(crank)
        return (
            self.a * np.sin(rocker - crank) / (self.b * np.sin(coupler - rocker)),
            self.a * np.sin(crank - coupler) / (self.c * np.sin(rocker - coupler)),
        )

    def inertia(self, crank):
        """½ I(θ) θ̇² is the kinetic energy."""
        coupler, _ = self.closed(crank)
        of_coupler, of_rocker = self.speeds(crank)
        m = self.masses
        middle = self.a * np.array([-np.sin(crank), np.cos(crank)])
        middle = middle + self.b / 2 * of_coupler * np.array([-np.sin(coupler), np.cos(coupler)])
        return (
            m[0] * self.a**2 / 3
            + m[1] * (middle @ middle + self.b**2 / 12 * of_coupler**2)
            + m[2] * self.c**2 / 3 * of_rocker**2
        )

    def text(self, crank):
        """Its bodies: hinges turn about y, so that angles in x-z are their negatives."""
        coupler, rocker = (-np.degrees(x) for x in self.closed(crank))
        start = -np.degrees(crank)
        turn = '<body name="{}" pos="{} 0 0" euler="0 {} 0">'
        arm = turn.format("crank", 0, np.radians(start)) + HINGE + bar(self.a, self.masses[0])
        arm += turn.format("coupler", self.a, np.radians(coupler - start)) + HINGE
        arm += bar(self.b, self.masses[1]) + "</body></body>"
        arm += turn.format("rocker", self.d, np.radians(rocker)) + HINGE
        arm += bar(self.c, self.masses[2]) + "</body>"
        loop = f'<connect body1="coupler" body2="rocker" anchor="{self.b} 0 0"/>'
        return arm, f"<equality>{loop}</equality>"


def test_a_four_bar_moves_as_its_closed_form():
    """Without gravity ½ I(θ) θ̇² stays: the time to an angle is an integral. A crank that goes
    round, a rocker that does not.
    """
    four, begin, speed, until = FourBar(), 0.6, 4.0, 3.0
    arm, loop = four.text(begin)
    of_coupler, of_rocker = four.speeds(begin)
    v = -speed * np.array([1, of_coupler - 1, of_rocker])
    run = drive(arm, until=until, v=v, extra=loop, option=OFF, max_steps=20_000)
    crank = begin - run.q[0]
    assert crank - begin > 2 * np.pi
    momentum = np.sqrt(four.inertia(begin)) * speed

    def time_to(angle):
        time = quad(lambda x: np.sqrt(four.inertia(x)), begin, angle, limit=500, epsabs=1e-12)
        return time[0] / momentum

    np.testing.assert_allclose(time_to(crank), until, atol=1e-7)
    coupler, rocker = four.closed(crank)
    start = four.closed(begin)
    np.testing.assert_allclose(-run.q[2], rocker - start[1], atol=1e-8)
    np.testing.assert_allclose(-(run.q[0] + run.q[1]), coupler - start[0], atol=1e-8)
    rate = momentum / np.sqrt(four.inertia(crank))
    np.testing.assert_allclose(
        -run.v[[0, 2]], rate * np.array([1, four.speeds(crank)[1]]), atol=1e-6
    )


@pytest.mark.parametrize("ratio", [2.0, -0.5])
def test_coupled_joints_move_as_a_gear(ratio):
    """θ₁ = n θ₂: as one wheel with I₁ n² + I₂, whose pendulum falls by its own energy."""
    wheel = '<body name="{0}" pos="0 {1} 0"><joint name="{0}" axis="0 1 0"/>{2}</body>'
    I, m, l = 0.02, 1.5, 0.3
    first = wheel.format("one", 0, f'<inertial pos="0 0 0" mass="1" diaginertia="{I} {I} {I}"/>')
    bob = f'<inertial pos="0 0 {-l}" mass="{m}" diaginertia="1e-4 1e-4 1e-4"/>'
    second = wheel.format("two", 1, bob)
    tie = f'<equality><joint joint1="one" joint2="two" polycoef="0 {ratio} 0 0 0"/></equality>'
    angle, until = 1.0, 0.15
    run = drive(first + second, until=until, q=[ratio * angle, angle], extra=tie)
    whole = I * ratio**2 + 1e-4 + m * l**2

    def time_to(x):
        """From rest at `angle`; x = angle - s² takes the root away."""
        fall = 2 * m * G * l / whole

        def rate(s):
            half = s * s / 2
            return 2 * s / np.sqrt(2 * fall * np.sin(angle - half) * np.sin(half))

        return quad(rate, 0, np.sqrt(angle - x), epsabs=1e-13)[0]

    exact = brentq(lambda x: time_to(x) - until, 0.0, angle - 1e-6)
    np.testing.assert_allclose(run.q[1], exact, atol=1e-8)
    np.testing.assert_allclose(
        [run.q[0], run.v[0]], ratio * np.array([run.q[1], run.v[1]]), atol=1e-12
    )


def test_the_model_of_the_four_bar_begins_closed():
    arm, loop = FourBar().text(0.6)
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><compiler angle="radian"/><worldbody>{arm}</worldbody>{loop}</mujoco>'
    )
    data = mujoco.MjData(model)
    mujoco.mj_fwdPosition(model, data)
    assert np.abs(data.efc_pos).max() < 1e-12
