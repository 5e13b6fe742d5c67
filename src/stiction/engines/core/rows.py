r"""The rows of active contacts: Delassus matrix, velocities, and accelerations without forces.

$$ \dot u = W f + a_0, \qquad W = Y^T Y, \qquad Y = D^{-1/2} L^{-T} J^T. $$

flickinger (2.1)-(2.4), rodic (35). Only what touches has rows.
"""

import warp as wp

from .bonds import leave_out_bonds
from .contacts import (
    Drift,
    Place,
    contact_bias,
    contact_velocity,
    is_of_number,
    place_contact,
    row,
    slide_along,
    spin,
)
from .coordinates import is_dry, is_limit, put_number_row
from .layout import Machines
from .outer import has_bonds, is_outer, of_worlds
from .reals import (
    CALLED,
    ONE,
    ZERO,
    World,
    add_scaled,
    dot,
    fill,
    get,
    get3,
    get6,
    get_int,
    mat33,
    put,
    put_int,
    real,
    vec3,
    vec6,
)
from .tree import half_solve, half_solve_along, solve_link


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
class ContactMotion:
    """A contact's place and how that moves; its velocity, and its rate if v does not change."""

    here: Place
    moves: Drift
    velocity: vec3
    bias: vec3


@wp.func(inline=False)
def motion_of(m: Machines, s: World, i: int, t: real):
    """All that the rows of pair i share."""
    c = ContactMotion()
    c.here = place_contact(m, s, i, t)
    c.moves = slide_along(m, s, i, t, c.here)
    c.velocity = contact_velocity(m, s, i, c.here)
    c.bias = contact_bias(m, s, i, c.here, c.moves)
    return c


@wp.func
def moving_link(m: Machines, i: int):
    """The link of pair i that moves, if it is the only one; else -1."""
    if is_of_number(m[0].pairs.kind[i]):
        return -1
    a = m[0].tree.last_freedom[m[0].pairs.first[i]]
    b = m[0].tree.last_freedom[m[0].pairs.second[i]]
    if (a >= 0) == (b >= 0):
        return -1
    if a >= 0:
        return m[0].pairs.first[i]
    return m[0].pairs.second[i]


@wp.func
def branch_of(m: Machines, i: int):
    """The freedom from which on to the root the rows of pair i are not zero; -1: they may be
    anywhere.
    """
    link = moving_link(m, i)
    if link < 0:
        return -1
    return m[0].tree.last_freedom[link]


@wp.func
def half_solve_row(m: Machines, s: World, Y: int, branch: int):
    if branch >= 0:
        half_solve_along(m, s, Y, branch)
    else:
        half_solve(m, s, Y)


@wp.func
def dot_row(m: Machines, s: World, Y: int, x: int, branch: int):
    """Product of a row with other numbers of freedoms."""
    if branch < 0:
        return dot(s, Y, x, m[0].tree.nv)
    total = real(0.0)
    d = branch
    while d >= 0:
        total += get(s, Y + d) * get(s, x + d)
        d = m[0].tree.before[d]
    return total


@wp.struct
class ContactRow:
    """Velocity of a row, its rate if v does not change, and the velocity of the support."""

    velocity: real
    bias: real
    ground: real


@wp.func
def axis_of_row(m: Machines, i: int, j: int):
    """Which axis of its frame row j of pair i is along, or about: sliding comes first, then spin,
    rolling and the normal.
    """
    if j == 2 or j == m[0].pairs.rows[i] - 1:
        return 2
    if j > 2:
        return j - 3
    return j


@wp.func
def turns(m: Machines, i: int, j: int):
    """Whether row j of pair i is one of spin or rolling."""
    return of_worlds(j >= 2 and j < m[0].pairs.rows[i] - 1)


@wp.func
def twist_of_row(m: Machines, i: int, j: int):
    """Rows of spin and rolling are scaled by the ratio of their coefficient of friction to that of
    sliding: so that the cone is round whatever it is made of.
    """
    return m[0].pairs.twist[i][int(j > 2)]


