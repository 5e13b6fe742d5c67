r"""Impacts: velocities jump by impulses of the contacts that take part, $u^+ = u^- + W p$.

flickinger (3.13). The contacts that take part have rows; `impulse` receives p. Several contacts are
met all at once, or one after the other, the fastest approaching first (`in_sequence`).
"""

import warp as wp

from .algebra import factor_rows, least_solution
from .cone import solve_cone
from .dissipation import slide, stick_holds
from .flat_friction import solve_flat
from .layout import MU_DYNAMIC, MU_STATIC, REST_SPEED, Machines
from .reals import (
    HALF,
    INFINITY,
    ONE,
    ZERO,
    World,
    copy,
    fill,
    get,
    get_int,
    mat33,
    put,
    put_int,
    real,
    tolerance,
    vec3,
)
from .routh import NEWTON, POISSON, STRONGE, through_impact
from .rows import first_row, law, n_active, n_rows, pair_of, times_W

# Impact laws.
NO_SLIP, DISSIPATION, LAW_NEWTON, LAW_POISSON, LAW_STRONGE = (wp.constant(i) for i in range(5))
LCP, LCP_POISSON, PYRAMID, CONE, CONE_POISSON = (wp.constant(i) for i in range(5, 10))

CONSTRAIN = wp.constant(2)  # the energy method that a law keeps by itself

_PULL = tolerance(
    1e-12, 1e-5
)  # pulling impulses smaller than this part of the largest are rounding
_APPROACH = tolerance(1e-12, 1e-6)  # approaching slower than this part of the fastest is rounding
_COLLISIONS = wp.constant(200)  # of a sequence at most, for each contact
# Friction where nothing is to slip; and if there Newton's method finds nothing: what is pressed by
# next to nothing would hold by a thousand times as much.
_FIRM, _ROUGH = wp.constant(real(1e3)), wp.constant(real(10.0))
_ROUNDING = wp.constant(real(1e-10))


@wp.func
def stop_rows(m: Machines, s: World, wanted: int, size: int):
    """The least impulses that change the velocities of listed rows by what is wanted there."""
    n = n_rows(m, s)
    fill(s, m[0].c.impulse, n, ZERO)
    for a in range(size):
        row = get_int(s, m[0].c.equation + a)
        put(s, m[0].c.wanted + a, get(s, wanted + row))
        for b in range(size):
            put(
                s,
                m[0].c.A + a * size + b,
                get(s, m[0].c.W + row * n + get_int(s, m[0].c.equation + b)),
            )
    rank = factor_rows(s, m[0].c.A, size, m[0].c.beta, m[0].c.order)
    least_solution(
        s, m[0].c.A, size, rank, m[0].c.beta, m[0].c.order, m[0].c.wanted, m[0].c.unknown
    )
    for a in range(size):
        put(s, m[0].c.impulse + get_int(s, m[0].c.equation + a), get(s, m[0].c.unknown + a))


@wp.func
def stick_all(m: Machines, s: World):
    """(3.14): $u_t^+ = 0$, $u_n^+ = -e u_n^-$ at all contacts that are not released."""
    size = int(0)
    for k in range(n_active(m, s)):
        normal = first_row(m, s, k + 1) - 1
        for r in range(first_row(m, s, k), normal + 1):
            put(s, m[0].c.work + r, -get(s, m[0].c.velocity + r))
            if get_int(s, m[0].c.fixed + k) == 0:
                put_int(s, m[0].c.equation + size, r)
                size += 1
        e = get(s, m[0].c.restitution + k)
        put(s, m[0].c.work + normal, -(ONE + e) * get(s, m[0].c.velocity + normal))
    stop_rows(m, s, m[0].c.work, size)


@wp.func
def release_none(m: Machines, s: World):
    for k in range(n_active(m, s)):
        put_int(s, m[0].c.fixed + k, 0)


@wp.func(inline=False)
def solve_shape(m: Machines, s: World, b: int, p: int, shape: int):
    """The contact problem with friction in a square, a pyramid or a cone."""
    if shape == CONE:
        return solve_cone(m, s, b, p, True)
    return solve_flat(m, s, b, p, shape == LCP)


