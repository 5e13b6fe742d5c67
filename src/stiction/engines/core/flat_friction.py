r"""Friction with flat sides, so that an impact is a linear complementarity problem.

Unknowns of each contact are, with k sides, (β_1 … β_k, γ_n, λ …):

pyramid  $\gamma_t = \sum_j \beta_j d_j$, $0 \le \beta_j \perp d_j \cdot u_t + \lambda \ge 0$,
         $0 \le \lambda \perp \mu \gamma_n - \sum_j \beta_j \ge 0$ [StewartTrinkle1996]. One λ: the
         speed of sliding. In the plane (two sides) it is Coulomb's law itself.
square   rodic (44)-(52): each tangent has a law of its own. Four β, and a slack for each,
         $0 \le \lambda_j \perp \mu \gamma_n - \beta_j \ge 0$.

Normal impulses may have a least value (`floor`), the expansion phase of Poisson's law.
"""

import warp as wp

from .cone import size_of, solve_cone, step_of
from .joints import TAU
from .layout import Machines
from .lemke import lemke, solution_of, width
from .reals import (
    HALF,
    INFINITY,
    ONE,
    TINY,
    ZERO,
    World,
    fill,
    get,
    put,
    real,
    tolerance,
)
from .rows import first_row, n_active, n_rows, times_W

_PIVOTED = tolerance(1e-6, 1e-3)  # what Lemke's method may leave, part of the largest impulse
_PATHS = wp.constant(5)
_GOLDEN = wp.constant(real(0.6180339887498949))  # spreads covering vectors evenly over [1, 2)


@wp.func
def n_sides(m: Machines, s: World, k: int, square: bool):
    if first_row(m, s, k + 1) - first_row(m, s, k) == 2:
        return 2
    if square:
        return 4
    return m[0].opt.sides


@wp.func
def n_unknowns(m: Machines, s: World, k: int, square: bool):
    sides = n_sides(m, s, k, square)
    if square and sides == 4:
        return 2 * sides + 1
    return sides + 2


@wp.func
def edge(m: Machines, s: World, k: int, side: int, sides: int, axis: int):
    """A component of the direction of a side."""
    if sides == 2:
        return real(1 - 2 * side)
    angle = TAU * real(side) / real(sides)
    if axis == 0:
        return wp.cos(angle)
    return wp.sin(angle)


@wp.func
def pushes(m: Machines, s: World, n: int, r: int, k: int, unknown: int, sides: int):
    """How an unknown of contact k changes the velocity of row r: W times its impulse."""
    begin = first_row(m, s, k)
    normal = first_row(m, s, k + 1) - 1
    if unknown == sides:
        return get(s, m[0].c.W + r * n + normal)
    total = real(0.0)
    if unknown < sides:
        for j in range(normal - begin):
            total += edge(m, s, k, unknown, sides, j) * get(s, m[0].c.W + r * n + begin + j)
    return total


@wp.func
def answer(
    m: Machines, s: World, n: int, k: int, i: int, sides: int, other: int, j: int, theirs: int
):
    """How unknown j of contact `other` changes the complement of unknown i of contact k."""
    begin = first_row(m, s, k)
    normal = first_row(m, s, k + 1) - 1
    total = real(0.0)
    if i < sides:
        for a in range(normal - begin):
            total += edge(m, s, k, i, sides, a) * pushes(m, s, n, begin + a, other, j, theirs)
    elif i == sides:
        total = pushes(m, s, n, normal, other, j, theirs)
    return total


@wp.func
def own_slack(m: Machines, s: World, k: int, i: int, j: int, sides: int, square: bool):
    """The part of a contact's block that ties friction to the normal impulse."""
    mu = get(s, m[0].c.mu + k)
    if square:
        if i < sides and j == sides + 1 + i:
            return ONE
        if i > sides and j == sides:
            return mu
        if i > sides and j == i - sides - 1:
            return -ONE
        return ZERO
    if i < sides and j == sides + 1:
        return ONE
    if i == sides + 1 and j == sides:
        return mu
    if i == sides + 1 and j < sides:
        return -ONE
    return ZERO


