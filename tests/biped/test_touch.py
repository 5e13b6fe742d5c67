"""Which points touch: belts, levels, tolerances; and the smooth transition between feet."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from stiction.biped.grf.touch import Ground, touching
from stiction.biped.grf.transition import fade, inside_cones, smooth_transition
from stiction.tables import intervals

UP = np.array([0.0, 0.0, 1.0])
TIME = np.arange(400) / 100


def walking_point(belt=0.0, level=0.0, stance=0.6, period=1.0):
    """A point that rests on a belt, then swings back to where it was."""
    phase = (TIME % period) / period
    swing = np.clip((phase - stance) / (1 - stance), 0, 1)
    back = -belt * stance * period
    x = np.where(
        phase < stance,
        belt * phase * period,
        belt * stance * period + back * (swing - 0.5 * np.sin(2 * np.pi * swing) / np.pi),
    )
    height = level + 0.1 * np.sin(np.pi * swing) ** 2
    position = np.stack([x, 0 * x, height], axis=1)[:, None]
    return position, np.gradient(position, TIME, axis=0), phase < stance


@pytest.mark.parametrize("belt", [0.0, -1.1, 2.5])
@pytest.mark.parametrize("level", [0.0, 0.043, -0.02])
def test_belt_and_level_are_found_from_the_motion(belt, level):
    position, velocity, stance = walking_point(belt, level)
    touch = touching(position, velocity, UP)
    assert_allclose(touch.support_velocity, [belt, 0, 0], atol=0.03)
    assert_allclose(touch.level, level, atol=1e-3)
    inner = stance & np.roll(stance, 3) & np.roll(stance, -3)
    assert (touch.nearness[inner, 0] > 0.9).all()
    high = position[:, 0, 2] > level + 0.05
    assert (touch.nearness[high, 0] == 0).all()


def test_the_ground_may_be_given():
    position, velocity, _ = walking_point(level=0.02)
    touch = touching(position, velocity, UP, Ground(level=0.0))
    assert_allclose(touch.gap.min(), 0.02)


def test_nearness_falls_evenly_to_the_tolerances():
    gap = np.array([-0.01, 0.0, 0.015, 0.03, 0.05])
    position = np.stack([0 * gap, 0 * gap, gap], axis=1)[None].repeat(20, axis=0)
    still = touching(position, 0 * position, UP, Ground(level=0.0))
    assert_allclose(still.nearness[0], [1, 1, 0.5, 0, 0])
    moving = 0 * position
    moving[1, :, 1] = 0.25
    moving[2, :, 1] = 1.0
    slow = touching(position, moving, UP, Ground(level=0.0, speed_tolerance=1.0))
    assert_allclose(slow.nearness[1], [0.75, 0.75, 0.375, 0, 0])
    assert_allclose(slow.nearness[2], 0)


def test_fading_starts_with_all_and_ends_with_nothing():
    """[Ren2008]'s shapes at the two ends of double support, 2 T apart."""
    along, other = fade(np.array([0.0, 0.2]), 0.1)
    assert_allclose(along, [1, 0], atol=1e-12)
    assert_allclose(other, [1, np.exp(-8)], atol=1e-12)


def walk_of_two():
    """Right alone, both, left alone, both, right alone."""
    down = np.ones((100, 2), bool)
    down[:30, 1] = down[45:70, 0] = down[85:, 1] = False
    force = np.tile([5.0, 2.0, 700.0], (100, 1)) + np.arange(100)[:, None]
    return np.arange(100) / 60, force, down


def test_feet_in_transition_add_up_and_do_not_jump():
    time, force, down = walk_of_two()
    shares, assigned = smooth_transition(time, force, down, np.array([1.0, 0, 0]))
    assert assigned.all()
    assert_allclose(shares.sum(axis=1), force, atol=1e-12)
    assert_allclose(shares[~down], 0, atol=0)
    jumps = np.abs(np.diff(shares[:, :, 2], axis=0)).max()
    assert jumps < 0.2 * force[:, 2].max()
    # Half way through double support the leaving foot bears e⁻¹ of what it bore.
    middle = (29 + 45) // 2
    assert_allclose(shares[middle, 0, 2], np.exp(-1) * force[29, 2], rtol=0.1)


def test_double_support_at_the_ends_cannot_be_assigned():
    time, force, down = walk_of_two()
    _, assigned = smooth_transition(time[35:], force[35:], down[35:], np.array([1.0, 0, 0]))
    assert not assigned[:10].any()
    assert assigned[10:].all()


@settings(max_examples=100)
@given(
    st.lists(st.floats(-1, 1), min_size=3, max_size=3),
    st.floats(0.1, 1.0),
    st.floats(0.0, 0.9),
    st.floats(0, 6.28),
)
def test_shares_are_brought_inside_both_cones(share, mu, size, angle):
    force = np.array([[mu * size * np.cos(angle), mu * size * np.sin(angle), 1.0]])
    moved = inside_cones(np.array([share]), force, np.array([mu]))
    for f in (moved[0], (force - moved)[0]):
        assert np.linalg.norm(f[:2]) <= mu * f[2] + 1e-9


def test_shares_that_are_inside_stay():
    force = np.array([[0.1, 0.0, 1.0]])
    share = np.array([[0.02, 0.01, 0.4]])
    assert_allclose(inside_cones(share, force, np.array([0.8])), share, atol=0)


@given(st.lists(st.booleans(), max_size=30))
def test_intervals_cover_what_holds_and_are_apart(holds):
    holds = np.array(holds, bool)
    found, covered = intervals(holds), np.zeros(len(holds), bool)
    for first, after in found:
        assert first < after
        covered[first:after] = True
    assert (covered == holds).all()
    assert all(after < first for (_, after), (first, _) in itertools.pairwise(found))
