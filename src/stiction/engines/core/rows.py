r"""The rows of active contacts: Delassus matrix, velocities, and accelerations without forces.

$$ \dot u = W f + a_0, \qquad W = Y^T Y, \qquad Y = D^{-1/2} L^{-T} J^T. $$

flickinger (2.1)-(2.4), rodic (35). Only what touches has rows.
"""

import warp as wp

from .bonds import leave_out_bonds
from .contacts import (
    contact_bias,
    contact_velocity,
    is_of_number,
    place_contact,
    put_jacobian,
    put_turn,
    row,
    slide_along,
    spin,
)
from .coordinates import is_dry, is_limit, put_number_row
from .layout import Machines
from .outer import is_outer
from .reals import ONE, ZERO, World, dot, fill, get, get3, get_int, put, put_int, real
from .tree import half_solve


@wp.func
def law(m: Machines, s: World, i: int, number: int):
    """A number of contact i's law."""
    return m[0].law[s.index % m[0].law.shape[0], i, number]


@wp.func(inline=False)
def look(m: Machines, s: World, t: real):
    """Gap and closing speed of every pair."""
    for i in range(m[0].pairs.count):
        here = place_contact(m, s, i, t)
        u = contact_velocity(m, s, i, here)
        put(s, m[0].c.gap + i, here.gap)
        put(s, m[0].c.closing + i, u[2])


@wp.func
def first_row(m: Machines, s: World, k: int):
    return get_int(s, m[0].c.first + k)


@wp.func
def pair_of(m: Machines, s: World, k: int):
    """The pair of the k-th active contact."""
    return get_int(s, m[0].c.active + k)


@wp.func
def n_active(m: Machines, s: World):
    return get_int(s, m[0].c.n_active)


@wp.func
def n_rows(m: Machines, s: World):
    return first_row(m, s, n_active(m, s))


@wp.func
def activate(m: Machines, s: World, marks: int):
    """Give rows to the pairs whose mark is not 0. Whether they fit."""
    n = int(0)
    r = int(0)
    fits = bool(True)
    for i in range(m[0].pairs.count):
        if get_int(s, marks + i) != 0:
            if r + m[0].pairs.rows[i] > m[0].c.capacity:
                fits = False
            else:
                put_int(s, m[0].c.active + n, i)
                put_int(s, m[0].c.first + n, r)
                r += m[0].pairs.rows[i]
                n += 1
    put_int(s, m[0].c.first + n, r)
    put_int(s, m[0].c.n_active, n)
    return fits


@wp.struct
class ContactRow:
    """Velocity of a row, its rate if v does not change, and the velocity of the support."""

    velocity: real
    bias: real
    ground: real


@wp.func(inline=False)
def put_row(m: Machines, s: World, i: int, j: int, t: real, Y: int):
    """Row j of pair i, its Jacobian at Y. Sliding comes first, then spin, rolling and the normal.

    Spin and rolling are scaled by the ratio of their coefficient of friction to that of sliding: so
    that the cone is round whatever it is made of.
    """
    here = place_contact(m, s, i, t)
    moves = slide_along(m, s, i, t, here)
    first = m[0].pairs.first[i]
    second = m[0].pairs.second[i]
    last = m[0].pairs.rows[i] - 1
    made = ContactRow()
    fill(s, Y, m[0].tree.nv, ZERO)
    if j >= 2 and j < last:
        axis = j - 3
        if j == 2:
            axis = 2
        factor = m[0].pairs.twist[i][int(j > 2)]
        direction = row(here.frame, axis)
        turning = spin(m, s, first) - spin(m, s, second)
        gaining = get3(s, m[0].at.rate + 6 * first) - get3(s, m[0].at.rate + 6 * second)
        put_turn(m, s, first, direction, factor, Y)
        put_turn(m, s, second, direction, -factor, Y)
        made.velocity = factor * wp.dot(direction, turning)
        made.bias = factor * (wp.dot(direction, gaining) + wp.dot(row(moves.frame, axis), turning))
        return made
    axis = j
    if j == last:
        axis = 2
    u = contact_velocity(m, s, i, here)
    bias = contact_bias(m, s, i, here, moves)
    made.velocity = u[axis]
    made.bias = bias[axis]
    if is_of_number(m[0].pairs.kind[i]):
        if is_limit(m[0].pairs.kind[i]) or j < last:
            put_number_row(m, s, i, Y)
        return made
    direction = row(here.frame, axis)
    made.ground = wp.dot(direction, here.support)
    put_jacobian(m, s, first, direction, here.point, ONE, Y)
    put_jacobian(m, s, second, direction, here.point, -ONE, Y)
    return made


@wp.func(inline=False)
def build_rows(m: Machines, s: World, t: real):
    """Y, u, a₀ and the support's velocity of active contacts, then W."""
    nv = m[0].tree.nv
    for k in range(n_active(m, s)):
        begin = first_row(m, s, k)
        for r in range(begin, first_row(m, s, k + 1)):
            Y = m[0].c.Y + r * nv
            made = put_row(m, s, pair_of(m, s, k), r - begin, t, Y)
            half_solve(m, s, Y)
            put(s, m[0].c.velocity + r, made.velocity)
            put(s, m[0].c.free + r, dot(s, Y, m[0].z.half, nv) + made.bias)
            leave_out_bonds(m, s, Y)
            put(s, m[0].c.ground + r, made.ground)
    delassus(m, s)


@wp.func
def delassus(m: Machines, s: World):
    """W from Y."""
    nv = m[0].tree.nv
    n = n_rows(m, s)
    for i in range(n):
        for j in range(i + 1):
            w = dot(s, m[0].c.Y + i * nv, m[0].c.Y + j * nv, nv)
            put(s, m[0].c.W + i * n + j, w)
            put(s, m[0].c.W + j * n + i, w)
    for k in range(n_active(m, s)):
        if is_dry(m[0].pairs.kind[pair_of(m, s, k)]):
            r = first_row(m, s, k + 1) - 1
            put(s, m[0].c.W + r * n + r, ONE)


@wp.func
def told_at(m: Machines, rows: int, j: int):
    """Where row j of a contact stands in what is told of it: sliding, then the normal. Spin and
    rolling are not told: -1. In a world of MuJoCo's the normal is always the third.
    """
    if j == rows - 1:
        if is_outer(m):
            return 2
        return wp.min(j, 2)
    if j < 2:
        return j
    return -1


@wp.func
def times_W(m: Machines, s: World, n: int, r: int, x: int):
    """Entry r of W x."""
    return dot(s, m[0].c.W + r * n, x, n)


@wp.func
def push(m: Machines, s: World, x: int, to: int):
    """to += Y x, in half-solved coordinates."""
    nv = m[0].tree.nv
    for r in range(n_rows(m, s)):
        f = get(s, x + r)
        if f != ZERO:
            for d in range(nv):
                put(s, to + d, get(s, to + d) + f * get(s, m[0].c.Y + r * nv + d))


@wp.func
def slip_speed(m: Machines, s: World, k: int):
    """How fast the k-th contact slides."""
    total = real(0.0)
    for r in range(first_row(m, s, k), first_row(m, s, k + 1) - 1):
        total += get(s, m[0].c.velocity + r) * get(s, m[0].c.velocity + r)
    return wp.sqrt(total)
