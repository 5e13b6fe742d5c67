r"""A convex neighbour of Coulomb's law, solved from inside the cones.

Coulomb's law is that of a convex problem once the slip speeds are known [DeSaxce1998]: with
$s = \mu |u_t|$ the pair (x, u + s n) is complementary in the cone and its dual,

$$ x \in K , \quad W x + b + s n \in K^* , \quad x^T (W x + b + s n) = 0 , \qquad
   K: |x_t| \le \mu x_n . $$

Lengths along normals are counted in units that make all cones round, y = (μ x_n, x_t) and
z = ((u_n + s)/μ, u_t). Mehrotra's predictor and corrector goes along the central path, in the
scaling of Nesterov and Todd [NesterovTodd1998]: some fifteen factorisations,
however redundant the contacts are. What it finds has few digits, but tells who sticks, slides and
lets go: Newton's method needs no more.
"""

import warp as wp

from .algebra import cholesky, solve_cholesky
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
    real,
    tolerance,
    vec2,
)
from .rows import first_row, n_active, n_rows

_STEPS = wp.constant(30)
_NEAR = tolerance(1e-12, 1e-5)  # distance from the solution, part of the size of the problem
_SHORT = wp.constant(real(1e-6))  # steps that get nowhere
_INSIDE = wp.constant(real(0.995))  # of the way to the boundary
_LEAST = tolerance(1e-30, 1e-20)  # pivots

# Rows of numbers that the method needs, see `slot`.
_Y, _Z, _W, _LAMBDA, _DY, _DZ, _T, _ETA, SLIP_SPEEDS, _R = (wp.constant(i) for i in range(10))


@wp.func
def slot(m: Machines, which: int):
    """In the scratch of impact laws, behind what they keep there while cones are solved."""
    cap = m[0].c.capacity
    return m[0].c.scratch + 3 * cap * cap + (2 + which) * cap


@wp.func
def cone_begin(m: Machines, s: World, k: int):
    """First row of contact k's cone; its axis is the normal row. Without friction that is all."""
    if get(s, m[0].c.mu + k) > ZERO:
        return first_row(m, s, k)
    return first_row(m, s, k + 1) - 1


@wp.func
def cone_scale(m: Machines, s: World, k: int, r: int):
    """x_r in units of y_r."""
    mu = get(s, m[0].c.mu + k)
    if r == first_row(m, s, k + 1) - 1 and mu > ZERO:
        return ONE / mu
    return ONE


@wp.func
def is_convex(m: Machines, s: World):
    """Whether all contacts are free to do what they will, and press if they like."""
    for k in range(n_active(m, s)):
        if get_int(s, m[0].c.fixed + k) != 0 or get(s, m[0].c.floor + k) > ZERO:
            return False
    return True


@wp.func
def hyperbolic(s: World, a: int, b: int, begin: int, axis: int):
    """a_n b_n - a_t · b_t."""
    total = get(s, a + axis) * get(s, b + axis)
    for r in range(begin, axis):
        total -= get(s, a + r) * get(s, b + r)
    return total


@wp.func
def inner(s: World, a: int, b: int, begin: int, axis: int):
    total = real(0.0)
    for r in range(begin, axis + 1):
        total += get(s, a + r) * get(s, b + r)
    return total


@wp.func
def scale_by(s: World, w: int, v: int, to: int, begin: int, axis: int, sign: real, factor: real):
    """to = factor V v; V is the root of 2 w wᵀ - J, with w_t turned round where sign is -1."""
    w_n = get(s, w + axis)
    v_n = get(s, v + axis)
    along = real(0.0)
    for r in range(begin, axis):
        along += sign * get(s, w + r) * get(s, v + r)
    put(s, to + axis, factor * (w_n * v_n + along))
    for r in range(begin, axis):
        w_r = sign * get(s, w + r)
        put(s, to + r, factor * (get(s, v + r) + w_r * (v_n + along / (ONE + w_n))))


@wp.func
def to_boundary(m: Machines, s: World, v: int, d: int):
    """How far v may go along d and stay in the cones; 1 at most."""
    most = real(1.0)
    for k in range(n_active(m, s)):
        begin = cone_begin(m, s, k)
        axis = first_row(m, s, k + 1) - 1
        a = hyperbolic(s, d, d, begin, axis)
        b = hyperbolic(s, v, d, begin, axis)
        c = hyperbolic(s, v, v, begin, axis)
        if get(s, d + axis) < ZERO:
            most = wp.min(most, -_INSIDE * get(s, v + axis) / get(s, d + axis))
        # The first root of a t² + 2 b t + c, which is positive at 0.
        inside = b * b - a * c
        if inside >= ZERO:
            q = -(b + wp.sqrt(inside))
            if b < ZERO:
                q = -(b - wp.sqrt(inside))
            if q * a > ZERO:
                most = wp.min(most, _INSIDE * q / a)
            if q * c > ZERO:
                most = wp.min(most, _INSIDE * c / q)
    return most


