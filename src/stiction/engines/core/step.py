r"""The smooth motion: rates of the state, stages of a Runge-Kutta step, and its error.

What is integrated is y = (q, v, ledger, what compliant contacts remember and lose, gaps,
activations). The gaps are there once more, from their rates: what a step gets wrong of them tells
whether it is short enough for contacts not to be missed.
"""

import warp as wp

from .algebra import factor_rows, least_solution
from .bonds import bring_back, hold_bonds, n_held
from .compliance import bristle_at, press, put_soft_rate
from .forces import contact_forces, follow_slip, list_equations
from .joints import command_all, joint_forces
from .layout import (
    ACTUATOR_WORK,
    DAMPING_LOSS,
    FRICTION_LOSS,
    IMPACT_LOSS,
    MU_STATIC,
    SLIP,
    SUPPORT_WORK,
    THIS_PASS,
    UNTIL_EVENT,
    Machines,
    is_soft,
)
from .outer import ask_how, ask_where, is_outer, n_activations, outer_potential, peek
from .push_off import push_off, put_guard
from .reals import (
    CALLED,
    HALF,
    INFINITY,
    PLAIN,
    TWO,
    ZERO,
    World,
    copy,
    dot,
    fill,
    get,
    get3,
    get_int,
    get_quat,
    largest,
    put,
    put_int,
    put_quat,
    quat,
    real,
    tolerance,
    vec3,
)
from .rows import (
    build_rows,
    first_row,
    law,
    look,
    n_active,
    n_rows,
    pair_of,
    push,
)
from .sharing import share_forces
from .tree import BALL, FREE, factor, half_solve, second_half, sweep_in, sweep_out, times_L

_GAP_ATOL = wp.constant(real(1e-5))  # by how much a step may be wrong about a gap [m]
_GAP_RTOL = wp.constant(real(1e-3))
_SAFETY, _SHRINK, _GROW = wp.constant(real(0.9)), wp.constant(real(0.2)), wp.constant(real(5.0))
# Of compliant contacts depth and bristle are asked for in parts of themselves: stiff contacts are
# shallow. But nothing finer than this [m].
_FINEST, _FINEST_BRISTLE = tolerance(1e-15, 1e-9), tolerance(1e-12, 1e-9)


@wp.func
def n_stages(m: Machines):
    """Of the Runge-Kutta method; the last one is the first of the next step."""
    return m[0].a.shape[1]


@wp.func
def method_of(m: Machines, s: World):
    """Which of the run's methods the step is made by."""
    return get_int(s, m[0].soft.implicit) * (m[0].a.shape[0] - 1)


@wp.func
def last_rate(m: Machines):
    """Where the rate at the end of the step lies."""
    return m[0].z.k + (n_stages(m) - 1) * m[0].z.n


@wp.func
def evaluate(m: Machines, s: World):
    """Everything at the state y and the time `now`, as far as no contact force is chosen."""
    t = get(s, m[0].z.now)
    if is_outer(m):
        ask_where(m, s)
        command_all(m, s, t)
        ask_how(m, s)
    else:
        sweep_out(m, s)
        sweep_in(m, s)
    factor(m, s)
    if not is_outer(m):
        if not PLAIN and m[0].push.count > 0:
            push_off(m, s, t)
            put_guard(m, s, t)
        joint_forces(m, s, t)
    copy(s, m[0].z.half, m[0].at.acceleration, m[0].tree.nv)
    if not is_soft(m):
        half_solve(m, s, m[0].z.half)
        hold_bonds(m, s)
        look(m, s, t)
        build_rows(m, s, t)


@wp.func
def accelerate(m: Machines, s: World):
    """v̇ under the contact forces."""
    copy(s, m[0].at.acceleration, m[0].z.half, m[0].tree.nv)
    push(m, s, m[0].c.force, m[0].at.acceleration)
    second_half(m, s, m[0].at.acceleration)