@wp.func(inline=CALLED)
def row_motion(m: Machines, s: World, i: int, j: int, c: ContactMotion):
    """How row j of pair i moves."""
    made = ContactRow()
    axis = axis_of_row(m, i, j)
    direction = row(c.here.frame, axis)
    if turns(m, i, j):
        factor = twist_of_row(m, i, j)
        first = m[0].pairs.first[i]
        second = m[0].pairs.second[i]
        turning = spin(m, s, first) - spin(m, s, second)
        gaining = get3(s, m[0].at.rate + 6 * first) - get3(s, m[0].at.rate + 6 * second)
        made.velocity = factor * wp.dot(direction, turning)
        made.bias = factor * (
            wp.dot(direction, gaining) + wp.dot(row(c.moves.frame, axis), turning)
        )
        return made
    made.velocity = c.velocity[axis]
    made.bias = c.bias[axis]
    made.ground = wp.dot(direction, c.here.support)
    return made


@wp.func(inline=CALLED)
def lever(m: Machines, s: World, i: int, j: int, here: Place, link: int):
    """Row j of pair i as it takes the motion of a link: its angular velocity, then its linear one.
    Of the second link it is the opposite.
    """
    direction = row(here.frame, axis_of_row(m, i, j))
    if link == m[0].pairs.second[i]:
        direction = -direction
    if turns(m, i, j):
        factor = twist_of_row(m, i, j)
        return vec6(
            factor * direction[0], factor * direction[1], factor * direction[2], ZERO, ZERO, ZERO
        )
    arm = wp.cross(here.point - get3(s, m[0].at.origin + 3 * m[0].tree.root[link]), direction)
    return vec6(arm[0], arm[1], arm[2], direction[0], direction[1], direction[2])


@wp.func(inline=CALLED)
def add_along(m: Machines, s: World, lever: vec6, rows: int, link: int, Y: int):
    """Y += what a lever takes of six rows of a link, side by side along its branch."""
    d = m[0].tree.last_freedom[link]
    while d >= 0:
        put(s, Y + d, get(s, Y + d) + wp.dot(lever, get6(s, rows + 6 * d)))
        d = m[0].tree.before[d]


@wp.func
def times_rows(m: Machines, s: World, rows: int, link: int, x: int):
    """Six rows of a link, side by side, times numbers of freedoms."""
    total = vec6()
    d = m[0].tree.last_freedom[link]
    while d >= 0:
        total += get6(s, rows + 6 * d) * get(s, x + d)
        d = m[0].tree.before[d]
    return total


@wp.func
def put_row(m: Machines, s: World, i: int, j: int, c: ContactMotion, Y: int):
    """Row j of pair i, its Jacobian at Y."""
    fill(s, Y, m[0].tree.nv, ZERO)
    if is_of_number(m[0].pairs.kind[i]):
        if is_limit(m[0].pairs.kind[i]) or j < m[0].pairs.rows[i] - 1:
            put_number_row(m, s, i, Y)
    else:
        first = m[0].pairs.first[i]
        second = m[0].pairs.second[i]
        motion = m[0].at.motion
        add_along(m, s, lever(m, s, i, j, c.here, first), motion, first, Y)
        if first != second:
            add_along(m, s, lever(m, s, i, j, c.here, second), motion, second, Y)
    return row_motion(m, s, i, j, c)