@wp.func
def loaded(m: Machines, s: World, n: int, count: int, b: int, r: int):
    """b + W floor in row r."""
    total = get(s, b + r)
    for k in range(count):
        normal = first_row(m, s, k + 1) - 1
        total += get(s, m[0].c.W + r * n + normal) * get(s, m[0].c.floor + k)
    return total


@wp.func(inline=False)
def pivot_through(m: Machines, s: World, b: int, x: int, square: bool, attempt: int):
    """Impulses x of u = W x + b by Lemke's method, along the path of a covering vector."""
    n = n_rows(m, s)
    count = n_active(m, s)
    size = int(0)
    most = real(0.0)
    for k in range(count):
        size += n_unknowns(m, s, k, square)
    for r in range(n):
        most = wp.max(most, get(s, m[0].c.W + r * n + r))
    columns = width(size)
    T = m[0].c.lemke
    # Impulses are counted in units of 1 / max W, so that all entries are of the size of velocities.
    row = int(0)
    for k in range(count):
        flat = square and n_sides(m, s, k, square) == 4
        sides = n_sides(m, s, k, square)
        begin = first_row(m, s, k)
        normal = first_row(m, s, k + 1) - 1
        floor = get(s, m[0].c.floor + k) * most
        for i in range(n_unknowns(m, s, k, square)):
            for j in range(columns):
                put(s, T + row * columns + j, ZERO)
            put(s, T + row * columns + row, ONE)
            cover = real(attempt) * _GOLDEN * real(row + 1)
            put(s, T + row * columns + 2 * size, -(ONE + cover - wp.floor(cover)))
            q = real(0.0)
            if i < sides:
                for a in range(normal - begin):
                    q += edge(m, s, k, i, sides, a) * loaded(m, s, n, count, b, begin + a)
            elif i == sides:
                q = loaded(m, s, n, count, b, normal)
            else:
                q = get(s, m[0].c.mu + k) * floor
            put(s, T + row * columns + columns - 1, q)
            column = int(0)
            for other in range(count):
                theirs = n_sides(m, s, other, square)
                for j in range(n_unknowns(m, s, other, square)):
                    value = answer(m, s, n, k, i, sides, other, j, theirs) / most
                    if other == k:
                        value += own_slack(m, s, k, i, j, sides, flat)
                    put(s, T + row * columns + size + column, -value)
                    column += 1
            row += 1
    lemke(s, T, size, m[0].c.basis)
    first = int(0)
    for k in range(count):
        sides = n_sides(m, s, k, square)
        begin = first_row(m, s, k)
        normal = first_row(m, s, k + 1) - 1
        for a in range(normal - begin):
            total = real(0.0)
            for i in range(sides):
                z = solution_of(s, T, size, m[0].c.basis, first + i)
                total += edge(m, s, k, i, sides, a) * z
            put(s, x + begin + a, total / most)
        z = solution_of(s, T, size, m[0].c.basis, first + sides)
        put(s, x + normal, z / most + get(s, m[0].c.floor + k))
        first += n_unknowns(m, s, k, square)


@wp.func
def least_grip(m: Machines, s: World, k: int):
    """The radius of the circle inside a pyramid, part of that through its corners."""
    sides = n_sides(m, s, k, False)
    if sides == 2:
        return ONE
    return wp.cos(TAU / real(2 * sides))


@wp.func
def beyond_pyramid(m: Machines, s: World, k: int, x: int):
    """By how much the friction of contact k is outside of its pyramid, Σβ - μ γ_n; < 0 inside.

    A side of the pyramid lies between two of its edges, as far away as the circle inside.
    """
    begin = first_row(m, s, k)
    normal = first_row(m, s, k + 1) - 1
    sides = n_sides(m, s, k, False)
    most = real(0.0)
    for i in range(sides):
        along = real(0.0)
        for a in range(normal - begin):
            half = edge(m, s, k, i, sides, a)
            if sides > 2:
                half = HALF * (half + edge(m, s, k, (i + 1) % sides, sides, a))
            along += half * get(s, x + begin + a)
        most = wp.max(most, along)
    grip = least_grip(m, s, k)
    return most / (grip * grip) - get(s, m[0].c.mu + k) * get(s, x + normal)


