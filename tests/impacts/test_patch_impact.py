"""An impact of a flat patch (flickinger 2.3): momentum; what tells slipping and tipping apart."""

import numpy as np
from numpy.testing import assert_allclose

from stiction.impacts.patch import patch_impact
from stiction.laws.patch import FlatPatch

MASS, HEIGHT = 3.0, 0.2  # centre of mass above the patch
INERTIA = np.diag([0.03, 0.05, 0.04])
PATCH = FlatPatch.rectangle(0.1, 0.15)


def _rows():
    """Velocity of the patch's middle and spin, from (v, ω) of the centre of mass."""
    arm = np.array([0, 0, -HEIGHT])
    cross = np.array([[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]], [-arm[1], arm[0], 0]])
    return np.block([[np.eye(3), -cross], [np.zeros((3, 3)), np.eye(3)]])


def _impact(body_velocity, mu=0.5, e=0.0):
    J, A = _rows(), np.zeros((6, 6))
    A[:3, :3], A[3:, 3:] = MASS * np.eye(3), INERTIA
    W = J @ np.linalg.solve(A, J.T)
    u = J @ body_velocity
    found = patch_impact(W, u, PATCH, mu=mu, restitution=e)
    after = body_velocity + np.linalg.solve(A, J.T @ [*found.impulse, *found.moment])
    return found, after


def test_a_straight_fall_needs_no_moment_and_rebounds():
    found, after = _impact(np.array([0, 0, -2.0, 0, 0, 0]), e=0.5)
    assert found.verdict == "sticks"
    assert_allclose(found.impulse, [0, 0, MASS * 3.0], atol=1e-12)
    assert_allclose(found.moment, 0, atol=1e-12)
    assert_allclose(after, [0, 0, 1.0, 0, 0, 0], atol=1e-12)


def test_momentum_about_the_patch_is_what_its_moments_take():
    velocity = np.array([0.2, -0.1, -2.0, 0.3, -0.2, 0.4])
    found, after = _impact(velocity)
    assert_allclose(_rows() @ after, 0, atol=1e-12)  # flat, sticking, no rebound
    assert_allclose(found.impulse, MASS * (after - velocity)[:3], atol=1e-12)
    assert_allclose(found.moment[2], INERTIA[2, 2] * (after - velocity)[5], atol=1e-12)


def test_a_fast_slide_slides_a_fast_spin_slides_and_a_fast_tilt_tips():
    assert _impact(np.array([0.3, 0, -2.0, 0, 0, 0]))[0].verdict == "sticks"
    assert _impact(np.array([3.0, 0, -2.0, 0, 0, 0]), mu=5.0)[0].verdict == "tips"
    assert _impact(np.array([0.3, 0, -2.0, 0, 0, 0]), mu=0.1)[0].verdict == "slides"
    spins = [_impact(np.array([0, 0, -2.0, 0, 0, w]))[0] for w in (5.0, 50.0)]
    assert [s.verdict for s in spins] == ["sticks", "slides"]
    # The torque that friction can bear is μ p_n times the patch's spin radius.
    p_n = spins[0].impulse[2]
    assert_allclose(spins[0].friction_used, INERTIA[2, 2] * 5 / (0.5 * p_n * PATCH.spin_radius()),
                    rtol=1e-3)  # fmt: skip
    assert _impact(np.array([0, 0, -0.2, 0, 40.0, 0]), mu=10.0)[0].verdict == "tips"
    assert _impact(np.array([0, 0, 1.0, 0, 0, 0]))[0].verdict == "parts"
