r"""The dissipation principle for oblique impacts, with or without a bound on energy.

flickinger (4.4)-(4.10): if the no-slip impulses are not inside the static cones, the tangential
velocities afterwards are those that minimise

$$ \sum_i (\mu_s - \mu_i)^2 + |u_{t,i}^+|^2 \quad\text{subject to}\quad
   |p_{t,i}|^2 \le \mu_i^2 p_{n,i}^2, \quad p_{n,i} \ge 0, $$

with $\mu_i = \mu_{min,i} + (\mu_s - \mu_{min,i}) e^{-(|u_{t,i}^+| / v_s)^a}$ and
$\mu_{min,i} = \min(\mu_d, \mu_{f,i})$, μ_f the coefficient that sticking would need. (5.6)-(5.14)
add $T^+ \le e^* T^-$.

The problem is not convex, but it is so only through the jump of μ between sticking and sliding, for
v_s is tiny: a contact either sticks (cost 0, static cone) or slides (cost at least (μ_s - μ_min)²,
dynamic cone). For each choice of who sticks what is left is convex (`least_slip`), and the cheapest
choice that can be had is the optimum. All choices are tried for up to six contacts; for up to
twelve, a choice that no single contact can better by changing sides is found; of more, those stick
that static friction can stop all together.
"""

import warp as wp

from .algebra import factor_rows, least_solution
from .layout import MU_DYNAMIC, MU_STATIC, STRIBECK_POWER, STRIBECK_SPEED, Machines
from .oblique import (
    Oblique,
    contact_of_tangent,
    energy_change,
    first_tangent,
    is_kept,
    least_slip,
    normal_impulse,
    normal_row,
    oblique_maps,
    put_slip,
    slip_speed_after,
)
from .reals import INFINITY, ONE, TINY, ZERO, World, copy, fill, get, get_int, put, put_int, real
from .rows import first_row, law, n_active, n_rows, pair_of

_STUCK = wp.constant(real(1e-6))  # slower than this part of the slip before, a contact sticks
_WEIGHT = wp.constant(real(1e6))  # of the slip of contacts that are to stick
_ROUNDS = wp.constant(3)  # in which μ(|u_t⁺|) and the slip are brought together
_MOST_TRIED = wp.constant(6)  # contacts of which every choice of who sticks is tried
_MOST_CHANGED = wp.constant(12)  # and of which one at a time changes sides
_BITS = wp.constant(31)  # contacts that a choice, a number, can tell apart; others slide
_FAST = wp.constant(real(37.0))  # times v_s: friction is dynamic to rounding
_ROUNDING = wp.constant(real(1e-10))
_INSIDE = wp.constant(real(1e-6))


@wp.func
def friction_at(m: Machines, s: World, k: int, mu_min: real, speed: real):
    """μ of a contact at its slip speed (4.10)."""
    i = pair_of(m, s, k)
    mu = law(m, s, i, MU_STATIC)
    if speed > ZERO:
        ratio = speed / law(m, s, i, STRIBECK_SPEED)
        mu = mu_min + (mu - mu_min) * wp.exp(-wp.pow(ratio, law(m, s, i, STRIBECK_POWER)))
    return mu


@wp.func
def to_impulses(m: Machines, s: World, o: Oblique, p: int):
    """Tangential and normal impulses of all rows."""
    for k in range(o.n):
        t = first_tangent(m, s, k)
        begin = first_row(m, s, k)
        normal = normal_row(m, s, k)
        for r in range(begin, normal):
            put(s, m[0].c.impulse + r, get(s, p + t + r - begin))
        put(s, m[0].c.impulse + normal, normal_impulse(s, o, p, k))


@wp.func
def stop_exactly(m: Machines, s: World, o: Oblique, choice: int):
    """Correct the impulses of sticking contacts so that their slip is exactly zero."""
    put_slip(s, o, o.p)
    size = int(0)
    for i in range(o.s):
        k = contact_of_tangent(m, s, i)
        if sticks(choice, k) and is_kept(m, s, k):
            put_int(s, m[0].c.equation + size, i)
            size += 1
    for a in range(size):
        i = get_int(s, m[0].c.equation + a)
        put(s, m[0].c.wanted + a, get(s, o.slip + i))
        for b in range(size):
            put(s, m[0].c.A + a * size + b, get(s, o.D + i * o.s + get_int(s, m[0].c.equation + b)))
    rank = factor_rows(s, m[0].c.A, size, m[0].c.beta, m[0].c.order)
    least_solution(
        s, m[0].c.A, size, rank, m[0].c.beta, m[0].c.order, m[0].c.wanted, m[0].c.unknown
    )
    for a in range(size):
        to = o.p + get_int(s, m[0].c.equation + a)
        put(s, to, get(s, to) - get(s, m[0].c.unknown + a))


