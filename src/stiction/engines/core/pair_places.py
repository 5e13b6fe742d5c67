"""Places in the list of pairs: found again, taken, and given back."""

import warp as wp

from .contacts import NOTHING, direction_of, place_contact
from .layout import OPEN, TOO_MANY_CONTACTS, Machines
from .parts import PLANE, Side, valid
from .reals import INFINITY, ONE, ZERO, World, get_int, put_int, quat, real, vec3

# Sine by which the normal of crossing edges may be beyond the faces beside them: where two faces
# lie on each other it is on the verge.
BESIDE, _MOST_BESIDE = wp.constant(real(0.01)), wp.constant(real(0.5))


@wp.func
def facing(n: vec3):
    """A turn whose z-axis is n."""
    if n[2] < -ONE + real(1e-12):
        return quat(ONE, ZERO, ZERO, ZERO)
    return wp.normalize(quat(-n[1], n[0], ZERO, ONE + n[2]))


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
    m[0].pairs.motion[free] = m[0].shapes.motion[b.geom]
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
def beside(m: Machines, a: Side, b: Side, margin: real):
    """Sine by which a part may be from being the nearest: it may turn on the way."""
    size = wp.min(m[0].shapes.bound[a.geom], m[0].shapes.bound[b.geom])
    if a.family == PLANE:
        size = m[0].shapes.bound[b.geom]
    elif b.family == PLANE:
        size = m[0].shapes.bound[a.geom]
    return wp.min(BESIDE + margin / size, _MOST_BESIDE)


@wp.func
def is_beside(m: Machines, s: World, a: Side, e: int, out: vec3, slack: real):
    """Whether a direction from an edge is between the normals of the faces beside it."""
    one = direction_of(m, s, a.body, m[0].shapes.into_one[e])
    other = direction_of(m, s, a.body, m[0].shapes.into_other[e])
    return wp.dot(one, out) <= slack and wp.dot(other, out) <= slack
