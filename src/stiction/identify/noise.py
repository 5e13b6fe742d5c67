"""How noisy a sensor is, from its own readings: no model, no second sensor."""

from math import comb

import numpy as np

from stiction._arrays import Float

_ORDER = 6


def white_noise(values: Float[np.ndarray, " n"]) -> float:
    """Standard deviation of the white noise on a smooth signal.

    Sixth differences remove all that is smooth at the scale of seven samples; of white noise they
    leave a variance of C(12, 6) σ² [Gasser1986]. The median makes it deaf to jumps at contact.
    """
    d = np.diff(np.asarray(values, dtype=float), n=_ORDER)
    if len(d) == 0:
        return 0.0
    return float(np.median(np.abs(d)) / 0.6744897501960817 / np.sqrt(comb(2 * _ORDER, _ORDER)))


def vector_noise(values: Float[np.ndarray, "n k"]) -> float:
    """The same for a vector, one value for all its axes."""
    return float(np.sqrt(np.mean([white_noise(c) ** 2 for c in np.asarray(values).T])))
