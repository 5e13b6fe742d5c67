"""Collisions: velocities jump."""

import warp as wp

from .contacts import NOTHING, place_contact, row
from .coordinates import is_dry
from .events import REST
from .impact import bring_to_rest, fall_back, no_slip, resolve
from .layout import (
    EVENT_NUMBERS,
    IMPACT,
    IMPACT_LOSS,
    KINETIC_AFTER,
    LIMIT,
    NOT_FINITE,
    OPEN,
    PAIR_NUMBERS,
    REMOVED,
    REST_SPEED,
    RESTITUTION,
    SUPPORT_WORK,
    TANGENTIAL,
    TOO_MANY_CONTACTS,
    Machines,
)
from .log import note, note_before, note_impulse, note_pair, note_velocity
from .outer import has_shapes
from .reals import (
    INFINITY,
    ONE,
    TWO,
    ZERO,
    World,
    add_scaled,
    fill,
    get,
    get_int,
    put,
    put_int,
    real,
    tolerance,
)
from .rows import (
    activate,
    build_rows,
    first_row,
    law,
    n_active,
    n_rows,
    pair_of,
    push,
    times_W,
)
from .step import (
    kinetic,
)
from .tree import second_half

TOUCH = tolerance(1e-9, 2e-6)  # a contact nearer than this touches [m]
APPROACH = tolerance(1e-10, 1e-5)  # a touching contact that closes in faster collides [m/s]

_SAME = tolerance(1e-10, 1e-6)  # places that are nearer are one [m]

STOPPED = wp.constant(2)  # mark of a touching pair that the last impact has brought to rest

# What velocities have jumped by in the event under way.
IMPACT_LAW, JAM, TO_REST = wp.constant(1), wp.constant(2), wp.constant(3)


@wp.func
def still(m: Machines, s: World, i: int, least: real):
    """The speed below which a touching contact neither closes in nor parts.

    Where contacts are all but redundant, no impulse of sensible size takes the last of their
    velocity away (a robot that stands on two feet). What was brought to rest is at rest.
    """
    if get_int(s, m[0].z.after_impact) == TO_REST and get_int(s, m[0].c.mark + i) == STOPPED:
        return wp.max(least, law(m, s, i, REST_SPEED))
    return least


@wp.func
def changes_modes_only(m: Machines, s: World):
    """Whether an event is no collision: an impact without one does not count, it may be followed by
    others without end.
    """
    after = get_int(s, m[0].z.after_impact)
    return after == 0 or after == JAM


@wp.func(inline=False)
def stands_twice(m: Machines, s: World, i: int):
    """Whether another pair of the same geoms is at the same place already: a corner that lies on an
    edge is on the face, and its own edge crosses the other. One of them is enough.
    """
    first = m[0].shapes.first_pair
    if i < first:
        return False
    t = get(s, m[0].z.now)
    here = place_contact(m, s, i, t)
    for j in range(first, i):
        same = m[0].pairs.first[i] == m[0].pairs.first[j]
        same = same and m[0].pairs.second[i] == m[0].pairs.second[j]
        turned = m[0].pairs.first[i] == m[0].pairs.second[j]
        turned = turned and m[0].pairs.second[i] == m[0].pairs.first[j]
        if get_int(s, m[0].c.mark + j) != 0 and (same or turned):
            other = place_contact(m, s, j, t)
            along = wp.dot(row(here.frame, 2), row(other.frame, 2))
            if turned:
                along = -along
            if wp.length(here.point - other.point) < _SAME and along > ONE - _SAME:
                return True
    return False


@wp.func(inline=False)
def mark_touching(m: Machines, s: World):
    """Rows for all that is closed or touches."""
    for i in range(m[0].pairs.count):
        touches = get_int(s, m[0].c.mode + i) != OPEN or get(s, m[0].c.gap + i) <= TOUCH
        if touches and has_shapes(m):  # a pair that is no more may have been closed
            touches = m[0].pairs.kind[i] != NOTHING and not stands_twice(m, s, i)
        put_int(s, m[0].c.mark + i, int(touches))
    if not activate(m, s, m[0].c.mark):
        put_int(s, m[0].z.status, TOO_MANY_CONTACTS)


@wp.func
def change_velocity(m: Machines, s: World):
    """v += M⁻¹ Jᵀ p, and what p does on supports that move [J]."""
    fill(s, m[0].z.shift, m[0].tree.nv, ZERO)
    push(m, s, m[0].c.impulse, m[0].z.shift)
    second_half(m, s, m[0].z.shift)
    add_scaled(s, m[0].at.v, ONE, m[0].z.shift, m[0].tree.nv)
    given = real(0.0)
    for r in range(n_rows(m, s)):
        given += get(s, m[0].c.impulse + r) * get(s, m[0].c.ground + r)
    return given


