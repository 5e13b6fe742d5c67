r"""Bonds: constraints that are always kept. Loops, welds, coupled joints.

In half-solved coordinates, where the kinetic energy is a plain square, a bond is a direction that
motion may not have. The directions of all bonds are made orthonormal (redundant ones fall away) and
taken out of the free motion and out of the rows of contacts, once an evaluation. Whatever follows
(forces, impacts, modes) then keeps the bonds without knowing of them.

$$ Q^T a + \beta = 0, \qquad a \leftarrow a - Q (Q^T a + \beta), \qquad Y \leftarrow Y - Q Q^T Y. $$
"""

import warp as wp

from .contacts import put_jacobian, put_turn, rate_at, spin, velocity_at, world_point
from .coordinates import put_tendon_row
from .layout import Machines
from .outer import has_bonds, is_outer, peek, tendon_velocity
from .reals import (
    ONE,
    ZERO,
    World,
    add_scaled,
    dot,
    fill,
    get,
    get_int,
    get_quat,
    put,
    put_int,
    real,
    scale,
    tolerance,
    vec3,
)
from .tree import half_solve

# Kinds of m[0].bonds: a point of two bodies, their turn, a joint or tendon that follows another.
POINTS, TURNS, JOINTS, TENDONS = (wp.constant(i) for i in range(4))
_REDUNDANT = tolerance(1e-9, 1e-4)  # what is left of a direction that others already hold


@wp.struct
class BondRow:
    """A row of a bond: how far it is from being kept, how fast that grows, its rate without v̇."""

    gap: real
    velocity: real
    bias: real


@wp.func
def point_row(m: Machines, s: World, i: int, axis: int, Y: int):
    a = m[0].bonds.first[i]
    b = m[0].bonds.second[i]
    p = world_point(m, s, a, m[0].bonds.point[i])
    q = world_point(m, s, b, m[0].bonds.on[i])
    e = vec3()
    e[axis] = ONE
    put_jacobian(m, s, a, e, p, ONE, Y)
    put_jacobian(m, s, b, e, q, -ONE, Y)
    va = velocity_at(m, s, a, p)
    vb = velocity_at(m, s, b, q)
    bend = rate_at(m, s, a, p) + wp.cross(spin(m, s, a), va)
    bend = bend - rate_at(m, s, b, q) - wp.cross(spin(m, s, b), vb)
    made = BondRow()
    made.gap = p[axis] - q[axis]
    made.velocity = va[axis] - vb[axis]
    made.bias = bend[axis]
    return made


@wp.func
def turn_row(m: Machines, s: World, i: int, axis: int, Y: int):
    a = m[0].bonds.first[i]
    b = m[0].bonds.second[i]
    e = vec3()
    e[axis] = ONE
    put_turn(m, s, a, e, ONE, Y)
    put_turn(m, s, b, e, -ONE, Y)
    # From where the second has it to where the first is, as a vector along the axis of that turn.
    goal = get_quat(s, m[0].at.rotation + 4 * b) * m[0].bonds.turn[i]
    off = get_quat(s, m[0].at.rotation + 4 * a) * wp.quat_inverse(goal)
    sign = real(2.0)
    if off[3] < ZERO:
        sign = real(-2.0)
    made = BondRow()
    made.gap = sign * off[axis]
    made.velocity = spin(m, s, a)[axis] - spin(m, s, b)[axis]
    made.bias = get(s, m[0].at.rate + 6 * a + axis) - get(s, m[0].at.rate + 6 * b + axis)
    return made


@wp.struct
class FollowedCurve:
    """A polynomial at a place: its value, slope and bend."""

    value: real
    slope: real
    bend: real


@wp.func
def curve_at(m: Machines, i: int, y: real):
    """The polynomial of bond i at y."""
    c = FollowedCurve()
    for back in range(5):
        c.bend = c.bend * y + real(2.0) * c.slope
        c.slope = c.slope * y + c.value
        c.value = c.value * y + m[0].bonds.curve[i, 4 - back]
    return c


