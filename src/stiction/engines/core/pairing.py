"""Pairs of parts that may touch: vertices on faces, edges that cross, balls.

Of shapes made of few parts all that are near each other become pairs (`pair_all`): MuJoCo tells
where two shapes are nearest, but not what else would touch next. So do all of curved shapes, of
which `pairing_curved` knows. Of the others those become pairs that are at the places that MuJoCo
finds (`pair_up`).
"""

import warp as wp

from .contacts import (
    BALL_BALL,
    BALL_LINE,
    LINE_LINE,
    POINT_PLANE,
    ROUND_PLANE,
    direction_of,
    world_point,
)
from .layout import Machines
from .pair_places import BESIDE, beside, facing, is_beside, judge_pair, place_for
from .pairing_curved import all_curved
from .parts import (
    CYLINDER,
    DEEP,
    ELLIPSOID,
    OTHER,
    PARTS,
    PLANE,
    Side,
    in_face,
    off_edges,
    to_body,
)
from .reals import ONE, ZERO, World, get_quat, quat, real, vec3

_CROSS = wp.constant(real(1e-3))  # sine of the angle from which on edges cross
_MOST = wp.constant(1500)  # combinations of parts that are gone through


@wp.func
def on_face(m: Machines, s: World, a: Side, b: Side, t: real):
    """The vertex of a on the face of b; how many pairs there are now."""
    kind = int(POINT_PLANE)
    part = a.vertex
    point = a.point
    axes = vec3()
    if a.vertex >= 0:
        point = m[0].shapes.vertex[a.vertex]
        if a.radius > ZERO:
            kind = int(ROUND_PLANE)
            axes = vec3(a.radius, a.radius, a.radius)
    else:
        return 0
    i = place_for(m, s, kind, a, part, b, b.face)
    if i < 0:
        return 1
    m[0].pairs.point[i] = point
    m[0].pairs.axes[i] = axes
    m[0].pairs.turn[i] = quat(ZERO, ZERO, ZERO, ONE)
    m[0].pairs.on[i] = m[0].shapes.middle[b.face]
    m[0].pairs.facing[i] = facing(m[0].shapes.normal[b.face])
    return judge_pair(m, s, i, t)


@wp.func
def cross(m: Machines, s: World, a: Side, ea: int, b: Side, eb: int, sign: real, t: real):
    """The pair of two edges, whose normal from b to a is the cross product of their directions
    times a sign.
    """
    i = place_for(m, s, LINE_LINE, a, ea, b, eb)
    if i < 0:
        return 1
    p = m[0].shapes.vertex[m[0].shapes.edge[ea][0]]
    q = m[0].shapes.vertex[m[0].shapes.edge[eb][0]]
    m[0].pairs.point[i] = p
    m[0].pairs.axes[i] = wp.normalize(m[0].shapes.vertex[m[0].shapes.edge[ea][1]] - p) * sign
    m[0].pairs.reach[i] = a.radius
    m[0].pairs.on[i] = q
    m[0].pairs.along[i] = wp.normalize(m[0].shapes.vertex[m[0].shapes.edge[eb][1]] - q)
    m[0].pairs.radius[i] = b.radius
    return judge_pair(m, s, i, t)


@wp.func
def edge_direction(m: Machines, s: World, a: Side, e: int):
    """Of an edge, in the world."""
    ends = m[0].shapes.edge[e]
    along = m[0].shapes.vertex[ends[1]] - m[0].shapes.vertex[ends[0]]
    return direction_of(m, s, a.body, wp.normalize(along))


@wp.func
def cross_edges(m: Machines, s: World, a: Side, b: Side, n: vec3, t: real):
    """Edges of a that cross edges of b, where n points from b to a."""
    made = int(0)
    for j in range(a.n_edges):
        for l in range(b.n_edges):
            c = wp.cross(edge_direction(m, s, a, a.edges[j]), edge_direction(m, s, b, b.edges[l]))
            along = wp.dot(c, n)
            if wp.length(c) > _CROSS and wp.length(c - n * along) < BESIDE * wp.length(c):
                made += cross(m, s, a, a.edges[j], b, b.edges[l], wp.sign(along), t)
    return made


