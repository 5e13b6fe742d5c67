r"""Coulomb's law at many contacts at once: $u = W x + b$ with

$$ 0 \le x_n \perp u_n \ge 0, \qquad |x_t| \le \mu x_n, \qquad
   u_t \ne 0 \Rightarrow x_t = -\mu x_n u_t / |u_t|. $$

x are forces and u accelerations, or impulses and velocities. Contacts that are known to slide have
a given direction of friction. Normal impulses may have a least value (`floor`) instead of 0. The
matrix may be singular.

Sweeps of projected Gauss-Seidel (`sweeps`) find who does what; Newton's method on the equations of
[AlartCurnier1991] makes it exact, with least steps where contacts are redundant. Where Newton does
not get nearer, it starts from a convex problem with the slip speeds of the last one
(`cone_interior`); where directions of friction are given there is none, and it starts from
where pivoting leads (`sliding`).

Fixed steps on GPUs and in single precision go by sweeps alone (`sweep_along`): worlds would wait
for the longest search among them. How redundant contacts share a load then depends on their order.
"""

import warp as wp

from .algebra import factor_rows, least_solution
from .cone_interior import SLIP_SPEEDS, is_convex, slot, solve_convex
from .layout import TANGENTS, Machines
from .links import own_of
from .reals import (
    HALF,
    INFINITY,
    ONE,
    TINY,
    ZERO,
    World,
    add_scaled,
    copy,
    fill,
    get,
    get_int,
    largest,
    put,
    real,
    tolerance,
)
from .rows import first_row, n_active, n_rows, pair_of, times_W
from .sliding import APART, SLIDING, pivot_slides
from .sweeps import sweep_along

_SOLVED = tolerance(1e-12, 1e-5)  # residual, part of the largest impulse
_ENOUGH = tolerance(1e-7, 1e-4)  # with which one is content where it does not get smaller
_ROUNDS = wp.constant(30)
_SWEEPS, _MOST_SWEEPS = wp.constant(20), wp.constant(300)  # between attempts of Newton's method
_SWEPT = tolerance(1e-10, 2e-6)  # change of velocities, part of the largest, with which sweeps end
_NEAR = tolerance(1e-9, 1e-5)  # residual, part of the largest impulse, of one who is not patient
_NEWTON = wp.constant(12)
_PATHS = wp.constant(10)  # convex problems that are solved
_PIVOTS = wp.constant(2)  # the round that pivots, where some slide
# After so many rounds that got no nearer, what is as near as this is left as it is.
_IDLE, _CLOSE = wp.constant(5), tolerance(1e-7, 1e-4)
_LARGEST = tolerance(1e5, 1e4)  # impulse that is believed, over what stops the fastest contact


@wp.func
def step_of(m: Machines, s: World, k: int, n: int):
    """ρ: what turns velocities of a contact into impulses."""
    most = real(0.0)
    for j in range(first_row(m, s, k + 1) - first_row(m, s, k)):
        most = wp.max(most, own_of(m, s, n, k, j, j))
    return ONE / wp.max(most, TINY)


@wp.func
def equation_row(m: Machines, s: World, n: int, e: int, r: int, rho: real, value: real):
    """Row e of the Jacobian += value (x_r' - ρ W_r x'): the change of x_r - ρ u_r."""
    if value != ZERO:
        row = m[0].c.A + e * n
        add_scaled(s, row, -value * rho, m[0].c.W + r * n, n)
        put(s, row + r, get(s, row + r) + value)


