"""What is near, in a world of MuJoCo's: from its collisions to the pairs that are followed.

MuJoCo finds which shapes are near each other. What the machine follows from there is a smooth
function: the distance of a vertex from a face, of two edges, of a ball from a line. So every
combination of parts that are near (vertices, edges, faces, rims) becomes a pair (`pairing`), as
long as it is valid: a vertex above its face, a crossing within its edges. That a pair ceases to be
valid is an event, found like any other.
"""

import warp as wp

from .contacts import (
    CURVED,
    NOTHING,
    RIM_LINE,
    contact_velocity,
    place_contact,
    spin,
    velocity_at,
    world_point,
)
from .curved import keep_normal
from .ground import shift_of, speed_of
from .layout import (
    BOOKS,
    MU_DYNAMIC,
    MU_STATIC,
    OPEN,
    RESTITUTION,
    RUNNING,
    SOFT_MU_DYNAMIC,
    SOFT_MU_STATIC,
    TOO_MANY_CONTACTS,
    Machines,
    is_soft,
)
from .outer import call, peek, peek3, peek_int, poke
from .pairing import has_parts, pair_all, pair_up
from .parts import DEEP, PLANE, VERGE, inside, meet, side_of, valid
from .reals import (
    HALF,
    INFINITY,
    ONE,
    TWO,
    ZERO,
    World,
    fill,
    get,
    get_int,
    put,
    put_int,
    real,
    vec2,
    vec3,
)
from .rims import keep_rim

_LEAST_MARGIN, _MOST_MARGIN = wp.constant(real(1e-3)), wp.constant(real(0.05))  # [m]
_LEAST_WAY = wp.constant(real(1e-5))  # [m]
# How well MuJoCo knows how near two shapes are [m], and as a part of it.
_NEAREST, _SAME_GAP = wp.constant(real(1e-6)), wp.constant(real(1e-2))
_AHEAD = wp.constant(real(4.0))  # steps for which one look suffices
_SAFETY = wp.constant(real(1.25))
_NARROWER = wp.constant(12)  # times
_TOUCHES = wp.constant(real(1e-10))  # a new pair that is so near touches [m]


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
        if m[0].shapes.motion[g] >= 0:
            most = wp.max(most, speed_of(m, m[0].shapes.motion[g]))
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
        if is_sought(m[0].pairs.kind[i]) and get_int(s, m[0].c.mode + i) == OPEN:
            if valid(m, s, i, t, place_contact(m, s, i, t)) < ZERO:  # its normal is sought anew
                m[0].pairs.kind[i] = NOTHING
                put(s, m[0].c.gap + i, INFINITY)
    keep_normals(m, s)
    # Where more is near than there is room for, one looks less far, and again sooner. Where more
    # touches than that, the run is over.
    for k in range(_NARROWER):
        if k > 0:
            margin = HALF * margin
            forget_new(m, s)
        if find_pairs(m, s, t, margin):
            break
    verdict = renew(m, s, t)
    put(s, m[0].z.margin, wp.min(margin, way_to_unknown(m, s)))
    return verdict


@wp.func
def is_sought(kind: int):
    """Whether the nearest points of such a pair are sought from where they were."""
    return kind == CURVED or kind == RIM_LINE


@wp.func
def keep_normals(m: Machines, s: World):
    """Remember the normals of curved pairs at the state that was evaluated."""
    for i in range(m[0].shapes.first_pair, m[0].pairs.count):
        if m[0].pairs.kind[i] == CURVED:
            keep_normal(m, s, i)
        elif m[0].pairs.kind[i] == RIM_LINE:
            keep_rim(m, s, i)


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
    for g in range(m[0].shapes.count):
        if m[0].shapes.motion[g] >= 0:
            shift = shift_of(m, m[0].shapes.motion[g], t)
            for j in range(3):
                x = 3 * g + j
                poke(m[0].shapes.geom_xpos, x, peek(m[0].shapes.geom_xpos, x) + shift[j])
    call(m[0].shapes.collision, m[0].outer.model, m[0].outer.data)
    last_one = int(-1)
    last_two = int(-1)
    for c in range(peek_int(m[0].shapes.n_contacts, 0)):
        at = m[0].shapes.contacts + wp.uint64(c * m[0].shapes.contact_size)
        geoms = at + wp.uint64(m[0].shapes.at_geom)
        one = peek_int(geoms, 0)
        two = peek_int(geoms, 1)
        excluded = peek_int(at + wp.uint64(m[0].shapes.at_exclude), 0)
        if excluded < 2 and one >= 0 and two >= 0 and has_parts(m, one, two):
            if one != last_one or two != last_two:  # contacts of two geoms follow each other
                n = -peek3(at + wp.uint64(m[0].shapes.at_frame), 0)
                pair_all(
                    m, s, one, two, n, margin, ground_shift(m, one, t), ground_shift(m, two, t), t
                )
                if get_int(s, m[0].z.status) == TOO_MANY_CONTACTS:
                    return False
                give_law(m, s, at)
            last_one = one
            last_two = two
        elif excluded < 2 and one >= 0 and two >= 0:
            n = -peek3(at + wp.uint64(m[0].shapes.at_frame), 0)  # MuJoCo's is from one to two
            middle = peek3(at + wp.uint64(m[0].shapes.at_pos), 0)
            half = n * (HALF * peek(at, 0))
            a = side_of(m, s, one, middle + half, -n)
            b = side_of(m, s, two, middle - half, n)
            pair_up(m, s, a, b, n, t)
            if get_int(s, m[0].z.status) == TOO_MANY_CONTACTS:
                return False
            give_law(m, s, at)
    return True