@wp.func
def round_on_sharp(m: Machines, s: World, a: Side, b: Side, t: real):
    """The vertex of a, which is a ball, against edges of b; then against a vertex."""
    made = int(0)
    if a.vertex < 0 or a.radius + b.radius <= ZERO:
        return made
    for l in range(b.n_edges):
        e = m[0].shapes.edge[b.edges[l]]
        i = place_for(m, s, BALL_LINE, a, a.vertex, b, b.edges[l])
        if i < 0:
            made += 1
        else:
            p = m[0].shapes.vertex[e[0]]
            m[0].pairs.point[i] = m[0].shapes.vertex[a.vertex]
            m[0].pairs.axes[i] = vec3(a.radius, ZERO, ZERO)
            m[0].pairs.on[i] = p
            m[0].pairs.along[i] = wp.normalize(m[0].shapes.vertex[e[1]] - p)
            m[0].pairs.radius[i] = b.radius
            made += judge_pair(m, s, i, t)
    return made


@wp.func
def balls(m: Machines, s: World, a: Side, b: Side, t: real):
    if a.vertex < 0 or b.vertex < 0 or a.radius + b.radius <= ZERO:
        return 0
    i = place_for(m, s, BALL_BALL, a, a.vertex, b, b.vertex)
    if i < 0:
        return 1
    m[0].pairs.point[i] = m[0].shapes.vertex[a.vertex]
    m[0].pairs.axes[i] = vec3(a.radius, ZERO, ZERO)
    m[0].pairs.on[i] = m[0].shapes.vertex[b.vertex]
    m[0].pairs.radius[i] = b.radius
    return judge_pair(m, s, i, t)


@wp.func
def stay_with(m: Machines, s: World, a: Side, b: Side, t: real):
    """Where nothing better is known: a point of a on a plane that stays with b."""
    i = place_for(m, s, POINT_PLANE, a, -64, b, -1)
    if i >= 0:
        m[0].pairs.point[i] = a.point
        m[0].pairs.on[i] = b.point
        m[0].pairs.facing[i] = facing(b.out)


@wp.func
def pair_up(m: Machines, s: World, a: Side, b: Side, n: vec3, t: real):
    """All pairs of parts that meet at one place. The normal n points from b to a."""
    made = int(0)
    if b.face >= 0:
        made += on_face(m, s, a, b, t)
    if a.face >= 0:
        made += on_face(m, s, b, a, t)
    made += cross_edges(m, s, a, b, n, t)
    if made == 0:
        made += round_on_sharp(m, s, a, b, t)
        made += round_on_sharp(m, s, b, a, t)
    if made == 0:
        made += balls(m, s, a, b, t)
    if made == 0:
        stay_with(m, s, a, b, t)


# All parts of two shapes.


@wp.func
def is_curved(m: Machines, geom: int):
    family = m[0].shapes.family[geom]
    return family == CYLINDER or family == ELLIPSOID


@wp.func
def count_parts(first: wp.array(dtype=int), geom: int):
    return first[geom + 1] - first[geom]


@wp.func
def has_parts(m: Machines, one: int, two: int):
    """Whether all combinations of the parts of two geoms can be gone through."""
    if m[0].shapes.family[one] == OTHER or m[0].shapes.family[two] == OTHER:
        return False
    if is_curved(m, one) or is_curved(m, two):
        return True
    vertices = m[0].shapes.first_vertex
    faces = m[0].shapes.first_face
    edges = m[0].shapes.first_edge
    total = count_parts(vertices, one) * count_parts(faces, two)
    total += count_parts(vertices, two) * count_parts(faces, one)
    total += count_parts(edges, one) * count_parts(edges, two)
    return total <= _MOST


@wp.func
def whole_side(m: Machines, geom: int):
    """A geom of which no part is chosen yet."""
    a = Side()
    a.geom = geom
    a.body = m[0].shapes.body[geom]
    a.family = m[0].shapes.family[geom]
    a.radius = m[0].shapes.size[geom][0] * real(m[0].shapes.rounded[geom])
    if a.family == CYLINDER:  # about its line
        a.radius = m[0].shapes.size[geom][0]
    a.vertex = -1
    a.face = -1
    return a


