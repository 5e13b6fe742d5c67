r"""Implicit stages for slow slips in space: friction turns a slip that is slow at once.

Friction is against the slip, $f_t = -\mu f_n d$ with $d = u / |u|$, so that it turns it with the
rate $\mu f_n W / |u|$: a foot that rolls and hardly slides keeps explicit steps short. A stage of
Kvaerno5 [Kvaerno2004] has y = y_base + g k with k = f(y). With the residual r = f(y) - k,

$$ \kappa_v = r_v + M^{-1} J^T \Delta f, \qquad a = J \kappa_v = J r_v + W \Delta f, $$
$$ \Delta f_t = -\mu \, \Delta f_n d - \frac{\mu f_n}{|u|} (I - d d^T) \, g a_t, $$

while the normal accelerations of slipping contacts, and all of sticking ones, stay those of f(y):
(W Δf) vanishes there. All else of ∂f/∂y is left to the iteration.
"""

import warp as wp

from .algebra import factor_rows, least_solution
from .forces import SLOW_SLIP
from .layout import MU_DYNAMIC, SLIP, TANGENTS, Machines
from .outer import n_activations
from .reals import (
    HALF,
    INFINITY,
    ONE,
    TWO,
    ZERO,
    World,
    add_scaled,
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
    scale,
)
from .rows import dot_row, first_row, law, n_active, n_rows, pair_of, push, slip_speed
from .step import error_ratio, method_of, n_stages, put_rate
from .tree import BALL, FREE, second_half

_CLOSE, _ROUNDED = wp.constant(real(0.02)), wp.constant(real(0.3))  # as in `implicit`
_MAX_ITERATIONS = wp.constant(12)
# How far a slip turns in a step, at which explicit steps are too long, and short enough.
_STIFF, _STABLE = wp.constant(real(2.0)), wp.constant(real(6.0))
_PATIENCE = wp.constant(5)  # steps that must agree before the kind of step changes


@wp.func
def turning(m: Machines, s: World, k: int):
    """μ f_n / |u| of the k-th contact, if it slips in space."""
    i = pair_of(m, s, k)
    if get_int(s, m[0].c.mode + i) != SLIP or m[0].pairs.rows[i] < 3:
        return ZERO
    grip = law(m, s, i, MU_DYNAMIC) * get(s, m[0].c.force + first_row(m, s, k + 1) - 1)
    return wp.max(grip, ZERO) / wp.max(slip_speed(m, s, k), SLOW_SLIP)


@wp.func
def put_equations(m: Machines, s: World, g: real, right: int):
    """The equations of Δf, rows of A; their right-hand sides. `right` holds D^(1/2) L r_v."""
    n = n_rows(m, s)
    A = m[0].c.A
    for k in range(n_active(m, s)):
        i = pair_of(m, s, k)
        begin = first_row(m, s, k)
        normal = first_row(m, s, k + 1) - 1
        slips = get_int(s, m[0].c.mode + i) == SLIP
        d = m[0].c.heading + TANGENTS * i
        mu = law(m, s, i, MU_DYNAMIC)
        rate = g * turning(m, s, k)
        for r in range(begin, normal + 1):
            fill(s, A + r * n, n, ZERO)
            put(s, m[0].c.wanted + r, ZERO)
            if r == normal or not slips:
                add_scaled(s, A + r * n, ONE, m[0].c.W + r * n, n)
            else:
                put(s, A + r * n + r, ONE)
                put(s, A + r * n + normal, mu * get(s, d + r - begin))
                most = real(1.0)
                for e in range(begin, normal):
                    P = -get(s, d + r - begin) * get(s, d + e - begin)
                    if e == r:
                        P += ONE
                    if rate > ZERO:
                        add_scaled(s, A + r * n, rate * P, m[0].c.W + e * n, n)
                        a = dot_row(m, s, m[0].c.Y + e * m[0].tree.nv, right, -1)
                        wanted = get(s, m[0].c.wanted + r) - rate * P * a
                        put(s, m[0].c.wanted + r, wanted)
                for e in range(n):
                    most = wp.max(most, wp.abs(get(s, A + r * n + e)))
                scale(s, A + r * n, ONE / most, n)
                put(s, m[0].c.wanted + r, get(s, m[0].c.wanted + r) / most)
    return n


@wp.func
def half_of(m: Machines, s: World, x: int, to: int):
    """D^(1/2) L x."""
    for d in range(m[0].tree.nv):
        entry = m[0].at.M + m[0].tree.row[d] + 1
        p = get(s, x + d)
        j = m[0].tree.before[d]
        while j >= 0:
            p += get(s, entry) * get(s, x + j)
            entry += 1
            j = m[0].tree.before[j]
        put(s, to + d, p / get(s, m[0].at.D + d))