@wp.func(inline=False)
def act_on_contacts(m: Machines, s: World, looked_at: bool):
    """Forces in the modes that are settled, and v̇ under them.

    Redundant forces that only squeeze need not be shared where nobody looks at them. Those of
    sliding contacts do: how a load is shared among them turns the body. To share them is not plain.
    """
    if is_soft(m):
        press(m, s)
        return
    slides = bool(False)
    for k in range(n_active(m, s)):
        follow_slip(m, s, k)
        slides = slides or get_int(s, m[0].c.mode + pair_of(m, s, k)) == SLIP
        put(s, m[0].c.mu + k, law(m, s, pair_of(m, s, k), MU_STATIC))
    rank = contact_forces(m, s, m[0].c.free)
    if looked_at or slides:
        size = list_equations(m, s)
        if PLAIN:
            put(s, m[0].z.excess, ZERO)
            if rank < size:
                put_int(s, m[0].z.hard, THIS_PASS)
                if slides:
                    put_int(s, m[0].z.hard, UNTIL_EVENT)
        else:
            share_forces(m, s, size, rank)
    accelerate(m, s)


@wp.func(inline=CALLED)
def quat_rate(s: World, q: int, w: int, to: int):
    """dq/dt = ½ q (0, ω), with ω in the turning frame."""
    u = get3(s, w) * HALF
    put_quat(s, to, get_quat(s, q) * quat(u[0], u[1], u[2], ZERO))


@wp.func(inline=False)
def put_rate(m: Machines, s: World, k: int):
    """dy/dt, into the slots from k on."""
    for i in range(1, m[0].tree.n_joints + 1):
        a = m[0].tree.at_q[i]
        d = m[0].tree.at_v[i]
        kind = m[0].tree.kind[i]
        if kind == FREE:
            copy(s, k + a, m[0].at.v + d, 3)
            quat_rate(s, m[0].at.q + a + 3, m[0].at.v + d + 3, k + a + 3)
        elif kind == BALL:
            quat_rate(s, m[0].at.q + a, m[0].at.v + d, k + a)
        else:
            put(s, k + a, get(s, m[0].at.v + d))
    copy(s, k + m[0].tree.nq, m[0].at.acceleration, m[0].tree.nv)
    books = k + m[0].tree.nq + m[0].tree.nv
    put(s, books + ACTUATOR_WORK, dot(s, m[0].at.v, m[0].motors.drive, m[0].tree.nv))
    put(s, books + DAMPING_LOSS, get(s, m[0].z.damped))
    rubbing = real(0.0)
    given = real(0.0)
    for c in range(n_active(m, s)):
        end = first_row(m, s, c + 1)
        for r in range(first_row(m, s, c), end):
            f = get(s, m[0].c.force + r)
            given += f * get(s, m[0].c.ground + r)
            if r < end - 1:
                rubbing -= f * get(s, m[0].c.velocity + r)
    put(s, books + FRICTION_LOSS, rubbing)
    put(s, books + SUPPORT_WORK, given)
    put(s, books + IMPACT_LOSS, ZERO)
    if is_soft(m):
        put_soft_rate(m, s, k)
    copy(s, k + m[0].z.gaps, m[0].c.closing, m[0].pairs.count)
    for i in range(n_activations(m)):
        put(s, k + m[0].z.gaps + m[0].pairs.count + i, peek(m[0].outer.act_dot, i))


@wp.func(inline=CALLED)
def normalize_turns(m: Machines, s: World, y: int):
    """Quaternions of y at unit length."""
    for i in range(1, m[0].tree.n_joints + 1):
        kind = m[0].tree.kind[i]
        a = y + m[0].tree.at_q[i]
        if kind == FREE:
            put_quat(s, a + 3, wp.normalize(get_quat(s, a + 3)))
        elif kind == BALL:
            put_quat(s, a, wp.normalize(get_quat(s, a)))


@wp.func
def turn_by(s: World, q: int, angle: vec3):
    """q := q exp(angle / 2)."""
    size = wp.length(angle)
    part = HALF
    if size > ZERO:
        part = wp.sin(HALF * size) / size
    u = angle * part
    put_quat(s, q, get_quat(s, q) * quat(u[0], u[1], u[2], wp.cos(HALF * size)))