@wp.func(inline=False)
def build_rows(m: Machines, s: World, t: real):
    """Y, u, a₀ and the support's velocity of active contacts, then W."""
    nv = m[0].tree.nv
    solved = int(-1)  # the link whose six rows are: contacts of a link follow each other
    half = vec6()
    for k in range(n_active(m, s)):
        i = pair_of(m, s, k)
        link = moving_link(m, i)
        if link >= 0 and link != solved:
            solve_link(m, s, m[0].c.link, link)
            half = times_rows(m, s, m[0].c.link, link, m[0].z.half)
            solved = link
        c = motion_of(m, s, i, t)
        begin = first_row(m, s, k)
        for r in range(begin, first_row(m, s, k + 1)):
            Y = m[0].c.Y + r * nv
            made = ContactRow()
            driven = real(0.0)
            if link >= 0:
                made = row_motion(m, s, i, r - begin, c)
                takes = lever(m, s, i, r - begin, c.here, link)
                driven = wp.dot(takes, half)
                fill(s, Y, nv, ZERO)
                add_along(m, s, takes, m[0].c.link, link, Y)
            else:
                made = put_row(m, s, i, r - begin, c, Y)
                half_solve(m, s, Y)
                driven = dot(s, Y, m[0].z.half, nv)
            put(s, m[0].c.velocity + r, made.velocity)
            put(s, m[0].c.free + r, driven + made.bias)
            leave_out_bonds(m, s, Y)
            put(s, m[0].c.ground + r, made.ground)
    delassus(m, s)


@wp.func
def get_three(m: Machines, s: World, Y: int, d: int):
    """The entries of three rows at one freedom."""
    nv = m[0].tree.nv
    return vec3(get(s, Y + d), get(s, Y + nv + d), get(s, Y + 2 * nv + d))


@wp.func(inline=CALLED)
def put_block(m: Machines, s: World, n: int, a: int, b: int, branch: int):
    """The block of W of two contacts with three rows each, which begin at rows a and b."""
    block = mat33()
    Y_a = m[0].c.Y + a * m[0].tree.nv
    Y_b = m[0].c.Y + b * m[0].tree.nv
    d = branch
    while d >= 0:
        block += wp.outer(get_three(m, s, Y_a, d), get_three(m, s, Y_b, d))
        d = m[0].tree.before[d]
    for i in range(3):
        for j in range(3):
            put(s, m[0].c.W + (a + i) * n + b + j, block[i, j])
            put(s, m[0].c.W + (b + j) * n + a + i, block[i, j])


@wp.func(inline=False)
def delassus(m: Machines, s: World):
    """W from Y: along the branch of one of two contacts, where their rows are not zero."""
    nv = m[0].tree.nv
    n = n_rows(m, s)
    for k in range(n_active(m, s)):
        begin = first_row(m, s, k)
        end = first_row(m, s, k + 1)
        branch = branch_of(m, pair_of(m, s, k))
        if has_bonds(m):
            branch = -1
        for l in range(k + 1):
            begin_l = first_row(m, s, l)
            end_l = first_row(m, s, l + 1)
            if branch >= 0 and end - begin == 3 and end_l - begin_l == 3:
                put_block(m, s, n, begin, begin_l, branch)
            else:
                for i in range(begin, end):
                    for j in range(begin_l, wp.min(end_l, i + 1)):
                        w = dot_row(m, s, m[0].c.Y + i * nv, m[0].c.Y + j * nv, branch)
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
    for k in range(n_active(m, s)):
        begin = first_row(m, s, k)
        end = first_row(m, s, k + 1)
        branch = branch_of(m, pair_of(m, s, k))
        if branch >= 0 and end - begin == 3 and not has_bonds(m):
            push_three(m, s, get3(s, x + begin), m[0].c.Y + begin * m[0].tree.nv, branch, to)
        else:
            for r in range(begin, end):
                add_scaled(s, to, get(s, x + r), m[0].c.Y + r * m[0].tree.nv, m[0].tree.nv)


@wp.func
def push_three(m: Machines, s: World, f: vec3, Y: int, branch: int, to: int):
    """to += Y f of a contact with three rows, along its branch."""
    d = branch
    while d >= 0:
        put(s, to + d, get(s, to + d) + wp.dot(f, get_three(m, s, Y, d)))
        d = m[0].tree.before[d]


@wp.func
def slip_speed(m: Machines, s: World, k: int):
    """How fast the k-th contact slides."""
    total = real(0.0)
    for r in range(first_row(m, s, k), first_row(m, s, k + 1) - 1):
        total += get(s, m[0].c.velocity + r) * get(s, m[0].c.velocity + r)
    return wp.sqrt(total)
