r"""Where contacts are and how they move: gap, point and frame of every pair that may touch.

A contact's frame has rows (first tangent, second tangent, normal), the normal pointing from what is
touched (2) to what touches (1). With V(p) the velocity of a link's material at the point p,

$$ u = F (V_1(p) - V_2(p) - s), \qquad
   \dot u = J \dot v + F (A_1(p) - A_2(p) + (w_1 - w_2) \times \dot p - \dot s)
   + \dot F (V_1 - V_2 - s), $$

where s is the velocity of ground that moves as prescribed. rodic (21)-(28) has such supports.
"""

import warp as wp

from .coordinates import is_dry, is_limit, number_bias, number_rate, way_left
from .curved import (
    curved,
    curved_gap,
    find_normal,
    normal_rate,
    shape_times,
    support,
    support_rate,
)
from .ground import (
    belt,
    field_normal,
    field_shape,
    field_slope,
    foot,
    solve_bowl,
    travel,
    travel_bend,
    travel_rate,
)
from .layout import Machines
from .material import (
    direction_of,
    frame_along,
    frame_along_rate,
    rate_at,
    row,
    rows_of,
    spin,
    velocity_at,
    world_point,
)
from .outer import of_worlds
from .reals import (
    INFINITY,
    ONE,
    ZERO,
    World,
    get,
    get3,
    get_quat,
    mat33,
    put,
    real,
    vec2,
    vec3,
)
from .rims import nearest_on_rim, rim, rim_gap, rim_normal, roll

# Kinds of m[0].pairs.
POINT_PLANE, ROUND_PLANE = wp.constant(0), wp.constant(1)
BALL_FIELD, BALL_BALL = wp.constant(2), wp.constant(3)
# Edges and rims: a ball and a line, two lines, a circle and a plane. Lines are without end.
BALL_LINE, LINE_LINE, RIM_PLANE = wp.constant(6), wp.constant(7), wp.constant(8)
NOTHING = wp.constant(9)  # a place in the list that is free
CURVED = wp.constant(13)  # two curved shapes: see `curved`
RIM_LINE = wp.constant(14)  # a rim that crosses a line: see `rims`


@wp.func
def is_of_number(kind: int):
    """Whether it is a constraint on one number (`coordinates`): it has no place."""
    return is_limit(kind) or is_dry(kind)


@wp.struct
class Place:
    """Where a contact is."""

    gap: real
    point: vec3
    frame: mat33
    support: vec3  # s


@wp.struct
class Drift:
    """How the place of a contact moves."""

    point: vec3
    frame: mat33
    support: vec3


@wp.func
def off_line(m: Machines, s: World, i: int, p: vec3):
    """From the nearest point of the second's line to p."""
    b = direction_of(m, s, m[0].pairs.second[i], m[0].pairs.along[i])
    d = p - world_point(m, s, m[0].pairs.second[i], m[0].pairs.on[i])
    return d - b * wp.dot(b, d)


@wp.func
def plane_frame(m: Machines, s: World, i: int):
    """Rows are the axes of the plane's frame."""
    turn = get_quat(s, m[0].at.rotation + 4 * m[0].pairs.second[i]) * m[0].pairs.facing[i]
    return wp.transpose(wp.quat_to_matrix(turn))


@wp.func
def stretched(m: Machines, s: World, i: int, n: vec3):
    """B n, with B = R A² Rᵀ the shape of an ellipsoid in the world."""
    turn = get_quat(s, m[0].at.rotation + 4 * m[0].pairs.first[i]) * m[0].pairs.turn[i]
    return shape_times(turn, m[0].pairs.axes[i], n)


# All kinds.


