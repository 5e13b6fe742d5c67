"""Rates of measured signals with no lag: splines through or along the samples, two-way filters."""

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline

from stiction._arrays import Float

_EXACT_DEGREE = 7


def through(time: Float[np.ndarray, " n"], values: Float[np.ndarray, "n *k"]) -> BSpline:
    """The spline through noise-free samples; its derivatives are exact to the step's 6th power."""
    degree = min(_EXACT_DEGREE, len(time) - 1)
    degree -= 1 - degree % 2  # odd
    return make_interp_spline(time, values, k=degree, axis=0)


def two_way_low_pass(
    values: Float[np.ndarray, "n *k"], *, rate: float, cutoff: float, order: int = 4
) -> Float[np.ndarray, "n *k"]:
    """A Butterworth low-pass run forwards and backwards, so that it has no lag.

    Args:
        values: Evenly sampled.
        rate: Samples a second [Hz].
        cutoff: Where one run has lost 3 dB [Hz].
        order: Of one run.
    """
    from scipy.signal import butter, sosfiltfilt

    return sosfiltfilt(butter(order, cutoff, fs=rate, output="sos"), values, axis=0)


def central_differences(values: Float[np.ndarray, " n"], rate: float) -> Float[np.ndarray, " n"]:
    """First derivative of even samples by symmetric differences; one-sided at the ends."""
    return np.gradient(values, 1 / rate, axis=0, edge_order=2)


def local_polynomial(width: int, degree: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Weights that give value and first derivative (per sample) at the middle of an odd window.

    A polynomial fitted to the window [SavitzkyGolay1964]: symmetric, hence without lag in the
    middle, which in a stream is half a window old.
    """
    u = np.arange(width) - width // 2
    fit = np.linalg.pinv(np.vander(u, degree + 1, increasing=True).astype(float))
    return fit[0], fit[1]
