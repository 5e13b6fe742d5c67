r"""Forces of contacts of which some slide in known directions, by pivoting.

A contact that slides has its friction along with its normal force. If all do, Coulomb's law is a
linear complementarity problem in normal forces alone,

$$ 0 \le x_n \perp (W B)_n x_n + b_n \ge 0, $$

B x_n being the forces with their friction. Its matrix is not symmetric, and neither sweeps nor
Newton's method need find its solution where many contacts slide (a row of fallen dominoes); Lemke's
method does. Contacts that are free to do what they will take part with a pyramid of two sides for
each tangent [StewartTrinkle1996]: what is found is then near, and a start for Newton's method.
"""

import warp as wp

from .layout import TANGENTS, Machines
from .lemke import lemke, solution_of, width
from .reals import ONE, TINY, ZERO, World, fill, get, get_int, put, real
from .rows import first_row, n_active, n_rows, pair_of

# What a contact does, if it is known.
FREE_TO, SLIDING, APART = wp.constant(0), wp.constant(1), wp.constant(2)


@wp.func
def n_sides(m: Machines, s: World, k: int):
    """Sides of the k-th contact's pyramid; 0 if friction is given, or none."""
    if get_int(s, m[0].c.fixed + k) == FREE_TO:
        return 2 * (first_row(m, s, k + 1) - 1 - first_row(m, s, k))
    return 0


@wp.func
def n_unknowns(m: Machines, s: World, k: int):
    """Impulses along all sides, the normal one, and the speed of sliding if there are sides."""
    if get_int(s, m[0].c.fixed + k) == APART:
        return 0
    sides = n_sides(m, s, k)
    if sides > 0:
        return sides + 2
    return 1


@wp.func
def sign_of(side: int):
    """Both sides of a tangent follow each other."""
    return real(1 - 2 * (side % 2))


@wp.func
def pushes(m: Machines, s: World, n: int, r: int, k: int, unknown: int, sides: int):
    """How an unknown of contact k changes row r: W times its forces."""
    begin = first_row(m, s, k)
    normal = first_row(m, s, k + 1) - 1
    row = m[0].c.W + r * n
    if unknown < sides:
        return sign_of(unknown) * get(s, row + begin + unknown // 2)
    if unknown > sides:
        return ZERO
    total = get(s, row + normal)
    if get_int(s, m[0].c.fixed + k) == SLIDING:
        heading = m[0].c.heading + TANGENTS * pair_of(m, s, k)
        for j in range(normal - begin):
            total -= get(s, m[0].c.mu + k) * get(s, heading + j) * get(s, row + begin + j)
    return total


@wp.func
def tie(m: Machines, s: World, k: int, i: int, j: int, sides: int):
    """What binds friction to the normal force within a pyramid."""
    if i < sides and j == sides + 1:
        return ONE
    if i == sides + 1 and j == sides:
        return get(s, m[0].c.mu + k)
    if i == sides + 1 and j < sides:
        return -ONE
    return ZERO


@wp.func
def write_tableau(m: Machines, s: World, b: int, T: int, size: int, most: real):
    """Forces are counted in units of 1 / max W: all entries are of the size of accelerations."""
    n = n_rows(m, s)
    columns = width(size)
    fill(s, T, size * columns, ZERO)
    row = int(0)
    for k in range(n_active(m, s)):
        sides = n_sides(m, s, k)
        for i in range(n_unknowns(m, s, k)):
            r = first_row(m, s, k + 1) - 1
            sign = real(1.0)
            if i < sides:
                r = first_row(m, s, k) + i // 2
                sign = sign_of(i)
            to = T + row * columns
            put(s, to + row, ONE)
            put(s, to + 2 * size, -ONE)
            if i <= sides:
                put(s, to + columns - 1, sign * get(s, b + r))
            column = int(0)
            for other in range(n_active(m, s)):
                theirs = n_sides(m, s, other)
                for j in range(n_unknowns(m, s, other)):
                    value = real(0.0)
                    if i <= sides:
                        value = sign * pushes(m, s, n, r, other, j, theirs) / most
                    if other == k:
                        value += tie(m, s, k, i, j, sides)
                    put(s, to + size + column, -value)
                    column += 1
            row += 1


@wp.func(inline=False)
def pivot_slides(m: Machines, s: World, b: int, x: int):
    """Forces x with accelerations W x + b; whether some slide, and Lemke's method finds them."""
    size = int(0)
    slides = bool(False)
    for k in range(n_active(m, s)):
        size += n_unknowns(m, s, k)
        slides = slides or get_int(s, m[0].c.fixed + k) == SLIDING
    capacity = m[0].c.capacity
    if not slides or size > capacity or size * width(size) > capacity * capacity:
        return False
    n = n_rows(m, s)
    most = real(0.0)
    for r in range(n):
        most = wp.max(most, get(s, m[0].c.W + r * n + r))
    most = wp.max(most, TINY)
    T = m[0].c.A
    basis = m[0].c.equation
    write_tableau(m, s, b, T, size, most)
    if not lemke(s, T, size, basis):
        return False
    fill(s, x, n, ZERO)
    first = int(0)
    for k in range(n_active(m, s)):
        sides = n_sides(m, s, k)
        begin = first_row(m, s, k)
        normal = first_row(m, s, k + 1) - 1
        if get_int(s, m[0].c.fixed + k) != APART:
            x_n = solution_of(s, T, size, basis, first + sides) / most
            put(s, x + normal, x_n)
            if get_int(s, m[0].c.fixed + k) == SLIDING:
                heading = m[0].c.heading + TANGENTS * pair_of(m, s, k)
                for j in range(normal - begin):
                    put(s, x + begin + j, -get(s, m[0].c.mu + k) * x_n * get(s, heading + j))
        for i in range(sides):
            to = x + begin + i // 2
            z = solution_of(s, T, size, basis, first + i) / most
            put(s, to, get(s, to) + sign_of(i) * z)
        first += n_unknowns(m, s, k)
    return True
