"""After an event: which contacts stick, slip or part, and what the next step starts from."""

import warp as wp

from .collide import JAM, REST, TOUCH, still
from .events import before_stop, event_values, n_values
from .layout import (
    CAUSE,
    EVENTS_USED_UP,
    FRICTION_LOSS,
    IMPACT_LOSS,
    MOST_ROWS,
    OPEN,
    SLIP,
    STEPS_USED_UP,
    STICK,
    TANGENTS,
    Machines,
)
from .log import RESUMED, START, note, note_after, note_before
from .modes import SUSPICIOUS, choose_modes
from .reals import CALLED, ZERO, World, copy, fill, get, get_int, put, put_int, real, tolerance
from .rows import activate, build_rows, first_row, n_active, pair_of
from .step import act_on_contacts, correct, kinetic, put_rate

# Slower than this a contact comes to rest when another does [m/s].
TOGETHER = tolerance(1e-7, 1e-4)
# Likewise in space, and after an impact [m/s]: the direction of so slow a slip tells nothing of
# where it will go, its acceleration does.
REST_IN_SPACE = tolerance(3e-6, 1e-3)


@wp.func
def remember(m: Machines, s: World):
    """What the next step starts from: event functions, headings, accelerations without forces."""
    copy(s, m[0].c.value_start, m[0].c.value, n_values(m))
    put(s, m[0].z.longest, before_stop(m, s))
    for k in range(n_active(m, s)):
        i = pair_of(m, s, k)
        begin = first_row(m, s, k)
        for j in range(first_row(m, s, k + 1) - begin):
            put(s, m[0].c.earlier + MOST_ROWS * i + j, get(s, m[0].c.free + begin + j))
        if m[0].pairs.rows[i] > 2 and get_int(s, m[0].c.mode + i) == SLIP:
            copy(s, m[0].c.direction + TANGENTS * i, m[0].c.heading + TANGENTS * i, TANGENTS)


@wp.func(inline=CALLED)
def count_step(m: Machines, s: World):
    put_int(s, m[0].z.steps, get_int(s, m[0].z.steps) + 1)
    if get_int(s, m[0].z.steps) >= m[0].opt.max_steps:
        put_int(s, m[0].z.status, STEPS_USED_UP)


@wp.func
def count_event(m: Machines, s: World):
    put_int(s, m[0].z.events, get_int(s, m[0].z.events) + 1)
    if get_int(s, m[0].z.events) >= m[0].opt.max_events:
        put_int(s, m[0].z.status, EVENTS_USED_UP)