@wp.func
def lags_behind(m: Machines, s: World, k: int, b: int, x: int):
    """What contact k misses of being held back by all of its friction while it slides, as an
    impulse: μ γ_n + γ_t · u_t / λ, with λ the speed of sliding, the fastest along an edge.
    """
    n = n_rows(m, s)
    begin = first_row(m, s, k)
    normal = first_row(m, s, k + 1) - 1
    sides = n_sides(m, s, k, False)
    speed = real(0.0)
    power = real(0.0)
    W = real(0.0)
    for i in range(sides):
        along = real(0.0)
        for a in range(normal - begin):
            u = get(s, b + begin + a) + times_W(m, s, n, begin + a, x)
            along -= edge(m, s, k, i, sides, a) * u
            if i == 0:
                power += get(s, x + begin + a) * u
                W = wp.max(W, get(s, m[0].c.W + (begin + a) * n + begin + a))
        speed = wp.max(speed, along)
    if speed == ZERO or W == ZERO:
        return ZERO
    missed = get(s, m[0].c.mu + k) * get(s, x + normal) + power / speed
    return wp.min(missed, speed / W)


@wp.func
def beyond_square(m: Machines, s: World, k: int, b: int, x: int):
    """What contact k misses of the law of each tangent alone, as an impulse: x_t - the point of
    the square of half side μ γ_n nearest x_t - ρ u_t.
    """
    n = n_rows(m, s)
    normal = first_row(m, s, k + 1) - 1
    rho = step_of(m, s, k, n)
    reach = get(s, m[0].c.mu + k) * wp.max(get(s, x + normal), ZERO)
    most = real(0.0)
    for r in range(first_row(m, s, k), normal):
        p = get(s, x + r)
        u = get(s, b + r) + times_W(m, s, n, r, x)
        most = wp.max(most, wp.abs(p - wp.clamp(p - rho * u, -reach, reach)))
    return most


@wp.func
def missed_at(m: Machines, s: World, k: int, b: int, x: int, square: bool):
    """How far the impulses of contact k are from the law, as an impulse: normals press or part and
    never both, friction is inside its flat sides, and all of it where the contact slides.
    """
    n = n_rows(m, s)
    r = first_row(m, s, k + 1) - 1
    u = get(s, b + r) + times_W(m, s, n, r, x)
    above = get(s, x + r) - get(s, m[0].c.floor + k)
    miss = wp.abs(wp.min(above, step_of(m, s, k, n) * u))
    if square and n_sides(m, s, k, square) == 4:
        return wp.max(miss, beyond_square(m, s, k, b, x))
    return wp.max(miss, wp.max(beyond_pyramid(m, s, k, x), lags_behind(m, s, k, b, x)))


@wp.func
def missed_by(m: Machines, s: World, b: int, x: int, square: bool):
    """How far impulses are from the law, part of the largest."""
    n = n_rows(m, s)
    most = real(0.0)
    for k in range(n_active(m, s)):
        miss = missed_at(m, s, k, b, x, square)
        if not miss < INFINITY:  # nor for what is not a number
            return INFINITY
        most = wp.max(most, miss)
    return most / wp.max(size_of(m, s, n, b, x), TINY)


@wp.func
def grip_of(m: Machines, s: World, k: int, square: bool):
    """The radius of the largest circle inside the flat sides, part of μ γ_n."""
    if square:
        return ONE
    return least_grip(m, s, k)


@wp.func(inline=False)
def solve_flat(m: Machines, s: World, b: int, x: int, square: bool):
    """Impulses x of u = W x + b with flat friction; whether they were found.

    Among nearly redundant contacts pivots lose digits, and Lemke's method its way: what it finds is
    held against the law, and it goes along other paths. Where none leads there, the answer is that
    of the cones inside of the flat sides.
    """
    n = n_rows(m, s)
    for attempt in range(_PATHS):
        pivot_through(m, s, b, x, square, attempt)
        if missed_by(m, s, b, x, square) <= _PIVOTED:
            return True
    fill(s, x, n, ZERO)
    for k in range(n_active(m, s)):
        put(s, m[0].c.mu + k, grip_of(m, s, k, square) * get(s, m[0].c.mu + k))
    solved = solve_cone(m, s, b, x, True)
    for k in range(n_active(m, s)):
        put(s, m[0].c.mu + k, get(s, m[0].c.mu + k) / grip_of(m, s, k, square))
    return solved
