"""The event machine: what a world does with each evaluation of its state.

    evaluate(state)     dynamics, gaps, rows of what touches: one call
    advance(machine)    next stage | accept or reject | search an event | impact | settle | sample

A pass is one evaluation and what follows from it; its work is bounded, and no world waits for
another. Everything between passes lies in the world's slots, so that a run can be left and taken up
again after any of them.
"""

import warp as wp

from .collide import (
    APPROACH,
    STOPPED,
    TO_REST,
    changes_modes_only,
    collide,
    mark_touching,
    still,
)
from .events import event_values, grazing, missing_time, n_values, narrow
from .implicit import choose_kind, correct_stage
from .joints import next_phase
from .layout import (
    BEGAN_INSIDE,
    BEGIN,
    CASCADE,
    DONE,
    EVENT,
    FIRST_CHOSEN,
    LANDED,
    LOOK,
    NOT_FINITE,
    OPEN,
    RUNNING,
    SAMPLE,
    STAGE,
    STICK,
    THIS_PASS,
    WAITING,
    Machines,
    is_soft,
)
from .leap import book_leap, is_crowded, leap
from .log import RESUMED, START
from .near import count_margin, keep_normals, look_around, n_plain_values
from .outer import has_shapes
from .places import write_loads, write_places
from .push_off import switch_push
from .reals import (
    CALLED,
    COMPILED,
    EPSILON,
    INFINITY,
    ONE,
    PLAIN,
    ZERO,
    World,
    add_scaled,
    copy,
    get,
    get_int,
    put,
    put_int,
    real,
    world,
)
from .rows import first_row, n_active, pair_of
from .sampling import leg_end, sample_is_due, sum_is_made, write_sample
from .settle import count_event, count_step, overlaps, remember, settle
from .slow_slip import choose_slip_kind, correct_slips
from .soft_events import change_modes
from .step import (
    act_on_contacts,
    correct,
    evaluate,
    last_rate,
    n_stages,
    next_stage,
    next_stride,
    normalize_turns,
    put_rate,
    step_error,
)
from .turns import comes_plain, waits

_QUARTER = wp.constant(real(0.25))  # of a step whose equations are not solved
_MAX_CASCADE = wp.constant(100)  # events, or impacts, at one instant; and four a contact


# Steps.


@wp.func(inline=CALLED)
def try_step(m: Machines, s: World):
    """Begin the stages of a step of length h."""
    put_int(s, m[0].z.phase, STAGE)
    put_int(s, m[0].z.stage, 1)
    next_stage(m, s)


@wp.func(inline=False)
def begin_step(m: Machines, s: World):
    """From the state y at the time t, whose rate is the first stage; or the end of the run."""
    if get_int(s, m[0].z.status) != RUNNING:
        return
    t = get(s, m[0].z.t)
    until = m[0].opt.until[s.index % m[0].opt.until.shape[0]]
    if sample_is_due(m, s, t, True):
        return
    if t >= until:
        put_int(s, m[0].z.status, DONE)
        return
    if t >= get(
        s, m[0].z.stop
    ):  # it goes on from here as at a start, when the driver has been asked
        put_int(s, m[0].z.status, WAITING)
        put_int(s, m[0].z.phase, BEGIN)
        put_int(s, m[0].z.target, RESUMED)
        return
    h = wp.min(get(s, m[0].z.stride), get(s, m[0].z.longest))
    if has_shapes(m):
        allowed = count_margin(m, s)
        if allowed < h and get(s, m[0].z.looked) < t:
            begin_look(m, s, 0)
            return
        h = wp.min(h, allowed)
    copy(s, m[0].z.start, m[0].z.y, m[0].z.n)
    copy(s, m[0].c.value_low, m[0].c.value_start, n_values(m))
    put_int(s, m[0].z.passes, 0)
    left = leg_end(m, s) - t
    put_int(s, m[0].z.last, int(h >= left))
    put(s, m[0].z.h, wp.min(h, left))
    try_step(m, s)


