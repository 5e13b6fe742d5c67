r"""Forces of redundant contacts: of all that give the same motion, those well inside every cone.

Accelerations leave forces open along the null space of their equations, λ = λ₀ + N z. The least
forces λ₀ may leave their cones although others do not: a ball in a groove is held by squeezing it,
the upper corners of a box on a slope press less and cannot hold as much. So z minimises

$$ \tfrac12 |\lambda|^2 / F^2 - \sum_i \log (\mu_i^2 f_{n,i}^2 - |f_{t,i}|^2) / F^2, $$

with F the size of λ₀: small forces, none near its bound, and a smooth function of the state. If no
forces are admissible the contacts cannot hold: `excess` tells by how much normal forces would have
to be larger, and is an event function for all of them together.
"""

import warp as wp

from .algebra import cholesky, free_direction, solve_cholesky
from .forces import spread_unknowns
from .layout import MOST_ROWS, OPEN, SLIP, STICK, Machines
from .oblique import first_root
from .reals import (
    EPSILON,
    HALF,
    INFINITY,
    ONE,
    TINY,
    TWO,
    ZERO,
    World,
    add_scaled,
    copy,
    dot,
    fill,
    get,
    get_int,
    put,
    real,
    tolerance,
)
from .rows import first_row, n_active, pair_of

_SLACK = tolerance(1e-9, 1e-4)  # part of F by which forces may leave their cones: rounding
_CENTRED = tolerance(1e-16, 1e-8)  # the square of Newton's decrement that ends the search
_NEWTON = wp.constant(60)
_SEARCH = wp.constant(400)  # steps of the search for a beginning
_HALVINGS = wp.constant(50)
_STEEPER = wp.constant(real(10.0))


@wp.struct
class Sharing:
    """Where the search for admissible forces keeps its numbers: m unknowns, d directions."""

    m: int
    d: int
    F: real
    N: int  # by direction, m each; then one that raises all normal forces
    at: int  # λ with normal forces raised
    H: int
    gradient: int
    step: int
    change: int
    z: int
    before: int  # λ before the last step


@wp.func
def sharing_slots(m: Machines, size: int, directions: int):
    o = Sharing()
    o.m = size
    o.d = directions
    x = m[0].c.scratch
    o.N = x
    x += size * (directions + 1)
    o.H = x
    x += (directions + 1) * (directions + 1)
    o.at = x
    o.change = x + size
    o.gradient = x + 2 * size
    o.step = x + 3 * size + 1
    o.z = x + 4 * size + 2
    o.before = x + 5 * size + 3
    return o


@wp.func
def grip(m: Machines, s: World, k: int):
    """μ of the k-th contact. Without friction a cone has no inside: it gets as much as rounding."""
    return wp.max(get(s, m[0].c.mu + k), _SLACK)


@wp.func
def margin(m: Machines, s: World, k: int, first: int, x: int):
    """How far the force of the k-th contact, at x + first, is inside its cone: > 0 inside."""
    i = pair_of(m, s, k)
    rows = first_row(m, s, k + 1) - first_row(m, s, k)
    if get_int(s, m[0].c.mode + i) == OPEN:
        return INFINITY
    if get_int(s, m[0].c.mode + i) == SLIP or rows == 1:
        return get(s, x + first)
    f_n = get(s, x + first + rows - 1)
    rub = real(0.0)
    for j in range(rows - 1):
        rub += get(s, x + first + j) * get(s, x + first + j)
    return grip(m, s, k) * f_n - wp.sqrt(rub)


@wp.func
def unknowns_of(m: Machines, s: World, k: int):
    """How many unknowns the k-th contact has."""
    mode = get_int(s, m[0].c.mode + pair_of(m, s, k))
    if mode == STICK:
        return first_row(m, s, k + 1) - first_row(m, s, k)
    return int(mode == SLIP)


@wp.func
def least_margin(m: Machines, s: World, x: int):
    least = real(INFINITY)
    first = int(0)
    for k in range(n_active(m, s)):
        least = wp.min(least, margin(m, s, k, first, x))
        first += unknowns_of(m, s, k)
    return least


