"""Uniform quintic B-splines: the trajectory as a smooth curve with local support.

Segment s of spacing h uses the six coefficients s … s + 5. Quintic, because wrenches weigh
velocities finely: a cubic of the same spacing is two orders worse in the velocity.
"""

from fractions import Fraction
from math import comb

import numpy as np

from stiction._arrays import AnyArray, Float

DEGREE = 5
ORDER = DEGREE + 1  # coefficients that a segment uses


def _segment_matrix() -> np.ndarray:
    """Row i: powers of u of the basis function that coefficient s + i multiplies, 0 ≤ u ≤ 1.

    The cardinal B-spline is a sum of truncated powers,
    N(x) = Σⱼ (-1)ʲ C(6, j) (x - j)₊⁵ / 5!, and basis i is N(u + 5 - i).
    """
    rows = []
    for i in range(ORDER):
        shift = DEGREE - i
        coefficients = [Fraction(0)] * ORDER
        for j in range(shift + 1):
            # (u + shift - j)^5, all of whose truncations are open on 0 ≤ u ≤ 1
            for power in range(ORDER):
                coefficients[power] += (
                    Fraction((-1) ** j * comb(ORDER, j) * comb(DEGREE, power))
                    * (shift - j) ** (DEGREE - power)
                    / 120
                )
        rows.append([float(c) for c in coefficients])
    return np.array(rows)


_MATRIX = _segment_matrix()


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