@wp.func
def gap_of(m: Machines, s: World):
    """yᵀ z of a contact on the average."""
    total = real(0.0)
    count = n_active(m, s)
    for k in range(count):
        begin = cone_begin(m, s, k)
        axis = first_row(m, s, k + 1) - 1
        total += inner(s, slot(m, _Y), slot(m, _Z), begin, axis)
    return total / real(count)


@wp.func
def scaled_W(m: Machines, s: World, n: int, k: int, r: int, v: int):
    """Entry r of W y, of contact k."""
    total = real(0.0)
    for j in range(n_active(m, s)):
        axis = first_row(m, s, j + 1) - 1
        for i in range(cone_begin(m, s, j), axis + 1):
            total += get(s, m[0].c.W + r * n + i) * cone_scale(m, s, j, i) * get(s, v + i)
    return cone_scale(m, s, k, r) * total


@wp.func
def residuals(m: Machines, s: World, n: int, b: int):
    """R = W y + c - z; its largest entry."""
    most = real(0.0)
    for k in range(n_active(m, s)):
        axis = first_row(m, s, k + 1) - 1
        for r in range(cone_begin(m, s, k), axis + 1):
            c = get(s, b + r)
            if r == axis:
                c += get(s, slot(m, SLIP_SPEEDS) + k)
            value = scaled_W(m, s, n, k, r, slot(m, _Y)) + cone_scale(m, s, k, r) * c
            value -= get(s, slot(m, _Z) + r)
            put(s, slot(m, _R) + r, value)
            most = wp.max(most, wp.abs(value))
    return most


@wp.func
def scale_and_factor(m: Machines, s: World, n: int):
    """The point w and factor η of each cone, λ = η V z = (η V)⁻¹ y, and W + (η V)⁻² factored."""
    A = m[0].c.A
    y, z, w = slot(m, _Y), slot(m, _Z), slot(m, _W)
    fill(s, A, n * n, ZERO)
    for r in range(n):
        put(s, A + r * n + r, ONE)  # rows of no cone
    for k in range(n_active(m, s)):
        begin = cone_begin(m, s, k)
        axis = first_row(m, s, k + 1) - 1
        y_size = wp.sqrt(wp.max(hyperbolic(s, y, y, begin, axis), TINY))
        z_size = wp.sqrt(wp.max(hyperbolic(s, z, z, begin, axis), TINY))
        both = inner(s, y, z, begin, axis) / (y_size * z_size)
        gamma = wp.sqrt(HALF * (ONE + both))
        for r in range(begin, axis + 1):
            mirrored = get(s, z + r) / z_size
            if r < axis:
                mirrored = -mirrored
            put(s, w + r, HALF / gamma * (get(s, y + r) / y_size + mirrored))
        eta = wp.sqrt(y_size / z_size)
        put(s, slot(m, _ETA) + k, eta)
        scale_by(s, w, z, slot(m, _LAMBDA), begin, axis, ONE, eta)
        for j in range(n_active(m, s)):
            for r in range(begin, axis + 1):
                for i in range(cone_begin(m, s, j), first_row(m, s, j + 1)):
                    value = cone_scale(m, s, k, r) * cone_scale(m, s, j, i)
                    put(s, A + r * n + i, value * get(s, m[0].c.W + r * n + i))
        # (η V)⁻² = (2 J w (J w)ᵀ - J) / η².
        for r in range(begin, axis + 1):
            for i in range(begin, axis + 1):
                value = TWO * get(s, w + r) * get(s, w + i)
                if (r < axis) != (i < axis):
                    value = -value
                if r == i and r < axis:
                    value += ONE
                if r == i and r == axis:
                    value -= ONE
                to = A + r * n + i
                put(s, to, get(s, to) + value / (eta * eta))
    cholesky(s, A, n, _LEAST)