@wp.func
def joint_row(m: Machines, s: World, i: int, Y: int):
    """q₁ follows a polynomial of q₂, both counted from their reference."""
    one = m[0].bonds.first[i]
    two = m[0].bonds.second[i]
    d = m[0].tree.at_v[one]
    x = get(s, m[0].at.q + m[0].tree.at_q[one]) - m[0].bonds.point[i][0]
    put(s, Y + d, ONE)
    made = BondRow()
    made.gap = x - m[0].bonds.curve[i, 0]
    made.velocity = get(s, m[0].at.v + d)
    if two > 0:
        e = m[0].tree.at_v[two]
        y = get(s, m[0].at.q + m[0].tree.at_q[two]) - m[0].bonds.point[i][1]
        v = get(s, m[0].at.v + e)
        c = curve_at(m, i, y)
        put(s, Y + e, get(s, Y + e) - c.slope)
        made.gap = x - c.value
        made.velocity -= c.slope * v
        made.bias = -c.bend * v * v
    return made


@wp.func
def tendon_row(m: Machines, s: World, i: int, Y: int):
    """The length of a tendon follows a polynomial of another's, both from their reference."""
    one = m[0].bonds.first[i]
    two = m[0].bonds.second[i]
    put_tendon_row(m, s, one, ONE, Y)
    made = BondRow()
    made.gap = peek(m[0].outer.ten_length, one) - m[0].bonds.point[i][0] - m[0].bonds.curve[i, 0]
    made.velocity = tendon_velocity(m, s, one)
    made.bias = get(s, m[0].at.tendon_bias + one)
    if two >= 0:
        v = tendon_velocity(m, s, two)
        c = curve_at(m, i, peek(m[0].outer.ten_length, two) - m[0].bonds.point[i][1])
        put_tendon_row(m, s, two, -c.slope, Y)
        made.gap += m[0].bonds.curve[i, 0] - c.value
        made.velocity -= c.slope * v
        made.bias -= c.slope * get(s, m[0].at.tendon_bias + two) + c.bend * v * v
    return made


@wp.func
def n_held(m: Machines, s: World):
    if is_outer(m):
        return get_int(s, m[0].c.n_held)
    return 0


@wp.func
def bond_row(m: Machines, s: World, i: int, axis: int, Y: int):
    """One row of a bond, its Jacobian half-solved at Y."""
    fill(s, Y, m[0].tree.nv, ZERO)
    made = BondRow()
    if m[0].bonds.kind[i] == POINTS:
        made = point_row(m, s, i, axis, Y)
    elif m[0].bonds.kind[i] == TURNS:
        made = turn_row(m, s, i, axis, Y)
    elif m[0].bonds.kind[i] == JOINTS:
        made = joint_row(m, s, i, Y)
    else:
        made = tendon_row(m, s, i, Y)
    half_solve(m, s, Y)
    return made


@wp.func
def take_out(m: Machines, s: World, j: int, row: int):
    """Take direction j out of a row, and what is known of it out of what is known of the row."""
    nv = m[0].tree.nv
    Q = m[0].c.held + j * nv
    Y = m[0].c.held + row * nv
    c = dot(s, Q, Y, nv)
    add_scaled(s, Y, -c, Q, nv)
    for known in range(3):
        at = m[0].c.held_gap + known * m[0].c.most_held
        put(s, at + row, get(s, at + row) - c * get(s, at + j))


@wp.func
def swap_rows(m: Machines, s: World, a: int, b: int):
    nv = m[0].tree.nv
    for d in range(nv):
        x = get(s, m[0].c.held + a * nv + d)
        put(s, m[0].c.held + a * nv + d, get(s, m[0].c.held + b * nv + d))
        put(s, m[0].c.held + b * nv + d, x)
    for known in range(3):
        at = m[0].c.held_gap + known * m[0].c.most_held
        x = get(s, at + a)
        put(s, at + a, get(s, at + b))
        put(s, at + b, x)


