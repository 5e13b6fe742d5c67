r"""Impacts with known normal velocities afterwards, $u_n^+ = -e u_n^-$; friction is free.

Normal impulses and tangential velocities afterwards are affine in the tangential impulses p_t:

$$ p_n = a + B p_t, \quad u_t^+ = c + D p_t, \quad
   T^+ - T^- = e_0 + (c - e B^T u_n^-) \cdot p_t + \tfrac12 p_t^T D p_t, $$

with $B = -W_{nn}^{-1} W_{nt}$, $D = W_{tt} + W_{tn} B \ge 0$ and
$e_0 = \tfrac12 (1 - e) a \cdot u_n^-$. Written in impulses rather than in velocities (flickinger
(4.8) inverts W), this also serves redundant contacts. A contact that would have to be pulled even
without friction is released: it parts by itself.

`least_slip` is the convex program

$$ \min_{p_t} \tfrac12 \sum_i w_i |u_{t,i}^+|^2 \quad\text{subject to}\quad
   |p_{t,i}| \le \mu_i p_{n,i}, \quad T^+ - T^- \le \text{room}, $$

by an interior-point method from impulses without friction, which lie inside the cones.
"""

import warp as wp

from .algebra import cholesky, factor_rows, least_solution, solve_cholesky
from .layout import Machines
from .reals import (
    HALF,
    INFINITY,
    ONE,
    TINY,
    TWO,
    ZERO,
    World,
    copy,
    dot,
    fill,
    get,
    get_int,
    put,
    put_int,
    real,
    tolerance,
)
from .rows import first_row, n_active, n_rows

_PULL = tolerance(
    1e-12, 1e-5
)  # pulling impulses smaller than this part of the largest are rounding
_STEEPER = wp.constant(real(20.0))
_OUTER = wp.constant(12)  # times the barrier is made steeper: to 2e-16 of its beginning
_INNER = wp.constant(8)  # Newton steps for each, at most
_CENTRED = tolerance(1e-6, 1e-4)  # the square of Newton's decrement that ends them


@wp.struct
class Oblique:
    """Where the maps of an impact lie. n contacts with s tangents in all."""

    n: int
    s: int
    a: int
    B: int
    c: int
    D: int
    e1: int
    mu: int
    weight: int
    H: int
    gradient: int
    step: int
    slip: int
    start: int
    p: int  # the answer
    best: int
    aim: int
    answer: int


@wp.func
def room_for(m: Machines, n: int, s: int):
    """Slots of the maps."""
    o = Oblique()
    o.n = n
    o.s = s
    x = m[0].c.scratch
    o.D = x
    x += s * s
    o.H = x
    x += s * s
    o.B = x
    x += n * s
    o.a = x
    o.mu = x + n
    o.weight = x + 2 * n
    x += 3 * n
    o.c = x
    o.e1 = x + s
    o.gradient = x + 2 * s
    o.step = x + 3 * s
    o.slip = x + 4 * s
    o.start = x + 5 * s
    o.p = x + 6 * s
    o.best = x + 7 * s
    o.aim = x + 8 * s
    o.answer = x + 9 * s
    return o


@wp.func
def normal_row(m: Machines, s: World, k: int):
    return first_row(m, s, k + 1) - 1


@wp.func
def first_tangent(m: Machines, s: World, k: int):
    """The first of contact k's entries in p_t: each contact before it has one normal."""
    return first_row(m, s, k) - k


@wp.func
def row_of_tangent(m: Machines, s: World, j: int):
    """The row of an entry of p_t."""
    k = int(0)
    while first_tangent(m, s, k + 1) <= j:
        k += 1
    return j + k


@wp.func
def is_kept(m: Machines, s: World, k: int):
    return get_int(s, m[0].c.fixed + k) == 0


@wp.func
def factor_normals(m: Machines, s: World):
    """Factor W_nn of the contacts that are kept, listed as equations; how many."""
    n = n_rows(m, s)
    size = int(0)
    for k in range(n_active(m, s)):
        if is_kept(m, s, k):
            put_int(s, m[0].c.equation + size, k)
            size += 1
    for i in range(size):
        row = normal_row(m, s, get_int(s, m[0].c.equation + i))
        for j in range(size):
            column = normal_row(m, s, get_int(s, m[0].c.equation + j))
            put(s, m[0].c.A + i * size + j, get(s, m[0].c.W + row * n + column))
    return size


