r"""Positions, velocities and accelerations from sampled coordinates.

Differentiating twice multiplies noise by frequency squared, so samples are low-passed first. Two
filters, both without lag:

- **spline** (the default): the y that minimises $\sum (y_k - q_k)^2 + \lambda \sum (\Delta^3 y)^2$,
  the discrete smoothing spline with a penalty on jerk ([Eilers2003]). Inside the record it passes
  the frequency f with gain $1 / (1 + (\sqrt 2 - 1)(s(f)/s(f_c))^6)$, $s = \sin(\pi f T)$, like a
  Butterworth filter of third order run forth and back; at the ends it goes on with constant
  acceleration, where a padded filter takes the acceleration to zero.
- **butterworth**: of second order, run forth and back ([Winter2009]), the custom of the field.

The cut-off $f_c$ is where the gain is $1/\sqrt 2$. A quintic spline through the filtered samples
gives the derivatives, so that the three belong to one function of time.
"""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.linalg import solveh_banded

from stiction._errors import InputError, unknown

FILTERS = ("spline", "butterworth", "none")
_ORDER = 3  # of the difference that is penalised
# Residual analysis: frequencies tried [Hz], and the part of them where only noise is left over.
_HIGHEST, _STEP, _TAIL = 25.0, 0.25, 0.4
# What would add less than this to accelerations [m/s², rad/s²], a hundredth of gravity, may stay.
_NEGLIGIBLE = 0.1
_HALF_POWER = np.sqrt(2.0) - 1


@dataclass(frozen=True)
class Smoothed:
    """A motion that can be differentiated.

    Attributes:
        time: Evenly spaced [s].
        q: Coordinates, one row a time.
        rate: First derivatives.
        acceleration: Second derivatives.
        filter: The filter used.
        cutoff: Its cut-off [Hz]; inf if nothing was filtered.
        chosen: Whether the cut-off was chosen from the data.
    """

    time: np.ndarray
    q: np.ndarray
    rate: np.ndarray
    acceleration: np.ndarray
    filter: str
    cutoff: float
    chosen: bool


def smooth(
    time: np.ndarray, q: np.ndarray, *, filter: str = "spline", cutoff: float | None = None
) -> Smoothed:
    """Filter coordinates and differentiate them.

    Args:
        time: Evenly spaced [s].
        q: Coordinates, one row a time.
        filter: "spline", "butterworth" or "none".
        cutoff: Frequency at which the gain is 1/√2 [Hz]; chosen by `choose_cutoff` if not given.
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
        fc = choose_cutoff(q, period)
    else:
        fc = float(cutoff)
        if not 0 < fc < 0.5 / period:
            raise InputError(
                f"`cutoff` must lie between 0 and half the sampling rate ({0.5 / period:.4g} Hz),"
                f" got {fc:g}"
            )
    y = q if np.isinf(fc) else low_pass(q, period, fc, filter)
    spline = make_interp_spline(time, y, k=5)
    return Smoothed(time, y, spline(time, 1), spline(time, 2), filter, fc, chosen)


def low_pass(q: np.ndarray, period: float, cutoff: float, filter: str) -> np.ndarray:
    """The samples without what lies above the cut-off, and without lag."""
    if filter == "butterworth":
        from scipy.signal import butter, sosfiltfilt  # slow to import

        # Run twice, the gain at the corner is 1/2; this moves the corner so that it is 1/√2 at the
        # cut-off ([Winter2009]'s 0.802, and exactly so for sampled signals).
        corner = np.arctan(np.tan(np.pi * cutoff * period) / _HALF_POWER**0.25) / np.pi
        sections = butter(2, 2 * corner, output="sos")
        pad = min(len(q) - 1, round(4 / (cutoff * period)))
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


def choose_cutoff(q: np.ndarray, period: float) -> float:
    """The cut-off by residual analysis ([Winter2009]), one for all coordinates [Hz].

    What a filter takes away is at high cut-offs noise alone, and falls along a straight line; that
    line, drawn on to zero, is the noise in the samples. The cut-off that takes away as much lets
    through as much noise as it distorts signal. The median over the coordinates that move is taken,
    since filtering coordinates differently would tear the body's motion apart.

    Returns:
        The cut-off, or inf where there is too little noise to matter.
    """
    moving = np.ptp(q, axis=0) > 1e-9 * (1 + np.abs(q).max(axis=0))
    if not moving.any():
        return np.inf
    q = q[:, moving]
    tried = np.arange(1.0, min(_HIGHEST, 0.45 / period) + _STEP / 2, _STEP)
    if len(tried) < 8:
        return np.inf  # sampled too slowly to tell noise from motion
    taken = np.array(
        [np.sqrt(np.mean((q - low_pass(q, period, f, "spline")) ** 2, 0)) for f in tried]
    )
    tail = tried >= _TAIL * tried[-1]
    if np.median(taken[-1]) * (2 * np.pi * tried[-1]) ** 2 < _NEGLIGIBLE:
        return np.inf  # already smooth: what lies above the highest cut-off does not matter
    _, noise = np.polyfit(tried[tail], taken[tail], 1)
    first = np.argmax(taken <= noise, axis=0)  # 0 also where there is none
    return float(np.median(tried[first]))
