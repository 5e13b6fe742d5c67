"""The filters: gain, lag, ends, derivatives, and the choice of the cut-off."""

import numpy as np
import pytest
from helpers_biped import WALKS
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.interpolate import CubicSpline, make_interp_spline

from stiction import InputError
from stiction.biped.grf.smoothing import choose_cutoff, derivatives, low_pass, smooth
from stiction.tables import intervals, read_table

FILTERS = ["spline", "butterworth"]
RATE = 100.0
TIME = np.arange(1000) / RATE
MIDDLE = slice(300, -300)


@pytest.mark.parametrize("filter", FILTERS)
@pytest.mark.parametrize("cutoff", [3.0, 6.0, 12.0])
def test_the_gain_at_the_cutoff_is_the_root_of_a_half(filter, cutoff):
    wave = np.sin(2 * np.pi * cutoff * TIME)[:, None]
    passed = low_pass(wave, 1 / RATE, cutoff, filter)[MIDDLE]
    gain = np.abs(passed).max() / np.abs(wave[MIDDLE]).max()
    assert_allclose(gain, np.sqrt(0.5), rtol=2e-3)  # samples do not hit the crests


@pytest.mark.parametrize("filter", FILTERS)
def test_what_is_slow_passes_and_what_is_fast_does_not(filter):
    slow, fast = (np.sin(2 * np.pi * f * TIME)[:, None] for f in (0.5, 40.0))
    assert_allclose(low_pass(slow, 1 / RATE, 6.0, filter)[MIDDLE], slow[MIDDLE], atol=2e-3)
    assert np.abs(low_pass(fast, 1 / RATE, 6.0, filter)[MIDDLE]).max() < 2e-3


@pytest.mark.parametrize("filter", FILTERS)
def test_there_is_no_lag(filter):
    """A symmetric bump stays symmetric about its middle."""
    bump = np.exp(-(((TIME - 5.0) / 0.05) ** 2))[:, None]
    passed = low_pass(bump, 1 / RATE, 5.0, filter)[:, 0]
    assert_allclose(passed[501:900], passed[499:100:-1], atol=1e-10)


@settings(max_examples=20)
@given(st.lists(st.floats(-2, 2), min_size=3, max_size=3), st.floats(2.0, 20.0))
def test_constant_acceleration_passes_unchanged_ends_and_all(coefficients, cutoff):
    """The penalty is on jerk: parabolas have none, so the ends are not pulled to rest."""
    a, b, c = coefficients
    t = TIME[:200]
    motion = smooth(t, (a + b * t + c * t**2)[:, None], cutoff=cutoff)
    assert_allclose(motion.q[:, 0], a + b * t + c * t**2, atol=1e-7)
    assert_allclose(motion.acceleration[:, 0], 2 * c, atol=1e-4)


def test_derivatives_are_those_of_the_positions():
    q = np.stack([np.sin(2 * TIME), np.cos(3 * TIME)], axis=1)
    motion = smooth(TIME, q, filter="none")
    assert_allclose(motion.rate[:, 0], 2 * np.cos(2 * TIME), atol=1e-6)
    assert_allclose(motion.acceleration[:, 1], -9 * np.cos(3 * TIME), atol=1e-4)
    assert np.isinf(motion.cutoff)
    assert not motion.chosen


@pytest.mark.parametrize("rows", [8, 9, 50])
def test_derivatives_are_those_of_scipys_quintic_spline(rows):
    q = np.random.default_rng(0).standard_normal((rows, 2))
    spline = make_interp_spline(TIME[:rows], q, k=5)
    for order, found in enumerate(derivatives(q, 1 / RATE), start=1):
        expected = spline(TIME[:rows], order)
        assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())


def noisy(level, seed=0, columns=8):
    rng = np.random.default_rng(seed)
    phase = rng.uniform(0, 2 * np.pi, (columns, 6))
    gait = sum(
        0.5 / k**2 * np.sin(2 * np.pi * k * TIME[:, None] + phase[:, k]) for k in range(1, 6)
    )
    return gait, gait + level * rng.standard_normal(gait.shape)


def coloured(rng, shape, rate, slope):
    """Noise whose power falls with frequency by a power, of unit level at half the rate."""
    spectrum = np.fft.rfft(rng.standard_normal(shape), axis=0)
    f = np.fft.rfftfreq(shape[0], 1 / rate)
    spectrum[1:] *= (f[1:, None] / (rate / 2)) ** (-slope / 2)
    spectrum[0] = 0
    return np.fft.irfft(spectrum, shape[0], axis=0)


def test_more_noise_means_a_lower_cutoff():
    cutoffs = [choose_cutoff(noisy(level)[1], 1 / RATE) for level in (1e-3, 1e-2, 1e-1)]
    assert cutoffs[0] > cutoffs[1] > cutoffs[2]


@pytest.mark.parametrize("rate", [60, 100, 250, 1000])
@pytest.mark.parametrize("level", [1e-4, 1e-3, 3e-3])
@pytest.mark.parametrize("slope", [0.0, 1.2])
def test_a_known_signal_in_known_noise_is_cut_near_its_optimum(rate, level, slope):
    """Eleven harmonics in three columns, over 2.5 s: white noise, and noise that falls with
    frequency as that of a centre of mass does. Median of five drawings; 1.11 was reached.
    """
    rng = np.random.default_rng(1)
    t = np.arange(int(2.5 * rate)) / rate
    ratios = []
    for _ in range(5):
        phase = rng.uniform(0, 2 * np.pi, (3, 12))
        clean = sum(
            0.5 / k**2 * np.sin(2 * np.pi * k * t[:, None] + phase[:, k]) for k in range(1, 12)
        )
        dirty = clean + level * coloured(rng, clean.shape, rate, slope)
        ratios.append(times_the_least_error(dirty, clean, rate))
    assert np.median(ratios) < 1.2, ratios