@wp.func
def add_barrier(m: Machines, s: World, o: Sharing, k: int, first: int, n: int):
    """Gradient and Hessian of -log of what is inside, in the n directions."""
    count = unknowns_of(m, s, k)
    if count == 0:
        return
    normal = first + count - 1
    f_n = get(s, o.at + normal)
    if count == 1:
        for a in range(n):
            g = get(s, o.N + a * o.m + normal) / f_n
            put(s, o.gradient + a, get(s, o.gradient + a) - g)
            for b in range(a + 1):
                to = o.H + a * n + b
                put(s, to, get(s, to) + g * get(s, o.N + b * o.m + normal) / f_n)
        return
    mu = grip(m, s, k)
    mu2 = mu * mu
    inside = mu2 * f_n * f_n
    for j in range(count - 1):
        inside -= get(s, o.at + first + j) * get(s, o.at + first + j)
    for a in range(n):
        row = o.N + a * o.m + first
        g = mu2 * f_n * get(s, row + count - 1)
        for j in range(count - 1):
            g -= get(s, o.at + first + j) * get(s, row + j)
        g = TWO * g / inside
        put(s, m[0].c.work + a, g)
        put(s, o.gradient + a, get(s, o.gradient + a) - g)
        for b in range(a + 1):
            other = o.N + b * o.m + first
            second = mu2 * get(s, row + count - 1) * get(s, other + count - 1)
            for j in range(count - 1):
                second -= get(s, row + j) * get(s, other + j)
            to = o.H + a * n + b
            put(s, to, get(s, to) - TWO * second / inside + g * get(s, m[0].c.work + b))


@wp.func
def reach(m: Machines, s: World, o: Sharing):
    """How much of `change` keeps all forces inside their cones."""
    least = real(INFINITY)
    first = int(0)
    for k in range(n_active(m, s)):
        count = unknowns_of(m, s, k)
        if count == 0:
            continue
        f = get(s, o.at + first + count - 1)
        d = get(s, o.change + first + count - 1)
        if count == 1:
            if d < ZERO:
                least = wp.min(least, -f / d)
        else:
            mu = grip(m, s, k)
            q0 = mu * mu * f * f
            q1 = mu * mu * f * d
            q2 = mu * mu * d * d
            for j in range(count - 1):
                f = get(s, o.at + first + j)
                d = get(s, o.change + first + j)
                q0 -= f * f
                q1 -= f * d
                q2 -= d * d
            least = wp.min(least, first_root(q0, q1, q2))
        first += count
    return least


@wp.func
def newton_share(m: Machines, s: World, o: Sharing, n: int, norm: real, pull: real):
    """One Newton step over n directions of norm/2 |λ|² + pull z_last + barrier; its decrement².

    Forces stay inside their cones. Where these are so near that nothing can be told of them, or no
    step is short enough, they stay where they are: the decrement is then infinite.
    """
    for a in range(n):
        total = real(0.0)
        for i in range(o.m):
            total += get(s, o.N + a * o.m + i) * get(s, o.at + i)
        put(s, o.gradient + a, norm * total)
        for b in range(a + 1):
            total = ZERO
            for i in range(o.m):
                total += get(s, o.N + a * o.m + i) * get(s, o.N + b * o.m + i)
            put(s, o.H + a * n + b, norm * total)
    if pull > ZERO:
        put(s, o.gradient + n - 1, get(s, o.gradient + n - 1) + pull)
    first = int(0)
    for k in range(n_active(m, s)):
        add_barrier(m, s, o, k, first, n)
        first += unknowns_of(m, s, k)
    for a in range(n):
        put(s, o.step + a, -get(s, o.gradient + a))
    largest = real(0.0)
    for a in range(n):
        largest = wp.max(largest, get(s, o.H + a * n + a))
    cholesky(s, o.H, n, EPSILON * largest + TINY)
    solve_cholesky(s, o.H, n, o.step)
    decrement = real(0.0)
    fill(s, o.change, o.m, ZERO)
    for a in range(n):
        decrement -= get(s, o.step + a) * get(s, o.gradient + a)
        for i in range(o.m):
            to = o.change + i
            put(s, to, get(s, to) + get(s, o.step + a) * get(s, o.N + a * o.m + i))
    if not (decrement < INFINITY):
        return TWO * INFINITY
    part = wp.min(ONE, real(0.9) * reach(m, s, o))
    if decrement > real(0.25):  # damped far from the minimum
        part = wp.min(part, ONE / (ONE + wp.sqrt(decrement)))
    copy(s, o.before, o.at, o.m)
    for _ in range(_HALVINGS):
        copy(s, o.at, o.before, o.m)
        add_scaled(s, o.at, part, o.change, o.m)
        if least_margin(m, s, o.at) > ZERO:
            add_scaled(s, o.z, part, o.step, n)
            return decrement
        part = HALF * part
    copy(s, o.at, o.before, o.m)
    return TWO * INFINITY


