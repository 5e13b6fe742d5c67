"""What is near, in a world of MuJoCo's: from its collisions to the pairs that are followed.

MuJoCo finds where two shapes are nearest. What the machine follows from there is a smooth function:
the distance of a vertex from a face, of two edges, of a ball from a line. So at each place that
MuJoCo finds, every combination of parts that meet there (vertices, edges, faces, rims) becomes a
pair, as long as it is valid: a vertex above its face, a crossing within its edges. That a pair
ceases to be valid is an event, found like any other.
"""

import warp as wp

from .contacts import (
    BALL_BALL,
    BALL_LINE,
    LINE_LINE,
    NOTHING,
    POINT_PLANE,
    RIM_PLANE,
    ROUND_PLANE,
    contact_velocity,
    direction_of,
    place_contact,
    spin,
    velocity_at,
    world_point,
)
from .layout import MU_DYNAMIC, MU_STATIC, OPEN, RUNNING, TOO_MANY_CONTACTS, Machines
from .outer import call, peek, peek3, peek_int, poke
from .parts import (
    CYLINDER,
    ELLIPSOID,
    PLANE,
    VERGE,
    Side,
    inside,
    meet,
    side_of,
    valid,
)
from .reals import (
    HALF,
    INFINITY,
    ONE,
    TWO,
    ZERO,
    World,
    get,
    get_int,
    put,
    put_int,
    quat,
    real,
    vec2,
    vec3,
)

_CROSS = wp.constant(real(1e-3))  # sine of the angle from which on edges cross
_LEAST_MARGIN, _MOST_MARGIN = wp.constant(real(1e-3)), wp.constant(real(0.05))  # [m]
_AHEAD = wp.constant(real(4.0))  # steps for which one look suffices
_SAFETY = wp.constant(real(1.25))
_NARROWER = wp.constant(12)  # times
_TOUCHES = wp.constant(real(1e-10))  # a new pair that is so near touches [m]


@wp.func
def facing(n: vec3):
    """A turn whose z-axis is n."""
    if n[2] < -ONE + real(1e-12):
        return quat(ONE, ZERO, ZERO, ZERO)
    return wp.normalize(quat(-n[1], n[0], ZERO, ONE + n[2]))


# Pairs.


@wp.func
def is_there(m: Machines, i: int, kind: int, a: Side, part: int, b: Side, other: int):
    same = m[0].pairs.kind[i] == kind and m[0].pairs.geoms[i][0] == a.geom
    same = same and m[0].pairs.geoms[i][1] == b.geom
    return same and m[0].pairs.parts[i][0] == part and m[0].pairs.parts[i][1] == other


@wp.func
def place_for(m: Machines, s: World, kind: int, a: Side, part: int, b: Side, other: int):
    """The place of a pair in the list: the one that it has, or a free one, which is marked 2."""
    free = int(-1)
    for i in range(m[0].shapes.first_pair, m[0].pairs.count):
        if is_there(m, i, kind, a, part, b, other):
            if get_int(s, m[0].c.mark + i) == 0:
                put_int(s, m[0].c.mark + i, 1)
            return -1
        if free < 0 and m[0].pairs.kind[i] == NOTHING:
            free = i
    if free < 0:
        put_int(s, m[0].z.status, TOO_MANY_CONTACTS)
        return -1
    m[0].pairs.kind[free] = kind
    m[0].pairs.first[free] = a.body
    m[0].pairs.second[free] = b.body
    m[0].pairs.geoms[free] = wp.vec2i(a.geom, b.geom)
    m[0].pairs.parts[free] = wp.vec2i(part, other)
    put_int(s, m[0].c.mode + free, OPEN)
    put_int(s, m[0].c.mark + free, 2)
    return free


@wp.func
def judge_pair(m: Machines, s: World, i: int, t: real):
    """Leave a new pair out again if it is not valid."""
    here = place_contact(m, s, i, t)
    if valid(m, s, i, t, here) < ZERO or not (here.gap > -INFINITY):
        m[0].pairs.kind[i] = NOTHING
        put_int(s, m[0].c.mark + i, 0)
        return 0
    return 1