@wp.func(inline=False)
def take_stage(m: Machines, s: World):
    j = get_int(s, m[0].z.stage)
    act_on_contacts(m, s, j == n_stages(m) - 1)
    if PLAIN and get_int(s, m[0].z.hard) != 0:
        return
    if get_int(s, m[0].z.hard) == THIS_PASS:
        put_int(s, m[0].z.hard, 0)
    if PLAIN or get_int(s, m[0].soft.implicit) == 0:
        put_rate(m, s, m[0].z.k + j * m[0].z.n)
    else:
        verdict = int(0)
        if is_soft(m):
            verdict = correct_stage(m, s)
        else:
            verdict = correct_slips(m, s)
        if verdict == 2:  # the equation is too far from what it was
            count_step(m, s)
            put(s, m[0].z.stride, _QUARTER * get(s, m[0].z.h))
            restart(m, s, get(s, m[0].z.stride))
        if verdict != 1:
            return
    if j < n_stages(m) - 1:
        put_int(s, m[0].z.stage, j + 1)
        next_stage(m, s)
    else:
        judge_step(m, s)


@wp.func(inline=CALLED)
def shorten(m: Machines, s: World, h: real):
    """Try the step again, shorter."""
    put(s, m[0].z.h, h)
    put_int(s, m[0].z.last, 0)
    if h <= real(4.0) * EPSILON * (ONE + wp.abs(get(s, m[0].z.t))):
        put_int(s, m[0].z.status, NOT_FINITE)
    try_step(m, s)


@wp.func(inline=CALLED)
def restart(m: Machines, s: World, h: real):
    """Try the step again, shorter, and look for its events anew."""
    put_int(s, m[0].z.passes, 0)
    copy(s, m[0].c.value_low, m[0].c.value_start, n_values(m))
    shorten(m, s, h)


@wp.func(inline=False)
def judge_step(m: Machines, s: World):
    """Whether a step is kept, is too long, or shows that there is an event on the way."""
    h = get(s, m[0].z.h)
    count_step(m, s)
    event_values(m, s, get(s, m[0].z.now))
    searching = get_int(s, m[0].z.passes) > 0
    ratio = real(0.0)
    if not searching:
        ratio = step_error(m, s)
        if not (ratio <= ONE):
            put(s, m[0].z.stride, next_stride(m, h, ratio))
            shorten(m, s, get(s, m[0].z.stride))
            return
    verdict = narrow(m, s)
    if verdict != 1 or get_int(s, m[0].z.side) == -1:  # on the way to another event too
        part = grazing(m, s)
        if part < ONE:
            put(s, m[0].z.stride, real(0.99) * part * h)
            restart(m, s, get(s, m[0].z.stride))
            return
    if verdict == 1:
        put_int(s, m[0].z.last, 0)
        try_step(m, s)
        return
    # A search leaves the stride of ordinary steps as it was, and so does the end of a slip.
    if not searching and verdict == 0 and get_int(s, m[0].z.last) == 0:
        if h >= get(s, m[0].z.stride):
            put(s, m[0].z.stride, next_stride(m, h, ratio))
        if is_soft(m):
            choose_kind(m, s)
        elif not PLAIN:
            choose_slip_kind(m, s)
    elif not searching and verdict == 0:
        put(s, m[0].z.stride, wp.max(get(s, m[0].z.stride), next_stride(m, h, ratio)))
    put_int(s, m[0].z.landed, int(verdict == 2))
    keep_step(m, s)


@wp.func(inline=False)
def keep_step(m: Machines, s: World):
    """The step is kept: its end is corrected, or carried on to the event."""
    n = m[0].z.n
    for k in range(n_active(m, s)):
        i = pair_of(m, s, k)
        gap = wp.abs(get(s, m[0].c.gap + i))
        if gap < INFINITY:  # else it is none any more
            put(s, m[0].z.drift, wp.max(get(s, m[0].z.drift), gap))
    if has_shapes(m):
        keep_normals(m, s)
    t = get(s, m[0].z.now)
    copy(s, m[0].z.end, m[0].z.y, n)
    if get_int(s, m[0].z.landed) != 0:
        shift = missing_time(m, s)
        add_scaled(s, m[0].z.end, shift, last_rate(m), n)
        normalize_turns(m, s, m[0].z.end)
        add_scaled(s, m[0].c.gap, shift, m[0].c.closing, m[0].pairs.count)
        t += shift
    else:
        correct(m, s, m[0].z.end)
        remember(m, s)
        if get_int(s, m[0].z.last) != 0:
            t = leg_end(m, s)
    copy(s, m[0].z.end + m[0].z.gaps, m[0].c.gap, m[0].pairs.count)
    put(s, m[0].z.t_end, t)
    put_int(s, m[0].z.cascade, 0)
    leave_step(m, s)