@wp.func(inline=False)
def together(m: Machines, s: World, shape: int, poisson: bool, rough: real):
    """All contacts at once, with the dynamic coefficient, or `rough` if that is more, rodic (35),
    (39), (41), (42).

    Newton's law: $0 \\le p_n \\perp u_n^+ + e u_n^- \\ge 0$. Poisson's: compression with e = 0
    gives p^C, then expansion transfers at least e p_n^C, more where bodies would still approach.
    """
    count = n_active(m, s)
    n = n_rows(m, s)
    b = m[0].c.scratch
    p = m[0].c.impulse
    release_none(m, s)
    fill(s, m[0].c.floor, count, ZERO)
    copy(s, b, m[0].c.velocity, n)
    for k in range(count):
        put(s, m[0].c.mu + k, wp.max(law(m, s, pair_of(m, s, k), MU_DYNAMIC), rough))
        normal = first_row(m, s, k + 1) - 1
        u_n = get(s, m[0].c.velocity + normal)
        if not poisson and u_n < ZERO:
            put(s, b + normal, u_n + get(s, m[0].c.restitution + k) * u_n)
    fill(s, p, n, ZERO)
    solved = solve_shape(m, s, b, p, shape)
    if poisson:
        compression = b + n
        copy(s, compression, p, n)
        for k in range(count):
            p_n = get(s, p + first_row(m, s, k + 1) - 1)
            # What is found may be less than nothing by rounding.
            put(s, m[0].c.floor + k, get(s, m[0].c.restitution + k) * wp.max(p_n, ZERO))
        for r in range(n):
            put(s, b + r, get(s, m[0].c.velocity + r) + times_W(m, s, n, r, compression))
        solved = solve_shape(m, s, b, p, shape) and solved
        for r in range(n):
            put(s, p + r, get(s, p + r) + get(s, compression + r))
    return solved


@wp.func
def sticks_soundly(m: Machines, s: World):
    """Whether no contact pulls and none that was released still approaches."""
    n = n_rows(m, s)
    most = real(0.0)
    fastest = real(0.0)
    for r in range(n):
        most = wp.max(most, wp.abs(get(s, m[0].c.impulse + r)))
        fastest = wp.max(fastest, wp.abs(get(s, m[0].c.velocity + r)))
    for k in range(n_active(m, s)):
        normal = first_row(m, s, k + 1) - 1
        if get(s, m[0].c.impulse + normal) < -_PULL * most:
            return False
        if get_int(s, m[0].c.fixed + k) == 1:
            u = get(s, m[0].c.velocity + normal) + times_W(m, s, n, normal, m[0].c.impulse)
            if u < -_APPROACH * fastest:
                return False
    return True


@wp.func
def release_worst(m: Machines, s: World):
    """Let go of the contact that is pulled hardest; whether there is one."""
    worst = int(-1)
    least = real(0.0)
    for r in range(n_rows(m, s)):
        least = wp.min(least, -_PULL * wp.abs(get(s, m[0].c.impulse + r)))
    for k in range(n_active(m, s)):
        p_n = get(s, m[0].c.impulse + first_row(m, s, k + 1) - 1)
        if p_n < least:
            least = p_n
            worst = k
    if worst < 0:
        return False
    put_int(s, m[0].c.fixed + worst, 1)
    return True


@wp.func(inline=False)
def no_slip(m: Machines, s: World):
    """(3.15) with tangential ratios 0. A contact that would have to be pulled is released: it parts
    by itself, as the corner of a rocking block does. Where that leads to no impact, for the only
    contact left would pull or a released one comes nearer, not all can stick: then the answer is
    Coulomb's with a friction beyond that of any material.
    """
    release_none(m, s)
    for _ in range(n_active(m, s)):
        stick_all(m, s)
        if not release_worst(m, s):
            break
    if sticks_soundly(m, s):
        return True
    if together(m, s, CONE, False, _FIRM):
        return True
    return together(m, s, CONE, False, _ROUGH)