@wp.func
def wanted_jump(m: Machines, s: World, k: int):
    """u_n⁺ - u_n⁻ of contact k."""
    return -(ONE + get(s, m[0].c.restitution + k)) * get(s, m[0].c.velocity + normal_row(m, s, k))


@wp.func
def oblique_maps(m: Machines, s: World):
    """a, B, c, D and e1 of the impact."""
    n = n_rows(m, s)
    count = n_active(m, s)
    o = room_for(m, count, n - count)
    for k in range(count):
        put_int(s, m[0].c.fixed + k, 0)
    size = int(0)
    rank = int(0)
    for _ in range(count):
        size = factor_normals(m, s)
        rank = factor_rows(s, m[0].c.A, size, m[0].c.beta, m[0].c.order)
        for i in range(size):
            put(s, m[0].c.wanted + i, wanted_jump(m, s, get_int(s, m[0].c.equation + i)))
        least_solution(
            s, m[0].c.A, size, rank, m[0].c.beta, m[0].c.order, m[0].c.wanted, m[0].c.unknown
        )
        worst = int(-1)
        most = real(0.0)
        for i in range(size):
            most = wp.max(most, wp.abs(get(s, m[0].c.unknown + i)))
        least = -_PULL * most
        for i in range(size):
            if get(s, m[0].c.unknown + i) < least:
                least = get(s, m[0].c.unknown + i)
                worst = get_int(s, m[0].c.equation + i)
        if worst < 0:
            break
        put_int(s, m[0].c.fixed + worst, 1)
    fill(s, o.a, count, ZERO)
    # A contact without an impulse of its own (a body that rests elsewhere) gets one of rounding:
    # its cone would else have no inside, from which least_slip begins.
    most = real(0.0)
    for i in range(size):
        most = wp.max(most, wp.abs(get(s, m[0].c.unknown + i)))
    for i in range(size):
        own = wp.max(get(s, m[0].c.unknown + i), _PULL * most)
        put(s, o.a + get_int(s, m[0].c.equation + i), own)
    fill(s, o.B, count * o.s, ZERO)
    for j in range(o.s):
        row = row_of_tangent(m, s, j)
        if is_kept(m, s, row - j):
            for i in range(size):
                normal = normal_row(m, s, get_int(s, m[0].c.equation + i))
                put(s, m[0].c.wanted + i, -get(s, m[0].c.W + normal * n + row))
            least_solution(
                s, m[0].c.A, size, rank, m[0].c.beta, m[0].c.order, m[0].c.wanted, m[0].c.unknown
            )
            for i in range(size):
                k = get_int(s, m[0].c.equation + i)
                put(s, o.B + k * o.s + j, get(s, m[0].c.unknown + i))
    tangent_maps(m, s, o)
    return o


@wp.func
def tangent_maps(m: Machines, s: World, o: Oblique):
    """c, D and e1 from a and B; nothing for tangents of released contacts."""
    n = n_rows(m, s)
    for i in range(o.s):
        row = row_of_tangent(m, s, i)
        free = not is_kept(m, s, row - i)
        c = get(s, m[0].c.velocity + row)
        e1 = real(0.0)
        for k in range(o.n):
            normal = normal_row(m, s, k)
            c += get(s, m[0].c.W + row * n + normal) * get(s, o.a + k)
            rebound = get(s, m[0].c.restitution + k) * get(s, m[0].c.velocity + normal)
            e1 -= rebound * get(s, o.B + k * o.s + i)
        if free:
            c = ZERO
        put(s, o.c + i, c)
        put(s, o.e1 + i, c + e1)
        for j in range(o.s):
            column = row_of_tangent(m, s, j)
            value = get(s, m[0].c.W + row * n + column)
            for k in range(o.n):
                W_tn = get(s, m[0].c.W + row * n + normal_row(m, s, k))
                value += W_tn * get(s, o.B + k * o.s + j)
            if free or not is_kept(m, s, column - j):
                value = ZERO
            put(s, o.D + i * o.s + j, value)


