"""Events and samples of fixed steps."""

import warp as wp

from .collide import REST, TOUCH
from .joints import command
from .layout import (
    ACCELERATION,
    BOOKS,
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
    MOST_ROWS,
    MU,
    PAIR_NUMBERS,
    REMOVED,
    SLIP,
    SPEED,
    TANGENTS,
    TIME,
    VELOCITY_AFTER,
    VELOCITY_BEFORE,
    WORK,
    Machines,
)
from .log import GUARD, START, guard_of, note, note_pair
from .outer import is_outer, n_activations
from .places import put_load, write_places
from .reals import (
    HALF,
    ONE,
    ZERO,
    World,
    dot,
    get,
    get_int,
    put,
    put_int,
    real,
    vec2,
)
from .rows import (
    first_row,
    n_active,
    pair_of,
    told_at,
)
from .step import kinetic, potential
from .stepping_contacts import PRESSED, energy_of, velocity_after
from .stepping_world import ask
from .tree import factor, sweep_in, sweep_out


@wp.func
def first_change(m: Machines, s: World, hit: bool):
    """The first pair that the step changed, or -1: its mode, its direction of slip, or an impact.

    What touches at the start is no change.
    """
    begins = get_int(s, m[0].fixed.k) == 0
    for i in range(m[0].pairs.count):
        d = m[0].c.direction + TANGENTS * i
        turned = dot(s, d, m[0].c.heading + TANGENTS * i, 2) < ZERO
        before = get_int(s, m[0].c.mode_before + i)
        mode = get_int(s, m[0].c.mode + i)
        other = mode != before or (mode == SLIP and turned)
        if (other and not begins) or (hit and get_int(s, m[0].fixed.collides + i) != 0):
            return i
    return -1


@wp.func
def comes_to_rest(m: Machines, s: World):
    """Whether nothing moves any more, for the first time: neither before the step nor after it."""
    fastest = real(0.0)
    for d in range(m[0].tree.nv):
        v = get(s, m[0].fixed.v + d)
        fastest = wp.max(fastest, wp.max(wp.abs(v), wp.abs(v + get(s, m[0].fixed.change + d))))
    k = get_int(s, m[0].fixed.k)
    rested = get_int(s, m[0].fixed.resting) != 0
    rests = fastest <= REST and k > 0
    put_int(s, m[0].fixed.resting, int(rests))
    return rests and not rested and k > 1


@wp.func(inline=False)
def note_step(
    m: Machines, s: World, t: real, kick: real, h: real, tau: real, hit: bool, bounded: vec2
):
    """Note what the step did to the contacts, if it was anything, or that the control switched.

    `bounded` is the factor of all velocities by which energy was bounded, and what that removed.
    """
    cause = first_change(m, s, hit)
    function = int(0)
    happens = cause >= 0
    if get_int(s, m[0].fixed.k) == 0:
        for i in range(m[0].pairs.count):
            if get(s, m[0].c.gap + i) < -TOUCH:
                cause = START
                happens = True
    target = get_int(s, m[0].z.target)
    if target >= 0:
        cause = GUARD
        function = guard_of(m, target)
        happens = True
        put_int(s, m[0].z.target, -1)
    rests = comes_to_rest(m, s)
    if not happens and not rests:
        return
    if not happens:
        cause = 0
    note(m, s, TIME, t)
    note(m, s, CAUSE, real(cause))
    note(m, s, FUNCTION, real(function))
    note(m, s, IMPACT, real(int(hit)))
    note(m, s, CONSISTENT, ONE)
    note(m, s, KINETIC_BEFORE, energy_of(m, s, m[0].fixed.v))
    note(m, s, REMOVED, bounded[1])
    note_contacts(m, s, t, h, tau, bounded[0])
    to = EVENT_NUMBERS + PAIR_NUMBERS * m[0].pairs.count
    speed = real(0.0)
    acceleration = real(0.0)
    for j in range(m[0].tree.nq):
        note(m, s, to + j, get(s, m[0].at.q + j))
    to += m[0].tree.nq
    for d in range(m[0].tree.nv):
        change = get(s, m[0].fixed.change + d)
        v = get(s, m[0].fixed.v + d) + change
        put(s, m[0].z.shift + d, v)
        note(m, s, to + d, get(s, m[0].fixed.v + d))
        note(m, s, to + m[0].tree.nv + d, v)
        speed = wp.max(speed, wp.abs(v))
        acceleration = wp.max(acceleration, wp.abs(change) / kick)
    note(m, s, KINETIC_AFTER, energy_of(m, s, m[0].z.shift))
    note(m, s, SPEED, speed)
    note(m, s, ACCELERATION, acceleration)
    put_int(s, m[0].z.events, get_int(s, m[0].z.events) + 1)