@wp.func
def displace(m: Machines, s: World, y: int, dv: int):
    """Move the configuration of y along a displacement of its freedoms."""
    for i in range(1, m[0].tree.n_joints + 1):
        a = y + m[0].tree.at_q[i]
        d = dv + m[0].tree.at_v[i]
        kind = m[0].tree.kind[i]
        if kind == FREE:
            for j in range(3):
                put(s, a + j, get(s, a + j) + get(s, d + j))
            turn_by(s, a + 3, get3(s, d + 3))
        elif kind == BALL:
            turn_by(s, a, get3(s, d))
        else:
            put(s, a, get(s, a) + get(s, d))


@wp.func(inline=CALLED)
def next_stage(m: Machines, s: World):
    """The state of the stage that comes next; of an implicit one, with a guess of its rate."""
    j = get_int(s, m[0].z.stage)
    which = method_of(m, s)
    h = get(s, m[0].z.h)
    n = m[0].z.n
    own = m[0].a[which, j, j]
    for i in range(n):
        total = real(0.0)
        guess = real(0.0)
        for l in range(j):
            rate = get(s, m[0].z.k + l * n + i)
            total += m[0].a[which, j, l] * rate
            if own != ZERO:
                guess += m[0].guess[which, j, l] * rate
        if own != ZERO:
            put(s, m[0].z.k + j * n + i, guess)
        put(s, m[0].z.y + i, get(s, m[0].z.start + i) + h * (total + own * guess))
    put(s, m[0].z.now, get(s, m[0].z.t) + m[0].nodes[which, j] * h)
    put_int(s, m[0].soft.iteration, 0)
    if j == n_stages(m) - 1 and own == ZERO:
        normalize_turns(m, s, m[0].z.y)


@wp.func
def step_error(m: Machines, s: World):
    """The error of the step over what is tolerated: at most 1 for a good step."""
    which = method_of(m, s)
    n = m[0].z.n
    h = get(s, m[0].z.h)
    for i in range(n):
        error = real(0.0)
        for l in range(n_stages(m)):
            error += m[0].b_error[which, l] * get(s, m[0].z.k + l * n + i)
        put(s, m[0].z.error + i, h * error)
    return error_ratio(m, s, m[0].z.error)


@wp.func
def error_ratio(m: Machines, s: World, errors: int):
    """What changes a state into another would be wrong by, over what is tolerated."""
    count = m[0].pairs.count
    gaps = m[0].z.gaps
    bristles = bristle_at(m, 0)
    after = wp.min(bristles + 2 * count, gaps)  # no bristles, no losses where nothing gives way
    total = real(0.0)
    for i in range(m[0].z.n):
        if i < bristles or (i >= after and i < gaps) or i >= gaps + count:
            size = wp.max(wp.abs(get(s, m[0].z.start + i)), wp.abs(get(s, m[0].z.y + i)))
            part = get(s, errors + i) / (m[0].opt.atol + m[0].opt.rtol * size)
            total += part * part
    worst = real(0.0)
    for i in range(count):
        error = wp.abs(get(s, errors + gaps + i))
        gap = get(s, m[0].c.gap + i)
        before = get(s, m[0].z.start + gaps + i)
        if is_soft(m) and wp.min(gap, before) < ZERO:
            deepest = wp.max(wp.abs(gap), wp.abs(before))
            worst = wp.max(worst, error / (_FINEST + m[0].opt.rtol * deepest))
        else:
            worst = wp.max(worst, error / (_GAP_ATOL + _GAP_RTOL * wp.abs(gap)))
        if after > bristles:
            z = bristle_at(m, i)
            bent = wp.max(largest(s, m[0].z.start + z, 2), largest(s, m[0].z.y + z, 2))
            tolerated = _FINEST_BRISTLE + m[0].opt.rtol * bent
            worst = wp.max(worst, largest(s, errors + z, 2) / tolerated)
    if not (total < INFINITY):  # nothing is known of a motion that is not a number
        return TWO * INFINITY
    return wp.max(wp.sqrt(total / real(gaps - (after - bristles))), worst)