@wp.func
def stop_all(m: Machines, s: World, u: int, still: real):
    """Impulses that take away the velocities u of contacts that are not released: along normals,
    and along the surface where a contact was slower than `still` before the impact."""
    size = int(0)
    for k in range(n_active(m, s)):
        begin = first_row(m, s, k)
        normal = first_row(m, s, k + 1) - 1
        speed = real(0.0)
        for r in range(begin, normal):
            speed += get(s, m[0].c.velocity + r) * get(s, m[0].c.velocity + r)
        if speed > still * still:
            begin = normal
        if get_int(s, m[0].c.fixed + k) == 0:
            for r in range(begin, normal + 1):
                put_int(s, m[0].c.equation + size, r)
                put(s, m[0].c.work + r, -get(s, u + r))
                size += 1
    stop_rows(m, s, m[0].c.work, size)


@wp.func
def bring_to_rest(m: Machines, s: World, still: real):
    """Impacts too slow to matter: what touches is brought to rest along its normal.

    A bouncing ball and a rocking block both hit the ground infinitely often before they rest. Below
    a small speed the sequence is cut short: no contact rebounds, whatever the impact law. Contacts
    slower than `still` along the surface stop there too. A projection in the metric of the kinetic
    energy, so it never adds any. A contact that would have to be pulled is released: it is thrown
    off, see `fall_back`.
    """
    release_none(m, s)
    for _ in range(n_active(m, s)):
        stop_all(m, s, m[0].c.velocity, still)
        if not release_worst(m, s):
            return


@wp.func
def fall_back(m: Machines, s: World, u: int, still: real):
    """The end of a sequence that is cut short: its contacts are closed, and stay so.

    What a slow impact throws off no faster than `rest_speed`, as a rocking block does with its
    other corner, comes back by its load, strikes and throws off the first, and so on. That is done
    at once here. `impulse` receives what the load would give until then, in rows of contacts, but
    none of it is theirs; u, what they gave leaves. Whether there was anything to do.
    """
    thrown = bool(False)
    for k in range(n_active(m, s)):
        u_n = get(s, u + first_row(m, s, k + 1) - 1)
        if get_int(s, m[0].c.fixed + k) == 1 and u_n <= law(m, s, pair_of(m, s, k), REST_SPEED):
            put_int(s, m[0].c.fixed + k, 0)
            thrown = thrown or wp.abs(u_n) > still
    if thrown:
        stop_all(m, s, u, still)
    return thrown


@wp.func
def work_done(m: Machines, s: World):
    """½ p · (u⁻ + u⁺)."""
    n = n_rows(m, s)
    total = real(0.0)
    for r in range(n):
        p = get(s, m[0].c.impulse + r)
        change = times_W(m, s, n, r, m[0].c.impulse)
        total += p * (get(s, m[0].c.velocity + r) + HALF * change)
    return total


@wp.func(inline=False)
def dissipation(m: Machines, s: World, room: real, kinetic: real):
    """All stick if they can; else as `dissipation.slide` finds."""
    release_none(m, s)
    stick_all(m, s)
    holds = stick_holds(m, s)
    if room < INFINITY:
        holds = holds and work_done(m, s) <= room + _ROUNDING * kinetic
    if holds:
        return True
    return slide(m, s, room)


@wp.func
def slides_along(count: int, j: int):
    """Whether row j of a contact is of sliding, or the normal: these laws know no others."""
    return j < 2 or j == count - 1


@wp.func
def axis_of(count: int, j: int):
    """Of such a row the axis: both tangents, then the normal."""
    if j == count - 1:
        return 2
    return j


@wp.func
def one_contact(m: Machines, s: World, rule: int, k: int, u: vec3):
    """The impulse of contact k alone at a velocity."""
    n = n_rows(m, s)
    i = pair_of(m, s, k)
    begin = first_row(m, s, k)
    count = first_row(m, s, k + 1) - begin
    W = mat33()
    W[0, 0] = ONE
    W[1, 1] = ONE
    for a in range(count):
        for c in range(count):
            if slides_along(count, a) and slides_along(count, c):
                row = axis_of(count, a)
                column = axis_of(count, c)
                W[row, column] = get(s, m[0].c.W + (begin + a) * n + begin + c)
    e = get(s, m[0].c.restitution + k)
    return through_impact(rule, W, u, e, law(m, s, i, MU_STATIC), law(m, s, i, MU_DYNAMIC))