@wp.func
def add_turns(m: Machines, s: World, g: real):
    """κ_q = r_q + g q̇(κ_v), in place of r_q."""
    change = m[0].soft.change
    for i in range(1, m[0].tree.n_joints + 1):
        a = m[0].tree.at_q[i]
        d = change + m[0].tree.nq + m[0].tree.at_v[i]
        kind = m[0].tree.kind[i]
        if kind == FREE:
            put3(s, change + a, get3(s, change + a) + get3(s, d) * g)
            a += 3
            d += 3
        if kind == FREE or kind == BALL:
            w = get3(s, d) * (HALF * g)
            turn = get_quat(s, m[0].at.q + a) * quat(w[0], w[1], w[2], ZERO)
            put_quat(s, change + a, get_quat(s, change + a) + turn)
        else:
            put(s, change + a, get(s, change + a) + get(s, d) * g)


@wp.func(inline=False)
def turn_slips(m: Machines, s: World, g: real):
    """From the residual to the correction κ."""
    v = m[0].soft.change + m[0].tree.nq
    half = m[0].z.shift
    half_of(m, s, v, half)
    n = put_equations(m, s, g, half)
    if n > 0:
        rank = factor_rows(s, m[0].c.A, n, m[0].c.beta, m[0].c.order)
        least_solution(
            s, m[0].c.A, n, rank, m[0].c.beta, m[0].c.order, m[0].c.wanted, m[0].c.unknown
        )
        push(m, s, m[0].c.unknown, half)
    second_half(m, s, half)
    for d in range(m[0].tree.nv):
        put(s, v + d, get(s, half + d))
    add_turns(m, s, g)


@wp.func(inline=False)
def correct_slips(m: Machines, s: World):
    """Correct an implicit stage by its evaluation. 0: once more; 1: it holds; 2: it does not.

    The last stage is taken where it was evaluated, so that forces are those of the new state.
    """
    n = m[0].z.n
    moving = m[0].tree.nq + m[0].tree.nv
    j = get_int(s, m[0].z.stage)
    g = get(s, m[0].z.h) * m[0].a[method_of(m, s), j, j]
    k = m[0].z.k + j * n
    change = m[0].soft.change
    put_rate(m, s, change)
    for i in range(n):
        put(s, change + i, get(s, change + i) - get(s, k + i))
    turn_slips(m, s, g)
    add_scaled(s, k, ONE, change, n)
    scale(s, change, g, n)
    # What is booked follows: it is not waited for.
    booked = m[0].z.n - moving - n_activations(m)
    add_scaled(s, m[0].z.y + moving, ONE, change + moving, booked)
    fill(s, change + moving, booked, ZERO)
    size = error_ratio(m, s, change)
    count = get_int(s, m[0].soft.iteration)
    before = get(s, m[0].soft.size)
    put(s, m[0].soft.size, size)
    put_int(s, m[0].soft.iteration, count + 1)
    last = j == n_stages(m) - 1
    holds = size <= _CLOSE
    if count > 0 and size < before:
        left = size * size / (before - size)
        holds = holds or (left <= _CLOSE and not last)
    elif count > 1:
        holds = holds or size <= _ROUNDED
    if not (holds and last):
        add_scaled(s, m[0].z.y, ONE, change, n)
    if holds:
        return 1
    if not (size < INFINITY) or count >= _MAX_ITERATIONS or (count > 2 and size > TWO * before):
        return 2
    return 0


@wp.func(inline=False)
def choose_slip_kind(m: Machines, s: World):
    """Whether the next step is implicit: where slips turn so fast that explicit ones are short."""
    if m[0].opt.method != 2:
        return
    n = n_rows(m, s)
    stiff = real(0.0)
    for k in range(n_active(m, s)):
        most = real(0.0)
        for r in range(first_row(m, s, k), first_row(m, s, k + 1) - 1):
            most = wp.max(most, get(s, m[0].c.W + r * n + r))
        stiff = wp.max(stiff, get(s, m[0].z.h) * most * turning(m, s, k))
    implicit = get_int(s, m[0].soft.implicit)
    wants = (implicit == 0 and stiff > _STIFF) or (implicit != 0 and stiff < _STABLE)
    streak = int(0)
    if wants:
        streak = get_int(s, m[0].soft.streak) + 1
    if streak >= _PATIENCE:
        put_int(s, m[0].soft.implicit, 1 - implicit)
        streak = 0
    put_int(s, m[0].soft.streak, streak)