@wp.func
def next_stride(m: Machines, h: real, ratio: real):
    """The step that the error of this one asks for."""
    if ratio > INFINITY:
        return h * _SHRINK
    wanted = _SAFETY * wp.pow(wp.max(ratio, real(1e-10)), m[0].opt.power)
    return h * wp.clamp(wanted, _SHRINK, _GROW)


@wp.func(inline=False)
def correct(m: Machines, s: World, y: int):
    """Bring kept contacts back to zero gap and zero velocity: what drifts in one step.

    A projection in the metric of the kinetic energy, with the rows at the state of y.
    """
    n = n_rows(m, s)
    size = list_equations(m, s)
    if size == 0 and n_held(m, s) == 0:
        return
    for a in range(size):
        for b in range(size):
            entry = m[0].c.W + get_int(s, m[0].c.equation + a) * n + get_int(s, m[0].c.equation + b)
            put(s, m[0].c.A + a * size + b, get(s, entry))
    rank = factor_rows(s, m[0].c.A, size, m[0].c.beta, m[0].c.order)
    for turn in range(2):
        fill(s, m[0].c.work, n, ZERO)
        if turn == 0:
            for k in range(n_active(m, s)):
                gap = get(s, m[0].c.gap + pair_of(m, s, k))
                if gap < INFINITY:  # else it is none any more
                    put(s, m[0].c.work + first_row(m, s, k + 1) - 1, gap)
        else:
            copy(s, m[0].c.work, m[0].c.velocity, n)
        for e in range(size):
            put(s, m[0].c.wanted + e, -get(s, m[0].c.work + get_int(s, m[0].c.equation + e)))
        least_solution(
            s, m[0].c.A, size, rank, m[0].c.beta, m[0].c.order, m[0].c.wanted, m[0].c.unknown
        )
        fill(s, m[0].c.work, n, ZERO)
        for e in range(size):
            put(s, m[0].c.work + get_int(s, m[0].c.equation + e), get(s, m[0].c.unknown + e))
        fill(s, m[0].z.shift, m[0].tree.nv, ZERO)
        push(m, s, m[0].c.work, m[0].z.shift)
        if turn == 0:
            bring_back(m, s, m[0].c.held_gap, m[0].z.shift)
        else:
            bring_back(m, s, m[0].c.held_velocity, m[0].z.shift)
        second_half(m, s, m[0].z.shift)
        if turn == 0:
            displace(m, s, y, m[0].z.shift)
        else:
            for d in range(m[0].tree.nv):
                to = y + m[0].tree.nq + d
                put(s, to, get(s, to) + get(s, m[0].z.shift + d))


@wp.func
def kinetic(m: Machines, s: World, v: int):
    """½ vᵀ M v = ½ |D^(1/2) L v|² from the factor of M."""
    total = real(0.0)
    for i in range(m[0].tree.nv):
        p = (get(s, v + i) + times_L(m, s, v, i)) / get(s, m[0].at.D + i)
        total += p * p
    return HALF * total


@wp.func
def potential(m: Machines, s: World):
    """The energy of gravity and of springs."""
    if is_outer(m):
        return outer_potential(m, s)
    total = real(0.0)
    for i in range(1, m[0].tree.n_joints + 1):
        r = get_quat(s, m[0].at.rotation + 4 * i)
        c = get3(s, m[0].at.position + 3 * i) + wp.quat_rotate(r, m[0].tree.center[i])
        total -= m[0].tree.mass[i] * wp.dot(m[0].tree.gravity, c)
        if m[0].tree.kind[i] >= 2:
            a = m[0].tree.at_q[i]
            stretch = get(s, m[0].at.q + a) - m[0].tree.spring_zero[a]
            total += HALF * m[0].tree.stiffness[i] * stretch * stretch
    return total
