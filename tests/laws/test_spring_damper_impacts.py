"""The linear spring and damper: its restitution in closed form, clamped and not."""

import jax
import numpy as np
import pytest
from laws_under_test import assert_derivatives_match_differences, integrated
from numpy.testing import assert_allclose

from stiction.laws import LinearSpringDamper, impact


def test_clamped_restitution_equals_integrated_below_at_and_above_critical_damping():
    k, m, v = 3.0, 2.0, 1.3
    for zeta in (0.01, 0.3, 0.79, 0.81, 1.0, 1.19, 1.21, 4.0):  # around the series' switches
        law = LinearSpringDamper(stiffness=k, damping=2 * zeta * np.sqrt(k * m))
        exact = impact.spring_damper_restitution(zeta)
        assert_allclose(integrated(law, m, v).rebound_speed / v, exact, rtol=1e-8)


@pytest.mark.parametrize("zeta", [0.05, 0.6])
def test_unclamped_restitution_is_equation_4(zeta):
    """marhefka (4): e = exp(-b π / sqrt(4 m k - b²)), with the pull before separation."""
    m, k = 2.0, 3.0
    b = 2 * zeta * np.sqrt(k * m)
    equation_4 = np.exp(-b * np.pi / np.sqrt(4 * m * k - b**2))
    assert_allclose(impact.spring_damper_restitution(zeta, clamp=False), equation_4, rtol=1e-14)
    law = LinearSpringDamper(stiffness=k, damping=b, clamp=False)
    assert_allclose(integrated(law, m, 1.3).rebound_speed / 1.3, equation_4, rtol=1e-8)


def test_restitution_depends_on_mass_and_not_on_speed():
    """The third fault of marhefka Sec. 2."""
    law = LinearSpringDamper(stiffness=3.0, damping=1.0)
    e = [
        float(integrated(law, m, v).rebound_speed) / v
        for m, v in ((1.0, 0.1), (1.0, 5.0), (9.0, 0.1))
    ]
    assert_allclose(e[0], e[1], rtol=1e-8)
    assert e[2] > 1.2 * e[0]


def test_critical_damping_and_limits():
    e = impact.spring_damper_restitution
    assert_allclose(e(1.0), np.exp(-2), rtol=1e-15)
    assert float(e(0.0)) == 1.0
    assert float(e(1.0, clamp=False)) == 0.0
    assert_allclose(e(1e4), 1 / (4 * 1e8), rtol=1e-6)  # 2 ζ arcosh ζ / sqrt(ζ²-1) -> 2 ln 2ζ


@pytest.mark.parametrize("clamp", [True, False])
def test_damping_ratio_is_the_exact_inverse(clamp):
    e = np.concatenate([np.logspace(-8, -0.01, 60), 1 - np.logspace(-9, -1, 20), [np.exp(-2)]])
    zeta = jax.vmap(lambda x: impact.damping_ratio_for_restitution(x, clamp=clamp))(e)
    back = jax.vmap(lambda z: impact.spring_damper_restitution(z, clamp=clamp))(zeta)
    # Unclamped, ln e = π ζ/sqrt(1-ζ²) magnifies a rounding of ζ near 1 by ln³e.
    assert_allclose(back, e, rtol=1e-14 if clamp else 1e-12)


def test_peak_depth_equals_integrated():
    m, k, b, v = 2.0, 3.0, 1.5, 1.3
    law = LinearSpringDamper(stiffness=k, damping=b)
    T = integrated(law, m, v).duration
    course = impact.impact_course(law, mass=m, speed=v, duration=T, samples=20001)
    exact = impact.spring_damper_peak_depth(speed=v, mass=m, stiffness=k, damping=b)
    assert_allclose(np.max(course.depth), exact, rtol=1e-7)  # samples straddle the peak


@pytest.mark.parametrize("zeta", [0.3, 1.0, 2.0])
def test_derivatives(zeta):
    assert_derivatives_match_differences(impact.spring_damper_restitution, zeta)
    e = float(impact.spring_damper_restitution(zeta))
    # The curvature grows as 1/e³; a step of 1e-6 is small enough at e = 0.07.
    assert_derivatives_match_differences(
        impact.damping_ratio_for_restitution, e, second=False, h=1e-6
    )
