"""Pairs of cylinders and ellipsoids: their parts on faces, and on what else is curved or an edge.

A cylinder has two rims, a line with a radius, and two faces; an ellipsoid is one part. Which parts
are nearest is told by `parts.inside`; lines and faces of cylinders are in `pairing`.
"""

import warp as wp

from .contacts import (
    CURVED,
    NOTHING,
    POINT_PLANE,
    RIM_LINE,
    RIM_PLANE,
    ROUND_PLANE,
    direction_of,
    place_contact,
    world_point,
)
from .layout import Machines
from .pair_places import beside, facing, is_beside, judge_pair, place_for
from .parts import CYLINDER, DEEP, ELLIPSOID, PARTS, Side, end_of, part_of_rim, to_body
from .reals import (
    ONE,
    ZERO,
    World,
    get_quat,
    put_int,
    quat,
    real,
    vec3,
)
from .rims import Rim, nearest_on_rim, rim_gap, rim_normal

# Between the six points of a rim on which an end stands flat.
_SECTOR = wp.constant(real(6.283185307179586 / 6.0))

_SEEN = wp.constant(real(1e-3))  # sine of an edge to the axis of a rim from which on it has a chord

# Sine by which an end may face away from a plane, and its rim be near it: it may turn on the way.
_AWAY = wp.constant(real(0.3))


@wp.struct
class Feature:
    """A part of a geom as `curved` knows it."""

    part: int
    center: vec3
    turn: quat
    axes: vec3
    radius: real


@wp.func
def ellipsoid_of(m: Machines, a: Side):
    f = Feature()
    f.part = -1
    f.center = m[0].shapes.position[a.geom]
    f.turn = m[0].shapes.rotation[a.geom]
    f.axes = m[0].shapes.size[a.geom]
    return f


@wp.func
def rim_of(m: Machines, a: Side, rim: int):
    """Of a cylinder: the rim -1 or -2."""
    f = Feature()
    f.part = rim
    f.turn = m[0].shapes.rotation[a.geom]
    size = m[0].shapes.size[a.geom]
    f.center = m[0].shapes.position[a.geom]
    f.center = f.center + wp.quat_rotate(f.turn, vec3(ZERO, ZERO, end_of(rim) * size[1]))
    f.axes = vec3(size[0], size[0], ZERO)
    return f


@wp.func
def edge_of(m: Machines, a: Side, e: int):
    f = Feature()
    ends = m[0].shapes.edge[e]
    f.part = e
    f.center = m[0].shapes.vertex[ends[0]]
    f.turn = facing(wp.normalize(m[0].shapes.vertex[ends[1]] - f.center))
    f.axes = vec3(ZERO, ZERO, -ONE)
    f.radius = a.radius
    return f


@wp.func
def vertex_of(m: Machines, a: Side, v: int):
    f = Feature()
    f.part = v
    f.center = m[0].shapes.vertex[v]
    f.turn = quat(ZERO, ZERO, ZERO, ONE)
    f.radius = a.radius
    return f


@wp.func
def judge_near(m: Machines, s: World, i: int, margin: real, t: real):
    """Leave a new pair out again if it is far, deep, or not valid."""
    gap = place_contact(m, s, i, t).gap
    if gap > -DEEP and gap < margin:
        judge_pair(m, s, i, t)
    else:
        m[0].pairs.kind[i] = NOTHING
        put_int(s, m[0].c.mark + i, 0)


@wp.func
def put_first(m: Machines, i: int, f: Feature):
    m[0].pairs.point[i] = f.center
    m[0].pairs.turn[i] = f.turn
    m[0].pairs.axes[i] = f.axes
    m[0].pairs.reach[i] = f.radius


@wp.func
def pair_features(
    m: Machines, s: World, a: Side, f: Feature, b: Side, g: Feature, n: vec3, margin: real, t: real
):
    """The pair of two features, n being about the normal, from b to a."""
    i = place_for(m, s, CURVED, a, f.part, b, g.part)
    if i < 0:
        return
    put_first(m, i, f)
    m[0].pairs.on[i] = g.center
    m[0].pairs.facing[i] = g.turn
    m[0].pairs.along[i] = g.axes
    m[0].pairs.radius[i] = g.radius
    m[0].pairs.normal[i] = wp.quat_rotate_inv(get_quat(s, m[0].at.rotation + 4 * b.body), n)
    judge_near(m, s, i, margin, t)


@wp.func
def is_far(m: Machines, s: World, a: Side, b: Side, e: int, margin: real):
    """Whether an edge of b is farther from the middle of a than a reaches."""
    c = to_body(m, s, b.body, world_point(m, s, a.body, m[0].shapes.position[a.geom]))
    p = m[0].shapes.vertex[m[0].shapes.edge[e][0]]
    along = m[0].shapes.vertex[m[0].shapes.edge[e][1]] - p
    x = wp.clamp(wp.dot(c - p, along) / wp.dot(along, along), ZERO, ONE)
    return wp.length(c - p - x * along) > m[0].shapes.bound[a.geom] + b.radius + margin


