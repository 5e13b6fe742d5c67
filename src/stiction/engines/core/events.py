r"""Event functions, whose fall below zero ends a mode, and the search for the instant.

Two functions of each pair: of an open one the gap; of a closed one the normal force, and how far
friction is inside the static cone (stick) or how fast it slips along its direction (slip). Of a
compliant one that is closed they are the depth, and how far its bristle is inside its cone (stick)
or outside (slip). Then one for each actuator: the time that is left of its phase.
"""

import warp as wp

from .compliance import get_axes
from .forces import SLOW_SLIP
from .joints import phase_end
from .layout import MU_STATIC, OPEN, SLIP, STICK, TANGENTS, Machines, is_soft
from .near import n_plain_values, put_validity
from .outer import has_shapes
from .reals import (
    EPSILON,
    HALF,
    INFINITY,
    ONE,
    TINY,
    TWO,
    ZERO,
    World,
    copy,
    dot,
    get,
    get_int,
    put,
    put_int,
    real,
    tolerance,
)
from .rows import first_row, law, n_active, n_rows, pair_of, slip_speed, times_W

# Part of the largest force by which a force may fall short of its bound.
FORCE_SLACK = tolerance(1e-9, 1e-4)
GAP_SLACK = tolerance(1e-12, 1e-6)  # depth at which an open contact is taken to touch [m]
# Part of its cone by which a bristle may pull more before it slips: contacts that come to stick
# together would else slip again while the others follow. And a force that is rounding [N].
_GRIP_SLACK, _NO_FORCE = tolerance(1e-8, 1e-4), tolerance(1e-12, 1e-6)
# A slip in space that would end within this time ends [s]: it turns ever faster as it does, and
# what steps get wrong of that would let it miss zero and begin anew.
CAPTURE = tolerance(1e-7, 1e-4)
_PART = wp.constant(real(0.7))  # of the time to the end of such a slip that a step may take
_LANDED = tolerance(1e-8, 1e-4)  # an event nearer than this part of the step is reached
_MAX_SEARCH = wp.constant(60)
REST = tolerance(1e-9, 1e-5)  # slower than this a contact neither parts nor slides [m/s]
_EDGE = wp.constant(real(1e-6))
_SHIFT = wp.constant(real(1e-3))  # the most of a step by which an event is corrected


@wp.func(inline=False)
def event_values(m: Machines, s: World, t: real):
    """All event functions at the state that was evaluated, contact forces included."""
    if is_soft(m):
        soft_values(m, s)
    else:
        rigid_values(m, s)
    to = m[0].c.value + 2 * m[0].pairs.count
    for a in range(m[0].act.count):
        put(s, to + a, phase_end(m, s, a) - t)
    copy(s, to + m[0].act.count, m[0].motors.guard, m[0].act.guards)
    if has_shapes(m):
        put_validity(m, s, t)


@wp.func
def soft_values(m: Machines, s: World):
    """Of compliant contacts. Both gaps and depths have slack: what touches without load is left as
    it is, open or closed.
    """
    for i in range(m[0].pairs.count):
        mode = get_int(s, m[0].c.mode + i)
        gap = get(s, m[0].c.gap + i)
        first = gap + GAP_SLACK
        if mode != OPEN:
            first = GAP_SLACK - gap
        elif get(s, m[0].c.closing + i) >= ZERO:
            first = wp.max(first, ZERO)
        margin = get(s, m[0].soft.margin + i)
        second = -margin
        if mode == OPEN:
            second = ONE
        elif mode == STICK:
            f = get_axes(m, s, m[0].c.force, i)
            cone = margin + wp.sqrt(f[0] * f[0] + f[1] * f[1])
            second = margin + _GRIP_SLACK * cone + _NO_FORCE
        put(s, m[0].c.value + 2 * i, first)
        put(s, m[0].c.value + 2 * i + 1, second)


@wp.func
def rigid_values(m: Machines, s: World):
    """Of rigid contacts."""
    n = n_rows(m, s)
    # As much as `sharing` leaves: it brings no force nearer to its bound than a part of them all.
    slack = FORCE_SLACK * wp.sqrt(dot(s, m[0].c.force, m[0].c.force, n))
    put(s, m[0].z.slack, slack)
    excess = get(s, m[0].z.excess)  # of redundant contacts together: none of them can hold
    most = real(-INFINITY)
    for k in range(n_active(m, s)):
        most = wp.max(most, get(s, m[0].c.force + first_row(m, s, k + 1) - 1))
    loaded = most > -slack
    for i in range(m[0].pairs.count):
        gap = get(s, m[0].c.gap + i) + GAP_SLACK
        # What is inside and comes out, or rests there, has been dealt with.
        if get(s, m[0].c.closing + i) >= -REST:
            gap = wp.max(gap, ZERO)
        put(s, m[0].c.value + 2 * i, gap)
        put(s, m[0].c.value + 2 * i + 1, ONE)
    for k in range(n_active(m, s)):
        i = pair_of(m, s, k)
        begin = first_row(m, s, k)
        normal = first_row(m, s, k + 1) - 1
        f_n = get(s, m[0].c.force + normal)
        put(s, m[0].c.value + 2 * i, f_n + slack - excess)
        if get_int(s, m[0].c.mode + i) == STICK:
            rub = real(0.0)
            for r in range(begin, normal):
                rub += get(s, m[0].c.force + r) * get(s, m[0].c.force + r)
            mu = law(m, s, i, MU_STATIC)
            margin = mu * f_n - wp.sqrt(rub) + wp.max(mu, ONE) * slack
            if loaded:  # what presses nowhere parts: its friction tells nothing
                put(s, m[0].c.value + 2 * i + 1, margin - excess)
        else:
            put(s, m[0].c.value + 2 * i + 1, slip_value(m, s, k))