@wp.func(inline=False)
def collide(m: Machines, s: World):
    """Velocities jump: by the impact law, or to a stop if it is an impact without collision."""
    note_before(m, s)
    jammed = get_int(s, m[0].z.jammed) == 1
    # What touches and does not part takes part.
    for k in range(n_active(m, s)):
        i = pair_of(m, s, k)
        takes_part = get(s, m[0].c.velocity + first_row(m, s, k + 1) - 1) <= REST
        if is_dry(m[0].pairs.kind[i]):  # a bounded force has no impulse
            takes_part = False
        put_int(s, m[0].c.mark + i, int(takes_part))
    activate(m, s, m[0].c.mark)
    build_rows(m, s, get(s, m[0].z.now))
    n = n_rows(m, s)
    harmless = bool(True)
    for k in range(n_active(m, s)):
        i = pair_of(m, s, k)
        normal = first_row(m, s, k + 1) - 1
        u_n = get(s, m[0].c.velocity + normal)
        slow = -u_n < law(m, s, i, REST_SPEED)
        hits = u_n < -APPROACH
        e = law(m, s, i, RESTITUTION)
        # Slow collisions do not rebound. What only touches keeps its restitution: in a sequence it
        # may be hit by others.
        if jammed or (slow and hits):
            put(s, m[0].c.restitution + k, ZERO)
        else:
            put(s, m[0].c.restitution + k, e)
        if hits and not slow:
            harmless = False
        # The flights that would have followed: v_k = eᵏ v, each 2 v_k / |a| long.
        fall = -get(s, m[0].c.free + normal)
        if hits and slow and e > ZERO and e < ONE and fall > ZERO:
            flights = -TWO * u_n * e / (fall * (ONE - e))
            note_pair(m, s, i, LIMIT, get(s, m[0].z.t) + flights)
    scale = real(1.0)
    before = kinetic(m, s, m[0].at.v)
    if jammed:
        no_slip(m, s)
    elif harmless:
        bring_to_rest(m, s, REST)
    else:
        resolve(m, s, before)
    # Velocities after, and the books.
    given = change_velocity(m, s)
    after = kinetic(m, s, m[0].at.v)
    if not (after < INFINITY):  # it would hit again for ever
        put_int(s, m[0].z.status, NOT_FINITE)
    if m[0].opt.energy_method > 0 and not jammed and not harmless:
        most = m[0].opt.energetic[s.index % m[0].opt.energetic.shape[0]] * before
        if after > most:
            scale = wp.sqrt(most / after)
            for d in range(m[0].tree.nv):
                put(s, m[0].at.v + d, scale * get(s, m[0].at.v + d))
    left = scale * scale * after
    for k in range(n_active(m, s)):
        note_impulse(m, s, k, scale)
    if harmless and not jammed:
        u = m[0].c.work + n
        for r in range(n):
            put(s, u + r, get(s, m[0].c.velocity + r) + times_W(m, s, n, r, m[0].c.impulse))
        if fall_back(m, s, u, REST):
            given += change_velocity(m, s)
            left = kinetic(m, s, m[0].at.v)
            for k in range(n_active(m, s)):
                note_velocity(m, s, k, u)
    books = m[0].z.y + m[0].tree.nq + m[0].tree.nv
    put(s, books + SUPPORT_WORK, get(s, books + SUPPORT_WORK) + given)
    put(s, books + IMPACT_LOSS, get(s, books + IMPACT_LOSS) + before - left + given)
    note(m, s, IMPACT, ONE)
    note(m, s, TANGENTIAL, real(int(jammed)))
    note(m, s, KINETIC_AFTER, left)
    note(m, s, REMOVED, after - left)
    to = EVENT_NUMBERS + PAIR_NUMBERS * m[0].pairs.count + m[0].tree.nq + m[0].tree.nv
    for j in range(m[0].tree.nv):
        note(m, s, to + j, get(s, m[0].at.v + j))
    jump = int(IMPACT_LAW)
    if jammed:
        jump = int(JAM)
    elif harmless:
        jump = int(TO_REST)
    put_int(s, m[0].z.after_impact, jump)
    put_int(s, m[0].z.jammed, 0)
    for i in range(m[0].pairs.count):
        put_int(s, m[0].c.mode_before + i, get_int(s, m[0].c.mark + i))
    mark_touching(m, s)
    for i in range(m[0].pairs.count):
        if get_int(s, m[0].c.mark + i) != 0 and get_int(s, m[0].c.mode_before + i) != 0:
            put_int(s, m[0].c.mark + i, STOPPED)