@wp.func
def on_face(m: Machines, s: World, a: Side, b: Side, t: real):
    """The vertex, rim or round shape of a on the face of b; how many pairs there are now."""
    kind = int(POINT_PLANE)
    part = a.vertex
    point = a.point
    axes = vec3()
    reach = real(0.0)
    turn = quat(ZERO, ZERO, ZERO, ONE)
    if a.vertex >= 0:
        point = m[0].shapes.vertex[a.vertex]
        if a.radius > ZERO:
            kind = int(ROUND_PLANE)
            axes = vec3(a.radius, a.radius, a.radius)
    elif a.family == ELLIPSOID:
        kind = int(ROUND_PLANE)
        point = m[0].shapes.position[a.geom]
        axes = m[0].shapes.size[a.geom]
        turn = m[0].shapes.rotation[a.geom]
    elif a.family == CYLINDER and a.rim != 0:
        kind = int(RIM_PLANE)
        e = m[0].shapes.edge[m[0].shapes.first_edge[a.geom]]
        p = m[0].shapes.vertex[e[0]]
        q = m[0].shapes.vertex[e[1]]
        point = p
        if a.rim > 0:
            point = q
        part = a.rim
        axes = wp.normalize(q - p)
        reach = a.radius
    elif a.family == CYLINDER and a.face >= 0:  # an end stands flat: on points of its rim
        part = -2 - angle_of(m, a)
    else:
        return 0
    i = place_for(m, s, kind, a, part, b, b.face)
    if i < 0:
        return 1
    m[0].pairs.point[i] = point
    m[0].pairs.axes[i] = axes
    m[0].pairs.turn[i] = turn
    m[0].pairs.reach[i] = reach
    m[0].pairs.on[i] = m[0].shapes.middle[b.face]
    m[0].pairs.facing[i] = facing(m[0].shapes.normal[b.face])
    return judge_pair(m, s, i, t)


@wp.func
def angle_of(m: Machines, a: Side):
    """Which of 64 sectors of its rim a point of a flat end is in."""
    local = wp.quat_rotate_inv(m[0].shapes.rotation[a.geom], a.point - m[0].shapes.position[a.geom])
    return int(
        wp.floor((wp.atan2(local[1], local[0]) / real(6.283185307179586) + ONE) * real(64.0))
    )


@wp.func
def cross_edges(m: Machines, s: World, a: Side, b: Side, n: vec3, t: real):
    """Edges of a that cross edges of b, where n points from b to a."""
    made = int(0)
    for j in range(a.n_edges):
        for l in range(b.n_edges):
            ea = m[0].shapes.edge[a.edges[j]]
            eb = m[0].shapes.edge[b.edges[l]]
            p = m[0].shapes.vertex[ea[0]]
            q = m[0].shapes.vertex[eb[0]]
            u = wp.normalize(m[0].shapes.vertex[ea[1]] - p)
            w = wp.normalize(m[0].shapes.vertex[eb[1]] - q)
            c = wp.cross(direction_of(m, s, a.body, u), direction_of(m, s, b.body, w))
            along = wp.dot(c, n)
            if wp.length(c) > _CROSS and wp.length(c - n * along) < real(0.01) * wp.length(c):
                i = place_for(m, s, LINE_LINE, a, a.edges[j], b, b.edges[l])
                if i < 0:
                    made += 1
                else:
                    m[0].pairs.point[i] = p
                    m[0].pairs.axes[i] = u * wp.sign(along)
                    m[0].pairs.reach[i] = a.radius
                    m[0].pairs.on[i] = q
                    m[0].pairs.along[i] = w
                    m[0].pairs.radius[i] = b.radius
                    made += judge_pair(m, s, i, t)
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
    if a.face >= 0 and (b.face < 0 or b.vertex >= 0):
        made += on_face(m, s, b, a, t)
    made += cross_edges(m, s, a, b, n, t)
    if made == 0:
        made += round_on_sharp(m, s, a, b, t)
        made += round_on_sharp(m, s, b, a, t)
    if made == 0:
        made += balls(m, s, a, b, t)
    if made == 0:
        stay_with(m, s, a, b, t)