@wp.func
def slip_value(m: Machines, s: World, k: int):
    """The speed along the direction of slip; in space also what captures a slip that ends."""
    i = pair_of(m, s, k)
    n = n_rows(m, s)
    begin = first_row(m, s, k)
    along = real(0.0)
    rising = real(0.0)
    speed = real(0.0)
    rate = real(0.0)
    for j in range(first_row(m, s, k + 1) - 1 - begin):
        u = get(s, m[0].c.velocity + begin + j)
        du = get(s, m[0].c.free + begin + j) + times_W(m, s, n, begin + j, m[0].c.force)
        d = get(s, m[0].c.direction + TANGENTS * i + j)
        along += u * d
        rising += du * d
        speed += u * u
        rate += u * du
    # A slip that has just begun, and grows, may be slower than what steps get wrong.
    if rising >= ZERO and along > -REST:
        along = wp.max(along, ZERO)
    speed = wp.sqrt(speed)
    rate = rate / wp.max(speed, TINY)
    put(s, m[0].z.slip_rate + i, rate)
    if m[0].pairs.rows[i] > 2 and rate < ZERO and speed > SLOW_SLIP:
        along = wp.min(along, speed + CAPTURE * rate)
    return along


@wp.func
def n_values(m: Machines):
    n = n_plain_values(m)
    if has_shapes(m):
        n += m[0].pairs.count
    return n


@wp.func
def before_stop(m: Machines, s: World):
    """The longest step that leaves a part of every slip in space that is about to end [s]."""
    longest = real(INFINITY)
    for k in range(n_active(m, s)):
        i = pair_of(m, s, k)
        rate = get(s, m[0].z.slip_rate + i)
        if m[0].pairs.rows[i] > 2 and get_int(s, m[0].c.mode + i) != STICK and rate < ZERO:
            speed = slip_speed(m, s, k)
            left = speed / -rate
            if left > TWO * CAPTURE and speed > SLOW_SLIP:
                longest = wp.min(longest, _PART * left)
    return longest


@wp.func
def first_fallen(m: Machines, s: World):
    """Which event function came to zero first, judged by how long ago; -1 if none fell.

    Judged from the end of the step: a contact that has just parted begins at zero too.
    """
    width = get(s, m[0].z.h)
    if get_int(s, m[0].z.passes) > 0:
        width -= get(s, m[0].z.low)
    target = int(-1)
    longest = real(-1.0)
    for e in range(n_values(m)):
        value = get(s, m[0].c.value + e)
        if value < ZERO:
            low = wp.max(get(s, m[0].c.value_low + e), ZERO)
            ago = width * value / (value - low)  # by the chord
            if is_gap(m, s, e) and gap_rate(m, s, e) < ZERO:
                ago = wp.min(value / gap_rate(m, s, e), width)
            if ago > longest:
                longest = ago
                target = e
    return target


