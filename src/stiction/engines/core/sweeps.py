r"""Projected Gauss-Seidel for Coulomb's law at many contacts: see `cone`.

A sweep brings one contact after the other to its law while the others stay. Sweeps are carried on
in the direction of those before, as conjugate gradients are [Silcowitz2010].
"""

import warp as wp

from .layout import TANGENTS, Machines
from .links import first_of, get_block, lever_of, move_links, n_links, own_of
from .reals import (
    EPSILON,
    TINY,
    ZERO,
    World,
    copy,
    dot_three,
    fill,
    get,
    get6,
    get_int,
    put,
    put6,
    real,
    vec2,
    vec6,
)
from .rows import first_row, n_active, pair_of, times_W
from .sliding import APART, SLIDING

_FLAT = wp.constant(real(1e-12))  # determinant of tangents, part of its scale, that is zero


@wp.func
def sweep(m: Machines, s: World, n: int, b: int, x: int):
    """One pass over the contacts."""
    for k in range(n_active(m, s)):
        begin = first_row(m, s, k)
        normal = first_row(m, s, k + 1) - 1
        if get_int(s, m[0].c.fixed + k) == APART:
            fill(s, x + begin, normal + 1 - begin, ZERO)
            continue
        mu = get(s, m[0].c.mu + k)
        floor = get(s, m[0].c.floor + k)
        W_nn = wp.max(get(s, m[0].c.W + normal * n + normal), TINY)
        if get_int(s, m[0].c.fixed + k) == SLIDING:
            d = m[0].c.heading + TANGENTS * pair_of(m, s, k)
            for j in range(normal - begin):
                W_nn -= mu * get(s, d + j) * get(s, m[0].c.W + normal * n + begin + j)
            u_n = get(s, b + normal) + times_W(m, s, n, normal, x)
            x_n = floor
            if W_nn > ZERO:
                x_n = wp.max(get(s, x + normal) - u_n / W_nn, floor)
            put(s, x + normal, x_n)
            for j in range(normal - begin):
                put(s, x + begin + j, -mu * x_n * get(s, d + j))
        else:
            put_velocities(m, s, n, b, x, begin, normal)
            before = get(s, x + normal)
            x_n = wp.max(before - get(s, m[0].c.work + normal) / W_nn, floor)
            put(s, x + normal, x_n)
            for r in range(begin, normal):
                u = get(s, m[0].c.work + r) + (x_n - before) * get(s, m[0].c.W + normal * n + r)
                put(s, m[0].c.work + r, u)
            rub(m, s, n, x, begin, normal, mu * x_n)


@wp.func
def put_velocities(m: Machines, s: World, n: int, b: int, x: int, begin: int, normal: int):
    """b + W x of a contact's rows, into `work`."""
    if normal - begin == 2:
        u = dot_three(s, m[0].c.W + begin * n, x, n)
        for j in range(3):
            put(s, m[0].c.work + begin + j, get(s, b + begin + j) + u[j])
    else:
        for r in range(begin, normal + 1):
            put(s, m[0].c.work + r, get(s, b + r) + times_W(m, s, n, r, x))


@wp.func
def rub(m: Machines, s: World, n: int, x: int, begin: int, normal: int, reach: real):
    """Friction of a contact whose velocities are in `work`: what stops it if that is within reach,
    else what is nearest to a step against the slip.
    """
    W = m[0].c.W + begin * n + begin
    W_nn = get(s, m[0].c.W + normal * n + normal)
    if normal - begin == 2:
        f = vec2(get(s, x + begin), get(s, x + begin + 1))
        u = vec2(get(s, m[0].c.work + begin), get(s, m[0].c.work + begin + 1))
        f = rub_in_plane(f, u, get(s, W), get(s, W + 1), get(s, W + n + 1), W_nn, reach)
        put(s, x + begin, f[0])
        put(s, x + begin + 1, f[1])
        return
    rho = EPSILON * W_nn  # tangents may be unable to move
    for r in range(begin, normal):
        rho += get(s, m[0].c.W + r * n + r)
    size = real(0.0)
    for r in range(begin, normal):
        value = get(s, x + r) - get(s, m[0].c.work + r) / rho
        put(s, m[0].c.work + r, value)
        size += value * value
    size = wp.sqrt(size)
    share = real(1.0)
    if size > reach:
        share = reach / size
    for r in range(begin, normal):
        put(s, x + r, share * get(s, m[0].c.work + r))