@wp.func
def leave_step(m: Machines, s: World):
    """Samples inside the step first; then its end."""
    if sample_is_due(m, s, get(s, m[0].z.t_end), False):
        return
    copy(s, m[0].z.y, m[0].z.end, m[0].z.n)
    # Samples have been looked at in between.
    copy(s, m[0].c.gap, m[0].z.end + m[0].z.gaps, m[0].pairs.count)
    put(s, m[0].z.t, get(s, m[0].z.t_end))
    if get_int(s, m[0].z.landed) == 0:
        copy(s, m[0].z.k, last_rate(m), m[0].z.n)
        begin_step(m, s)
    elif PLAIN:
        put_int(s, m[0].z.phase, LANDED)
    else:
        begin_event(m, s)


# Samples.


@wp.func(inline=False)
def take_sample(m: Machines, s: World):
    """Write the state that was evaluated, and go on from where the sample was asked for."""
    inside = get_int(s, m[0].z.inside) != 0
    if inside and is_soft(m) and not sum_is_made(m, s):
        return
    write_sample(m, s)
    put_int(s, m[0].z.next_sample, get_int(s, m[0].z.next_sample) + 1)
    if inside:
        leave_step(m, s)
    else:
        copy(s, m[0].z.y, m[0].z.end, m[0].z.n)
        begin_step(m, s)


# Events.


@wp.func
def begin_look(m: Machines, s: World, anew: int):
    """Evaluate the state y at the time t, to look around there."""
    put(s, m[0].z.now, get(s, m[0].z.t))
    put_int(s, m[0].z.phase, LOOK)
    put_int(s, m[0].z.anew, anew)


@wp.func(inline=False)
def take_look(m: Machines, s: World):
    verdict = look_around(m, s, get(s, m[0].z.t))
    if get_int(s, m[0].z.anew) != 0:
        begin_event(m, s)
    elif verdict == 2:
        put_int(s, m[0].z.target, RESUMED)
        begin_event(m, s)
    else:
        begin_step(m, s)


