"""Lemke's complementary pivoting [Lemke1965] for w = M z + q, w ≥ 0, z ≥ 0, wᵀ z = 0.

A tableau with a row for each basic variable and columns (w, z, z₀, q). Ties of the ratio test are
broken lexicographically by the columns of w, so that it cannot cycle [Cottle2009, Sec. 4.4].
"""

import warp as wp

from .reals import ONE, ZERO, World, get, get_int, put, put_int, real, tolerance

_PIVOT = tolerance(1e-10, 1e-5)  # smaller entries of an entering column are rounding
_TIE = tolerance(1e-10, 1e-5)
_PIVOTS = wp.constant(50)  # at most, for each unknown


@wp.func
def width(m: int):
    return 2 * m + 2


@wp.func
def pivot(s: World, T: int, m: int, row: int, column: int):
    """Make a column that of a unit vector."""
    n = width(m)
    first = T + row * n
    inverse = ONE / get(s, first + column)
    for j in range(n):
        put(s, first + j, inverse * get(s, first + j))
    for i in range(m):
        if i != row:
            factor = get(s, T + i * n + column)
            if factor != ZERO:
                for j in range(n):
                    to = T + i * n + j
                    put(s, to, get(s, to) - factor * get(s, first + j))


@wp.func
def comes_first(s: World, T: int, m: int, a: int, b: int, column: int):
    """Whether row a leaves before row b: (q, w)/entry compared lexicographically."""
    n = width(m)
    x = get(s, T + a * n + column)
    y = get(s, T + b * n + column)
    for c in range(-1, m):
        j = c
        if c < 0:
            j = n - 1
        difference = get(s, T + a * n + j) / x - get(s, T + b * n + j) / y
        if wp.abs(difference) > _TIE:
            return difference < ZERO
    return False


@wp.func
def leaving_row(s: World, T: int, m: int, basis: int, column: int):
    """The row whose variable comes to zero first; z₀'s if it can; -1 on a ray."""
    n = width(m)
    most = real(0.0)
    for i in range(m):
        most = wp.max(most, wp.abs(get(s, T + i * n + column)))
    best = int(-1)
    for i in range(m):
        if get(s, T + i * n + column) > _PIVOT * wp.max(most, ONE):
            if best < 0 or comes_first(s, T, m, i, best, column):
                best = i
    if best >= 0:
        ratio = get(s, T + best * n + n - 1) / get(s, T + best * n + column)
        for i in range(m):
            entry = get(s, T + i * n + column)
            if get_int(s, basis + i) == 2 * m and entry > _PIVOT * wp.max(most, ONE):
                if get(s, T + i * n + n - 1) / entry <= ratio + _TIE:
                    best = i
    return best


@wp.func
def lemke(s: World, T: int, m: int, basis: int):
    """Solve from a tableau (I, -M, -d, q), d > 0; whether it was solved. `solution_of` reads z."""
    n = width(m)
    row = int(-1)
    least = real(0.0)
    for i in range(m):
        put_int(s, basis + i, i)
        ratio = -get(s, T + i * n + n - 1) / get(s, T + i * n + 2 * m)
        if ratio < least:
            least = ratio
            row = i
    if row < 0:
        return True
    entering = 2 * m
    for _ in range(_PIVOTS * m):
        leaves = get_int(s, basis + row)
        pivot(s, T, m, row, entering)
        put_int(s, basis + row, entering)
        if leaves == 2 * m:
            return True
        entering = leaves + m  # the complement of what left
        if leaves >= m:
            entering = leaves - m
        row = leaving_row(s, T, m, basis, entering)
        if row < 0:
            return False
    return False


@wp.func
def solution_of(s: World, T: int, m: int, basis: int, i: int):
    """z_i."""
    for row in range(m):
        if get_int(s, basis + row) == m + i:
            return wp.max(get(s, T + row * width(m) + width(m) - 1), ZERO)
    return ZERO
