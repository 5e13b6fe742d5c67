r"""Where the rim of a cylinder crosses a line: an edge, or the middle of a capsule or a cylinder.

With e from the middle of the rim to its nearest point, t along the rim there, and r from the line
to that point, square to the line, the two are nearest where $r \cdot t = 0$. An end that lies on a
line has two such places, one at either side, and stands on both. Newton's method on the circle
finds e, always nearer, from where it was when a step was last kept. The normal $\pm t \times b$,
with b along the line, is known where they touch too; its sign is that of the outside of the rim.
"""

import warp as wp

from .layout import Machines
from .material import direction_of, spin, velocity_at, world_point
from .reals import HALF, INFINITY, ONE, ZERO, World, get_quat, real, tolerance, vec3

_NEWTON = wp.constant(40)
_FOUND = tolerance(1e-10, 1e-5)  # angle that was the last: the next is its square
_SURE = tolerance(1e-6, 1e-3)  # a smaller one needs no proof that it comes nearer
_HALVINGS = wp.constant(30)
_CROSS = wp.constant(real(1e-6))  # sine of the angle from which on rim and line cross


@wp.struct
class Rim:
    """A rim and a line in the world."""

    apart: vec3  # from a point of the line to the middle of the rim
    out: vec3  # axis, outwards
    reach: real
    line: vec3  # direction
    e: vec3


@wp.func
def rim(m: Machines, s: World, i: int):
    """Rim and line of pair i, with the nearest point as it was last."""
    first = m[0].pairs.first[i]
    second = m[0].pairs.second[i]
    c = Rim()
    c.apart = world_point(m, s, first, m[0].pairs.point[i])
    c.apart = c.apart - world_point(m, s, second, m[0].pairs.on[i])
    c.out = direction_of(m, s, first, m[0].pairs.axes[i])
    c.reach = m[0].pairs.reach[i]
    c.line = direction_of(m, s, second, m[0].pairs.along[i])
    c.e = direction_of(m, s, first, m[0].pairs.normal[i])
    return c


@wp.func
def off(c: Rim, e: vec3):
    """r."""
    d = c.apart + c.reach * e
    return d - c.line * wp.dot(c.line, d)


@wp.func
def steepness(c: Rim, e: vec3):
    """How r · t grows with the angle; positive where the distance is least."""
    along = wp.dot(c.line, wp.cross(c.out, e))
    return c.reach * (ONE - along * along) - wp.dot(off(c, e), e)


@wp.func
def turned(c: Rim, e: vec3, angle: real):
    return wp.normalize(wp.cos(angle) * e + wp.sin(angle) * wp.cross(c.out, e))


@wp.func
def nearest_on_rim(c: Rim):
    """e, from where it was."""
    e = wp.normalize(c.e - c.out * wp.dot(c.out, c.e))
    for _ in range(_NEWTON):
        r = off(c, e)
        slope = wp.dot(r, wp.cross(c.out, e))
        steep = steepness(c, e)
        angle = -HALF * wp.sign(slope)
        if steep > ZERO and wp.abs(slope) < HALF * steep:
            angle = -slope / steep
        after = turned(c, e, angle)
        halvings = int(0)
        while (
            wp.abs(angle) > _SURE
            and halvings < _HALVINGS
            and wp.length(off(c, after)) >= wp.length(r)
        ):
            angle = HALF * angle
            after = turned(c, e, angle)
            halvings += 1
        e = after
        if wp.abs(angle) < _FOUND:
            break
    return e


@wp.func
def rim_normal(c: Rim, e: vec3):
    """From the line to the rim; zero where they do not cross."""
    n = wp.cross(wp.cross(c.out, e), c.line)
    if wp.length(n) < _CROSS:
        return vec3()
    if wp.dot(n, c.out + e) > ZERO:
        n = -n
    return wp.normalize(n)


@wp.func
def rim_gap(c: Rim, e: vec3, n: vec3):
    """The gap without radii; infinite where the two are not nearest."""
    if wp.dot(n, n) == ZERO or steepness(c, e) <= ZERO:
        return INFINITY
    return wp.dot(n, off(c, e))


@wp.struct
class Roll:
    """How the nearest point of a rim and its normal move."""

    point: vec3
    normal: vec3


@wp.func
def roll(m: Machines, s: World, i: int, c: Rim, e: vec3, n: vec3):
    first = m[0].pairs.first[i]
    second = m[0].pairs.second[i]
    w = spin(m, s, first)
    other = world_point(m, s, second, m[0].pairs.on[i])
    t = wp.cross(c.out, e)
    v = velocity_at(m, s, first, other + c.apart + c.reach * e)
    d = c.apart + c.reach * e
    parting = v - velocity_at(m, s, second, other)
    turning = wp.cross(spin(m, s, second), c.line)
    glide = wp.dot(turning, d) + wp.dot(c.line, parting)
    dr = parting - c.line * glide - turning * wp.dot(c.line, d)
    dt = wp.cross(w, t)
    angle = -(wp.dot(dr, t) + wp.dot(off(c, e), dt)) / steepness(c, e)
    dt = dt - angle * e
    a = Roll()
    a.point = v + (angle * c.reach) * t
    cross = wp.cross(t, c.line)
    dn = wp.cross(dt, c.line) + wp.cross(t, turning)
    dn = dn * (wp.sign(wp.dot(cross, n)) / wp.length(cross))
    a.normal = dn - n * wp.dot(n, dn)
    return a


@wp.func
def keep_rim(m: Machines, s: World, i: int):
    """Remember the nearest point of pair i at the state that was evaluated."""
    c = rim(m, s, i)
    e = nearest_on_rim(c)
    if rim_gap(c, e, rim_normal(c, e)) < INFINITY:
        turn = get_quat(s, m[0].at.rotation + 4 * m[0].pairs.first[i])
        m[0].pairs.normal[i] = wp.quat_rotate_inv(turn, e)
