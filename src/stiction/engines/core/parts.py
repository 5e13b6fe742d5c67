"""Parts of shapes: which of them are at a point, and how long two are nearest to each other."""

import warp as wp

from .contacts import (
    BALL_BALL,
    BALL_LINE,
    CURVED,
    LINE_LINE,
    POINT_PLANE,
    RIM_LINE,
    RIM_PLANE,
    ROUND_PLANE,
    Place,
    row,
    slide_along,
    spin,
    velocity_at,
    world_point,
)
from .layout import Machines
from .reals import (
    HALF,
    INFINITY,
    ONE,
    TWO,
    ZERO,
    World,
    get_quat,
    real,
    vec2,
    vec3,
)

# Families of shapes: without end and flat; made of vertices, edges and faces; the others.
PLANE, PARTS, CYLINDER, ELLIPSOID, OTHER = (wp.constant(i) for i in range(5))

# Sine of the angle to a face up to which an end of a cylinder stands flat on it, on points of its
# rim; and up to which what is outside of a rim is outside of its face.
FLAT = wp.constant(real(1e-5))
_ALIGNED = wp.constant(real(1e-4))  # of a sine, within which a normal is that of a face
DEEP = wp.constant(real(1e-4))  # what is deeper is on the other side of its face [m]
VERGE = wp.constant(real(1e-9))  # how far beyond its end a part is still the nearest [m]
# Sine by which a rim on an edge may face away from it: what is nearer then is so by its square.
_ROLLED = wp.constant(real(3e-5))
_SOON = wp.constant(real(1e-6))  # when it is asked whether it stays so [s]
_SLOW = wp.constant(real(1e-9))  # speed at which it does [m/s]


@wp.struct
class Side:
    """One side of a place: which parts of a geom are there. -1 or 0: none."""

    geom: int
    body: int
    family: int
    point: vec3  # in the frame of the body
    out: vec3
    radius: real
    vertex: int
    face: int
    n_edges: int
    edges: wp.vec4i


@wp.func
def to_body(m: Machines, s: World, body: int, p: vec3):
    r = get_quat(s, m[0].at.rotation + 4 * body)
    return wp.quat_rotate_inv(r, p - world_point(m, s, body, vec3()))


@wp.func
def side_of(m: Machines, s: World, geom: int, point: vec3, out: vec3):
    """The parts of a geom at a point of the world that lies on it, with its outward normal."""
    a = Side()
    a.geom = geom
    a.body = m[0].shapes.body[geom]
    a.family = m[0].shapes.family[geom]
    a.point = to_body(m, s, a.body, point)
    a.out = wp.quat_rotate_inv(get_quat(s, m[0].at.rotation + 4 * a.body), out)
    a.vertex = -1
    a.face = -1
    near = m[0].shapes.near[geom]
    if a.family == PLANE:
        a.face = m[0].shapes.first_face[geom]
    elif a.family == PARTS:
        a.radius = m[0].shapes.size[geom][0] * real(m[0].shapes.rounded[geom])
        c = a.point - a.out * a.radius
        for v in range(m[0].shapes.first_vertex[geom], m[0].shapes.first_vertex[geom + 1]):
            if wp.length(m[0].shapes.vertex[v] - c) <= near:
                a.vertex = v
        for e in range(m[0].shapes.first_edge[geom], m[0].shapes.first_edge[geom + 1]):
            p = m[0].shapes.vertex[m[0].shapes.edge[e][0]]
            q = m[0].shapes.vertex[m[0].shapes.edge[e][1]]
            along = q - p
            x = wp.clamp(wp.dot(c - p, along) / wp.dot(along, along), ZERO, ONE)
            if a.n_edges < 4 and wp.length(c - p - x * along) <= near:
                a.edges[a.n_edges] = e
                a.n_edges += 1
        best = ONE - HALF * _ALIGNED * _ALIGNED
        for f in range(m[0].shapes.first_face[geom], m[0].shapes.first_face[geom + 1]):
            along_out = wp.dot(m[0].shapes.normal[f], a.out)
            if along_out > best:
                best = along_out
                a.face = f
    return a


# How long a pair is valid.