@wp.func(inline=False)
def place_contact(m: Machines, s: World, i: int, t: real):
    """Where contact i is."""
    kind = m[0].pairs.kind[i]
    here = Place()
    if of_worlds(kind == NOTHING):
        here.gap = INFINITY
    if is_of_number(kind) or of_worlds(kind == NOTHING):
        if is_limit(kind):
            here.gap = way_left(m, s, i)
        return here
    center = world_point(m, s, m[0].pairs.first[i], m[0].pairs.point[i])
    if kind == BALL_FIELD:
        xy = foot(m, center)
        n = field_normal(field_slope(m, xy))
        ground = vec3(xy[0], xy[1], field_shape(m, xy, 0, 0))
        here.gap = wp.dot(n, center - ground) - m[0].pairs.axes[i][0]
        here.point = center - m[0].pairs.axes[i][0] * n
        here.frame = frame_along(n)
    elif kind == BALL_BALL:
        apart = center - world_point(m, s, m[0].pairs.second[i], m[0].pairs.on[i])
        n = wp.normalize(apart)
        here.gap = wp.length(apart) - m[0].pairs.axes[i][0] - m[0].pairs.radius[i]
        here.point = center - m[0].pairs.axes[i][0] * n
        here.frame = frame_along(n)
    elif of_worlds(kind == BALL_LINE):
        apart = off_line(m, s, i, center)
        n = wp.normalize(apart)
        here.gap = wp.length(apart) - m[0].pairs.axes[i][0] - m[0].pairs.radius[i]
        here.point = center - m[0].pairs.axes[i][0] * n
        here.frame = frame_along(n)
    elif of_worlds(kind == LINE_LINE):
        a = direction_of(m, s, m[0].pairs.first[i], m[0].pairs.axes[i])
        b = direction_of(m, s, m[0].pairs.second[i], m[0].pairs.along[i])
        c = wp.cross(a, b)
        n = wp.normalize(c)
        apart = center - world_point(m, s, m[0].pairs.second[i], m[0].pairs.on[i])
        here.gap = wp.dot(apart, n) - m[0].pairs.reach[i] - m[0].pairs.radius[i]
        x = -wp.dot(wp.cross(apart, b), c) / wp.dot(c, c)
        here.point = center + x * a - m[0].pairs.reach[i] * n
        here.frame = frame_along(n)
    elif of_worlds(kind == CURVED):
        both = curved(m, s, i)
        n = find_normal(m, s, i, both)
        reach = m[0].pairs.reach[i]
        here.gap = curved_gap(both, n)
        if here.gap < INFINITY:
            here.gap = here.gap - reach - m[0].pairs.radius[i]
        here.point = center - support(both.turn, both.axes, n) - reach * n
        here.frame = frame_along(n)
    elif of_worlds(kind == RIM_LINE):
        circle = rim(m, s, i)
        e = nearest_on_rim(circle)
        n = rim_normal(circle, e)
        here.gap = rim_gap(circle, e, n)
        if here.gap < INFINITY:
            here.gap = here.gap - m[0].pairs.radius[i]
        here.point = center + circle.reach * e
        here.frame = frame_along(n)
    else:
        F = plane_frame(m, s, i)
        n = row(F, 2)
        p = center
        if of_worlds(kind == RIM_PLANE):
            k = direction_of(m, s, m[0].pairs.first[i], m[0].pairs.axes[i])
            p = center - m[0].pairs.reach[i] * wp.normalize(n - k * wp.dot(k, n))
        if kind == ROUND_PLANE:
            Bn = stretched(m, s, i, n)
            p = center - Bn / wp.sqrt(wp.dot(n, Bn))
        origin = world_point(m, s, m[0].pairs.second[i], m[0].pairs.on[i]) + travel(m, i, t)
        here.gap = wp.dot(n, p - origin)
        here.point = p
        here.frame = F
        here.support = travel_rate(m, i, t) + belt(m, i)
    return here


