"""Samples: the state inside a step, and what is written of it."""

import warp as wp

from .compliance import loss_at
from .joints import command
from .layout import BOOKS, SAMPLE, Machines, is_soft
from .outer import n_activations
from .places import write_loads, write_places
from .reals import (
    HALF,
    TWO,
    ZERO,
    World,
    add_scaled,
    copy,
    fill,
    get,
    get3,
    get_int,
    get_quat,
    put,
    put3,
    put_int,
    put_quat,
    quat,
    real,
    vec2,
    vec3,
)
from .rows import first_row, n_active, pair_of, told_at
from .step import (
    act_on_contacts,
    kinetic,
    last_rate,
    potential,
    put_rate,
)
from .tree import BALL, FREE

# Gauss's nodes and weights on [0, 1].
_NODES = wp.constant(vec3(0.1127016653792583, 0.5, 0.8872983346207417))
_WEIGHTS = wp.constant(vec3(0.2777777777777778, 0.4444444444444444, 0.2777777777777778))


@wp.func
def sample_time(m: Machines, s: World):
    """When the next sample is taken."""
    i = get_int(s, m[0].z.next_sample)
    count = m[0].samples.shape[1]
    until = m[0].opt.until[s.index % m[0].opt.until.shape[0]]
    if i >= count - 1:
        return until
    return until * real(i) / real(count - 1)


@wp.func
def leg_end(m: Machines, s: World):
    """How far steps may go."""
    end = wp.min(m[0].opt.until[s.index % m[0].opt.until.shape[0]], get(s, m[0].z.stop))
    if m[0].opt.on_samples != 0:
        end = wp.min(end, sample_time(m, s))
    return end


@wp.func(inline=False)
def sample_is_due(m: Machines, s: World, t: real, at_end: bool):
    """Go to the next sample, if it lies before t (or on it): the state there is to be evaluated."""
    i = get_int(s, m[0].z.next_sample)
    count = m[0].samples.shape[1]
    if i >= count:
        return False
    time = sample_time(m, s)
    if time > t or (time == t and not at_end):
        return False
    put_int(s, m[0].z.phase, SAMPLE)
    put_int(s, m[0].z.inside, int(not at_end))
    put(s, m[0].z.now, time)
    if at_end:
        copy(s, m[0].z.end, m[0].z.y, m[0].z.n)
    elif is_soft(m):
        begin_sum(m, s)
    else:
        interpolate(m, s, time)
    return True


@wp.func
def begin_sum(m: Machines, s: World):
    """Begin to sum what is booked from the beginning of the step to a sample inside it.

    Of q and v more is known at both ends of a step than of what contacts lose and remember: the
    quintic is of sixth order, a cubic only of fourth. So their rates are summed, over states that
    the quintic gives.
    """
    put_int(s, m[0].soft.node, 0)
    fill(s, m[0].z.error, m[0].z.n, ZERO)
    to_node(m, s)


@wp.func(inline=False)
def to_node(m: Machines, s: World):
    node = get_int(s, m[0].soft.node)
    t = get(s, m[0].z.t)
    time = sample_time(m, s)
    if node < 3:
        time = t + _NODES[node] * (time - t)
    put(s, m[0].z.now, time)
    interpolate(m, s, time)


@wp.func
def sum_is_made(m: Machines, s: World):
    """Take the rates of a node, and go to the next; after the last, to the sample itself."""
    node = get_int(s, m[0].soft.node)
    if node == 3:
        return True
    act_on_contacts(m, s, True)
    put_rate(m, s, m[0].soft.change)
    h = sample_time(m, s) - get(s, m[0].z.t)
    add_scaled(s, m[0].z.error, _WEIGHTS[node] * h, m[0].soft.change, m[0].z.n)
    put_int(s, m[0].soft.node, node + 1)
    to_node(m, s)
    if node == 2:
        for i in range(m[0].tree.nq + m[0].tree.nv, m[0].z.gaps):
            put(s, m[0].z.y + i, get(s, m[0].z.start + i) + get(s, m[0].z.error + i))
    return False