@wp.func
def way_to_unknown(m: Machines, s: World):
    """How far the nearest of two shapes is whose nearest parts are no pair [m].

    Of sharp shapes a vertex before an edge, or before a vertex, is none: nearer to the other shape
    it becomes one of a face or of edges. So one looks again before it is there.
    """
    least = real(INFINITY)
    count = peek_int(m[0].shapes.n_contacts, 0)
    c = int(0)
    while c < count:
        at = m[0].shapes.contacts + wp.uint64(c * m[0].shapes.contact_size)
        geoms = at + wp.uint64(m[0].shapes.at_geom)
        one = peek_int(geoms, 0)
        two = peek_int(geoms, 1)
        excluded = peek_int(at + wp.uint64(m[0].shapes.at_exclude), 0) >= 2
        gap = peek(at, 0)
        c += 1
        same = bool(True)
        while same and c < count:  # contacts of two geoms follow each other
            at = m[0].shapes.contacts + wp.uint64(c * m[0].shapes.contact_size)
            geoms = at + wp.uint64(m[0].shapes.at_geom)
            same = peek_int(geoms, 0) == one and peek_int(geoms, 1) == two
            if same:
                gap = wp.min(gap, peek(at, 0))
                c += 1
        lost = excluded or one < 0 or two < 0 or gap < -DEEP
        if not lost and gap < least and has_parts(m, one, two):
            if not is_followed(m, s, one, two, gap):
                least = gap
    return wp.max(least, _LEAST_WAY)


@wp.func
def is_followed(m: Machines, s: World, one: int, two: int, gap: real):
    """Whether a pair of two geoms is as near as they are said to be."""
    most = gap + _NEAREST + _SAME_GAP * wp.abs(gap)
    for i in range(m[0].shapes.first_pair, m[0].pairs.count):
        geoms = m[0].pairs.geoms[i]
        same = (geoms[0] == one and geoms[1] == two) or (geoms[0] == two and geoms[1] == one)
        if same and m[0].pairs.kind[i] != NOTHING:
            if get(s, m[0].c.gap + i) < most:
                return True
    return False


@wp.func
def ground_shift(m: Machines, geom: int, t: real):
    """How far a geom has come that moves as prescribed."""
    if m[0].shapes.motion[geom] < 0:
        return vec3()
    return shift_of(m, m[0].shapes.motion[geom], t)


@wp.func
def number_of(m: Machines, number: int, one: int, two: int):
    """A number of the law for a pair of geoms: what is said of them, else the usual. If something
    is said of both, the smaller restitution and the larger of the others.
    """
    a = m[0].shapes.law[one, number]
    b = m[0].shapes.law[two, number]
    if a < ZERO and b < ZERO:
        return m[0].shapes.usual[number]
    if a < ZERO:
        return b
    if b < ZERO:
        return a
    if number == RESTITUTION:
        return wp.min(a, b)
    return wp.max(a, b)


@wp.func
def give_law(m: Machines, s: World, at: wp.uint64):
    """Rows and law of new pairs; friction, if it is the model's, as MuJoCo mixes it."""
    friction = at + wp.uint64(m[0].shapes.at_friction)
    rows = peek_int(at + wp.uint64(m[0].shapes.at_dim), 0)
    for i in range(m[0].shapes.first_pair, m[0].pairs.count):
        if get_int(s, m[0].c.mark + i) == 2:
            put_int(s, m[0].c.mark + i, 3)
            geoms = m[0].pairs.geoms[i]
            for number in range(m[0].shapes.usual.shape[0]):
                m[0].law[0, i, number] = number_of(m, number, geoms[0], geoms[1])
            own = peek(friction, 0)
            if rows == 1:
                own = ZERO
            if is_soft(m):  # sliding alone
                if m[0].shapes.own_friction != 0 or rows == 1:
                    m[0].law[0, i, SOFT_MU_STATIC] = own
                    m[0].law[0, i, SOFT_MU_DYNAMIC] = own
                rows = 3
            elif m[0].shapes.own_friction != 0:
                m[0].law[0, i, MU_STATIC] = own
                m[0].law[0, i, MU_DYNAMIC] = own
            m[0].pairs.rows[i] = rows
            mu = m[0].law[0, i, MU_STATIC]
            if rows > 3 and mu > ZERO:
                m[0].pairs.twist[i] = vec2(peek(friction, 2) / mu, peek(friction, 3) / mu)
            elif rows > 3:
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
            if is_sought(m[0].pairs.kind[i]) and mode == OPEN:
                stays = stays and here.gap > -DEEP  # else it is on another side
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
                if is_soft(m):
                    forget_past(m, s, i)
                verdict = wp.max(verdict, 1)
                if here.gap < _TOUCHES:
                    verdict = 2
    return verdict


@wp.func
def forget_past(m: Machines, s: World, i: int):
    """The bristle and the losses of what was at this place of the list before."""
    n = m[0].pairs.count
    at = m[0].z.y + m[0].tree.nq + m[0].tree.nv + BOOKS
    fill(s, at + 2 * i, 2, ZERO)
    put(s, at + 2 * n + i, ZERO)
    put(s, at + 3 * n + i, ZERO)


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
            if (
                value < ZERO
                and value > -HALF
                and get(s, m[0].c.value_start + n_plain_values(m) + i) <= ZERO
            ):
                value = ZERO
        put(s, to + i, wp.min(value, ONE))