# The look around.


@wp.func
def fastest(m: Machines, s: World):
    """A bound on how fast two geoms come nearer [m/s]."""
    most = real(0.0)
    for g in range(m[0].shapes.count):
        body = m[0].shapes.body[g]
        if m[0].shapes.family[g] != PLANE and m[0].tree.last_freedom[body] >= 0:
            c = world_point(m, s, body, m[0].shapes.position[g])
            speed = wp.length(velocity_at(m, s, body, c))
            speed += m[0].shapes.bound[g] * wp.length(spin(m, s, body))
            most = wp.max(most, speed)
    return TWO * most


@wp.func
def count_margin(m: Machines, s: World):
    """How long a step may be until something that is not looked at could touch."""
    t = get(s, m[0].z.t)
    passed = t - get(s, m[0].z.spent_at)
    before = get(s, m[0].z.speed)
    speed = fastest(m, s)
    rise = TWO * wp.length(m[0].tree.gravity) + real(1e-9)
    if passed > ZERO:
        rise += wp.max(speed - before, ZERO) / passed
    left = get(s, m[0].z.margin) - _SAFETY * passed * wp.max(speed, before)
    put(s, m[0].z.margin, left)
    put(s, m[0].z.speed, speed)
    put(s, m[0].z.rise, rise)
    put(s, m[0].z.spent_at, t)
    # speed h + rise h² = left / safety
    left = wp.max(left, ZERO) / _SAFETY
    return TWO * left / (speed + wp.sqrt(speed * speed + real(4.0) * rise * left))


@wp.func
def look_around(m: Machines, s: World, t: real):
    """Find what is near at the state that was evaluated: 0 nothing new, 1 something new is near,
    2 something else touches.
    """
    h = get(s, m[0].z.stride)
    speed = fastest(m, s)
    put(s, m[0].z.speed, speed)
    put(s, m[0].z.spent_at, t)
    put(s, m[0].z.looked, t)
    travel = _SAFETY * (speed + get(s, m[0].z.rise) * _AHEAD * h) * _AHEAD * h
    margin = wp.clamp(travel, _LEAST_MARGIN, _MOST_MARGIN)
    for i in range(m[0].pairs.count):
        put_int(s, m[0].c.mark + i, 0)
    # Where more is near than there is room for, one looks less far, and again sooner.
    for _ in range(_NARROWER):
        if find_pairs(m, s, t, margin):
            break
        margin = HALF * margin
        forget_new(m, s)
    put(s, m[0].z.margin, margin)
    return renew(m, s, t)


@wp.func
def forget_new(m: Machines, s: World):
    put_int(s, m[0].z.status, RUNNING)
    for i in range(m[0].shapes.first_pair, m[0].pairs.count):
        if get_int(s, m[0].c.mark + i) >= 2:
            m[0].pairs.kind[i] = NOTHING
        put_int(s, m[0].c.mark + i, 0)


@wp.func
def find_pairs(m: Machines, s: World, t: real, margin: real):
    """Mark the pairs of all that is nearer than the margin; whether there is room for them."""
    for g in range(m[0].shapes.count):
        poke(m[0].shapes.geom_margin, g, HALF * margin)
    for body in range(m[0].tree.n_links):
        poke(m[0].shapes.body_margin, body, HALF * margin)  # MuJoCo adds the two
    call(m[0].shapes.collision, m[0].outer.model, m[0].outer.data)
    for c in range(peek_int(m[0].shapes.n_contacts, 0)):
        at = m[0].shapes.contacts + wp.uint64(c * m[0].shapes.contact_size)
        geoms = at + wp.uint64(m[0].shapes.at_geom)
        one = peek_int(geoms, 0)
        two = peek_int(geoms, 1)
        excluded = peek_int(at + wp.uint64(m[0].shapes.at_exclude), 0)
        if excluded < 2 and one >= 0 and two >= 0:
            n = -peek3(at + wp.uint64(m[0].shapes.at_frame), 0)  # MuJoCo's is from one to two
            middle = peek3(at + wp.uint64(m[0].shapes.at_pos), 0)
            half = n * (HALF * peek(at, 0))
            a = side_of(m, s, one, middle + half, -n)
            b = side_of(m, s, two, middle - half, n)
            pair_up(m, s, a, b, n, t)
            if get_int(s, m[0].z.status) == TOO_MANY_CONTACTS:
                return False
            give_friction(m, s, at)
    return True