@wp.func(inline=False)
def contact_equations(m: Machines, s: World, n: int, k: int, x: int, u: int, jacobian: bool):
    """What contact k misses of its law, and how that changes with all x."""
    begin = first_row(m, s, k)
    normal = first_row(m, s, k + 1) - 1
    if get_int(s, m[0].c.fixed + k) == APART:
        for r in range(begin, normal + 1):
            put(s, m[0].c.wanted + r, get(s, x + r))
            if jacobian:
                put(s, m[0].c.A + r * n + r, ONE)
        return
    rho = step_of(m, s, k, n)
    mu = get(s, m[0].c.mu + k)
    floor = get(s, m[0].c.floor + k)
    above = get(s, x + normal) - floor
    pressed = above - rho * get(s, u + normal)
    # Normal: x_n - max(x_n - ρ u_n, floor) = 0.
    put(s, m[0].c.wanted + normal, wp.min(above, rho * get(s, u + normal)))
    if jacobian:
        put(s, m[0].c.A + normal * n + normal, ONE)
        if pressed > ZERO:
            equation_row(m, s, n, normal, normal, rho, -ONE)
    if get_int(s, m[0].c.fixed + k) == SLIDING:
        d = m[0].c.heading + TANGENTS * pair_of(m, s, k)
        for j in range(normal - begin):
            r = begin + j
            put(s, m[0].c.wanted + r, get(s, x + r) + mu * get(s, d + j) * get(s, x + normal))
            if jacobian:
                put(s, m[0].c.A + r * n + r, ONE)
                put(s, m[0].c.A + r * n + normal, mu * get(s, d + j))
        return
    # Tangents: x_t - the point of the disc of radius μ max(x_n - ρ u_n, floor) nearest x_t - ρ u_t.
    reach = mu * (floor + wp.max(pressed, ZERO))
    size = real(0.0)
    for r in range(begin, normal):
        wanted = get(s, x + r) - rho * get(s, u + r)
        put(s, m[0].c.work + r, wanted)
        size += wanted * wanted
    size = wp.sqrt(size)
    if size <= reach:
        for r in range(begin, normal):
            put(s, m[0].c.wanted + r, rho * get(s, u + r))
            if jacobian:
                put(s, m[0].c.A + r * n + r, ONE)
                equation_row(m, s, n, r, r, rho, -ONE)
        return
    share = reach / size
    for r in range(begin, normal):
        along = get(s, m[0].c.work + r) / size
        put(s, m[0].c.wanted + r, get(s, x + r) - reach * along)
        if jacobian:
            put(s, m[0].c.A + r * n + r, ONE)
            if pressed > ZERO:
                equation_row(m, s, n, r, normal, rho, -mu * along)
            if reach > ZERO:
                equation_row(m, s, n, r, r, rho, -share)
                for j in range(begin, normal):
                    other = get(s, m[0].c.work + j) / size
                    equation_row(m, s, n, r, j, rho, share * along * other)


@wp.func(inline=False)
def equations(m: Machines, s: World, n: int, b: int, x: int, jacobian: bool):
    """All of them; the largest miss, as an impulse."""
    u = m[0].c.work + m[0].c.capacity
    for r in range(n):
        put(s, u + r, get(s, b + r) + times_W(m, s, n, r, x))
    if jacobian:
        fill(s, m[0].c.A, n * n, ZERO)
    for k in range(n_active(m, s)):
        contact_equations(m, s, n, k, x, u, jacobian)
    most = real(0.0)
    for r in range(n):
        miss = wp.abs(get(s, m[0].c.wanted + r))
        if not (miss < INFINITY):  # the largest of numbers leaves out what is none
            return INFINITY
        most = wp.max(most, miss)
    return most


@wp.func
def stopping_impulse(m: Machines, s: World, n: int, b: int):
    """What stops the fastest contact. By the whole contact: a row that is all but unable to move
    would need an impulse without bound.
    """
    most = real(0.0)
    for k in range(n_active(m, s)):
        rho = step_of(m, s, k, n)
        for r in range(first_row(m, s, k), first_row(m, s, k + 1)):
            most = wp.max(most, rho * wp.abs(get(s, b + r)))
    return most


@wp.func
def size_of(m: Machines, s: World, n: int, b: int, x: int):
    """What residuals are compared with: the largest impulse, or what stops the fastest contact."""
    return wp.max(largest(s, x, n), stopping_impulse(m, s, n, b))


