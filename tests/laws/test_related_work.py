"""The two laws of marhefka's related work: what their impacts must obey."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from stiction.laws import impact

SERIES = {"surface_stiffness": 4e4, "base_stiffness": 1e4, "damping": 80.0}


@pytest.mark.parametrize("ratio", [0.25, 0.7, 1.0])
def test_two_springs_rebound_with_the_root_of_their_ratio(ratio):
    for mass, speed in ((1.0, 0.3), (40.0, 5.0)):
        course = impact.two_springs_course(mass=mass, stiffness=3e4, ratio=ratio, speed=speed)
        assert_allclose(-course.velocity[-1] / speed, np.sqrt(ratio), rtol=1e-12)
        # Momentum: the force adds up to m (v_i + v_o).
        given = np.trapezoid(course.force, course.time)
        assert_allclose(given, mass * (speed - course.velocity[-1]), rtol=1e-4)
        assert abs(course.force[0]) + abs(course.force[-1]) <= 1e-12 * course.force.max()


@pytest.mark.parametrize("mass", [0.05, 1.0, 60.0])
def test_series_impact_equals_its_integration(mass):
    course = impact.series_course(mass=mass, speed=0.7, **SERIES)
    k_s, k_b, b = SERIES.values()

    def rates(t, y):
        x, v, z = y
        f = k_s * (x - z)
        return [v, -f / mass, (f - k_b * z) / b]

    def parted(t, y):
        return y[0] - y[2] if t > 1e-9 else 1.0

    parted.terminal, parted.direction = True, -1
    by_steps = solve_ivp(rates, (0, 10), [0, 0.7, 0], events=parted, rtol=1e-10, atol=1e-13,
                         max_step=1e-3)  # fmt: skip
    assert_allclose(course.impact.time[-1], by_steps.t[-1], rtol=1e-7)
    ends = [course.impact.depth[-1], course.impact.velocity[-1], course.base[-1]]
    assert_allclose(ends, by_steps.y[:, -1], rtol=1e-6, atol=1e-12)
    assert np.asarray(course.impact.force)[:-1].min() >= -1e-12


def test_series_restitution_depends_on_the_mass_and_not_on_the_speed():
    def e(mass, speed):
        course = impact.series_course(mass=mass, speed=speed, **SERIES).impact
        return float(-course.velocity[-1] / speed)

    assert_allclose(e(1.0, 0.1), e(1.0, 5.0), rtol=1e-10)
    assert abs(e(1.0, 1.0) - e(30.0, 1.0)) > 0.02


def test_a_stiff_surface_on_a_base_alone_is_the_clamped_spring_and_damper():
    """k_s to infinity leaves the linear law, whose force is clamped where it would pull."""
    m, k, b = 2.0, 1e4, 60.0
    course = impact.series_course(
        mass=m, surface_stiffness=1e9, base_stiffness=k, damping=b, speed=1.0
    ).impact
    zeta = impact.damping_ratio(mass=m, stiffness=k, damping=b)
    assert_allclose(-course.velocity[-1], impact.spring_damper_restitution(zeta), rtol=2e-3)