@wp.func(inline=False)
def slide_along(m: Machines, s: World, i: int, t: real, here: Place):
    """How the place of contact i moves."""
    kind = m[0].pairs.kind[i]
    first = m[0].pairs.first[i]
    second = m[0].pairs.second[i]
    moves = Drift()
    if is_of_number(kind):
        return moves
    center = world_point(m, s, first, m[0].pairs.point[i])
    v = velocity_at(m, s, first, center)
    n = row(here.frame, 2)
    if kind == BALL_FIELD:
        xy = foot(m, center)
        slope = field_slope(m, xy)
        below = field_shape(m, xy, 0, 0) - center[2]
        along = vec2(v[0] + v[2] * slope[0], v[1] + v[2] * slope[1])
        d = solve_bowl(m, xy, slope, below, along)
        twist = field_shape(m, xy, 1, 1)
        dm = vec3(
            -(field_shape(m, xy, 2, 0) * d[0] + twist * d[1]),
            -(twist * d[0] + field_shape(m, xy, 0, 2) * d[1]),
            ZERO,
        )
        up = wp.sqrt(ONE + slope[0] * slope[0] + slope[1] * slope[1])
        dn = (dm - n * wp.dot(n, dm)) / up
        moves.point = v - m[0].pairs.axes[i][0] * dn
        moves.frame = frame_along_rate(here.frame, dn)
    elif kind == BALL_BALL:
        other = world_point(m, s, second, m[0].pairs.on[i])
        dv = v - velocity_at(m, s, second, other)
        dn = (dv - n * wp.dot(n, dv)) / wp.length(center - other)
        moves.point = v - m[0].pairs.axes[i][0] * dn
        moves.frame = frame_along_rate(here.frame, dn)
    elif of_worlds(kind == BALL_LINE):
        other = world_point(m, s, second, m[0].pairs.on[i])
        b = direction_of(m, s, second, m[0].pairs.along[i])
        db = wp.cross(spin(m, s, second), b)
        apart = center - other
        parting = v - velocity_at(m, s, second, other)
        glide = wp.dot(db, apart) + wp.dot(b, parting)
        change = parting - db * wp.dot(b, apart) - b * glide
        dn = (change - n * wp.dot(n, change)) / wp.length(off_line(m, s, i, center))
        moves.point = v - m[0].pairs.axes[i][0] * dn
        moves.frame = frame_along_rate(here.frame, dn)
    elif of_worlds(kind == LINE_LINE):
        other = world_point(m, s, second, m[0].pairs.on[i])
        a = direction_of(m, s, first, m[0].pairs.axes[i])
        b = direction_of(m, s, second, m[0].pairs.along[i])
        da = wp.cross(spin(m, s, first), a)
        db = wp.cross(spin(m, s, second), b)
        c = wp.cross(a, b)
        dc = wp.cross(da, b) + wp.cross(a, db)
        dn = (dc - n * wp.dot(n, dc)) / wp.length(c)
        apart = center - other
        x = -wp.dot(wp.cross(apart, b), c) / wp.dot(c, c)
        y = -wp.dot(wp.cross(apart, a), c) / wp.dot(c, c)
        # Both nearest points move along their lines so that what is between them stays along n.
        across = wp.cross(b, n)
        rest = v + x * da - velocity_at(m, s, second, other) - y * db
        dx = wp.dot(wp.dot(apart, n) * dn - rest, across) / wp.dot(a, across)
        moves.point = v + x * da + dx * a - m[0].pairs.reach[i] * dn
        moves.frame = frame_along_rate(here.frame, dn)
    elif of_worlds(kind == CURVED):
        other = world_point(m, s, second, m[0].pairs.on[i])
        both = curved(m, s, i)
        w1 = spin(m, s, first)
        parting = v - velocity_at(m, s, second, other)
        dn = normal_rate(both, n, w1, spin(m, s, second), parting)
        moves.point = v - support_rate(both.turn, both.axes, w1, n, dn) - m[0].pairs.reach[i] * dn
        moves.frame = frame_along_rate(here.frame, dn)
    elif of_worlds(kind == RIM_LINE):
        circle = rim(m, s, i)
        rolls = roll(m, s, i, circle, (here.point - center) / circle.reach, n)
        moves.point = rolls.point
        moves.frame = frame_along_rate(here.frame, rolls.normal)
    else:
        w2 = spin(m, s, second)
        F = here.frame
        dn = wp.cross(w2, n)
        moves.frame = rows_of(wp.cross(w2, row(F, 0)), wp.cross(w2, row(F, 1)), dn)
        moves.point = v
        moves.support = travel_bend(m, i, t)
        if of_worlds(kind == RIM_PLANE):
            k = direction_of(m, s, first, m[0].pairs.axes[i])
            dk = wp.cross(spin(m, s, first), k)
            e = n - k * wp.dot(k, n)
            de = dn - dk * wp.dot(k, n) - k * (wp.dot(dk, n) + wp.dot(k, dn))
            size = wp.length(e)
            e = e / size
            moves.point = v - m[0].pairs.reach[i] * (de - e * wp.dot(e, de)) / size
        if kind == ROUND_PLANE:
            w = spin(m, s, first)
            Bn = stretched(m, s, i, n)
            # d/dt (B n), with dB/dt = [w] B - B [w]
            change = wp.cross(w, Bn) + stretched(m, s, i, dn - wp.cross(w, n))
            reach = wp.sqrt(wp.dot(n, Bn))
            grows = (wp.dot(n, change) + wp.dot(dn, Bn)) / (reach + reach)
            moves.point = v - change / reach + Bn * (grows / (reach * reach))
    return moves