@wp.func
def believed_size(m: Machines, s: World, n: int, b: int, x: int):
    """The same for impulses that were searched for step by step. Where there is no solution (a jam)
    they grow without end, and beside them any residual is small: so they count up to a multiple.
    """
    stops = stopping_impulse(m, s, n, b)
    most = largest(s, x, n)
    if stops > ZERO:
        most = wp.min(most, _LARGEST * stops)
    return wp.max(most, stops)


@wp.func(inline=False)
def newton(m: Machines, s: World, n: int, b: int, x: int, enough: real):
    """Newton's method with least steps, halved until they get nearer; the residual."""
    old = m[0].c.work + 2 * m[0].c.capacity
    step = m[0].c.unknown
    miss = equations(m, s, n, b, x, True)
    for _ in range(_NEWTON):
        if miss <= enough:
            break
        rank = factor_rows(s, m[0].c.A, n, m[0].c.beta, m[0].c.order)
        least_solution(s, m[0].c.A, n, rank, m[0].c.beta, m[0].c.order, m[0].c.wanted, step)
        copy(s, old, x, n)
        part = real(1.0)
        better = bool(False)
        for _h in range(8):
            for r in range(n):
                put(s, x + r, get(s, old + r) - part * get(s, step + r))
            if equations(m, s, n, b, x, False) < miss:
                better = True
                break
            part = part * real(0.5)
        if not better:
            copy(s, x, old, n)
            break
        miss = equations(m, s, n, b, x, True)
    return miss


@wp.func(inline=False)
def solve_cone(m: Machines, s: World, b: int, x: int, patient: bool):
    """x of the active contacts, starting from what is there; whether it was found.

    Redundant contacts contradict each other a little, by what steps and rounding leave: such
    problems have no exact solution. The patient look for the nearest.

    Friction coefficients are in `mu`; `fixed` tells which contacts are free to do what they will,
    slide in their heading, or are apart.
    """
    n = n_rows(m, s)
    fastest = largest(s, b, n)
    if not patient and m[0].opt.sweeps > 0:
        return sweep_along(m, s, n, b, x, m[0].opt.sweeps, _SWEPT * fastest)
    enough = _SOLVED
    if not patient:
        enough = _NEAR
    best = m[0].c.work + 3 * m[0].c.capacity
    least = real(INFINITY)
    sweeps = int(0)  # what is there may be near: Newton's method first
    paths = int(0)
    idle = int(0)
    if is_convex(m, s):
        paths = _PATHS
        fill(s, slot(m, SLIP_SPEEDS), n_active(m, s), ZERO)
    for round in range(_ROUNDS):
        pivots = bool(False)
        if round == _PIVOTS and paths == 0:
            pivots = pivot_slides(m, s, b, x)
        if round > 1 and paths > 0:
            solve_convex(m, s, b, x)
            paths -= 1
        elif not pivots:
            sweep_along(m, s, n, b, x, sweeps, _SWEPT * fastest)
            sweeps = wp.min(2 * sweeps + _SWEEPS, _MOST_SWEEPS)
        size = believed_size(m, s, n, b, x)
        # Newton's method may leave for a place from which it does not come back: sweeps go on from
        # where they were.
        before = equations(m, s, n, b, x, False)
        earlier = least
        if before < least:
            least = before
            copy(s, best, x, n)
        miss = newton(m, s, n, b, x, enough * size)
        if miss <= wp.max(enough, real(1e3) * _SOLVED) * size:
            put(s, m[0].z.unsolved, miss / wp.max(size, TINY))
            return True
        if miss < least:
            least = miss
            copy(s, best, x, n)
        copy(s, x, best, n)
        # Rows of redundant contacts that contradict each other a little let nothing get nearer.
        idle += 1
        if least < HALF * earlier:
            idle = 0
        if (idle >= _IDLE or not patient) and least <= _CLOSE * size:
            break
    miss = least / wp.max(believed_size(m, s, n, b, x), TINY)
    put(s, m[0].z.unsolved, miss)
    return miss <= _ENOUGH