@wp.func(inline=False)
def settle(m: Machines, s: World):
    """The modes at the velocities that there are now, and the rate of the state in them.

    Whether it jams: no mode is consistent while something slides.
    """
    t = get(s, m[0].z.t)
    target = get_int(s, m[0].z.target)
    after = get_int(s, m[0].z.after_impact)
    fresh = after == 0
    inside = overlaps(m, s, TOUCH)
    if fresh:
        note_before(m, s)
    # Where a body stops as a whole, its contacts do so together.
    stops = int(-1)
    lets_go = int(-1)
    gives_way = int(-1)
    if fresh and target >= 0 and target < 2 * m[0].pairs.count:
        mode = get_int(s, m[0].c.mode + target // 2)
        if target % 2 == 0 and mode != OPEN:
            lets_go = target // 2
        elif target % 2 == 1 and mode == STICK:
            gives_way = target // 2
        elif target % 2 == 1:
            stops = target // 2
    slides = bool(False)
    for i in range(m[0].pairs.count):
        put_int(s, m[0].c.mode_before + i, get_int(s, m[0].c.mode + i))
        if not fresh:  # what was before an impact tells nothing of what comes after it
            put_int(s, m[0].c.mode_before + i, OPEN)
        put_int(s, m[0].c.mode + i, OPEN)
    for k in range(n_active(m, s)):
        i = pair_of(m, s, k)
        begin = first_row(m, s, k)
        normal = first_row(m, s, k + 1) - 1
        if wp.abs(get(s, m[0].c.velocity + normal)) <= still(m, s, i, REST):
            speed = real(0.0)
            for r in range(begin, normal):
                speed += get(s, m[0].c.velocity + r) * get(s, m[0].c.velocity + r)
            speed = wp.sqrt(speed)
            slow = REST
            if normal - begin > 1 and (stops >= 0 or not fresh):
                slow = REST_IN_SPACE
            elif stops >= 0:
                slow = TOGETHER
            if speed <= slow or (i == stops and normal - begin == 1):
                put_int(s, m[0].c.mode + i, STICK)
            else:
                put_int(s, m[0].c.mode + i, SLIP)
                slides = True
                for r in range(begin, normal):
                    d = get(s, m[0].c.velocity + r) / speed
                    put(s, m[0].c.direction + TANGENTS * i + r - begin, d)
    activate(m, s, m[0].c.mode)
    copy(s, m[0].c.heading, m[0].c.direction, TANGENTS * m[0].pairs.count)
    build_rows(m, s, t)
    for i in range(m[0].pairs.count):
        put_int(s, m[0].c.mark + i, int(get_int(s, m[0].c.mode + i) == STICK))
    flags = choose_modes(m, s, lets_go, gives_way)
    if after == JAM and flags < SUSPICIOUS:  # it has been stopped by an impact without collision
        flags += SUSPICIOUS
    # What is at rest is so exactly, even if it is about to slip: what little it moves, perhaps
    # another way, would else end that slip at once.
    for i in range(m[0].pairs.count):
        if get_int(s, m[0].c.mark + i) == 1 and get_int(s, m[0].c.mode + i) == SLIP:
            put_int(s, m[0].c.mode + i, STICK)
            put_int(s, m[0].c.mark + i, 2)
    activate(m, s, m[0].c.mode)
    build_rows(m, s, t)
    moving = kinetic(m, s, m[0].at.v)
    correct(m, s, m[0].z.y)
    # Of contacts that count as at rest and moved a little.
    lost = m[0].z.y + m[0].tree.nq + m[0].tree.nv + FRICTION_LOSS
    if not fresh:
        lost += IMPACT_LOSS - FRICTION_LOSS
    put(s, lost, get(s, lost) + moving - kinetic(m, s, m[0].at.v))
    for k in range(n_active(m, s)):
        i = pair_of(m, s, k)
        begin = first_row(m, s, k)
        normal = first_row(m, s, k + 1) - 1
        # What the correction took away is rounding.
        if get_int(s, m[0].c.mode + i) == STICK:
            fill(s, m[0].c.velocity + begin, normal - begin, ZERO)
        put(s, m[0].c.velocity + normal, ZERO)
        put(s, m[0].c.gap + i, ZERO)
        put(s, m[0].c.closing + i, ZERO)
    for i in range(m[0].pairs.count):
        if get_int(s, m[0].c.mark + i) == 2:
            put_int(s, m[0].c.mode + i, SLIP)
    copy(s, m[0].z.y + m[0].z.gaps, m[0].c.gap, m[0].pairs.count)
    act_on_contacts(m, s, True)
    put_rate(m, s, m[0].z.k)
    event_values(m, s, t)
    remember(m, s)
    # An impact without collision stops what jams, once.
    consistent = flags % 2 == 1
    jams = not consistent and slides and after != JAM
    told = target >= 0 or flags >= SUSPICIOUS or (target == START and inside)
    for i in range(m[0].pairs.count):
        if target == RESUMED and get_int(s, m[0].c.mode_before + i) != get_int(s, m[0].c.mode + i):
            note(m, s, CAUSE, real(i))
            told = True
    counts = not fresh or (not jams and told)
    note_after(m, s, flags)
    if counts:
        count_event(m, s)
    return jams


@wp.func
def overlaps(m: Machines, s: World, depth: real):
    """Whether some pair is deeper than that inside of what it touches."""
    for i in range(m[0].pairs.count):
        if get(s, m[0].c.gap + i) < -depth:
            return True
    return False
