"""Material of links: where its points are and how they move; and frames along a normal."""

import warp as wp

from .layout import Machines
from .reals import CALLED, ONE, ZERO, World, get3, get_quat, mat33, real, vec3


@wp.func
def rows_of(a: vec3, b: vec3, c: vec3):
    return mat33(a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2])


@wp.func
def row(m: mat33, i: int):
    return vec3(m[i, 0], m[i, 1], m[i, 2])


@wp.func(inline=CALLED)
def world_point(m: Machines, s: World, link: int, p: vec3):
    r = get_quat(s, m[0].at.rotation + 4 * link)
    return get3(s, m[0].at.position + 3 * link) + wp.quat_rotate(r, p)


@wp.func
def direction_of(m: Machines, s: World, link: int, along: vec3):
    return wp.quat_rotate(get_quat(s, m[0].at.rotation + 4 * link), along)


@wp.func
def spin(m: Machines, s: World, link: int):
    """The angular velocity of a link."""
    return get3(s, m[0].at.velocity + 6 * link)


@wp.func(inline=CALLED)
def velocity_at(m: Machines, s: World, link: int, p: vec3):
    """The velocity of a link's material at a point of the world."""
    arm = p - get3(s, m[0].at.origin + 3 * m[0].tree.root[link])
    w = get3(s, m[0].at.velocity + 6 * link)
    return get3(s, m[0].at.velocity + 6 * link + 3) + wp.cross(w, arm)


@wp.func
def rate_at(m: Machines, s: World, link: int, p: vec3):
    """How that velocity changes at a point fixed in space, if v does not."""
    arm = p - get3(s, m[0].at.origin + 3 * m[0].tree.root[link])
    dw = get3(s, m[0].at.rate + 6 * link)
    return get3(s, m[0].at.rate + 6 * link + 3) + wp.cross(dw, arm)


@wp.func
def frame_along(n: vec3):
    """A frame with a given normal: first tangent y × n (x for a floor), z × n if n is along y."""
    y = vec3(ZERO, ONE, ZERO)
    if wp.abs(n[1]) > real(0.9):
        y = vec3(ZERO, ZERO, ONE)
    a = wp.normalize(wp.cross(y, n))
    return rows_of(a, wp.cross(n, a), n)


@wp.func
def frame_along_rate(F: mat33, dn: vec3):
    """How such a frame turns with its normal."""
    n = row(F, 2)
    a = row(F, 0)
    y = vec3(ZERO, ONE, ZERO)
    if wp.abs(n[1]) > real(0.9):
        y = vec3(ZERO, ZERO, ONE)
    da = wp.cross(y, dn)
    da = (da - a * wp.dot(a, da)) / wp.length(wp.cross(y, n))
    return rows_of(da, wp.cross(dn, a) + wp.cross(n, da), dn)