@wp.func
def hold_bond(m: Machines, s: World, i: int):
    """Add the directions of bond i to those that are held.

    Its rows are written behind them and made orthonormal, the largest first; where next to nothing
    is left of the rows, others hold them already. A loop in a plane has such a row, whichever way
    the plane is turned.
    """
    nv = m[0].tree.nv
    n = n_held(m, s)
    rows = int(3)
    if m[0].bonds.kind[i] >= JOINTS:
        rows = int(1)
    whole = real(0.0)
    for r in range(n, n + rows):
        Y = m[0].c.held + r * nv
        made = bond_row(m, s, i, r - n, Y)
        put(s, m[0].c.held_gap + r, made.gap)
        put(s, m[0].c.held_velocity + r, made.velocity)
        put(s, m[0].c.held_bias + r, made.bias)
        whole = wp.max(whole, dot(s, Y, Y, nv))
        for j in range(n):
            take_out(m, s, j, r)
    for _ in range(rows):
        n = n_held(m, s)
        best = int(n)
        most = real(-1.0)
        for r in range(n, n + rows):
            Y = m[0].c.held + r * nv
            size = dot(s, Y, Y, nv)
            if size > most:
                most = size
                best = r
        if most <= _REDUNDANT * _REDUNDANT * whole:
            return
        if best != n:
            swap_rows(m, s, n, best)
        for j in range(n):  # once more: twice is enough
            take_out(m, s, j, n)
        Q = m[0].c.held + n * nv
        size = wp.sqrt(dot(s, Q, Q, nv))
        scale(s, Q, ONE / size, nv)
        for known in range(3):
            at = m[0].c.held_gap + known * m[0].c.most_held + n
            put(s, at, get(s, at) / size)
        put_int(s, m[0].c.n_held, n + 1)
        rows -= 1
        for r in range(n + 1, n + 1 + rows):
            take_out(m, s, n, r)


@wp.func
def hold_directions(m: Machines, s: World):
    """Directions of all bonds."""
    if has_bonds(m):
        put_int(s, m[0].c.n_held, 0)
        for i in range(m[0].bonds.count):
            hold_bond(m, s, i)


@wp.func
def hold_bonds(m: Machines, s: World):
    """Directions of all bonds, and the free motion without them."""
    hold_directions(m, s)
    hold_motion(m, s, m[0].z.half)


@wp.func
def hold_motion(m: Machines, s: World, a: int):
    """An acceleration, half solved, as the bonds leave it."""
    nv = m[0].tree.nv
    for j in range(n_held(m, s)):
        Q = m[0].c.held + j * nv
        short = dot(s, Q, a, nv) + get(s, m[0].c.held_bias + j)
        add_scaled(s, a, -short, Q, nv)


@wp.func
def leave_out_bonds(m: Machines, s: World, Y: int):
    """Y without the directions that bonds hold. What they hold whole leaves nothing: not rounding,
    which a force would be divided by.
    """
    nv = m[0].tree.nv
    n = n_held(m, s)
    if n == 0:
        return
    whole = dot(s, Y, Y, nv)
    for j in range(n):
        Q = m[0].c.held + j * nv
        add_scaled(s, Y, -dot(s, Q, Y, nv), Q, nv)
    if dot(s, Y, Y, nv) <= _REDUNDANT * _REDUNDANT * whole:
        fill(s, Y, nv, ZERO)


@wp.func
def bring_back(m: Machines, s: World, missed: int, to: int):
    """What takes back the gaps or velocities of bonds, in half-solved coordinates."""
    for j in range(n_held(m, s)):
        add_scaled(s, to, -get(s, missed + j), m[0].c.held + j * m[0].tree.nv, m[0].tree.nv)
