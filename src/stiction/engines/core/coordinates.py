r"""Constraints on one number: a joint's coordinate, a tendon's length, the turn of a ball joint.

A limit is a contact without friction whose gap is the way that is left. Dry friction is Coulomb's
law under a constant load: so it has a normal of its own, which no motion reaches, a mass of 1 kg
that is pressed. MuJoCo's `range` and `frictionloss`.
"""

import warp as wp

from .layout import Machines
from .outer import of_worlds, peek, tendon_velocity
from .reals import HALF, ONE, TWO, ZERO, World, get, get3, get_quat, put, real, tolerance, vec3

JOINT_LIMIT, FREEDOM_FRICTION = wp.constant(4), wp.constant(5)
TENDON_LIMIT, TENDON_FRICTION, BALL_LIMIT = wp.constant(10), wp.constant(11), wp.constant(12)

_STRAIGHT = tolerance(1e-6, 1e-3)  # turn of a ball joint below which it has no axis [rad]


@wp.func
def is_dry(kind: int):
    """Whether it is dry friction."""
    return of_worlds(kind == FREEDOM_FRICTION or kind == TENDON_FRICTION)


@wp.func
def is_limit(kind: int):
    return of_worlds(kind == JOINT_LIMIT or kind == TENDON_LIMIT or kind == BALL_LIMIT)


@wp.func
def is_of_tendon(kind: int):
    return of_worlds(kind == TENDON_LIMIT or kind == TENDON_FRICTION)


@wp.func
def turn_of(s: World, q: int):
    """The rotation vector of a quaternion, by the shorter way round."""
    r = get_quat(s, q)
    u = vec3(r[0], r[1], r[2])
    w = r[3]
    if w < ZERO:
        u = -u
        w = -w
    size = wp.length(u)
    if size < TWO * _STRAIGHT:
        return TWO * u
    return u * (TWO * wp.atan2(size, w) / size)


@wp.func
def way_left(m: Machines, s: World, i: int):
    """The gap of a limit: how far the number of pair i is from its bound."""
    k = m[0].pairs.first[i]
    kind = m[0].pairs.kind[i]
    sign = m[0].pairs.axes[i][0]
    bound = m[0].pairs.radius[i]
    if kind == JOINT_LIMIT:
        return sign * (get(s, m[0].at.q + m[0].tree.at_q[k]) - bound)
    if kind == TENDON_LIMIT:
        return sign * (peek(m[0].outer.ten_length, k) - bound)
    return bound - wp.length(turn_of(s, m[0].at.q + m[0].tree.at_q[k]))


@wp.func
def number_rate(m: Machines, s: World, i: int):
    """How fast the number of pair i changes, along its sign."""
    k = m[0].pairs.first[i]
    kind = m[0].pairs.kind[i]
    sign = m[0].pairs.axes[i][0]
    if kind == FREEDOM_FRICTION:
        return sign * get(s, m[0].at.v + k)
    if is_of_tendon(kind):
        return sign * tendon_velocity(m, s, k)
    d = m[0].tree.at_v[k]
    if kind == JOINT_LIMIT:
        return sign * get(s, m[0].at.v + d)
    turn = turn_of(s, m[0].at.q + m[0].tree.at_q[k])
    return -wp.dot(wp.normalize(turn), get3(s, m[0].at.v + d))


@wp.func
def number_bias(m: Machines, s: World, i: int):
    """How fast that rate changes if v does not."""
    k = m[0].pairs.first[i]
    if is_of_tendon(m[0].pairs.kind[i]):
        return m[0].pairs.axes[i][0] * get(s, m[0].at.tendon_bias + k)
    if m[0].pairs.kind[i] != BALL_LIMIT:
        return ZERO
    # d/dt of φ = a n under the angular velocity ω of the turning frame, whose part across n is
    # a dn/dt.
    turn = turn_of(s, m[0].at.q + m[0].tree.at_q[k])
    w = get3(s, m[0].at.v + m[0].tree.at_v[k])
    a = wp.max(wp.length(turn), _STRAIGHT)
    half = HALF * a
    bend = (ONE - half * wp.cos(half) / wp.sin(half)) / (a * a)
    rate = w + HALF * wp.cross(turn, w) + bend * wp.cross(turn, wp.cross(turn, w))
    n = wp.normalize(turn)
    return -wp.dot(rate - n * wp.dot(n, rate), w) / a


@wp.func
def put_number_row(m: Machines, s: World, i: int, Y: int):
    """The Jacobian of the number of pair i, along its sign."""
    k = m[0].pairs.first[i]
    kind = m[0].pairs.kind[i]
    sign = m[0].pairs.axes[i][0]
    if kind == FREEDOM_FRICTION:
        put(s, Y + k, sign)
    elif kind == JOINT_LIMIT:
        put(s, Y + m[0].tree.at_v[k], sign)
    elif is_of_tendon(kind):
        put_tendon_row(m, s, k, sign, Y)
    else:
        n = wp.normalize(turn_of(s, m[0].at.q + m[0].tree.at_q[k]))
        for j in range(3):
            put(s, Y + m[0].tree.at_v[k] + j, -n[j])


@wp.func
def put_tendon_row(m: Machines, s: World, i: int, factor: real, Y: int):
    """Add the Jacobian of tendon i's length."""
    o = m[0].outer
    for e in range(o.tendon_first[i], o.tendon_first[i + 1]):
        d = Y + o.tendon_freedom[e]
        put(s, d, get(s, d) + factor * peek(o.ten_J, e))