@wp.func
def sticks(choice: int, k: int):
    """Whether contact k sticks in a choice, which is a number with a bit for each contact."""
    return k < _BITS and ((choice >> k) & 1) == 1


@wp.func(inline=False)
def cost_of(m: Machines, s: World, o: Oblique, choice: int, room: real, before: real):
    """The cost of a choice of who sticks, infinite if it cannot be had; p is its impulses."""
    copy(s, o.aim, o.c, o.s)
    for k in range(o.n):
        mu = get(s, m[0].c.mu + k)
        put(s, o.weight + k, ONE)
        if sticks(choice, k):
            mu = law(m, s, pair_of(m, s, k), MU_STATIC)
            put(s, o.weight + k, _WEIGHT)
        if not is_kept(m, s, k):
            put(s, o.weight + k, ZERO)
        put(s, o.mu + k, mu)
    for _ in range(_ROUNDS):
        least_slip(m, s, o, room)
        slow = bool(False)
        # Weights alone leave a little slip of what is to stick; the method of multipliers takes it
        # away: aim at as much the other way.
        copy(s, o.best, o.c, o.s)
        copy(s, o.c, o.aim, o.s)
        put_slip(s, o, o.p)
        copy(s, o.c, o.best, o.s)
        for k in range(o.n):
            if sticks(choice, k):
                slow = True
                for j in range(first_tangent(m, s, k), first_tangent(m, s, k + 1)):
                    put(s, o.c + j, get(s, o.c + j) + get(s, o.slip + j))
            else:
                speed = slip_speed_after(m, s, o, k)
                put(s, o.mu + k, friction_at(m, s, k, get(s, m[0].c.mu + k), speed))
                slow = slow or speed < _FAST * law(m, s, pair_of(m, s, k), STRIBECK_SPEED)
        if not slow:
            break
    copy(s, o.c, o.aim, o.s)
    stop_exactly(m, s, o, choice)
    put_slip(s, o, o.p)
    most = real(0.0)
    for k in range(o.n):
        most = wp.max(most, wp.abs(normal_impulse(s, o, o.p, k)))
    cost = real(0.0)
    for k in range(o.n):
        if is_kept(m, s, k):
            speed = slip_speed_after(m, s, o, k)
            if sticks(choice, k):
                if speed > _STUCK * before:
                    return INFINITY
            else:
                less = law(m, s, pair_of(m, s, k), MU_STATIC) - get(s, o.mu + k)
                cost += less * less + speed * speed
            rub = real(0.0)
            for j in range(first_tangent(m, s, k), first_tangent(m, s, k + 1)):
                rub += get(s, o.p + j) * get(s, o.p + j)
            if wp.sqrt(rub) > get(s, o.mu + k) * normal_impulse(s, o, o.p, k) + _INSIDE * most:
                return INFINITY
    return cost


@wp.func
def one_in_the_plane(m: Machines, s: World, o: Oblique, room: real):
    """One contact, one tangent: the impulse nearest to the sticking one inside its bounds.

    -μ (a + b p) ≤ p ≤ μ (a + b p) bounds p on each side, or on one; so does the energy.
    """
    a = get(s, o.a)
    b = get(s, o.B)
    c = get(s, o.c)
    d = get(s, o.D)
    p = real(0.0)
    if d > ZERO:
        low_energy = -INFINITY
        high_energy = real(INFINITY)
        if room < INFINITY:
            e1 = get(s, o.e1)
            put(s, o.p, ZERO)
            disc = wp.max(e1 * e1 - real(2.0) * d * (energy_change(m, s, o, o.p) - room), ZERO)
            low_energy = (-e1 - wp.sqrt(disc)) / d
            high_energy = (-e1 + wp.sqrt(disc)) / d
        mu = get(s, m[0].c.mu)
        for _ in range(_ROUNDS):
            low = low_energy
            high = high_energy
            if ONE - mu * b > ZERO:
                high = wp.min(high, mu * a / (ONE - mu * b))
            if ONE + mu * b > ZERO:
                low = wp.max(low, -mu * a / (ONE + mu * b))
            p = wp.clamp(-c / d, low, high)
            mu = friction_at(m, s, 0, get(s, m[0].c.mu), wp.abs(c + d * p))
    put(s, o.p, p)