@wp.func
def normal_impulse(s: World, o: Oblique, p: int, k: int):
    return get(s, o.a + k) + dot(s, o.B + k * o.s, p, o.s)


@wp.func
def energy_change(m: Machines, s: World, o: Oblique, p: int):
    """T⁺ - T⁻."""
    total = real(0.0)
    for k in range(o.n):
        u_n = get(s, m[0].c.velocity + normal_row(m, s, k))
        total += HALF * (ONE - get(s, m[0].c.restitution + k)) * get(s, o.a + k) * u_n
    for i in range(o.s):
        bend = dot(s, o.D + i * o.s, p, o.s)
        total += get(s, p + i) * (get(s, o.e1 + i) + HALF * bend)
    return total


@wp.func
def put_slip(s: World, o: Oblique, p: int):
    """u_t⁺."""
    for i in range(o.s):
        put(s, o.slip + i, get(s, o.c + i) + dot(s, o.D + i * o.s, p, o.s))


@wp.func
def slip_speed_after(m: Machines, s: World, o: Oblique, k: int):
    total = real(0.0)
    for j in range(first_tangent(m, s, k), first_tangent(m, s, k + 1)):
        total += get(s, o.slip + j) * get(s, o.slip + j)
    return wp.sqrt(total)


@wp.func
def contact_of_tangent(m: Machines, s: World, j: int):
    return row_of_tangent(m, s, j) - j


@wp.func
def add_cone_barrier(m: Machines, s: World, o: Oblique, k: int):
    """Gradient and Hessian of -log(μ² p_n² - |p_t|²)."""
    n = o.s
    mu2 = get(s, o.mu + k) * get(s, o.mu + k)
    p_n = normal_impulse(s, o, o.p, k)
    begin = first_tangent(m, s, k)
    end = first_tangent(m, s, k + 1)
    inside = mu2 * p_n * p_n
    for j in range(begin, end):
        inside -= get(s, o.p + j) * get(s, o.p + j)
    # m[0].c.work: the gradient of what is inside.
    for i in range(n):
        g = TWO * mu2 * p_n * get(s, o.B + k * n + i)
        if i >= begin and i < end:
            g -= TWO * get(s, o.p + i)
        put(s, m[0].c.work + i, g)
        put(s, o.gradient + i, get(s, o.gradient + i) - g / inside)
    for i in range(n):
        for j in range(i + 1):
            second = TWO * mu2 * get(s, o.B + k * n + i) * get(s, o.B + k * n + j)
            if i == j and i >= begin and i < end:
                second -= TWO
            g2 = get(s, m[0].c.work + i) * get(s, m[0].c.work + j)
            to = o.H + i * n + j
            put(s, to, get(s, to) - second / inside + g2 / (inside * inside))


@wp.func
def first_root(q0: real, q1: real, q2: real):
    """The least positive x with q0 + 2 q1 x + q2 x² = 0, or infinity; q0 > 0."""
    disc = q1 * q1 - q0 * q2
    if disc >= ZERO:
        below = -q1 + wp.sqrt(disc)
        if below > ZERO:
            return q0 / below
    return INFINITY


@wp.func
def longest_part(m: Machines, s: World, o: Oblique, room: real):
    """The largest part of a step, up to 1, that stays well inside all cones and the energy."""
    reach = real(INFINITY)
    for k in range(o.n):
        if is_kept(m, s, k):
            mu2 = get(s, o.mu + k) * get(s, o.mu + k)
            p_n = normal_impulse(s, o, o.p, k)
            d_n = dot(s, o.B + k * o.s, o.step, o.s)
            q0 = mu2 * p_n * p_n
            q1 = mu2 * p_n * d_n
            q2 = mu2 * d_n * d_n
            for j in range(first_tangent(m, s, k), first_tangent(m, s, k + 1)):
                q0 -= get(s, o.p + j) * get(s, o.p + j)
                q1 -= get(s, o.p + j) * get(s, o.step + j)
                q2 -= get(s, o.step + j) * get(s, o.step + j)
            reach = wp.min(reach, first_root(q0, q1, q2))
    if room < INFINITY:
        slope = real(0.0)
        bend = real(0.0)
        for i in range(o.s):
            row = o.D + i * o.s
            slope += get(s, o.step + i) * (get(s, o.e1 + i) + dot(s, row, o.p, o.s))
            bend += get(s, o.step + i) * dot(s, row, o.step, o.s)
        slack = room - energy_change(m, s, o, o.p)
        reach = wp.min(reach, first_root(slack, -HALF * slope, -HALF * bend))
    return wp.min(ONE, real(0.95) * reach)