@wp.func
def rub_in_plane(f: vec2, u: vec2, W_11: real, W_12: real, W_22: real, W_nn: real, reach: real):
    """`rub` for two tangents: their friction from what it was, and from their velocities."""
    rho = EPSILON * W_nn + W_11 + W_22
    det = W_11 * W_22 - W_12 * W_12
    stop = vec2(W_22 * u[0] - W_12 * u[1], W_11 * u[1] - W_12 * u[0])
    held = f - stop / wp.max(det, TINY)
    if det > _FLAT * rho * rho and wp.dot(held, held) <= reach * reach:
        return held
    held = f - u / rho
    size = wp.length(held)
    if size > reach:
        held = held * (reach / size)
    return held


@wp.func
def sweep_links(m: Machines, s: World, b: int, x: int):
    """One pass over the contacts of links that stand for them; V is kept up."""
    count = n_links(m, s)
    for l in range(count):
        V = get6(s, m[0].c.V + 6 * l)
        G = get_block(m, s, l, l)
        pushed = vec6()
        for k in range(first_of(m, s, l), first_of(m, s, l + 1)):
            r = first_row(m, s, k)
            one = get6(s, lever_of(m, r))
            two = get6(s, lever_of(m, r + 1))
            up = get6(s, lever_of(m, r + 2))
            own = m[0].c.own + 9 * k
            W_nn = wp.max(get(s, own + 8), TINY)
            before = get(s, x + r + 2)
            u_n = get(s, b + r + 2) + wp.dot(up, V)
            x_n = wp.max(before - u_n / W_nn, get(s, m[0].c.floor + k))
            f = vec2(get(s, x + r), get(s, x + r + 1))
            u = vec2(get(s, b + r) + wp.dot(one, V), get(s, b + r + 1) + wp.dot(two, V))
            u += vec2(get(s, own + 6), get(s, own + 7)) * (x_n - before)
            reach = get(s, m[0].c.mu + k) * x_n
            held = rub_in_plane(
                f, u, get(s, own), get(s, own + 1), get(s, own + 4), get(s, own + 8), reach
            )
            put(s, x + r, held[0])
            put(s, x + r + 1, held[1])
            put(s, x + r + 2, x_n)
            F = one * (held[0] - f[0]) + two * (held[1] - f[1]) + up * (x_n - before)
            pushed += F
            V += G * F
        put6(s, m[0].c.V + 6 * l, V)
        for o in range(count):
            if o != l:
                to = m[0].c.V + 6 * o
                put6(s, to, get6(s, to) + get_block(m, s, o, l) * pushed)


@wp.func
def carry_on(s: World, x: int, old: int, way: int, n: int, part: real):
    """Go on as x went in the last sweep, and a part of the way before."""
    for r in range(n):
        ahead = real(0.0)
        if part > ZERO:
            ahead = part * get(s, way + r)
        put(s, way + r, ahead + get(s, x + r) - get(s, old + r))
        put(s, x + r, get(s, x + r) + ahead)


@wp.func(inline=False)
def sweep_along(m: Machines, s: World, n: int, b: int, x: int, most: int, enough: real):
    """So many sweeps at most; whether the last one changed velocities by less than `enough`.

    It ends on a plain sweep, so that impulses are inside their cones.
    """
    old = m[0].c.unknown
    way = m[0].c.work + 2 * m[0].c.capacity
    moved = 6 * n_links(m, s)
    if moved > 0:
        move_links(m, s, x)
    last = real(0.0)
    for turn in range(most):
        copy(s, old, x, n)
        if moved > 0:
            copy(s, m[0].c.V_old, m[0].c.V, moved)
            sweep_links(m, s, b, x)
        else:
            sweep(m, s, n, b, x)
        change = real(0.0)
        size = real(0.0)
        for k in range(n_active(m, s)):
            begin = first_row(m, s, k)
            for r in range(begin, first_row(m, s, k + 1)):
                d = get(s, x + r) - get(s, old + r)
                W = own_of(m, s, n, k, r - begin, r - begin)
                change = wp.max(change, wp.abs(d) * W)
                size += d * d
        if change <= enough:
            return True
        if turn == most - 1:
            break
        part = real(0.0)
        if turn > 0 and size <= last:
            part = size / last
        last = size
        carry_on(s, x, old, way, n, part)
        carry_on(s, m[0].c.V, m[0].c.V_old, m[0].c.V_way, moved, part)
    return False