@wp.func
def velocity_after(m: Machines, s: World, k: int):
    """u of contact k after the impulses so far; no second tangent in the plane."""
    n = n_rows(m, s)
    begin = first_row(m, s, k)
    normal = first_row(m, s, k + 1) - 1
    u = vec3()
    for r in range(begin, wp.min(normal, begin + 2)):
        u[r - begin] = get(s, m[0].c.velocity + r) + times_W(m, s, n, r, m[0].c.impulse)
    u[2] = get(s, m[0].c.velocity + normal) + times_W(m, s, n, normal, m[0].c.impulse)
    return u


@wp.func(inline=False)
def in_sequence(m: Machines, s: World, rule: int):
    """Contacts one at a time, the fastest approaching first, until none does.

    The other limit of stiffness than the simultaneous laws: each collision is over before it is
    felt elsewhere, as along a row of hard balls. A sequence that does not end in its bounded number
    of collisions is ended by a plastic simultaneous one.
    """
    count = n_active(m, s)
    n = n_rows(m, s)
    fastest = real(0.0)
    for r in range(n):
        fastest = wp.max(fastest, wp.abs(get(s, m[0].c.velocity + r)))
    fill(s, m[0].c.impulse, n, ZERO)
    for _ in range(count * _COLLISIONS):
        which = int(-1)
        least = -_APPROACH * fastest
        for k in range(count):
            u = velocity_after(m, s, k)
            if u[2] < least:
                least = u[2]
                which = k
        if which < 0:
            return True
        p = one_contact(m, s, rule, which, velocity_after(m, s, which))
        begin = first_row(m, s, which)
        normal = first_row(m, s, which + 1) - 1
        for r in range(begin, wp.min(normal, begin + 2)):
            put(s, m[0].c.impulse + r, get(s, m[0].c.impulse + r) + p[r - begin])
        put(s, m[0].c.impulse + normal, get(s, m[0].c.impulse + normal) + p[2])
    return end_together(m, s)


@wp.func(inline=False)
def end_together(m: Machines, s: World):
    """What is left of a sequence, without restitution and all at once."""
    n = n_rows(m, s)
    so_far = m[0].c.scratch + 3 * m[0].c.capacity * m[0].c.capacity
    copy(s, so_far, m[0].c.impulse, n)
    for r in range(n):
        put(s, m[0].c.velocity + r, get(s, m[0].c.velocity + r) + times_W(m, s, n, r, so_far))
    for k in range(n_active(m, s)):
        put(s, m[0].c.restitution + k, ZERO)
    dissipation(m, s, INFINITY, ZERO)
    for r in range(n):
        put(s, m[0].c.velocity + r, get(s, m[0].c.velocity + r) - times_W(m, s, n, r, so_far))
        put(s, m[0].c.impulse + r, get(s, m[0].c.impulse + r) + get(s, so_far + r))
    return True


@wp.func(inline=False)
def resolve(m: Machines, s: World, kinetic: real):
    """Impulses of the law that was chosen; whether it could be met."""
    which = m[0].opt.impact
    if which == NO_SLIP:
        return no_slip(m, s)
    if which == DISSIPATION:
        room = real(INFINITY)
        if m[0].opt.energy_method == CONSTRAIN:
            most = m[0].opt.energetic[s.index % m[0].opt.energetic.shape[0]]
            room = (most - ONE) * kinetic
        return dissipation(m, s, room, kinetic)
    if which == LAW_NEWTON:
        return in_sequence(m, s, NEWTON)
    if which == LAW_POISSON:
        return in_sequence(m, s, POISSON)
    if which == LAW_STRONGE:
        return in_sequence(m, s, STRONGE)
    if which == CONE_POISSON:
        return together(m, s, CONE, True, ZERO)
    if which == LCP_POISSON:
        return together(m, s, LCP, True, ZERO)
    return together(m, s, which, False, ZERO)