@wp.func
def in_edge(m: Machines, e: int, x: vec3):
    """How far a point is inside the ends of an edge."""
    p = m[0].shapes.vertex[m[0].shapes.edge[e][0]]
    q = m[0].shapes.vertex[m[0].shapes.edge[e][1]]
    along = wp.normalize(q - p)
    return wp.min(wp.dot(x - p, along), wp.dot(q - x, along))


@wp.func
def in_face(m: Machines, f: int, x: vec3):
    """How far a point is inside the boundary of a face."""
    if m[0].shapes.disc[f] > ZERO:
        d = x - m[0].shapes.middle[f]
        n = m[0].shapes.normal[f]
        return m[0].shapes.disc[f] - wp.length(d - n * wp.dot(n, d))
    least = real(INFINITY)
    begin = m[0].shapes.first_corner[f]
    end = m[0].shapes.first_corner[f + 1]
    for c in range(begin, end):
        after = c + 1
        if after == end:
            after = begin
        p = m[0].shapes.vertex[m[0].shapes.corner[c]]
        q = m[0].shapes.vertex[m[0].shapes.corner[after]]
        inward = wp.normalize(wp.cross(m[0].shapes.normal[f], q - p))
        least = wp.min(least, wp.dot(inward, x - p))
    return least


@wp.func
def off_edges(m: Machines, v: int, geom: int, out: vec3):
    """Whether what lies in a direction from a vertex is nearest to it, not to one of its edges."""
    least = real(INFINITY)
    for e in range(m[0].shapes.first_edge[geom], m[0].shapes.first_edge[geom + 1]):
        ends = m[0].shapes.edge[e]
        if ends[0] == v or ends[1] == v:
            along = m[0].shapes.vertex[ends[0]] + m[0].shapes.vertex[ends[1]]
            along = wp.normalize(along - TWO * m[0].shapes.vertex[v])
            least = wp.min(least, -wp.dot(along, out))
    return least


@wp.func
def off_faces(m: Machines, e: int, out: vec3):
    """Whether what lies in a direction from an edge is nearest to it, not to one of its faces."""
    one = m[0].shapes.into_one[e]
    if wp.dot(one, one) == ZERO:  # of a capsule
        return INFINITY
    return wp.min(-wp.dot(one, out), -wp.dot(m[0].shapes.into_other[e], out))


@wp.struct
class Meeting:
    """Where two parts meet, as each of their bodies sees it, and towards what."""

    x: vec3  # the point, to the first
    y: vec3  # to the second
    own: vec3  # from the first to the second, to the first
    out: vec3  # from the second to the first, to the second
    gap: real


@wp.func
def meet(m: Machines, s: World, i: int, here: Place):
    a = Meeting()
    first = m[0].pairs.first[i]
    second = m[0].pairs.second[i]
    n = row(here.frame, 2)
    a.gap = here.gap
    a.x = to_body(m, s, first, here.point)
    a.y = to_body(m, s, second, here.point)
    a.own = wp.quat_rotate_inv(get_quat(s, m[0].at.rotation + 4 * first), -n)
    a.out = wp.quat_rotate_inv(get_quat(s, m[0].at.rotation + 4 * second), n)
    return a


@wp.func
def end_of(rim: int):
    """Which end of a cylinder a rim is at, along its axis: -1 or 1, of the parts -1 and -2."""
    return real(-3 - 2 * rim)


@wp.func
def part_of_rim(rim: int, side: int):
    """The part that a rim is where it crosses a line: at its one side (0) or the other (1)."""
    return -13 + 2 * rim - side


@wp.func
def rim_of_part(part: int):
    """Of such a part its rim: -1 or -2."""
    return -1 - (-15 - part) // 2


@wp.func
def off_rim(m: Machines, geom: int, rim: int, out: vec3):
    """How far what lies in a direction from a rim is from being nearer to the side of its cylinder
    (`x`), and to its end (`y`) [m].
    """
    k = wp.quat_rotate(m[0].shapes.rotation[geom], vec3(ZERO, ZERO, end_of(rim)))
    along = wp.dot(k, out)
    return m[0].shapes.size[geom][0] * vec2(along, wp.length(out - k * along) - FLAT)