@wp.func
def give_friction(m: Machines, s: World, at: wp.uint64):
    """Rows and friction of new pairs, as MuJoCo mixes them for a contact."""
    for i in range(m[0].shapes.first_pair, m[0].pairs.count):
        if get_int(s, m[0].c.mark + i) == 2:
            put_int(s, m[0].c.mark + i, 3)
            friction = at + wp.uint64(m[0].shapes.at_friction)
            if m[0].shapes.own_friction != 0:
                m[0].law[0, i, MU_STATIC] = peek(friction, 0)
                m[0].law[0, i, MU_DYNAMIC] = peek(friction, 0)
            mu = m[0].law[0, i, MU_STATIC]
            rows = peek_int(at + wp.uint64(m[0].shapes.at_dim), 0)
            m[0].pairs.rows[i] = rows
            if rows > 3:
                if mu > ZERO:
                    m[0].pairs.twist[i] = vec2(peek(friction, 2) / mu, peek(friction, 3) / mu)
                else:
                    m[0].pairs.rows[i] = 3


@wp.func
def renew(m: Machines, s: World, t: real):
    """Leave out pairs that are no more; let the step that comes know of those that are new."""
    verdict = int(0)
    for i in range(m[0].shapes.first_pair, m[0].pairs.count):
        if m[0].pairs.kind[i] != NOTHING:
            mark = get_int(s, m[0].c.mark + i)
            mode = get_int(s, m[0].c.mode + i)
            here = place_contact(m, s, i, t)
            stays = valid(m, s, i, t, here) >= ZERO and (mark != 0 or mode != OPEN)
            if not stays:
                m[0].pairs.kind[i] = NOTHING
                put(s, m[0].c.gap + i, INFINITY)
                if mode != OPEN:
                    verdict = 2
            elif mark == 3:
                closing = contact_velocity(m, s, i, here)[2]
                put(s, m[0].c.gap + i, here.gap)
                put(s, m[0].c.closing + i, closing)
                put(s, m[0].z.y + m[0].z.gaps + i, here.gap)
                put(s, m[0].z.k + m[0].z.gaps + i, closing)
                put(s, m[0].c.value_start + 2 * i, here.gap)
                put(s, m[0].c.value_start + 2 * i + 1, ONE)
                put(s, m[0].c.value_start + n_plain_values(m) + i, ONE)
                put(s, m[0].z.missed, wp.min(get(s, m[0].z.missed), here.gap))
                verdict = wp.max(verdict, 1)
                if here.gap < _TOUCHES:
                    verdict = 2
    return verdict


@wp.func
def n_plain_values(m: Machines):
    """Event functions of pairs, phases and guards; those of validity come after them."""
    return 2 * m[0].pairs.count + m[0].act.count + m[0].act.guards


@wp.func
def put_validity(m: Machines, s: World, t: real):
    """The event functions of pairs that may cease to be the nearest."""
    to = m[0].c.value + n_plain_values(m)
    for i in range(m[0].pairs.count):
        value = real(ONE)
        if i >= m[0].shapes.first_pair and m[0].pairs.kind[i] != NOTHING:
            value = inside(m, i, meet(m, s, i, place_contact(m, s, i, t))) + VERGE
            # What is on the verge and comes inside is so.
            if value < ZERO and get(s, m[0].c.value_start + n_plain_values(m) + i) <= ZERO:
                value = ZERO
        put(s, to + i, wp.min(value, ONE))