@wp.func(inline=False)
def interpolate(m: Machines, s: World, time: real):
    """y inside the step that was kept: quintic in q, cubic in what is booked.

    Position, velocity and acceleration are known at both ends: the quintic through them is of sixth
    order, beyond the step's own.
    """
    n = m[0].z.n
    h = get(s, m[0].z.t_end) - get(s, m[0].z.t)
    x = (time - get(s, m[0].z.t)) / h
    k0 = m[0].z.k
    k1 = last_rate(m)
    # Coefficients of the Hermite cubic for everything.
    for i in range(n):
        y0 = get(s, m[0].z.start + i)
        rise = get(s, m[0].z.end + i) - y0
        p = h * get(s, k0 + i)
        r = h * get(s, k1 + i)
        bend = real(3.0) * rise - TWO * p - r
        value = y0 + x * (p + x * (bend + x * (p + r - TWO * rise)))
        put(s, m[0].z.y + i, value)
    for i in range(1, m[0].tree.n_joints + 1):
        a = m[0].tree.at_q[i]
        d = m[0].tree.at_v[i]
        kind = m[0].tree.kind[i]
        if kind == FREE:
            for j in range(3):
                quintic(m, s, a + j, d + j, x, h)
            quintic_turn(m, s, a + 3, d + 3, x, h)
        elif kind == BALL:
            quintic_turn(m, s, a, d, x, h)
        else:
            quintic(m, s, a, d, x, h)


@wp.func
def quintic_at(x: real, d: real, p: real, r: real, b0: real, b1: real):
    """Rise and slope at x of the quintic on [0, 1] that rises by d, with slopes p and r and half
    curvatures b0 and b1 at its ends.
    """
    c3 = real(10.0) * d - real(6.0) * p - real(4.0) * r - real(3.0) * b0 + b1
    c4 = -real(15.0) * d + real(8.0) * p + real(7.0) * r + real(3.0) * b0 - TWO * b1
    c5 = real(6.0) * d - real(3.0) * p - real(3.0) * r - b0 + b1
    rise = x * (p + x * (b0 + x * (c3 + x * (c4 + x * c5))))
    slope = p + x * (TWO * b0 + x * (real(3.0) * c3 + x * (real(4.0) * c4 + x * real(5.0) * c5)))
    return vec2(rise, slope)


@wp.func
def quintic(m: Machines, s: World, a: int, d: int, x: real, h: real):
    """Coordinate a, of freedom d, and its speed at the fraction x of the step."""
    k1 = last_rate(m)
    y0 = get(s, m[0].z.start + a)
    b0 = HALF * h * h * get(s, m[0].z.k + m[0].tree.nq + d)
    b1 = HALF * h * h * get(s, k1 + m[0].tree.nq + d)
    rise = get(s, m[0].z.end + a) - y0
    v0 = get(s, m[0].z.start + m[0].tree.nq + d)
    v1 = get(s, m[0].z.end + m[0].tree.nq + d)  # the end may be a little beyond the last stage
    at = quintic_at(x, rise, h * v0, h * v1, b0, b1)
    put(s, m[0].z.y + a, y0 + at[0])
    put(s, m[0].z.y + m[0].tree.nq + d, at[1] / h)


@wp.func
def turn_rate(m: Machines, s: World, y: int, a: int, d: int):
    """dq/dt of a quaternion: ½ q ω."""
    w = get3(s, y + m[0].tree.nq + d) * HALF
    return get_quat(s, y + a) * quat(w[0], w[1], w[2], ZERO)


@wp.func
def turn_bend(m: Machines, s: World, y: int, k: int, a: int, d: int):
    """d²q/dt² of a quaternion: ½ (dq/dt ω + q dω/dt)."""
    w = get3(s, y + m[0].tree.nq + d) * HALF
    dw = get3(s, k + m[0].tree.nq + d) * HALF
    bend = get_quat(s, k + a) * quat(w[0], w[1], w[2], ZERO)
    return bend + get_quat(s, y + a) * quat(dw[0], dw[1], dw[2], ZERO)


