r"""Positions, velocities and accelerations from sampled coordinates.

Differentiating twice multiplies noise by frequency squared, so samples are low-passed first. Three
filters, all without lag:

- **spline** (the default): the y that minimises $\sum (y_k - q_k)^2 + \lambda \sum (\Delta^3 y)^2$,
  the discrete smoothing spline with a penalty on jerk ([Eilers2003]). Inside the record it passes
  the frequency f with gain $1 / (1 + (\sqrt 2 - 1)(s(f)/s(f_c))^6)$, $s = \sin(\pi f T)$, like a
  Butterworth filter of third order run forth and back; at the ends it goes on with constant
  acceleration, where a padded filter takes the acceleration to zero.
- **butterworth**: of second order, run forth and back ([Winter2009]), the custom of the field.
- **opensim**: of third order, run forth and back as OpenSim's tools do, to compare with them.

The cut-off $f_c$ is where the gain is $1/\sqrt 2$ (with opensim 1/2). A quintic spline through
the filtered samples gives the derivatives, so that the three belong to one function of time.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_banded, solveh_banded

from stiction._base.errors import InputError, unknown

FILTERS = ("spline", "butterworth", "opensim", "none")
_ORDER = 3  # of the difference that is penalised
# Cut-offs tried, and the part of the spectrum that is first taken to hold noise alone.
_TRIED, _TOP, _ROUNDS = 60, 0.4, 5
_MARGIN = 1.5  # what lies above so many times the cut-off is noise
# Standard errors within which two cut-offs cannot be told apart: for white noise, and at most, for
# noise that falls with frequency. That comes from skin that moves, and has more at the frequencies
# of the motion, where no spectrum shows it.
_DOUBTS, _MOST_DOUBTS = 1.0, 2.0
_ENDS = 0.1  # s at either end, at most a quarter of the record, where filters err in other ways
_STEEPEST = 3.0  # fall of the noise's power with frequency, as a power of it
# Noise that adds less than this to accelerations [m/s², rad/s²], 0.5 % of gravity, stays.
_NEGLIGIBLE = 0.05
_EULER = 0.5772  # the logarithm of a periodogram's bin is so much less than that of its mean
_HALF_POWER = np.sqrt(2.0) - 1


@dataclass(frozen=True)
class Smoothed:
    """A motion that can be differentiated."""

    time: np.ndarray  # evenly spaced [s]
    q: np.ndarray  # coordinates, one row a time
    rate: np.ndarray  # first derivatives
    acceleration: np.ndarray  # second derivatives
    filter: str  # the filter used
    cutoff: float  # its cut-off [Hz]; inf if nothing was filtered
    chosen: bool  # whether the cut-off was chosen from the data
    # whether a frame is far enough from the ends: nearer, noise moves accelerations more than twice
    # as much as inside
    settled: np.ndarray


def smooth(
    time: np.ndarray,
    q: np.ndarray,
    *,
    filter: str = "spline",
    cutoff: float | None = None,
    path: np.ndarray | None = None,
) -> Smoothed:
    """Filter coordinates and differentiate them.

    Args:
        time: Evenly spaced [s].
        q: Coordinates, one row a time.
        filter: One of `FILTERS`.
        cutoff: Of the filter [Hz]; chosen by `choose_cutoff` if not given.
        path: What the cut-off is chosen by; the coordinates themselves if not given.
    """
    if filter not in FILTERS:
        raise unknown("filter", filter, FILTERS)
    if len(time) < 2 * _ORDER + 2:
        raise InputError(
            f"a recording must have at least 8 rows to be differentiated, got {len(time)}"
        )
    period = (time[-1] - time[0]) / (len(time) - 1)
    chosen = cutoff is None and filter != "none"
    if filter == "none":
        fc = np.inf
    elif cutoff is None:
        fc = choose_cutoff(q if path is None else path, period)
    else:
        fc = float(cutoff)
        if not 0 < fc < 0.5 / period:
            raise InputError(
                f"`cutoff` must lie between 0 and half the sampling rate ({0.5 / period:.4g} Hz),"
                f" got {fc:g}"
            )
    y = q if np.isinf(fc) else low_pass(q, period, fc, filter)
    rate, acceleration = derivatives(y, period)
    settled = np.ones(len(time), bool)
    edge = min(_edge(period, fc, filter), len(time) // 2)
    settled[:edge] = settled[len(time) - edge :] = False
    return Smoothed(time, y, rate, acceleration, filter, fc, chosen, settled)


def _edge(period: float, cutoff: float, filter: str) -> int:
    """How many frames at an end have accelerations twice as noisy as those inside."""
    step = min(cutoff * period, 0.5)  # of the cut-off's time; finer ones scale
    coarse = max(step, 0.02)
    n = max(24, round(8 / coarse))
    y = np.eye(n) if np.isinf(cutoff) else low_pass(np.eye(n), coarse, 1.0, filter)
    noise = np.linalg.norm(derivatives(y, 1.0)[1], axis=1)[: n // 2]
    # A padded filter is quiet there and wrong: it takes accelerations to zero.
    padded = 0.25 / coarse if filter in ("butterworth", "opensim") and np.isfinite(cutoff) else 0.0
    return round(max(np.argmax(noise < 2 * noise[-1]), padded) * coarse / step)


def derivatives(q: np.ndarray, period: float) -> tuple[np.ndarray, np.ndarray]:
    """First and second derivatives of the quintic spline through even samples, not-a-knot.

    In uniform B-splines about every sample and two more beyond each end; the fifth derivative does
    not jump at the second and third sample from an end. SciPy's `make_interp_spline` gives the
    same, but to import it takes a sixth of all the time of `grf`.
    """
    n = len(q) + 4
    bands = np.zeros((13, n))  # six diagonals on either side
    for j, weight in enumerate((1, 26, 66, 26, 1)):
        bands[8 - j, j : j + len(q)] = weight / 120
    for row, first in ((0, 0), (1, 1), (n - 2, n - 8), (n - 1, n - 7)):
        columns = first + np.arange(7)
        bands[6 + row - columns, columns] = (1, -6, 15, -20, 15, -6, 1)
    right = np.zeros((n, *q.shape[1:]))
    right[2:-2] = q
    weights = solve_banded((6, 6), bands, right)
    a, b, c, d, e = (weights[k : k + len(q)] for k in range(5))
    rate = (e - a + 10 * (d - b)) / (24 * period)
    return rate, (a + e + 2 * (b + d) - 6 * c) / (6 * period**2)


def low_pass(q: np.ndarray, period: float, cutoff: float, filter: str) -> np.ndarray:
    """The samples without what lies above the cut-off, and without lag."""
    if filter != "spline":
        from scipy.signal import butter, sosfiltfilt  # slow to import

        pad = min(len(q) - 1, round(4 / (cutoff * period)))
        if filter == "opensim":
            sections = butter(3, 2 * cutoff * period, output="sos")
            return sosfiltfilt(sections, q, axis=0, padlen=max(pad, len(q) // 2))
        # Run twice, the gain at the corner is 1/2; this moves the corner so that it is 1/√2 at the
        # cut-off ([Winter2009]'s 0.802, and exactly so for sampled signals).
        corner = np.arctan(np.tan(np.pi * cutoff * period) / _HALF_POWER**0.25) / np.pi
        sections = butter(2, 2 * corner, output="sos")
        return sosfiltfilt(sections, q, axis=0, padlen=pad)
    weight = _HALF_POWER / (2 * np.sin(np.pi * cutoff * period)) ** (2 * _ORDER)
    matrix = weight * _penalty(len(q))
    matrix[_ORDER] += 1
    return solveh_banded(matrix, q)


def _penalty(n: int) -> np.ndarray:
    """DᵀD for the third difference D, as the upper bands of a symmetric matrix."""
    difference = np.array([-1.0, 3.0, -3.0, 1.0])
    bands = np.zeros((_ORDER + 1, n))
    for i in range(_ORDER + 1):
        for j in range(i, _ORDER + 1):
            bands[_ORDER - (j - i), j : n - _ORDER + j] += difference[i] * difference[j]
    return bands


def choose_cutoff(path: np.ndarray, period: float) -> float:
    r"""The cut-off with the least expected error of the accelerations [Hz].

    With signal S and noise N, the filter's gain H leaves an acceleration error whose expectation is
    known up to S, which cancels ([Stein1981]):

    $$ \sum_f \omega^4 \big((1-H)^2 S + H^2 N\big)
       = \mathrm{E} \sum_f \omega^4 \big((1-H)^2 P + (2H - 1) N\big), \qquad P = S + N. $$

    The first term is the second difference of what the filter takes away; the ends of the record
    are left out. N is a power law of frequency, fitted to the spectrum above 1.5 times the cut-off,
    in turns. Of cut-offs whose errors cannot be told apart the lowest is taken: one that is too
    high costs more.

    Args:
        path: What the motion is judged by, one column a coordinate: the centre of mass, whose
            acceleration is the force.
        period: Of sampling [s].

    Returns:
        The cut-off, or inf where there is too little noise to matter.
    """
    path = path[:, np.ptp(path, axis=0) > 1e-9 * (1 + np.abs(path).max(axis=0))]
    n = len(path)
    tried = np.geomspace(max(1.0, 2 / (n * period)), 0.45 / period, _TRIED)
    if not path.size or tried[0] > 0.2 / period:
        return np.inf  # nothing moves, or it is sampled too slowly to tell noise from motion
    f = (np.arange(n) + 0.5) / (2 * n * period)
    s = np.sin(np.pi * f * period)
    H = 1 / (1 + _HALF_POWER * (s / np.sin(np.pi * tried * period)[:, None]) ** (2 * _ORDER))
    taken = (path - low_pass(path, period, fc, "spline") for fc in tried)
    end = min(round(_ENDS / period), n // 4)
    distortion = np.array([np.sum(np.diff(x, 2, axis=0)[end : n - 2 - end] ** 2) for x in taken])
    low, share = _TOP * 0.5 / period, (n - 2 * end) / n
    for _ in range(_ROUNDS):
        level, slope = _noise(path, period, low)
        # Power of the second differences of the noise, by frequency, for a unit level.
        unit = share * (2 * s) ** 4 * (f * 2 * period) ** -slope
        if np.sqrt(level.sum() * unit.sum() / (n - 2 * end)) / period**2 < _NEGLIGIBLE:
            return np.inf
        error = distortion + level.sum() * ((2 * H - 1) @ unit)
        best = int(np.argmin(error))
        spread = ((1 - H) ** 2 - (1 - H[best]) ** 2) * unit
        doubt = np.sqrt(2 * np.sum(level**2) * np.sum(spread**2, axis=1))
        doubt *= min(_DOUBTS + slope / 2, _MOST_DOUBTS)
        cutoff = float(tried[np.argmax(error <= error[best] + doubt)])
        low = min(_MARGIN * cutoff, 0.8 * 0.5 / period)
    return cutoff


def _noise(path: np.ndarray, period: float, low: float) -> tuple[np.ndarray, float]:
    """The power of a sample's noise at half the sampling rate, and how it falls with frequency."""
    n = len(path)
    window = np.hanning(n)[:, None] ** 2  # lets through next to nothing of the slow motion
    trend = np.vander(np.linspace(-1, 1, n), 4)
    rest = window * (path - trend @ np.linalg.lstsq(trend, path, rcond=None)[0])
    f = np.fft.rfftfreq(n, period)
    use = (f > low) & (f < 0.98 * 0.5 / period)
    power = np.abs(np.fft.rfft(rest, axis=0)[use]) ** 2 / np.sum(window**2)
    y, x = np.log(power + 1e-300), np.log(f[use] * 2 * period)
    middle = x - x.mean()
    slope = -np.mean(middle @ (y - y.mean(axis=0))) / (middle @ middle)
    slope = float(np.clip(slope, 0.0, _STEEPEST))
    return np.exp(y.mean(axis=0) + _EULER + slope * x.mean()), slope