@wp.func(inline=False)
def begin_event(m: Machines, s: World):
    """The state is that of an event: evaluate it with all that touches."""
    t = get(s, m[0].z.t)
    if get_int(s, m[0].z.target) >= n_plain_values(m):
        put_int(s, m[0].z.target, RESUMED)
        begin_look(m, s, 1)
        return
    put(s, m[0].z.now, t)
    put_int(s, m[0].z.phase, EVENT)
    put_int(s, m[0].z.hard, 0)
    put_int(s, m[0].z.blows, 0)
    put_int(s, m[0].z.after_impact, 0)
    leaped = get_int(s, m[0].z.in_leap) != 0
    if leaped:
        put_int(s, m[0].z.after_impact, TO_REST)
        put_int(s, m[0].z.in_leap, 0)
    put_int(s, m[0].z.jammed, 0)
    target = get_int(s, m[0].z.target)
    if target >= 0 and target < 2 * m[0].pairs.count and target % 2 == 0:
        if get_int(s, m[0].c.mode + target // 2) == OPEN:
            put(s, m[0].c.gap + target // 2, ZERO)  # it has just closed
    motor = target - 2 * m[0].pairs.count
    if motor >= 0 and motor < m[0].act.count:
        next_phase(m, s, motor, t)
    elif motor == m[0].act.count and m[0].push.count > 0:
        switch_push(m, s)
    put_int(s, m[0].z.cascade, get_int(s, m[0].z.cascade) + 1)
    if get_int(s, m[0].z.cascade) > _MAX_CASCADE + 4 * m[0].pairs.count:
        put_int(s, m[0].z.status, CASCADE)
    if not is_soft(m):
        mark_touching(m, s)
        for i in range(m[0].pairs.count):
            # What a leap has pressed rests, though the place where it arrived has other rows.
            if leaped and get_int(s, m[0].c.mode + i) == STICK:
                put_int(s, m[0].c.mark + i, STOPPED)


@wp.func
def take_event(m: Machines, s: World):
    """Velocities jump if something collides; else the modes are settled."""
    if is_soft(m):
        counts = change_modes(m, s)
        remember(m, s)
        if counts:
            count_event(m, s)
        put_int(s, m[0].z.landed, 0)
        begin_step(m, s)
        return
    collides = get_int(s, m[0].z.jammed) == 1
    for k in range(n_active(m, s)):
        fastest = still(m, s, pair_of(m, s, k), APPROACH)
        if get(s, m[0].c.velocity + first_row(m, s, k + 1) - 1) < -fastest:
            collides = True
    if collides:
        collide(m, s)
        # An impact that is not solved may leave velocities as they were, and what hits hits again.
        put_int(s, m[0].z.blows, get_int(s, m[0].z.blows) + 1)
        if get_int(s, m[0].z.blows) > _MAX_CASCADE + 4 * m[0].pairs.count:
            put_int(s, m[0].z.status, CASCADE)
    elif settle(m, s):
        put_int(s, m[0].z.jammed, 1)
        put_int(s, m[0].z.after_impact, 0)
        mark_touching(m, s)
    elif changes_modes_only(m, s) and is_crowded(m, s):
        put_int(s, m[0].z.landed, 0)
        leap(m, s)
        put(s, m[0].z.now, get(s, m[0].z.t))
        put_int(s, m[0].z.target, RESUMED)
        put_int(s, m[0].z.phase, BEGIN)
        if has_shapes(m):
            begin_look(m, s, 1)
    else:
        put_int(s, m[0].z.landed, 0)
        begin_step(m, s)


@wp.func
def advance(m: Machines, s: World):
    """What follows from an evaluation."""
    phase = get_int(s, m[0].z.phase)
    if get_int(s, m[0].z.in_leap) == 1:
        book_leap(m, s)
    if phase == STAGE:
        take_stage(m, s)
    elif phase == SAMPLE:
        take_sample(m, s)
    elif phase == EVENT:
        take_event(m, s)
    elif has_shapes(m) and phase == LOOK:
        take_look(m, s)
    else:  # gaps are known now
        begin_event(m, s)
        if get_int(s, m[0].z.target) == START and overlaps(m, s, m[0].opt.deepest):
            put_int(s, m[0].z.status, BEGAN_INSIDE)


wp.set_module_options(COMPILED)


@wp.kernel
def run(m: Machines, numbers: wp.array2d(dtype=real), wholes: wp.array2d(dtype=int), passes: int):
    """Up to so many passes of every world that has not ended.

    If some are chosen, of those alone, until what comes next is plain.
    """
    w = wp.tid()
    some = m[0].chosen.shape[0] > 0
    if some:
        if w >= m[0].chosen[0]:
            return
        w = m[0].chosen[FIRST_CHOSEN + w]
    s = world(numbers, wholes, w)
    for _ in range(passes):
        if get_int(s, m[0].z.phase) == LANDED:
            begin_event(m, s)
        if get_int(s, m[0].z.status) != RUNNING or (some and comes_plain(m, s)):
            break
        if not some and waits(get_int(s, m[0].z.phase) != STAGE):
            continue
        evaluate(m, s)
        advance(m, s)


@wp.kernel
def look_at(m: Machines, numbers: wp.array2d(dtype=real), wholes: wp.array2d(dtype=int), of: int):
    """Evaluate world `of` where it is, with its contact forces; nothing moves."""
    s = world(numbers, wholes, of)
    t = get(s, m[0].z.t)
    put(s, m[0].z.now, t)
    evaluate(m, s)
    act_on_contacts(m, s, True)
    write_places(m, s, m[0].places, 0, t)
    write_loads(m, s, m[0].places, 0, t)