def times_the_least_error(dirty, clean, rate):
    """Error of the accelerations at the chosen cut-off, by the least that any cut-off reaches.

    Away from the ends, which are marked: there all filters err in other ways.
    """
    tried, inner = np.geomspace(1, 0.45 * rate, 50), slice(rate // 10, -rate // 10)

    def error(cutoff):
        apart = low_pass(dirty, 1 / rate, cutoff, "spline") - clean
        return np.sqrt(np.mean(np.diff(apart, 2, axis=0)[inner] ** 2))

    chosen = min(choose_cutoff(dirty, 1 / rate), tried[-1])
    return error(chosen) / min(error(c) for c in tried)


@pytest.mark.parametrize("fast", [15.0, 22.0, 40.0])
@pytest.mark.parametrize("level", [1e-5, 1e-4, 1e-3])
def test_fast_motion_in_noise_is_cut_near_its_optimum(fast, level):
    """Two lines far from each other, at 1 kHz over 2 s; 1.09 was reached, as a median of five."""
    t = np.arange(2000)[:, None] / 1000
    clean = 0.1 * np.sin(2 * np.pi * 2 * t) + 0.01 * np.sin(2 * np.pi * fast * t)
    rng = np.random.default_rng(2)
    ratios = [
        times_the_least_error(clean + level * rng.standard_normal(clean.shape), clean, 1000)
        for _ in range(5)
    ]
    assert np.median(ratios) < 1.2, ratios


@pytest.mark.shared
@pytest.mark.parametrize(
    ("walk", "left", "right", "bound"),
    [
        ("walk23", "l_ground_force_v", "ground_force_v", 1.1),  # 15 s; 1.01 was reached
        ("rajagopal", "ground_force_l_v", "ground_force_r_v", 1.25),  # 1.8 s; 1.15 was reached
    ],
)
def test_paths_whose_forces_were_measured_are_cut_near_their_optimum(
    shared_data, walk, left, right, bound
):
    """The centre of mass as force plates say it moves, with noise of three sizes and two slopes.

    Median over three rates. Judged by its ends too, which begin and end within a push, the short
    record is cut too high: 1.37.
    """
    plates = read_table(shared_data / WALKS[walk]["plates"]).by_time()
    feet = [np.stack([plates.column(c + a) for a in "xyz"], axis=1) for c in (left, right)]
    push = np.nan_to_num(feet[0]) + np.nan_to_num(feet[1])
    first, after = max(intervals(push[:, 1] > 220), key=np.ptp)
    fine, push = plates.time[first:after] - plates.time[first], push[first:after]
    push = 9.81 * (push - push.mean(axis=0)) / push[:, 1].mean()
    push = low_pass(push, fine[1] - fine[0], 60.0, "spline")
    rng, ratios = np.random.default_rng(7), []
    for rate in (60, 100, 200):
        clean = CubicSpline(fine, push).antiderivative(2)(np.arange(0, fine[-1], 1 / rate))
        for level in (1e-5, 1e-4, 1e-3):
            for slope in (0.0, 0.0, 0.0, 1.2, 1.2, 1.2):
                dirty = clean + level * coloured(rng, clean.shape, rate, slope)
                ratios.append(times_the_least_error(dirty, clean, rate))
    assert np.median(ratios) < bound, np.quantile(ratios, [0.1, 0.5, 0.9, 1.0])


@pytest.mark.parametrize("fast", [15.0, 18.0, 22.0, 40.0])
def test_fast_clean_motion_is_left_alone(fast):
    t = np.arange(2000) / 1000
    q = 0.1 * np.sin(2 * np.pi * 2 * t) + 0.01 * np.sin(2 * np.pi * fast * t)
    assert np.isinf(choose_cutoff(q[:, None], 1e-3))


@pytest.mark.parametrize("filter", FILTERS)
def test_frames_near_the_ends_are_marked_where_accelerations_are_worse(filter):
    """Inside the marks the error of the acceleration is that of the middle, to half as much again.

    A constant acceleration in noise, many drawings.
    """
    rng = np.random.default_rng(0)
    t = TIME[:200]
    q = (5 * t**2)[:, None] + 1e-3 * rng.standard_normal((200, 400))
    motion = smooth(t, q, cutoff=6.0, filter=filter)
    error = np.sqrt(np.mean((motion.acceleration - 10.0) ** 2, axis=1))
    middle = np.median(error)
    assert error[motion.settled].max() < 2.5 * middle
    assert error[~motion.settled].max() > 2 * middle
    assert 0 < (~motion.settled).sum() < 20


def test_what_is_smooth_already_is_left_alone():
    assert np.isinf(choose_cutoff(noisy(0.0)[0], 1 / RATE))
    assert np.isinf(choose_cutoff(np.ones((50, 3)), 1 / RATE))


@pytest.mark.parametrize("cutoff", [0.0, -3.0, 50.0, 80.0, float("nan")])
def test_impossible_cutoffs_are_refused(cutoff):
    with pytest.raises(InputError, match="cutoff"):
        smooth(TIME, np.ones((1000, 1)), cutoff=cutoff)


def test_unknown_filters_and_short_records_are_refused():
    with pytest.raises(InputError, match="no filter 'kalman'"):
        smooth(TIME, np.ones((1000, 1)), filter="kalman")
    with pytest.raises(InputError, match="at least 8 rows"):
        smooth(TIME[:5], np.ones((5, 1)))
