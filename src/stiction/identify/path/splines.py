"""Uniform quintic B-splines: the trajectory as a smooth curve with local support.

Segment s of spacing h uses the six coefficients s … s + 5. Quintic, because wrenches weigh
velocities finely: a cubic of the same spacing is two orders worse in the velocity.
"""

import numpy as np
from scipy.interpolate import BSpline, PPoly

from stiction._base.arrays import AnyArray, Float

DEGREE = 5
ORDER = DEGREE + 1  # coefficients that a segment uses


# Row i: powers of u of the basis function that coefficient s + i multiplies, 0 ≤ u ≤ 1. SciPy has
# the pieces of the cardinal B-spline N, last piece first: basis i is N(u + 5 - i). Its own
# evaluation of splines cannot be traced by JAX.
_CARDINAL = PPoly.from_spline(BSpline.basis_element(np.arange(ORDER + 1.0)).tck)
_MATRIX = _CARDINAL.c[::-1, DEGREE : DEGREE + ORDER].T[::-1]


def basis(u: Float[AnyArray, "*n"], derivative: int = 0) -> Float[AnyArray, "*n 6"]:
    """Weights of a segment's six coefficients at the local time u, or their u-derivative."""
    powers = np.arange(derivative, ORDER)
    factor = np.ones(len(powers))
    for d in range(derivative):
        factor = factor * (powers - d)
    xp = u.__array_namespace__()
    monomials = xp.stack([u**p for p in range(len(powers))], axis=-1)
    return monomials @ xp.asarray(_MATRIX[:, derivative:] * factor).T


def segments(
    time: Float[np.ndarray, " n"], start: float, spacing: float, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """The segment of each time and the local time in it, in [0, 1]."""
    where = (np.asarray(time) - start) / spacing
    index = np.clip(np.floor(where).astype(int), 0, count - 1)
    return index, where - index


def segment_count(time: Float[np.ndarray, " n"], spacing: float) -> int:
    """How many segments of a spacing span the times; a rounding error makes no further one."""
    return max(1, int(np.ceil((time[-1] - time[0]) / spacing - 1e-9)))
