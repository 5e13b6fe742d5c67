"""Small dense linear algebra on slots: singular systems, and definite ones.

Matrices are stored by rows, n × n from their first slot. Contacts are redundant as a rule (a box
stands on four corners), so systems are singular but solvable: `factor_rows` finds their rank, and
`least_solution` the least of their solutions.
"""

import warp as wp

from .reals import (
    ONE,
    ZERO,
    World,
    add_scaled,
    dot,
    fill,
    get,
    get_int,
    put,
    put_int,
    real,
    scale,
    tolerance,
)

# Rows whose part independent of the others is smaller than this are dependent: far above what
# rounding leaves, and below what two contacts 1e-4 of a body's size apart differ by.
RANK = tolerance(1e-10, 3e-5)


@wp.func
def swap(s: World, a: int, b: int, n: int):
    for i in range(n):
        x = get(s, a + i)
        put(s, a + i, get(s, b + i))
        put(s, b + i, x)


@wp.func
def reflect(s: World, w: int, beta: real, x: int, n: int):
    """x := (I - β w wᵀ) x, with 1 in the first place of w, whatever stands there."""
    total = beta * (get(s, x) + dot(s, w + 1, x + 1, n - 1))
    put(s, x, get(s, x) - total)
    add_scaled(s, x + 1, -total, w + 1, n - 1)


@wp.func(inline=False)
def factor_rows(s: World, A: int, n: int, beta: int, order: int):
    """P A = R^T Q^T in place by Householder's reflections, the largest row first; the rank.

    The rows of A are the equations.
    """
    rank = int(0)
    first = real(0.0)
    for j in range(n):
        put_int(s, order + j, j)
    for k in range(n):
        best = int(k)
        most = real(-1.0)
        for j in range(k, n):
            size = dot(s, A + j * n + k, A + j * n + k, n - k)
            if size > most:
                most = size
                best = j
        size = wp.sqrt(most)
        if k == 0:
            first = size
        if size <= RANK * first or size == ZERO:
            break
        row = A + k * n
        if best != k:
            swap(s, row, A + best * n, n)
            j = get_int(s, order + k)
            put_int(s, order + k, get_int(s, order + best))
            put_int(s, order + best, j)
        head = get(s, row + k)
        norm = size
        if head > ZERO:
            norm = -size
        pivot = head - norm
        put(s, beta + k, -pivot / norm)
        scale(s, row + k + 1, ONE / pivot, n - k - 1)
        for j in range(k + 1, n):
            reflect(s, row + k, get(s, beta + k), A + j * n + k, n - k)
        put(s, row + k, norm)
        rank = k + 1
    return rank


@wp.func
def turn_back(s: World, A: int, n: int, rank: int, beta: int, x: int):
    """x := Q x."""
    for back in range(rank):
        k = rank - 1 - back
        reflect(s, A + k * n + k, get(s, beta + k), x + k, n - k)


@wp.func(inline=False)
def least_solution(s: World, A: int, n: int, rank: int, beta: int, order: int, b: int, x: int):
    """The least x that fulfils the independent equations A x = b; by how much the others miss."""
    for j in range(n):
        known = wp.min(j, rank)
        value = get(s, b + get_int(s, order + j)) - dot(s, A + j * n, x, known)
        if j < rank:
            value = value / get(s, A + j * n + j)
        put(s, x + j, value)
    missed = real(0.0)
    for j in range(rank, n):
        missed = wp.max(missed, wp.abs(get(s, x + j)))
        put(s, x + j, ZERO)
    turn_back(s, A, n, rank, beta, x)
    return missed


@wp.func
def free_direction(s: World, A: int, n: int, rank: int, beta: int, k: int, x: int):
    """The k-th of the n - rank orthonormal directions that the equations leave open."""
    fill(s, x, n, ZERO)
    put(s, x + rank + k, ONE)
    turn_back(s, A, n, rank, beta, x)


@wp.func
def cholesky(s: World, A: int, n: int, least: real):
    """A = L Lᵀ in the lower triangle; pivots are at least `least`, so directions that nothing
    depends on stay where they are.
    """
    for j in range(n):
        row = A + j * n
        pivot = wp.sqrt(wp.max(get(s, row + j) - dot(s, row, row, j), least))
        put(s, row + j, pivot)
        for i in range(j + 1, n):
            to = A + i * n
            put(s, to + j, (get(s, to + j) - dot(s, to, row, j)) / pivot)


@wp.func
def solve_cholesky(s: World, A: int, n: int, x: int):
    """x := (L Lᵀ)⁻¹ x."""
    for i in range(n):
        value = get(s, x + i) - dot(s, A + i * n, x, i)
        put(s, x + i, value / get(s, A + i * n + i))
    for back in range(n):
        i = n - 1 - back
        value = get(s, x + i)
        for k in range(i + 1, n):
            value -= get(s, A + k * n + i) * get(s, x + k)
        put(s, x + i, value / get(s, A + i * n + i))