@wp.func
def contact_velocity(m: Machines, s: World, i: int, here: Place):
    """u: tangents and normal, relative to the support."""
    if of_worlds(m[0].pairs.kind[i] == NOTHING):
        return vec3()
    if is_limit(m[0].pairs.kind[i]):
        return vec3(ZERO, ZERO, number_rate(m, s, i))
    if is_dry(m[0].pairs.kind[i]):
        return vec3(number_rate(m, s, i), ZERO, ZERO)
    v = velocity_at(m, s, m[0].pairs.first[i], here.point)
    v = v - velocity_at(m, s, m[0].pairs.second[i], here.point) - here.support
    return here.frame * v


@wp.func
def contact_bias(m: Machines, s: World, i: int, here: Place, moves: Drift):
    """du/dt if v does not change."""
    if is_limit(m[0].pairs.kind[i]):
        return vec3(ZERO, ZERO, number_bias(m, s, i))
    if is_dry(m[0].pairs.kind[i]):
        return vec3(number_bias(m, s, i), ZERO, -m[0].pairs.radius[i])
    first = m[0].pairs.first[i]
    second = m[0].pairs.second[i]
    p = here.point
    v = velocity_at(m, s, first, p) - velocity_at(m, s, second, p) - here.support
    a = rate_at(m, s, first, p) - rate_at(m, s, second, p) - moves.support
    a = a + wp.cross(spin(m, s, first) - spin(m, s, second), moves.point)
    return here.frame * a + moves.frame * v


@wp.func
def put_jacobian(m: Machines, s: World, link: int, direction: vec3, p: vec3, sign: real, to: int):
    """Add the row of J that gives the velocity of a link's material at p along a direction."""
    arm = wp.cross(p - get3(s, m[0].at.origin + 3 * m[0].tree.root[link]), direction)
    d = m[0].tree.last_freedom[link]
    while d >= 0:
        S_w = get3(s, m[0].at.motion + 6 * d)
        S_u = get3(s, m[0].at.motion + 6 * d + 3)
        put(s, to + d, get(s, to + d) + sign * (wp.dot(S_w, arm) + wp.dot(S_u, direction)))
        d = m[0].tree.before[d]


@wp.func
def put_turn(m: Machines, s: World, link: int, direction: vec3, factor: real, to: int):
    """Add the row of J that gives the angular velocity of a link along a direction."""
    d = m[0].tree.last_freedom[link]
    while d >= 0:
        S_w = get3(s, m[0].at.motion + 6 * d)
        put(s, to + d, get(s, to + d) + factor * wp.dot(S_w, direction))
        d = m[0].tree.before[d]