@wp.func(inline=False)
def note_contacts(m: Machines, s: World, t: real, h: real, tau: real, scale: real):
    """What the step did to each pair."""
    event = get_int(s, m[0].z.events)
    write_places(m, s, m[0].event_places, event, t)
    for i in range(m[0].pairs.count):
        note_pair(m, s, i, MODE_BEFORE, real(get_int(s, m[0].c.mode_before + i)))
        note_pair(m, s, i, MODE_AFTER, real(get_int(s, m[0].c.mode + i)))
        note_pair(m, s, i, GAP, get(s, m[0].c.gap + i))
        note_pair(m, s, i, LIMIT, -ONE)
        for j in range(2):
            note_pair(m, s, i, DIRECTION_BEFORE + j, get(s, m[0].c.heading + TANGENTS * i + j))
            note_pair(m, s, i, DIRECTION_AFTER + j, get(s, m[0].c.direction + TANGENTS * i + j))
    most = real(0.0)
    for k in range(n_active(m, s)):
        most = wp.max(most, get(s, m[0].c.impulse + first_row(m, s, k + 1) - 1))
    for k in range(n_active(m, s)):
        i = pair_of(m, s, k)
        begin = first_row(m, s, k)
        normal = first_row(m, s, k + 1) - 1
        # What a solver leaves on contacts that do not press is no impulse.
        pressed = get(s, m[0].c.impulse + normal) > PRESSED * most
        rub = real(0.0)
        for r in range(begin, normal + 1):
            at = told_at(m, m[0].pairs.rows[i], r - begin)
            u = get(s, m[0].c.velocity + r)
            ground = get(s, m[0].c.ground + r)
            after = scale * (velocity_after(m, s, r, h, tau) + ground) - ground
            p = get(s, m[0].c.impulse + r)
            if at >= 0:
                note_pair(m, s, i, VELOCITY_BEFORE + at, u)
                note_pair(m, s, i, VELOCITY_AFTER + at, after)
            if at >= 0 and pressed:
                note_pair(m, s, i, IMPULSE + at, p)
                note_pair(m, s, i, WORK + at, HALF * p * (u + after))
            if r < normal:
                rub += p * p
        if pressed:
            note_pair(m, s, i, MU, wp.sqrt(rub) / get(s, m[0].c.impulse + normal))
            put_load(m, s, m[0].event_places, event, i, t, m[0].c.impulse + begin)


@wp.func(inline=False)
def take_sample(m: Machines, s: World, t: real, first: bool, hit: bool):
    """Write the state at t_k, whose velocity lies between those on both sides; an impact is after
    it: then the state before.
    """
    w = s.index
    i = get_int(s, m[0].fixed.k) // m[0].opt.between
    nq = m[0].tree.nq
    nv = m[0].tree.nv
    now = HALF
    if first:
        now = ZERO
    for j in range(nq):
        put(s, m[0].at.q + j, get(s, m[0].fixed.q + j))
        m[0].samples[w, i, j] = get(s, m[0].fixed.q + j)
    for d in range(nv):
        if not hit:  # else: v now, extrapolated, which is there
            put(s, m[0].at.v + d, get(s, m[0].fixed.v + d) + now * get(s, m[0].fixed.change + d))
        m[0].samples[w, i, nq + d] = get(s, m[0].at.v + d)
    for j in range(BOOKS):
        value = get(s, m[0].fixed.books + j) + now * get(s, m[0].fixed.booked + j)
        if hit:
            value = get(s, m[0].fixed.books + j)
        m[0].samples[w, i, nq + nv + j] = value
    to = nq + nv + BOOKS + 2
    for j in range(m[0].act.count):
        m[0].samples[w, i, to + j] = get(s, m[0].motors.effort + j)
    to += m[0].act.count
    for j in range(m[0].pairs.count):
        mode = get_int(s, m[0].c.mode + j)
        if hit:
            mode = get_int(s, m[0].c.mode_before + j)
        m[0].samples[w, i, to + 4 * j] = real(mode)
        for l in range(3):
            m[0].samples[w, i, to + 4 * j + 1 + l] = ZERO
        for l in range(m[0].pairs.rows[j]):
            at = told_at(m, m[0].pairs.rows[j], l)
            if at >= 0:
                f = get(s, m[0].fixed.pressed + MOST_ROWS * j + l)
                m[0].samples[w, i, to + 4 * j + 1 + at] = f
    to += 4 * m[0].pairs.count
    m[0].samples[w, i, to] = get(s, m[0].fixed.residual)
    h = m[0].opt.dt[s.index % m[0].opt.dt.shape[0]]
    if first:
        h = HALF * h
    for d in range(nv):
        m[0].samples[w, i, to + 1 + d] = get(s, m[0].fixed.change + d) / h
    for j in range(m[0].act.count):
        m[0].samples[w, i, to + 1 + nv + j] = command(m, s, j, t)
    for j in range(n_activations(m)):
        at = m[0].z.y + m[0].z.n - n_activations(m) + j
        m[0].samples[w, i, to + 1 + nv + m[0].act.count + j] = get(s, at)
    put(s, m[0].fixed.residual, ZERO)
    # Energies at t_k, which need not be where the step was evaluated.
    if is_outer(m):
        ask(m, s, t)
    else:
        sweep_out(m, s)
        sweep_in(m, s)
    factor(m, s)
    m[0].samples[w, i, nq + nv + BOOKS] = kinetic(m, s, m[0].at.v)
    m[0].samples[w, i, nq + nv + BOOKS + 1] = potential(m, s)
    write_places(m, s, m[0].places, i, t)
    for j in range(m[0].pairs.count):
        put_load(m, s, m[0].places, i, j, t, m[0].fixed.pressed + MOST_ROWS * j)