@wp.func
def raise_normals(m: Machines, s: World, o: Sharing, to: int, by: real):
    """Add to all normal forces."""
    first = int(0)
    for k in range(n_active(m, s)):
        count = unknowns_of(m, s, k)
        first += count
        if count > 0:
            put(s, to + first - 1, get(s, to + first - 1) + by)


@wp.func
def find_inside(m: Machines, s: World, o: Sharing):
    """Forces inside all cones, from ones that are not: normal forces are raised until they are, and
    lowered again. By how much they stay raised: 0 if the forces are admissible.
    """
    n = o.d + 1
    fill(s, o.N + o.d * o.m, o.m, ZERO)
    raise_normals(m, s, o, o.N + o.d * o.m, o.F)
    raised = real(1.0)
    while least_margin(m, s, o.at) <= ZERO and raised < real(1e6):
        raise_normals(m, s, o, o.at, raised * o.F)
        raised = raised * TWO
    raised = raised - ONE  # 1 + 2 + 4 + …
    fill(s, o.z, n, ZERO)
    pull = real(1.0)
    for _ in range(_SEARCH):
        decrement = newton_share(m, s, o, n, ZERO, pull)
        now = raised + get(s, o.z + o.d)
        if now < -_SLACK or not (decrement < INFINITY):
            break
        if decrement < real(1e-3):
            if real(n_active(m, s)) * TWO / pull < _SLACK * HALF:
                break
            pull = pull * _STEEPER
    now = raised + get(s, o.z + o.d)
    raise_normals(m, s, o, o.at, -now * o.F)
    return now


@wp.func
def as_before(m: Machines, s: World, o: Sharing):
    """Begin with the forces nearest to those of the last time: λ = λ₀ + N Nᵀ (λ' - λ₀)."""
    copy(s, o.at, m[0].c.unknown, o.m)
    first = int(0)
    for k in range(n_active(m, s)):
        count = unknowns_of(m, s, k)
        rows = first_row(m, s, k + 1) - first_row(m, s, k)
        before = m[0].c.shared + MOST_ROWS * pair_of(m, s, k) + rows - count
        for j in range(count):
            put(s, o.change + first + j, get(s, before + j) - get(s, o.at + first + j))
        first += count
    for a in range(o.d):
        N = o.N + a * o.m
        add_scaled(s, o.at, dot(s, N, o.change, o.m), N, o.m)


@wp.func(inline=False)
def share_forces(m: Machines, s: World, size: int, rank: int):
    """Choose the forces of contacts whose equations have such a rank; `excess` if none will do.

    Coefficients of friction are in `mu`.
    """
    put(s, m[0].z.excess, ZERO)
    if rank == size:
        return
    o = sharing_slots(m, size, size - rank)
    F = real(0.0)
    for i in range(size):
        F += get(s, m[0].c.unknown + i) * get(s, m[0].c.unknown + i)
    o.F = wp.sqrt(F)
    if o.F == ZERO:
        return
    for a in range(o.d):
        free_direction(s, m[0].c.A, size, rank, m[0].c.beta, a, o.N + a * size)
    as_before(m, s, o)
    raise_normals(m, s, o, o.at, _SLACK * o.F)
    if least_margin(m, s, o.at) <= ZERO:
        copy(s, o.at, m[0].c.unknown, size)
        raise_normals(m, s, o, o.at, _SLACK * o.F)
    if least_margin(m, s, o.at) <= ZERO:
        now = find_inside(m, s, o)
        if now > _SLACK:
            put(s, m[0].z.excess, now * o.F)
            return
        if least_margin(m, s, o.at) <= ZERO:
            return
    norm = ONE / (o.F * o.F)
    for _ in range(_NEWTON):
        decrement = newton_share(m, s, o, o.d, norm, ZERO)
        if decrement < _CENTRED or not (decrement < INFINITY):
            break
    raise_normals(m, s, o, o.at, -_SLACK * o.F)
    copy(s, m[0].c.unknown, o.at, size)
    spread_unknowns(m, s)
    for k in range(n_active(m, s)):
        begin = first_row(m, s, k)
        to = m[0].c.shared + MOST_ROWS * pair_of(m, s, k)
        copy(s, to, m[0].c.force + begin, first_row(m, s, k + 1) - begin)
