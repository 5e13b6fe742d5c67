"""Small dense linear algebra on slots: singular systems, and definite ones.

Matrices are stored by rows, n × n from their first slot. Contacts are redundant as a rule (a box
stands on four corners), so systems are singular but solvable: `factor_rows` finds their rank, and
`least_solution` the least of their solutions.
"""

import warp as wp

from .reals import ONE, ZERO, World, fill, get, get_int, put, put_int, real, tolerance

# Rows whose part independent of the others is smaller than this are dependent: far above what
# rounding leaves, and below what two contacts 1e-4 of a body's size apart differ by.
RANK = tolerance(1e-10, 3e-5)


@wp.func
def column_size(s: World, A: int, n: int, j: int, start: int):
    total = real(0.0)
    for i in range(start, n):
        total += get(s, A + i * n + j) * get(s, A + i * n + j)
    return total


@wp.func
def swap_columns(s: World, A: int, n: int, order: int, a: int, b: int):
    if a != b:
        for i in range(n):
            x = get(s, A + i * n + a)
            put(s, A + i * n + a, get(s, A + i * n + b))
            put(s, A + i * n + b, x)
        k = get_int(s, order + a)
        put_int(s, order + a, get_int(s, order + b))
        put_int(s, order + b, k)


@wp.func
def reflect_columns(s: World, A: int, n: int, k: int, beta: real, start: int, end: int):
    """Apply I - β w wᵀ, with w = (1, A[k+1:, k]), to columns start to end."""
    for j in range(start, end):
        total = get(s, A + k * n + j)
        for i in range(k + 1, n):
            total += get(s, A + i * n + k) * get(s, A + i * n + j)
        total = beta * total
        put(s, A + k * n + j, get(s, A + k * n + j) - total)
        for i in range(k + 1, n):
            put(s, A + i * n + j, get(s, A + i * n + j) - total * get(s, A + i * n + k))


@wp.func
def factor_rows(s: World, A: int, n: int, beta: int, order: int):
    """Q R P = A in place by Householder's reflections, the largest column first; the rank.

    A is the transpose of the system's matrix: its columns are the equations.
    """
    rank = int(0)
    first = real(0.0)
    for j in range(n):
        put_int(s, order + j, j)
    for k in range(n):
        best = int(k)
        most = real(-1.0)
        for j in range(k, n):
            size = column_size(s, A, n, j, k)
            if size > most:
                most = size
                best = j
        size = wp.sqrt(most)
        if k == 0:
            first = size
        if size <= RANK * first or size == ZERO:
            break
        swap_columns(s, A, n, order, k, best)
        head = get(s, A + k * n + k)
        norm = size
        if head > ZERO:
            norm = -size
        pivot = head - norm
        put(s, beta + k, -pivot / norm)
        for i in range(k + 1, n):
            put(s, A + i * n + k, get(s, A + i * n + k) / pivot)
        reflect_columns(s, A, n, k, get(s, beta + k), k + 1, n)
        put(s, A + k * n + k, norm)
        rank = k + 1
    return rank


@wp.func
def turn_back(s: World, A: int, n: int, rank: int, beta: int, x: int):
    """x := Q x."""
    for back in range(rank):
        k = rank - 1 - back
        total = get(s, x + k)
        for i in range(k + 1, n):
            total += get(s, A + i * n + k) * get(s, x + i)
        total = get(s, beta + k) * total
        put(s, x + k, get(s, x + k) - total)
        for i in range(k + 1, n):
            put(s, x + i, get(s, x + i) - total * get(s, A + i * n + k))


@wp.func
def least_solution(s: World, A: int, n: int, rank: int, beta: int, order: int, b: int, x: int):
    """The least x that fulfils the independent equations Aᵀ x = b; by how much the others miss."""
    for j in range(n):
        value = get(s, b + get_int(s, order + j))
        for i in range(wp.min(j, rank)):
            value -= get(s, A + i * n + j) * get(s, x + i)
        if j < rank:
            put(s, x + j, value / get(s, A + j * n + j))
        else:
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
        pivot = get(s, A + j * n + j)
        for k in range(j):
            pivot -= get(s, A + j * n + k) * get(s, A + j * n + k)
        pivot = wp.sqrt(wp.max(pivot, least))
        put(s, A + j * n + j, pivot)
        for i in range(j + 1, n):
            value = get(s, A + i * n + j)
            for k in range(j):
                value -= get(s, A + i * n + k) * get(s, A + j * n + k)
            put(s, A + i * n + j, value / pivot)


@wp.func
def solve_cholesky(s: World, A: int, n: int, x: int):
    """x := (L Lᵀ)⁻¹ x."""
    for i in range(n):
        value = get(s, x + i)
        for k in range(i):
            value -= get(s, A + i * n + k) * get(s, x + k)
        put(s, x + i, value / get(s, A + i * n + i))
    for back in range(n):
        i = n - 1 - back
        value = get(s, x + i)
        for k in range(i + 1, n):
            value -= get(s, A + k * n + i) * get(s, x + k)
        put(s, x + i, value / get(s, A + i * n + i))