@wp.func
def all_on_faces(m: Machines, s: World, one: Side, two: Side, margin: real, shift: vec3, t: real):
    """Vertices of one that are near faces of the other, which is shifted by what it has moved.

    Only those whose edges lead away from the face: a corner that lies at the end of a face, flush
    with it, is not on it.
    """
    a = one
    b = two
    if a.family != PARTS:
        return
    slack = beside(m, a, b, margin)
    for v in range(m[0].shapes.first_vertex[a.geom], m[0].shapes.first_vertex[a.geom + 1]):
        point = world_point(m, s, a.body, m[0].shapes.vertex[v]) - shift
        y = to_body(m, s, b.body, point)
        for f in range(m[0].shapes.first_face[b.geom], m[0].shapes.first_face[b.geom + 1]):
            gap = wp.dot(m[0].shapes.normal[f], y - m[0].shapes.middle[f]) - a.radius
            if gap > -DEEP and gap < margin:
                out = -direction_of(m, s, b.body, m[0].shapes.normal[f])
                out = wp.quat_rotate_inv(get_quat(s, m[0].at.rotation + 4 * a.body), out)
                leads_away = off_edges(m, v, a.geom, out) >= -slack
                if leads_away and (b.family == PLANE or in_face(m, f, y) > -DEEP):
                    a.vertex = v
                    b.face = f
                    on_face(m, s, a, b, t)


@wp.func
def all_crossings(m: Machines, s: World, a: Side, b: Side, margin: real, t: real):
    """Edges of a that cross edges of b near them."""
    slack = beside(m, a, b, margin)
    for ea in range(m[0].shapes.first_edge[a.geom], m[0].shapes.first_edge[a.geom + 1]):
        p = world_point(m, s, a.body, m[0].shapes.vertex[m[0].shapes.edge[ea][0]])
        u = edge_direction(m, s, a, ea)
        for eb in range(m[0].shapes.first_edge[b.geom], m[0].shapes.first_edge[b.geom + 1]):
            c = wp.cross(u, edge_direction(m, s, b, eb))
            if wp.length(c) > _CROSS:
                q = world_point(m, s, b.body, m[0].shapes.vertex[m[0].shapes.edge[eb][0]])
                n = wp.normalize(c)
                inward = m[0].shapes.into_one[eb] + m[0].shapes.into_other[eb]
                inward = direction_of(m, s, b.body, inward)
                sign = real(1.0)
                if b.radius > ZERO or a.radius > ZERO:
                    sign = wp.sign(wp.dot(p - q, n))
                elif wp.dot(inward, n) > ZERO:
                    sign = real(-1.0)
                n = n * sign
                gap = wp.dot(p - q, n) - a.radius - b.radius
                near = gap > -DEEP and gap < margin
                near = near and is_beside(m, s, a, ea, -n, slack)
                if near and is_beside(m, s, b, eb, n, slack):
                    cross(m, s, a, ea, b, eb, sign, t)


@wp.func
def all_balls(m: Machines, s: World, one: Side, two: Side, margin: real, t: real):
    """Vertices of one near edges of the other, where one of them is round; `valid` tells which are
    nearest.
    """
    a = one
    b = two
    if a.family != PARTS:
        return
    for v in range(m[0].shapes.first_vertex[a.geom], m[0].shapes.first_vertex[a.geom + 1]):
        a.vertex = v
        for e in range(m[0].shapes.first_edge[b.geom], m[0].shapes.first_edge[b.geom + 1]):
            b.n_edges = 1
            b.edges[0] = e
            round_on_sharp(m, s, a, b, t)


@wp.func
def all_vertices(m: Machines, s: World, one: Side, two: Side, t: real):
    """Vertices of two geoms, one of them round."""
    a = one
    b = two
    if a.family != PARTS or b.family != PARTS:
        return
    for v in range(m[0].shapes.first_vertex[a.geom], m[0].shapes.first_vertex[a.geom + 1]):
        for w in range(m[0].shapes.first_vertex[b.geom], m[0].shapes.first_vertex[b.geom + 1]):
            a.vertex = v
            b.vertex = w
            balls(m, s, a, b, t)


@wp.func
def pair_all(
    m: Machines,
    s: World,
    one: int,
    two: int,
    n: vec3,
    margin: real,
    shift_one: vec3,
    shift_two: vec3,
    t: real,
):
    """All parts of two geoms that are near each other; n points from two to one, the shifts are
    those of moving ground.
    """
    a = whole_side(m, one)
    b = whole_side(m, two)
    all_on_faces(m, s, a, b, margin, shift_two, t)
    all_on_faces(m, s, b, a, margin, shift_one, t)
    if is_curved(m, one):
        all_curved(m, s, a, b, n, margin, t)
    if is_curved(m, two):
        all_curved(m, s, b, a, -n, margin, t)
    if a.family == PLANE or b.family == PLANE:
        return
    all_crossings(m, s, a, b, margin, t)
    if a.radius + b.radius > ZERO:
        all_balls(m, s, a, b, margin, t)
        all_balls(m, s, b, a, margin, t)
        all_vertices(m, s, a, b, t)