@wp.func
def quintic_turn(m: Machines, s: World, a: int, d: int, x: real, h: real):
    """The quaternion at a, of the freedoms from d on, and its angular velocity."""
    k1 = last_rate(m)
    q0 = get_quat(s, m[0].z.start + a)
    rise = get_quat(s, m[0].z.end + a) - q0
    p = turn_rate(m, s, m[0].z.start, a, d) * h
    r = turn_rate(m, s, m[0].z.end, a, d) * h
    b0 = turn_bend(m, s, m[0].z.start, m[0].z.k, a, d) * (HALF * h * h)
    b1 = turn_bend(m, s, m[0].z.end, k1, a, d) * (HALF * h * h)
    q = quat()
    dq = quat()
    for j in range(4):
        at = quintic_at(x, rise[j], p[j], r[j], b0[j], b1[j])
        q[j] = q0[j] + at[0]
        dq[j] = at[1] / h
    w = wp.quat_inverse(q) * dq
    put_quat(s, m[0].z.y + a, wp.normalize(q))
    put3(s, m[0].z.y + m[0].tree.nq + d, vec3(w[0], w[1], w[2]) * TWO)


@wp.func
def write_sample(m: Machines, s: World):
    """Write the state that was evaluated: q, v, energies, books, efforts, forces and modes."""
    act_on_contacts(m, s, True)
    w = s.index
    i = get_int(s, m[0].z.next_sample)
    nq = m[0].tree.nq
    nv = m[0].tree.nv
    for j in range(nq + nv + BOOKS):
        m[0].samples[w, i, j] = get(s, m[0].z.y + j)
    to = nq + nv + BOOKS
    m[0].samples[w, i, to] = kinetic(m, s, m[0].at.v)
    m[0].samples[w, i, to + 1] = potential(m, s)
    to += 2
    for j in range(m[0].act.count):
        m[0].samples[w, i, to + j] = get(s, m[0].motors.effort + j)
    to += m[0].act.count
    for j in range(m[0].pairs.count):
        m[0].samples[w, i, to + 4 * j] = real(get_int(s, m[0].c.mode + j))
    for k in range(n_active(m, s)):
        pair = pair_of(m, s, k)
        begin = first_row(m, s, k)
        rows = first_row(m, s, k + 1) - begin
        for j in range(rows):
            if told_at(m, rows, j) >= 0:
                f = get(s, m[0].c.force + begin + j)
                m[0].samples[w, i, to + 4 * pair + 1 + told_at(m, rows, j)] = f
    end = to + 4 * m[0].pairs.count + 1
    if is_soft(m):
        write_compliance(m, s, to)
        end += 4 * m[0].pairs.count
    write_signals(m, s, end)
    write_places(m, s, m[0].places, i, get(s, m[0].z.now))
    write_loads(m, s, m[0].places, i, get(s, m[0].z.now))


@wp.func
def write_signals(m: Machines, s: World, to: int):
    """Accelerations, commands and activations, the last of a sample."""
    w = s.index
    i = get_int(s, m[0].z.next_sample)
    nv = m[0].tree.nv
    for d in range(nv):
        m[0].samples[w, i, to + d] = get(s, m[0].at.acceleration + d)
    for j in range(m[0].act.count):
        m[0].samples[w, i, to + nv + j] = command(m, s, j, get(s, m[0].z.now))
    for j in range(n_activations(m)):
        value = get(s, m[0].z.y + m[0].z.n - n_activations(m) + j)
        m[0].samples[w, i, to + nv + m[0].act.count + j] = value


@wp.func
def write_compliance(m: Machines, s: World, to: int):
    """Forces of compliant contacts; after all else depths, energies stored, and what was lost."""
    w = s.index
    i = get_int(s, m[0].z.next_sample)
    n = m[0].pairs.count
    more = to + 4 * n + 1
    for pair in range(n):
        rows = m[0].pairs.rows[pair]
        for j in range(rows):
            f = get(s, m[0].c.force + rows * pair + j)
            m[0].samples[w, i, to + 4 * pair + 1 + j] = f
        m[0].samples[w, i, more + pair] = -get(s, m[0].c.gap + pair)
        m[0].samples[w, i, more + n + pair] = get(s, m[0].soft.stored + pair)
        for j in range(2):
            lost = get(s, m[0].z.y + loss_at(m, pair) + j * n)
            m[0].samples[w, i, more + (2 + j) * n + pair] = lost