@wp.func
def is_gap(m: Machines, s: World, target: int):
    """Whether an event function is the gap of an open pair, or the depth of a compliant one: its
    rate is known.
    """
    if target >= 2 * m[0].pairs.count or target % 2 == 1:
        return False
    return is_soft(m) or get_int(s, m[0].c.mode + target // 2) == OPEN


@wp.func
def outwards(m: Machines, s: World, target: int):
    """1 for the gap of an open pair, -1 for the depth of a closed one."""
    if get_int(s, m[0].c.mode + target // 2) == OPEN:
        return ONE
    return -ONE


@wp.func
def gap_rate(m: Machines, s: World, target: int):
    return outwards(m, s, target) * get(s, m[0].c.closing + target // 2)


@wp.func
def rate_of(m: Machines, s: World, target: int, chord: real):
    if is_gap(m, s, target):
        return gap_rate(m, s, target)
    return chord


@wp.func
def narrow(m: Machines, s: World):
    """Look at a step for events. 0: none; 1: try a step of length `h`; 2: this step ends on one.

    A bracket [low, high] of step lengths without and with the event shrinks by Newton's method
    where the rate of the event function is known, by the chord otherwise (Illinois).
    """
    h = get(s, m[0].z.h)
    fallen = first_fallen(m, s)
    on = get_int(s, m[0].z.passes) > 0
    if fallen < 0 and not on:
        return 0
    put_int(s, m[0].z.passes, get_int(s, m[0].z.passes) + 1)
    if fallen >= 0:
        value = get(s, m[0].c.value + fallen)
        if not on:
            put(s, m[0].z.low, ZERO)
        f_low = wp.max(get(s, m[0].c.value_low + fallen), ZERO)
        if on and fallen == get_int(s, m[0].z.target) and get_int(s, m[0].z.side) == 1:
            f_low = HALF * get(s, m[0].z.f_low)
        put(s, m[0].z.f_low, f_low)
        put(s, m[0].z.high, h)
        put(s, m[0].z.f_high, value)
        put_int(s, m[0].z.target, fallen)
        put_int(s, m[0].z.side, 1)
    else:
        put(s, m[0].z.low, h)
        copy(s, m[0].c.value_low, m[0].c.value, n_values(m))
        put(s, m[0].z.f_low, get(s, m[0].c.value + get_int(s, m[0].z.target)))
        if get_int(s, m[0].z.side) == -1:
            put(s, m[0].z.f_high, HALF * get(s, m[0].z.f_high))
        put_int(s, m[0].z.side, -1)
    target = get_int(s, m[0].z.target)
    value = get(s, m[0].c.value + target)
    low = get(s, m[0].z.low)
    high = get(s, m[0].z.high)
    f_low = get(s, m[0].z.f_low)
    f_high = get(s, m[0].z.f_high)
    chord = (f_high - f_low) / wp.max(high - low, TINY)
    slope = rate_of(m, s, target, chord)
    put(s, m[0].z.slope, slope)
    passes = get_int(s, m[0].z.passes)
    # One that is zero and does not fall (of what is inside and comes out) has no event there.
    close = slope < ZERO and wp.abs(value) <= _LANDED * high * -slope
    tight = high - low <= TWO * EPSILON * (ONE + wp.abs(get(s, m[0].z.t)))
    if close or tight or passes >= _MAX_SEARCH:
        return 2
    guess = low + (high - low) * f_low / wp.max(f_low - f_high, TINY)
    newton = h - value / wp.min(slope, -TINY)
    if is_gap(m, s, target) and slope < ZERO and newton > low and newton < high:
        guess = newton
    elif passes % 4 == 0 or f_low <= ZERO:
        # Every fourth pass halves the bracket, whatever the functions do. And so does each where a
        # function jumps from zero: of what is a little inside, goes out, and turns.
        guess = HALF * (low + high)
    put(s, m[0].z.h, wp.clamp(guess, low, high))
    return 1


@wp.func
def grazing(m: Machines, s: World):
    """Whether a gap dips below zero and comes back inside the step: the part of it until then.

    The gap over the step is the cubic with its values and rates at both ends.
    """
    h = get(s, m[0].z.h)
    first = real(1.0)
    gaps = m[0].z.start + m[0].z.gaps
    for i in range(m[0].pairs.count):
        if get_int(s, m[0].c.mode + i) == OPEN:
            g0 = get(s, gaps + i)
            g1 = get(s, m[0].c.gap + i)
            r0 = h * get(s, m[0].z.k + m[0].z.gaps + i)
            r1 = h * get(s, m[0].c.closing + i)
            if g0 > ZERO and r0 < ZERO and r1 > ZERO:
                a = real(6.0) * (g0 - g1) + real(3.0) * (r0 + r1)
                b = -real(6.0) * (g0 - g1) - real(4.0) * r0 - TWO * r1
                root = wp.sqrt(wp.max(b * b - real(4.0) * a * r0, ZERO))
                x = wp.clamp(TWO * r0 / wp.min(-b - root, -TINY), ZERO, ONE)
                least = g0 + x * (r0 + x * (b * HALF + x * a / real(3.0)))
                if least < -GAP_SLACK and x > _EDGE and x < ONE - _EDGE:
                    first = wp.min(first, x)
    return first


@wp.func
def missing_time(m: Machines, s: World):
    """From the end of a step that lands on an event to the event itself, to first order [s]."""
    target = get_int(s, m[0].z.target)
    slope = get(s, m[0].z.slope)
    pair = target // 2
    if target < 2 * m[0].pairs.count and target % 2 == 1 and get_int(s, m[0].c.mode + pair) == SLIP:
        # A slip that is captured goes on until it stops.
        rate = get(s, m[0].z.slip_rate + pair)
        speed = speed_of_pair(m, s, pair)
        if m[0].pairs.rows[pair] > 2 and rate < ZERO and speed > SLOW_SLIP:
            # One that has turned across its direction is not about to stop.
            left = speed / -rate
            if left <= TWO * CAPTURE:
                return left
    value = get(s, m[0].c.value + target)
    if is_gap(m, s, target):
        value = outwards(m, s, target) * get(s, m[0].c.gap + pair)  # without slack
    shift = real(0.0)
    if slope < ZERO:
        shift = -value / slope
    if wp.abs(shift) > _SHIFT * get(s, m[0].z.h):  # a function that only grazes zero
        shift = ZERO
    return shift


@wp.func
def speed_of_pair(m: Machines, s: World, pair: int):
    for k in range(n_active(m, s)):
        if pair_of(m, s, k) == pair:
            return slip_speed(m, s, k)
    return ZERO