@wp.func
def put_start(m: Machines, s: World, o: Oblique, room: real):
    """Impulses inside all bounds: none, or those that lose the most energy if some must be lost."""
    fill(s, o.start, o.s, ZERO)
    if room < INFINITY:
        for k in range(o.n):
            put(s, o.mu + k, get(s, m[0].c.mu + k))
            put(s, o.weight + k, real(int(is_kept(m, s, k))))
        # Least |e1 + D p|: the stationary point of the energy inside the cones.
        copy(s, o.aim, o.c, o.s)
        copy(s, o.c, o.e1, o.s)
        least_slip(m, s, o, INFINITY)
        copy(s, o.c, o.aim, o.s)
        for i in range(o.s):
            put(s, o.start + i, real(0.999) * get(s, o.p + i))
        return energy_change(m, s, o, o.start) < room
    return True


@wp.func
def who_comes_to_rest(m: Machines, s: World, o: Oblique, room: real, before: real):
    """The choice of contacts that static friction could stop, all together."""
    for k in range(o.n):
        put(s, o.mu + k, law(m, s, pair_of(m, s, k), MU_STATIC))
        put(s, o.weight + k, real(int(is_kept(m, s, k))))
    least_slip(m, s, o, room)
    put_slip(s, o, o.p)
    choice = int(0)
    for k in range(wp.min(o.n, _BITS)):
        if slip_speed_after(m, s, o, k) <= _STUCK * before:
            choice += 1 << k
    return choice


@wp.func(inline=False)
def slide(m: Machines, s: World, room: real):
    """Impulses if not all contacts stick, with μ_min of each in `mu`; whether bounds were kept."""
    o = oblique_maps(m, s)
    if o.n == 1 and o.s == 1:
        one_in_the_plane(m, s, o, room)
        to_impulses(m, s, o, o.p)
        return True
    before = real(TINY)
    for r in range(n_rows(m, s)):
        before += get(s, m[0].c.velocity + r) * get(s, m[0].c.velocity + r)
    before = wp.sqrt(before)
    within = put_start(m, s, o, room)
    least = real(INFINITY)
    answer = o.answer
    chosen = int(0)
    choices = int(1)
    if o.n <= _MOST_TRIED:
        choices = 1 << o.n
    for choice in range(choices):
        cost = cost_of(m, s, o, choice, room, before)
        if cost < least or choice == 0:
            least = cost
            copy(s, answer, o.p, o.s)
    if o.n > _MOST_TRIED:
        # Many contacts: begin with nobody sticking, or with those that come to rest in static
        # cones; then let one contact at a time change sides as long as that is cheaper.
        choice = who_comes_to_rest(m, s, o, room, before)
        cost = cost_of(m, s, o, choice, room, before)
        if cost < least:
            least = cost
            chosen = choice
            copy(s, answer, o.p, o.s)
    better = bool(o.n > _MOST_TRIED and o.n <= _MOST_CHANGED)
    while better:
        better = bool(False)
        start = int(chosen)
        for k in range(o.n):
            choice = start ^ (1 << k)
            cost = cost_of(m, s, o, choice, room, before)
            if cost < least - _ROUNDING:
                least = cost
                chosen = choice
                better = bool(True)
                copy(s, answer, o.p, o.s)
    to_impulses(m, s, o, answer)
    return within and least < INFINITY


@wp.func
def stick_holds(m: Machines, s: World):
    """Whether the impulses are inside the static cones; leaves μ_min of each contact in `mu`."""
    most = real(0.0)
    for r in range(n_rows(m, s)):
        most = wp.max(most, wp.abs(get(s, m[0].c.impulse + r)))
    holds = bool(True)
    for k in range(n_active(m, s)):
        i = pair_of(m, s, k)
        normal = normal_row(m, s, k)
        rub = real(0.0)
        for r in range(first_row(m, s, k), normal):
            rub += get(s, m[0].c.impulse + r) * get(s, m[0].c.impulse + r)
        rub = wp.sqrt(rub)
        p_n = get(s, m[0].c.impulse + normal)
        if rub > law(m, s, i, MU_STATIC) * p_n + _ROUNDING * most:
            holds = False
        # What sticking would need, where it can be had at all.
        mu = law(m, s, i, MU_DYNAMIC)
        if p_n > ZERO:
            mu = wp.min(mu, rub / p_n)
        put(s, m[0].c.mu + k, mu)
    return holds