@wp.func
def rim_on_edge(m: Machines, s: World, a: Side, f: Feature, b: Side, l: int, margin: real, t: real):
    """A rim on an edge of b: at both places where it may cross it."""
    slack = beside(m, a, b, margin)
    p = m[0].shapes.vertex[m[0].shapes.edge[l][0]]
    along = wp.normalize(m[0].shapes.vertex[m[0].shapes.edge[l][1]] - p)
    axis = wp.quat_rotate(f.turn, vec3(ZERO, ZERO, end_of(f.part)))
    c = Rim()
    c.out = direction_of(m, s, a.body, axis)
    c.reach = f.axes[0]
    c.line = direction_of(m, s, b.body, along)
    c.apart = world_point(m, s, a.body, f.center) - world_point(m, s, b.body, p)
    # Seen along the axis of the rim.
    u = c.line - c.out * wp.dot(c.out, c.line)
    foot = -c.apart + c.out * wp.dot(c.out, c.apart)
    if wp.length(u) > _SEEN:
        u = wp.normalize(u)
        foot = foot - u * wp.dot(u, foot)
    else:
        foot = c.line * (wp.dot(c.out, c.apart) / wp.dot(c.out, c.line)) - c.apart
        u = vec3()
    chord = wp.sqrt(wp.max(c.reach * c.reach - wp.dot(foot, foot), ZERO))
    turn = get_quat(s, m[0].at.rotation + 4 * a.body)
    for side in range(2):
        c.e = wp.normalize(foot + u * (chord * real(2 * side - 1)))
        e = nearest_on_rim(c)
        n = rim_normal(c, e)
        gap = rim_gap(c, e, n) - b.radius
        near = gap > -DEEP and gap < margin and wp.dot(n, c.out) <= slack and wp.dot(n, e) <= slack
        if near and is_beside(m, s, b, l, n, slack):
            here = int(wp.dot(e, c.line) > ZERO)
            i = place_for(m, s, RIM_LINE, a, part_of_rim(f.part, here), b, l)
            if i >= 0:
                m[0].pairs.point[i] = f.center
                m[0].pairs.axes[i] = axis
                m[0].pairs.reach[i] = c.reach
                m[0].pairs.normal[i] = wp.quat_rotate_inv(turn, e)
                m[0].pairs.on[i] = p
                m[0].pairs.along[i] = along
                m[0].pairs.radius[i] = b.radius
                judge_pair(m, s, i, t)


@wp.func
def on_others(m: Machines, s: World, a: Side, f: Feature, b: Side, n: vec3, margin: real, t: real):
    """A rim or an ellipsoid on what of b is no face."""
    for e in range(m[0].shapes.first_edge[b.geom], m[0].shapes.first_edge[b.geom + 1]):
        if not is_far(m, s, a, b, e, margin):
            if a.family == CYLINDER:
                rim_on_edge(m, s, a, f, b, e, margin, t)
            else:
                pair_features(m, s, a, f, b, edge_of(m, b, e), n, margin, t)
    if b.family == PARTS:
        for v in range(m[0].shapes.first_vertex[b.geom], m[0].shapes.first_vertex[b.geom + 1]):
            pair_features(m, s, a, f, b, vertex_of(m, b, v), n, margin, t)
    # Of two curved ones each comes first once.
    if b.family == CYLINDER and (a.family == ELLIPSOID or a.geom < b.geom):
        for k in range(2):
            pair_features(m, s, a, f, b, rim_of(m, b, -1 - k), n, margin, t)
    if b.family == ELLIPSOID and a.family == ELLIPSOID and a.geom < b.geom:
        pair_features(m, s, a, f, b, ellipsoid_of(m, b), n, margin, t)


@wp.func
def on_plane(
    m: Machines, s: World, kind: int, a: Side, f: Feature, b: Side, face: int, margin: real, t: real
):
    """A part of a on a face of b."""
    i = place_for(m, s, kind, a, f.part, b, face)
    if i < 0:
        return
    put_first(m, i, f)
    m[0].pairs.on[i] = m[0].shapes.middle[face]
    m[0].pairs.facing[i] = facing(m[0].shapes.normal[face])
    judge_near(m, s, i, margin, t)


@wp.func
def point_of_rim(end: int, j: int):
    """The part that a point of a rim is."""
    return -3 - 6 * end - j


@wp.func
def rims_on_face(m: Machines, s: World, a: Side, b: Side, face: int, margin: real, t: real):
    """Both rims of a cylinder; points of them where an end stands flat."""
    axis = vec3(ZERO, ZERO, ONE)
    turn = m[0].shapes.rotation[a.geom]
    for k in range(2):
        f = rim_of(m, a, -1 - k)
        center = f.center
        reach = f.axes[0]
        f.turn = quat(ZERO, ZERO, ZERO, ONE)
        f.axes = wp.quat_rotate(turn, axis)
        f.radius = reach
        out = -direction_of(m, s, b.body, m[0].shapes.normal[face])
        up = wp.dot(direction_of(m, s, a.body, f.axes), out) * end_of(f.part)
        if up > -_AWAY:  # else the other end is nearer
            on_plane(m, s, RIM_PLANE, a, f, b, face, margin, t)
        f.axes = vec3()
        f.radius = ZERO
        angle = real(0.0)
        for j in range(6):
            place = vec3(reach * wp.cos(angle), reach * wp.sin(angle), ZERO)
            f.center = center + wp.quat_rotate(turn, place)
            f.part = point_of_rim(k, j)
            on_plane(m, s, POINT_PLANE, a, f, b, face, margin, t)
            angle += _SECTOR


@wp.func
def all_curved(m: Machines, s: World, a: Side, b: Side, n: vec3, margin: real, t: real):
    """All parts of a cylinder or an ellipsoid that are near parts of another geom; n points from b
    to a.
    """
    for face in range(m[0].shapes.first_face[b.geom], m[0].shapes.first_face[b.geom + 1]):
        if a.family == CYLINDER:
            rims_on_face(m, s, a, b, face, margin, t)
        else:
            on_plane(m, s, ROUND_PLANE, a, ellipsoid_of(m, a), b, face, margin, t)
    if a.family == CYLINDER:
        for k in range(2):
            on_others(m, s, a, rim_of(m, a, -1 - k), b, n, margin, t)
    else:
        on_others(m, s, a, ellipsoid_of(m, a), b, n, margin, t)
