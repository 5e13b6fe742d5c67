"""The log of events: what an event found, did and left."""

import warp as wp

from .layout import (
    ACCELERATION,
    CAUSE,
    CONSISTENT,
    DIRECTION_AFTER,
    DIRECTION_BEFORE,
    EVENT_NUMBERS,
    FUNCTION,
    GAP,
    IMPACT,
    IMPULSE,
    KINETIC_AFTER,
    KINETIC_BEFORE,
    LIMIT,
    MODE_AFTER,
    MODE_BEFORE,
    MU,
    PAIR_NUMBERS,
    REMOVED,
    SPEED,
    SUSPICIOUS,
    TANGENTIAL,
    TANGENTS,
    TIME,
    VELOCITY_AFTER,
    VELOCITY_BEFORE,
    WORK,
    Machines,
)
from .places import put_load, write_places
from .reals import HALF, ZERO, World, get, get_int, real
from .rows import first_row, n_active, n_rows, pair_of, times_W, told_at
from .step import kinetic

START = wp.constant(-1)  # the cause of settling at the start of a run
GUARD = wp.constant(-2)  # the cause is the end of an actuator's phase, or a guard
RESUMED = wp.constant(-3)  # settling after the driver has been asked
LEAP = wp.constant(-4)  # the cause is a crowd of changes, over which one has leapt


@wp.func
def note(m: Machines, s: World, number: int, value: real):
    """Write a number of the current event into the log, if there is room."""
    e = get_int(s, m[0].z.events)
    if e < m[0].log.shape[1]:
        m[0].log[s.index, e, number] = value


@wp.func
def note_pair(m: Machines, s: World, pair: int, number: int, value: real):
    note(m, s, EVENT_NUMBERS + PAIR_NUMBERS * pair + number, value)


@wp.func
def guard_of(m: Machines, target: int):
    """Which actuator's phase has ended, or which guard of a control from outside is at zero."""
    i = target - 2 * m[0].pairs.count
    if i >= m[0].act.count:
        i -= m[0].act.count
    return i


@wp.func
def note_before(m: Machines, s: World):
    """What an event finds: an event without an impact, until more is noted."""
    target = get_int(s, m[0].z.target)
    note(m, s, TIME, get(s, m[0].z.t))
    write_places(m, s, m[0].event_places, get_int(s, m[0].z.events), get(s, m[0].z.t))
    cause = target // 2
    function = target % 2
    if target < 0:
        cause = START
        function = 0
    elif target >= 2 * m[0].pairs.count:
        cause = GUARD
        function = guard_of(m, target)
    note(m, s, CAUSE, real(cause))
    note(m, s, FUNCTION, real(function))
    T = kinetic(m, s, m[0].at.v)
    note(m, s, KINETIC_BEFORE, T)
    note(m, s, KINETIC_AFTER, T)
    note(m, s, IMPACT, ZERO)
    note(m, s, TANGENTIAL, ZERO)
    note(m, s, REMOVED, ZERO)
    for i in range(m[0].pairs.count):
        for number in range(PAIR_NUMBERS):
            note_pair(m, s, i, number, ZERO)
        note_pair(m, s, i, MODE_BEFORE, real(get_int(s, m[0].c.mode + i)))
        note_pair(m, s, i, GAP, get(s, m[0].c.gap + i))
        note_pair(m, s, i, LIMIT, real(-1.0))
        for j in range(2):
            note_pair(m, s, i, DIRECTION_BEFORE + j, get(s, m[0].c.direction + TANGENTS * i + j))
    for k in range(n_active(m, s)):
        i = pair_of(m, s, k)
        begin = first_row(m, s, k)
        rows = first_row(m, s, k + 1) - begin
        for j in range(rows):
            to = told_at(m, rows, j)
            if to >= 0:
                u = get(s, m[0].c.velocity + begin + j)
                note_pair(m, s, i, VELOCITY_BEFORE + to, u)
                note_pair(m, s, i, VELOCITY_AFTER + to, u)
    to = EVENT_NUMBERS + PAIR_NUMBERS * m[0].pairs.count
    for j in range(m[0].tree.nq):
        note(m, s, to + j, get(s, m[0].at.q + j))
    to += m[0].tree.nq
    for j in range(m[0].tree.nv):
        note(m, s, to + j, get(s, m[0].at.v + j))
        note(m, s, to + m[0].tree.nv + j, get(s, m[0].at.v + j))


@wp.func
def note_impulse(m: Machines, s: World, k: int, scale: real):
    """The impulse of the k-th contact, its work, and the velocity it leaves."""
    i = pair_of(m, s, k)
    n = n_rows(m, s)
    begin = first_row(m, s, k)
    normal = first_row(m, s, k + 1) - 1
    event = get_int(s, m[0].z.events)
    put_load(m, s, m[0].event_places, event, i, get(s, m[0].z.t), m[0].c.impulse + begin)
    rub = real(0.0)
    for r in range(begin, normal + 1):
        p = get(s, m[0].c.impulse + r)
        u = get(s, m[0].c.velocity + r)
        new = u + times_W(m, s, n, r, m[0].c.impulse)
        ground = get(s, m[0].c.ground + r)
        to = told_at(m, normal + 1 - begin, r - begin)
        if to >= 0:
            note_pair(m, s, i, IMPULSE + to, p)
            note_pair(m, s, i, WORK + to, HALF * p * (u + new))
            note_pair(m, s, i, VELOCITY_AFTER + to, scale * (new + ground) - ground)
        if r < normal:
            rub += p * p
    p_n = get(s, m[0].c.impulse + normal)
    if p_n > ZERO:
        note_pair(m, s, i, MU, wp.sqrt(rub) / p_n)


@wp.func
def note_velocity(m: Machines, s: World, k: int, u: int):
    """The velocity of the k-th contact after an impact and what followed it: u + W p."""
    n = n_rows(m, s)
    begin = first_row(m, s, k)
    end = first_row(m, s, k + 1)
    for r in range(begin, end):
        to = told_at(m, end - begin, r - begin)
        if to >= 0:
            new = get(s, u + r) + times_W(m, s, n, r, m[0].c.impulse)
            note_pair(m, s, pair_of(m, s, k), VELOCITY_AFTER + to, new)


@wp.func
def note_after(m: Machines, s: World, flags: int):
    note(m, s, CONSISTENT, real(flags % 2))
    note(m, s, SUSPICIOUS, real(flags // 2))
    for i in range(m[0].pairs.count):
        note_pair(m, s, i, MODE_AFTER, real(get_int(s, m[0].c.mode + i)))
        for j in range(2):
            note_pair(m, s, i, DIRECTION_AFTER + j, get(s, m[0].c.direction + TANGENTS * i + j))
    speed = real(0.0)
    acceleration = real(0.0)
    for d in range(m[0].tree.nv):
        speed = wp.max(speed, wp.abs(get(s, m[0].at.v + d)))
        acceleration = wp.max(acceleration, wp.abs(get(s, m[0].at.acceleration + d)))
    note(m, s, SPEED, speed)
    note(m, s, ACCELERATION, acceleration)
