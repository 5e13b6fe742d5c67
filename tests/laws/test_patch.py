"""A flat patch (flickinger 2.3): limit surface, centre of pressure, bodies that slide and spin."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from stiction.laws.patch import FlatPatch, slide_and_spin

PATCHES = {
    "ring": FlatPatch.ring(0.3),
    "disc": FlatPatch.disc(0.2, 12),
    "rectangle": FlatPatch.rectangle(0.1, 0.25, 12),
}
numbers = st.floats(-1, 1, allow_subnormal=False)


def test_pure_spinning_and_pure_sliding_are_the_known_ones():
    assert_allclose(FlatPatch.ring(0.3).spin_radius(), 0.3, rtol=1e-12)
    assert_allclose(FlatPatch.disc(0.3).spin_radius(), 0.2, rtol=1e-12)  # 2/3 R
    a, b = 0.1, 0.25  # mean distance from the middle of a rectangle
    r = np.hypot(a, b)
    mean = (r + a**2 / (2 * b) * np.log((b + r) / a) + b**2 / (2 * a) * np.log((a + r) / b)) / 3
    assert_allclose(FlatPatch.rectangle(a, b, 60).spin_radius(), mean, rtol=1e-4)
    for patch in PATCHES.values():
        slides = np.asarray(patch.friction(jnp.array([0.6, -0.8, 0.0]), 5.0))
        assert_allclose(slides, [-3, 4, 0], atol=1e-12)


@pytest.mark.parametrize("patch", PATCHES.values(), ids=PATCHES)
@given(xi=st.tuples(numbers, numbers, numbers), other=st.tuples(numbers, numbers, numbers))
@settings(max_examples=25)
def test_no_wrench_of_the_surface_takes_more_than_the_one_of_its_twist(patch, xi, other):
    xi, other = np.array(xi), np.array(other)
    if min(np.linalg.norm(xi), np.linalg.norm(other)) < 1e-3:
        return
    mine, its = (np.asarray(patch.friction(jnp.asarray(x))) for x in (xi, other))
    assert mine @ xi <= its @ xi + 1e-12
    assert_allclose(-mine @ xi, patch.power(jnp.asarray(xi)), rtol=1e-9)


@pytest.mark.parametrize("patch", PATCHES.values(), ids=PATCHES)
def test_wrenches_of_sliding_are_on_the_surface_and_parts_of_them_inside(patch, rng):
    for _ in range(6):
        xi = rng.normal(size=3) * [1, 1, 1 / 0.2]
        wrench = np.asarray(patch.friction(jnp.asarray(xi), 7.0))
        assert_allclose(patch.used(wrench, 7.0), 1.0, rtol=2e-3)
        assert_allclose(patch.used(0.4 * wrench, 7.0), 0.4, rtol=2e-3)


def test_an_evenly_pressed_disc_is_nearly_the_ellipsoid_of_planners():
    patch, worst = FlatPatch.disc(0.1), 0.0
    for ratio in np.linspace(0.1, 3, 12):
        wrench = np.asarray(patch.friction(jnp.array([ratio * 0.1, 0.0, 1.0])))
        worst = max(worst, abs(patch.ellipsoid(wrench) - 1))
    assert 0.005 < worst < 0.07


@pytest.mark.parametrize(("kind", "ratio"), [("disc", 0.653), ("ring", 1.0)])
def test_sliding_and_spinning_end_together_at_the_known_ratio(kind, ratio):
    """[Farkas2003]: v / (R ω) of a disc tends to 0.653, whatever it begins with; of a ring to 1."""
    R = 0.1
    patch = FlatPatch.disc(R, 16) if kind == "disc" else FlatPatch.ring(R, 256)
    gyration = R / np.sqrt(2) if kind == "disc" else R
    for velocity, spin in ((0.5, 2.0), (0.2, 9.0)):
        end = slide_and_spin(
            patch,
            gyration=gyration,
            deceleration=2.0,
            velocity=np.array([velocity, 0.0]),
            spin=spin,
        )
        v, w = np.linalg.norm(end.velocity, axis=1), np.asarray(end.spin)
        near = np.argmin(np.abs(np.log(v + R * w) - np.log(1e-4 * (velocity + R * spin))))
        assert_allclose(v[near] / (R * w[near]), ratio, rtol=0.02)
        assert v[-1] + R * w[-1] < 1e-6


def test_spin_lets_a_body_slide_farther():
    patch = FlatPatch.disc(0.1, 12)
    paths = []
    for spin in (0.0, 20.0):
        end = slide_and_spin(
            patch, gyration=0.07, deceleration=2.0, velocity=np.array([0.5, 0.0]), spin=spin
        )
        paths.append(np.trapezoid(np.linalg.norm(end.velocity, axis=1), end.time))
    assert_allclose(paths[0], 0.5**2 / (2 * 2.0), rtol=2e-2)
    assert paths[1] > 1.2 * paths[0]


def test_centre_of_pressure_bounds_the_moments_that_a_patch_carries():
    patch = FlatPatch.rectangle(0.1, 0.2)
    # A weight of 10 N at x = 0.07: moment about y is -x f_n.
    assert_allclose(patch.margin(np.array([0.0, -0.7]), 10.0), 0.03, rtol=1e-12)
    assert patch.margin(np.array([0.0, -1.2]), 10.0) < 0
    for center in ((0.02, 0.0), (0.07, -0.1)):
        pressed = patch.pressed(np.array(center))
        assert_allclose(pressed.share @ pressed.points, center, atol=1e-9)
        assert float(pressed.share.min()) >= 0
        assert_allclose(float(pressed.share.sum()), 1.0)
    # Pressed near an edge it holds less torque: its points are nearer to each other.
    assert patch.pressed(np.array([0.08, 0.0])).share @ patch.points[:, 0] > 0.07
