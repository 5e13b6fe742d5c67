r"""Computed torque: motors draw a point to a goal while some contacts hold, flickinger 6.2 and 6.4.

The acceleration $a = \omega^2 (goal - x) - 2 \omega \dot x$ is brought within what the motors can
give along its direction (6.6). With the stance at rest, contact forces f and efforts τ fulfil

$$ W f + C \tau + \dot u_0 = 0, \qquad P f + Q \tau + a_0 = a , $$

all of which are products of the half-solved rows of contacts, motors and point. There are as many
motors as rows of the point, so that τ = slope s + offset for an acceleration s along its direction.

Three phases: PUSH until the lowest contact is `lifted`; LEAVE, passive, until it is `away`; FLY
until it touches; then PUSH again. The height over the end of a phase is an event function.
"""

import warp as wp

from .algebra import factor_rows, least_solution
from .contacts import place_contact, put_jacobian, rate_at, spin, velocity_at, world_point
from .joints import length, passive_forces, speed_of
from .layout import Machines
from .reals import (
    INFINITY,
    ONE,
    TWO,
    ZERO,
    World,
    dot,
    fill,
    get,
    get_int,
    mat33,
    put,
    put_int,
    real,
    tolerance,
    vec3,
)
from .rows import motion_of, put_row
from .tree import half_solve

PUSH, LEAVE, FLY = wp.constant(0), wp.constant(1), wp.constant(2)
_TOUCHES = tolerance(1e-7, 1e-5)  # the push begins again this little above the ground [m]


@wp.func
def n_held_rows(m: Machines):
    """Rows of the contacts that the mechanism stands on."""
    n = int(0)
    for k in range(m[0].push.count):
        n += m[0].pairs.rows[m[0].push.pairs[k]]
    return n


@wp.func
def axis_of(m: Machines, j: int):
    """Axis j of the point's rows: x and z in the plane, else all."""
    if m[0].act.count == 2 and j == 1:
        return 2
    return j


@wp.func
def unit(axis: int):
    e = vec3()
    e[axis] = ONE
    return e


@wp.func
def gram(m: Machines, s: World, i: int, j: int):
    """Product of two half-solved rows."""
    nv = m[0].tree.nv
    return dot(s, m[0].motors.rows + i * nv, m[0].motors.rows + j * nv, nv)


@wp.func(inline=False)
def put_rows(m: Machines, s: World, t: real, held: int):
    """Half-solved rows of contacts, motors and point; accelerations without forces and efforts."""
    nv = m[0].tree.nv
    nu = m[0].act.count
    still = m[0].motors.still
    passive_forces(m, s, m[0].motors.passive)
    half_solve(m, s, m[0].motors.passive)
    r = int(0)
    for k in range(m[0].push.count):
        i = m[0].push.pairs[k]
        c = motion_of(m, s, i, t)
        for j in range(m[0].pairs.rows[i]):
            Y = m[0].motors.rows + r * nv
            made = put_row(m, s, i, j, c, Y)
            half_solve(m, s, Y)
            put(s, still + r, dot(s, Y, m[0].motors.passive, nv) + made.bias)
            r += 1
    for i in range(nu):
        Y = m[0].motors.rows + (held + i) * nv
        fill(s, Y, nv, ZERO)
        for e in range(m[0].act.first[i], m[0].act.first[i + 1]):
            d = Y + m[0].act.entry_v[e]
            put(s, d, get(s, d) + m[0].act.gear[e])
        half_solve(m, s, Y)
    link = m[0].push.link
    x = world_point(m, s, link, m[0].push.point)
    bias = rate_at(m, s, link, x) + wp.cross(spin(m, s, link), velocity_at(m, s, link, x))
    for j in range(nu):
        Y = m[0].motors.rows + (held + nu + j) * nv
        fill(s, Y, nv, ZERO)
        put_jacobian(m, s, link, unit(axis_of(m, j)), x, ONE, Y)
        half_solve(m, s, Y)
        put(s, still + held + j, dot(s, Y, m[0].motors.passive, nv) + bias[axis_of(m, j)])


