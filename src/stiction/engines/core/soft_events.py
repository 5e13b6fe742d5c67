"""Events of compliant contacts: modes change, velocities do not."""

import warp as wp

from .compliance import appear, axis_of, get_axes, let_go, press, rubbing, vanish
from .contacts import NOTHING
from .coordinates import is_dry
from .events import GAP_SLACK, event_values
from .layout import GAP, OPEN, SLIP, STICK, VELOCITY_AFTER, VELOCITY_BEFORE, Machines
from .log import START, note_after, note_before, note_pair
from .reals import ZERO, World, copy, get, get_int, put_int, tolerance
from .rows import look
from .step import put_rate

SLOW = tolerance(1e-9, 1e-5)  # slower than this a contact hardly moves [m/s]


@wp.func
def stays_closed(m: Machines, s: World, i: int, caused: bool):
    """Whether a contact is closed after an event: the one that touched, and all that touch with it;
    not the one that parted, nor those that part with it.
    """
    gap = get(s, m[0].c.gap + i)
    rate = get(s, m[0].c.closing + i)
    near = wp.abs(gap) <= GAP_SLACK
    if get_int(s, m[0].c.mode + i) != OPEN:
        return not (caused or (near and rate > SLOW))
    return caused or gap < -GAP_SLACK or (near and rate <= ZERO)


@wp.func
def note_motion(m: Machines, s: World):
    """Gaps and velocities of contacts. A depth is no overlap that the list should tell of."""
    for i in range(m[0].pairs.count):
        note_pair(m, s, i, GAP, wp.max(get(s, m[0].c.gap + i), ZERO))
        count = m[0].pairs.rows[i]
        u = get_axes(m, s, m[0].c.velocity, i)
        for j in range(count):
            note_pair(m, s, i, VELOCITY_BEFORE + j, u[axis_of(count, j)])
            note_pair(m, s, i, VELOCITY_AFTER + j, u[axis_of(count, j)])


@wp.func(inline=False)
def change_modes(m: Machines, s: World):
    """The modes after an event, and the rate of the state in them. Whether the event counts."""
    t = get(s, m[0].z.t)
    target = get_int(s, m[0].z.target)
    look(m, s, t)
    note_before(m, s)
    counts = target >= 0
    for i in range(m[0].pairs.count):
        before = get_int(s, m[0].c.mode + i)
        put_int(s, m[0].c.mode_before + i, before)
        closed = stays_closed(m, s, i, target == 2 * i)
        kind = m[0].pairs.kind[i]
        if kind == NOTHING:
            if before != OPEN:
                vanish(m, s, i)
                put_int(s, m[0].c.mode + i, OPEN)
        elif before != OPEN and not closed:
            let_go(m, s, i)
            put_int(s, m[0].c.mode + i, OPEN)
        elif before == OPEN and closed:
            put_int(s, m[0].c.mode + i, STICK)
            if target != START and not is_dry(kind) and get(s, m[0].c.gap + i) < -GAP_SLACK:
                appear(m, s, i)
            # The start is an event where something touches just then.
            hits = get(s, m[0].c.closing + i) < -SLOW
            touches = wp.abs(get(s, m[0].c.gap + i)) <= GAP_SLACK
            counts = counts or (target == START and touches and hits)
        elif target == 2 * i + 1:
            put_int(s, m[0].c.mode + i, STICK + SLIP - before)
    press(m, s)
    for i in range(m[0].pairs.count):
        if get_int(s, m[0].c.mode_before + i) == OPEN and get_int(s, m[0].c.mode + i) != OPEN:
            put_int(s, m[0].c.mode + i, rubbing(m, s, i, SLOW))
    press(m, s)
    note_motion(m, s)
    copy(s, m[0].z.y + m[0].z.gaps, m[0].c.gap, m[0].pairs.count)
    put_rate(m, s, m[0].z.k)
    event_values(m, s, t)
    note_after(m, s, 1)
    return counts