@wp.func(inline=False)
def newton_step(m: Machines, s: World, o: Oblique, steep: real, room: real):
    """One Newton step of the barrier function; the square of its decrement, or -1 at its end."""
    n = o.s
    put_slip(s, o, o.p)
    for i in range(n):
        total = real(0.0)
        for j in range(n):
            w = get(s, o.weight + contact_of_tangent(m, s, j))
            total += get(s, o.D + j * n + i) * w * get(s, o.slip + j)
        put(s, o.gradient + i, steep * total)
        for j in range(i + 1):
            total = ZERO
            for l in range(n):
                w = get(s, o.weight + contact_of_tangent(m, s, l))
                total += w * get(s, o.D + l * n + i) * get(s, o.D + l * n + j)
            put(s, o.H + i * n + j, steep * total)
    for k in range(o.n):
        if is_kept(m, s, k):
            add_cone_barrier(m, s, o, k)
    if room < INFINITY:
        slack = room - energy_change(m, s, o, o.p)
        for i in range(n):
            g = get(s, o.e1 + i) + dot(s, o.D + i * n, o.p, n)
            put(s, m[0].c.work + i, g)
            put(s, o.gradient + i, get(s, o.gradient + i) + g / slack)
        for i in range(n):
            for j in range(i + 1):
                g2 = get(s, m[0].c.work + i) * get(s, m[0].c.work + j)
                to = o.H + i * n + j
                put(s, to, get(s, to) + get(s, o.D + i * n + j) / slack + g2 / (slack * slack))
    # Scaled to a unit diagonal, for weights and barriers differ by many orders.
    for i in range(n):
        diagonal = get(s, o.H + i * n + i)
        unit = ONE
        if diagonal > ZERO:
            unit = ONE / wp.sqrt(diagonal)
        put(s, m[0].c.work + i, unit)
        put(s, o.step + i, -unit * get(s, o.gradient + i))
    for i in range(n):
        for j in range(i + 1):
            to = o.H + i * n + j
            put(s, to, get(s, m[0].c.work + i) * get(s, to) * get(s, m[0].c.work + j))
        put(s, o.H + i * n + i, get(s, o.H + i * n + i) + real(1e-12))
    cholesky(s, o.H, n, TINY)
    solve_cholesky(s, o.H, n, o.step)
    decrement = real(0.0)
    for i in range(n):
        put(s, o.step + i, get(s, m[0].c.work + i) * get(s, o.step + i))
        decrement -= get(s, o.step + i) * get(s, o.gradient + i)
    if not (decrement < INFINITY):  # at the boundary, to rounding: nothing is left to gain
        return -ONE
    part = longest_part(m, s, o, room)
    for i in range(n):
        put(s, o.p + i, get(s, o.p + i) + part * get(s, o.step + i))
    return decrement


@wp.func(inline=False)
def least_slip(m: Machines, s: World, o: Oblique, room: real):
    """p with the least weighted slip, from `start`, which is inside all bounds."""
    copy(s, o.p, o.start, o.s)
    size = real(0.0)
    for i in range(o.s):
        w = get(s, o.weight + contact_of_tangent(m, s, i))
        size += w * get(s, o.c + i) * get(s, o.c + i)
    if size == ZERO:
        return
    steep = ONE / size
    for _ in range(_OUTER):
        for _inner in range(_INNER):
            decrement = newton_step(m, s, o, steep, room)
            if decrement < ZERO:
                return
            if decrement < _CENTRED:
                break
        steep = steep * _STEEPER