@wp.func(inline=False)
def direction(m: Machines, s: World, n: int, centre: real, corrected: bool):
    """dy and dz towards the point of the central path with yᵀ z = `centre` of each contact.

    λ ∘ ((η V)⁻¹ dy + η V dz) = centre e - λ ∘ λ, less the product of the last direction's parts if
    that is to be corrected; W dy - dz = -R.
    """
    w, t, lam = slot(m, _W), slot(m, _T), slot(m, _LAMBDA)
    dy, dz = slot(m, _DY), slot(m, _DZ)
    right = m[0].c.unknown
    fill(s, right, n, ZERO)
    for k in range(n_active(m, s)):
        begin = cone_begin(m, s, k)
        axis = first_row(m, s, k + 1) - 1
        eta = get(s, slot(m, _ETA) + k)
        # t := the right-hand side.
        along = ZERO
        if corrected:
            scale_by(s, w, dy, t, begin, axis, -ONE, ONE / eta)
            scale_by(s, w, dz, dy, begin, axis, ONE, eta)  # dy is not needed any more
            along = inner(s, t, dy, begin, axis)
            t_n = get(s, t + axis)
            for r in range(begin, axis):
                put(s, t + r, -t_n * get(s, dy + r) - get(s, dy + axis) * get(s, t + r))
        else:
            fill(s, t + begin, axis - begin, ZERO)
        l_n = get(s, lam + axis)
        for r in range(begin, axis):
            put(s, t + r, get(s, t + r) - TWO * l_n * get(s, lam + r))
        put(s, t + axis, centre - along - inner(s, lam, lam, begin, axis))
        # t := λ \ t.
        size = hyperbolic(s, lam, lam, begin, axis)
        first = l_n * get(s, t + axis)
        for r in range(begin, axis):
            first -= get(s, lam + r) * get(s, t + r)
        first = first / wp.max(size, TINY)
        put(s, t + axis, first)
        for r in range(begin, axis):
            put(s, t + r, (get(s, t + r) - get(s, lam + r) * first) / l_n)
        # (W + (η V)⁻²) dy = (η V)⁻¹ t - R.
        scale_by(s, w, t, right, begin, axis, -ONE, ONE / eta)
        for r in range(begin, axis + 1):
            put(s, right + r, get(s, right + r) - get(s, slot(m, _R) + r))
    solve_cholesky(s, m[0].c.A, n, right)
    copy(s, dy, right, n)
    for k in range(n_active(m, s)):
        for r in range(cone_begin(m, s, k), first_row(m, s, k + 1)):
            put(s, dz + r, scaled_W(m, s, n, k, r, dy) + get(s, slot(m, _R) + r))


@wp.func
def begin_inside(m: Machines, s: World, n: int, b: int):
    """y and z on the axes of their cones; the size of both."""
    speed = real(TINY)
    stiff = real(TINY)
    fill(s, slot(m, _Y), n, ZERO)
    fill(s, slot(m, _Z), n, ZERO)
    for k in range(n_active(m, s)):
        axis = first_row(m, s, k + 1) - 1
        for r in range(cone_begin(m, s, k), axis + 1):
            t = cone_scale(m, s, k, r)
            c = get(s, b + r)
            if r == axis:
                c += get(s, slot(m, SLIP_SPEEDS) + k)
            speed = wp.max(speed, t * wp.abs(c))
            stiff = wp.max(stiff, t * t * get(s, m[0].c.W + r * n + r))
    for k in range(n_active(m, s)):
        axis = first_row(m, s, k + 1) - 1
        put(s, slot(m, _Y) + axis, speed / stiff)
        put(s, slot(m, _Z) + axis, speed)
    return vec2(speed / stiff, speed)


@wp.func(inline=False)
def solve_convex(m: Machines, s: World, b: int, x: int):
    """x of the convex problem with the slip speeds in their slot; these are made anew by it."""
    n = n_rows(m, s)
    y, z = slot(m, _Y), slot(m, _Z)
    size = begin_inside(m, s, n, b)
    for _ in range(_STEPS):
        miss = residuals(m, s, n, b)
        gap = gap_of(m, s)
        if miss <= _NEAR * size[1] and gap <= _NEAR * size[0] * size[1]:
            break
        scale_and_factor(m, s, n)
        direction(m, s, n, ZERO, False)
        ahead = wp.min(to_boundary(m, s, y, slot(m, _DY)), to_boundary(m, s, z, slot(m, _DZ)))
        centre = (ONE - ahead) * (ONE - ahead) * (ONE - ahead) * gap
        direction(m, s, n, centre, True)
        part = wp.min(to_boundary(m, s, y, slot(m, _DY)), to_boundary(m, s, z, slot(m, _DZ)))
        # At the end of what rounding allows steps are short, or not numbers.
        change = dot(s, slot(m, _DY), slot(m, _DY), n) + dot(s, slot(m, _DZ), slot(m, _DZ), n)
        if part <= _SHORT or not change < INFINITY:
            break
        for r in range(n):
            put(s, y + r, get(s, y + r) + part * get(s, slot(m, _DY) + r))
            put(s, z + r, get(s, z + r) + part * get(s, slot(m, _DZ) + r))
    fill(s, x, n, ZERO)
    for k in range(n_active(m, s)):
        axis = first_row(m, s, k + 1) - 1
        slip = real(0.0)
        for r in range(cone_begin(m, s, k), axis + 1):
            put(s, x + r, cone_scale(m, s, k, r) * get(s, y + r))
            if r < axis:
                slip += get(s, z + r) * get(s, z + r)
        put(s, slot(m, SLIP_SPEEDS) + k, get(s, m[0].c.mu + k) * wp.sqrt(slip))