@wp.func
def off_curved(m: Machines, geom: int, part: int, is_line: bool, x: vec3, out: vec3):
    """How far a part of a geom is from where another part would be nearer [m]: x is the place."""
    family = m[0].shapes.family[geom]
    if family == ELLIPSOID:
        return INFINITY
    if is_line:
        return wp.min(in_edge(m, part, x), off_faces(m, part, out))
    if family == CYLINDER:
        off = off_rim(m, geom, part, out)
        return wp.min(off[0], off[1])
    return off_edges(m, part, geom, out)


@wp.func
def tilt_left(m: Machines, i: int, a: Meeting):
    """How far a rim on a face is from lying flat on it, or a point of a flat end from not [m]."""
    kind = m[0].pairs.kind[i]
    geom = m[0].pairs.geoms[i][0]
    if m[0].shapes.family[geom] != CYLINDER:
        return INFINITY
    off = off_rim(m, geom, -1, a.own)
    if kind == RIM_PLANE:
        return off[1]
    return -off[1]


@wp.func
def inside(m: Machines, i: int, a: Meeting):
    """How far two parts are from where another part would be nearer [m]."""
    kind = m[0].pairs.kind[i]
    parts = m[0].pairs.parts[i]
    geoms = m[0].pairs.geoms[i]
    least = real(INFINITY)
    if kind == POINT_PLANE or kind == ROUND_PLANE or kind == RIM_PLANE:
        if parts[1] >= 0 and m[0].shapes.family[geoms[1]] != PLANE:
            least = in_face(m, parts[1], a.y)
        if parts[1] >= 0:
            least = wp.min(least, tilt_left(m, i, a))
    elif kind == CURVED:
        line = m[0].pairs.along[i][2] < ZERO
        if a.gap >= INFINITY:
            return -ONE
        least = off_curved(m, geoms[0], parts[0], False, a.x, a.own)
        least = wp.min(least, off_curved(m, geoms[1], parts[1], line, a.y, a.out))
    elif kind == RIM_LINE:
        if a.gap >= INFINITY:
            return -ONE
        to_side = off_rim(m, geoms[0], rim_of_part(parts[0]), a.own)[0]
        least = wp.min(to_side + m[0].shapes.size[geoms[0]][0] * _ROLLED, in_edge(m, parts[1], a.y))
        least = wp.min(least, off_faces(m, parts[1], a.out) + _ROLLED)
    elif kind == LINE_LINE:
        least = wp.min(in_edge(m, parts[0], a.x), in_edge(m, parts[1], a.y))
    elif kind == BALL_LINE:
        least = wp.min(off_edges(m, parts[0], geoms[0], a.own), in_edge(m, parts[1], a.y))
        least = wp.min(least, off_faces(m, parts[1], a.out))
    elif kind == BALL_BALL:
        least = off_edges(m, parts[0], geoms[0], a.own)
        least = wp.min(least, off_edges(m, parts[1], geoms[1], a.out))
    return least


@wp.func
def valid(m: Machines, s: World, i: int, t: real, here: Place):
    """How far a pair is from ceasing to be the nearest [m]; on the verge, whether it stays."""
    a = meet(m, s, i, here)
    least = inside(m, i, a)
    if wp.abs(least) > TWO * VERGE:
        return least
    moves = slide_along(m, s, i, t, here)
    first = m[0].pairs.first[i]
    second = m[0].pairs.second[i]
    n = row(here.frame, 2)
    dn = row(moves.frame, 2)
    p = get_quat(s, m[0].at.rotation + 4 * first)
    q = get_quat(s, m[0].at.rotation + 4 * second)
    dx = wp.quat_rotate_inv(p, moves.point - velocity_at(m, s, first, here.point))
    dy = wp.quat_rotate_inv(q, moves.point - velocity_at(m, s, second, here.point))
    d_own = wp.quat_rotate_inv(p, wp.cross(spin(m, s, first), n) - dn)
    d_out = wp.quat_rotate_inv(q, dn - wp.cross(spin(m, s, second), n))
    a.x = a.x + _SOON * dx
    a.y = a.y + _SOON * dy
    a.own = a.own + _SOON * d_own
    a.out = a.out + _SOON * d_out
    if inside(m, i, a) - least < -_SOON * _SLOW:
        return -TWO * VERGE
    return ZERO