@wp.func(inline=False)
def reduced_map(m: Machines, s: World, held: int):
    """a = D τ + a₀ with the forces that hold put in: D in columns 0 to nu - 1; a₀ into `still`."""
    nu = m[0].act.count
    A = m[0].motors.gram
    D = mat33()
    for i in range(held):
        for j in range(held):
            put(s, A + i * held + j, gram(m, s, i, j))
    order = m[0].motors.order
    rank = factor_rows(s, A, held, m[0].motors.beta, order)
    right = m[0].motors.right
    f = m[0].motors.answer
    for column in range(nu + 1):
        for r in range(held):
            value = get(s, m[0].motors.still + r)
            if column < nu:
                value = gram(m, s, r, held + column)
            put(s, right + r, -value)
        least_solution(s, A, held, rank, m[0].motors.beta, order, right, f)
        for k in range(nu):
            total = real(0.0)
            for r in range(held):
                total += gram(m, s, held + nu + k, r) * get(s, f + r)
            if column < nu:
                D[k, column] = total + gram(m, s, held + nu + k, held + column)
            else:
                to = m[0].motors.still + held + k
                put(s, to, get(s, to) + total)
    for k in range(nu, 3):
        D[k, k] = ONE
    return D


@wp.func
def wanted_acceleration(m: Machines, s: World):
    """As of a critically damped spring; only along the rows that the point has."""
    w = m[0].push.frequency
    x = world_point(m, s, m[0].push.link, m[0].push.point)
    a = w * w * (m[0].push.goal - x) - TWO * w * velocity_at(m, s, m[0].push.link, x)
    found = vec3()
    for j in range(m[0].act.count):
        found[j] = a[axis_of(m, j)]
    return found


@wp.func(inline=False)
def push_off(m: Machines, s: World, t: real):
    """What the motors are told, once the mass matrix is factored; nothing unless they push."""
    nu = m[0].act.count
    fill(s, m[0].motors.command, nu, ZERO)
    if get_int(s, m[0].motors.push_phase) != PUSH:
        return
    held = n_held_rows(m)
    put_rows(m, s, t, held)
    E = wp.inverse(reduced_map(m, s, held))
    a = wanted_acceleration(m, s)
    size = wp.length(a)
    still = vec3()
    for j in range(nu):
        still[j] = get(s, m[0].motors.still + held + j)
    slope = E * wp.normalize(a)
    offset = -(E * still)
    low = -INFINITY
    high = real(INFINITY)
    least = vec3()
    most = vec3()
    bias = vec3()
    for i in range(nu):
        b = m[0].act.bias[i, 0] + m[0].act.bias[i, 1] * length(m, s, i)
        bias[i] = b + m[0].act.bias[i, 2] * speed_of(m, s, i)
        one = m[0].act.gain[i] * m[0].act.control_range[i, 0] + bias[i]
        two = m[0].act.gain[i] * m[0].act.control_range[i, 1] + bias[i]
        least[i] = wp.clamp(
            wp.min(one, two), m[0].act.force_range[i, 0], m[0].act.force_range[i, 1]
        )
        most[i] = wp.clamp(wp.max(one, two), m[0].act.force_range[i, 0], m[0].act.force_range[i, 1])
        if slope[i] != ZERO:
            one = (least[i] - offset[i]) / slope[i]
            two = (most[i] - offset[i]) / slope[i]
            low = wp.max(low, wp.min(one, two))
            high = wp.min(high, wp.max(one, two))
        elif offset[i] < least[i] or offset[i] > most[i]:  # for no s
            low = INFINITY
            high = -INFINITY
    part = wp.min(wp.max(size, low), high)
    for i in range(nu):
        effort = wp.clamp(slope[i] * part + offset[i], least[i], most[i])
        put(s, m[0].motors.command + i, (effort - bias[i]) / m[0].act.gain[i])


@wp.func
def put_guard(m: Machines, s: World, t: real):
    """What falls to zero when the phase ends."""
    height = real(INFINITY)
    for k in range(m[0].push.count):
        here = place_contact(m, s, m[0].push.pairs[k], t)
        height = wp.min(height, here.gap)
    phase = get_int(s, m[0].motors.push_phase)
    left = m[0].push.lifted - height
    if phase == LEAVE:
        left = m[0].push.away - height
    elif phase == FLY:
        left = height - _TOUCHES
    put(s, m[0].motors.guard, left)


@wp.func
def switch_push(m: Machines, s: World):
    """The next phase."""
    put_int(s, m[0].motors.push_phase, (get_int(s, m[0].motors.push_phase) + 1) % 3)
