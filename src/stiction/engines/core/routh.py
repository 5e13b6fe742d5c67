r"""One contact with Coulomb friction, followed through its impact: Newton, Poisson, Stronge.

Routh's method [Routh1905]: the impact takes no time, but the normal impulse p grows from zero and
serves as one. With f = p_t' the friction for each unit of normal impulse,

$$ \frac{du}{dp} = W \begin{pmatrix} f \\ 1 \end{pmatrix}, \qquad
   f = -\mu_d \frac{u_t}{|u_t|} \text{ in slip}, \qquad
   f = -W_{tt}^{-1} W_{tn} \text{ in stick, if } |f| \le \mu_s. $$

Slip that stops either sticks, or starts again in the direction φ in which it then keeps:
$(\mu_d W_{tt} + \lambda) \phi = W_{tn}$ with λ > 0 and |φ| = 1, of which there is one. Compression
ends at p_c, where $u_n = 0$. Restitution ends by the law:

- Newton (kinematic): $u_n^+ = -e u_n^-$. With friction it can create energy [Kane1984].
- Poisson (kinetic): $p_r = e p_c$ [WangMason1992].
- Stronge (energetic): $W_r = -e^2 W_c$, the works of the normal impulse. Never creates energy
  [Stronge1990].

Where slip keeps its direction every piece is a straight line, and the answer is exact. In space the
direction turns while slip lasts, which is integrated; after slip has once stopped all is straight.
"""

import warp as wp

from .reals import (
    INFINITY,
    ONE,
    TINY,
    TWO,
    ZERO,
    mat33,
    real,
    tolerance,
    vec2,
    vec3,
)

NEWTON, POISSON, STRONGE = wp.constant(0), wp.constant(1), wp.constant(2)

_STEPS = wp.constant(2000)  # a bound; 10 to 100 are usual
_TURN = wp.constant(real(0.08))  # the most that slip may turn or change in a step [rad, -]
_ALIGNED = tolerance(1e-9, 1e-5)  # slip that turns less than this keeps its direction [rad]
# Slip slower than this part of u⁻ that slows down further stops where it points.
_STOPPED = tolerance(1e-10, 1e-6)
_REACHED = tolerance(1e-13, 1e-6)  # of the normal impulse: the end of a phase is reached
_STILL = tolerance(1e-15, 1e-7)  # slower slip at the start, part of u⁻, is none


@wp.func
def solve2(a: real, b: real, c: real, x: vec2):
    """[[a, b], [b, c]]⁻¹ x; the least solution where the matrix is singular."""
    det = a * c - b * b
    size = a + c
    if det > tolerance_rank() * size * size:
        return vec2(c * x[0] - b * x[1], a * x[1] - b * x[0]) / det
    if size > ZERO:
        return vec2(a * x[0] + b * x[1], b * x[0] + c * x[1]) / (size * size)
    return vec2()


@wp.func
def tolerance_rank():
    return real(1e-14)


@wp.func
def solve_tangents(W: mat33, x: vec2):
    return solve2(W[0, 0], W[0, 1], W[1, 1], x)


@wp.func
def restart(W: mat33, mu: real):
    """φ with (μ W_tt + λ) φ = W_tn, λ > 0, |φ| = 1: how slip starts from rest.

    |φ(λ)| falls, so Newton's method on 1/|φ| from below the root converges monotonically.
    """
    w = vec2(W[0, 2], W[1, 2])
    size = W[0, 0] + W[1, 1]
    strongest = wp.length(w)
    lam = wp.max(strongest - mu * size, _ALIGNED * (size + strongest) + TINY)
    phi = w
    for _ in range(8):
        a = mu * W[0, 0] + lam
        b = mu * W[0, 1]
        c = mu * W[1, 1] + lam
        phi = solve2(a, b, c, w)
        norm = wp.length(phi)
        slope = wp.dot(phi, solve2(a, b, c, phi))
        if slope > ZERO:
            lam = wp.max(lam + (norm - ONE) * norm * norm / slope, TINY)
    return wp.normalize(phi)


@wp.func
def slide_direction(W: mat33, u0: vec3, p: vec3, mu: real):
    """(f, 1) while slip lasts."""
    u = u0 + W * p
    u_t = vec2(u[0], u[1])
    speed = wp.length(u_t)
    if speed > ZERO:
        u_t = u_t / speed
    return vec3(-mu * u_t[0], -mu * u_t[1], ONE)


@wp.func
def until_zero(distance: real, rate: real):
    """How long until a distance is gone; never if it does not shrink."""
    if rate > ZERO:
        return distance / rate
    return INFINITY


@wp.func
def restitution_left(
    rule: int,
    e: real,
    p_c: real,
    w_c: real,
    p_n: real,
    work: real,
    u_n0: real,
    u_n: real,
    rate: real,
):
    """The normal impulse that is left of restitution, if nothing turns."""
    if rule == NEWTON:
        return until_zero(-e * u_n0 - u_n, rate)
    if rule == POISSON:
        return (ONE + e) * p_c - p_n
    # w + u_n Δ + ½ u_n' Δ² = (1 - e²) w_c
    missing = (ONE - e * e) * w_c - work
    square = u_n * u_n + TWO * rate * missing
    if square > ZERO:
        below = u_n + wp.sqrt(square)
        if below > ZERO:
            return TWO * missing / below
    return ZERO


@wp.func
def bent_step(W: mat33, u0: vec3, p: vec3, mu: real, h: real):
    """Impulse after a step in which slip turns, by Gauss's and Runge-Kutta's fourth order twice."""
    x = p
    half = h * real(0.5)
    for _ in range(2):
        k1 = slide_direction(W, u0, x, mu)
        k2 = slide_direction(W, u0, x + k1 * (half * real(0.5)), mu)
        k3 = slide_direction(W, u0, x + k2 * (half * real(0.5)), mu)
        k4 = slide_direction(W, u0, x + k3 * half, mu)
        x = x + (k1 + (k2 + k3) * TWO + k4) * (half / real(6.0))
    return x


@wp.func
def through_impact(rule: int, W: mat33, u0: vec3, e: real, mu_s: real, mu_d: real):
    """The impulse of one contact."""
    p = vec3()
    if u0[2] >= ZERO:
        return p
    size = wp.length(u0)
    w = vec2(W[0, 2], W[1, 2])
    strongest = wp.length(w) + mu_d * (W[0, 0] + W[1, 1])  # more than |u_t'| ever is
    smallest = _REACHED * wp.abs(u0[2]) / W[2, 2]
    hold = -solve_tangents(W, w)
    constant = vec3(hold[0], hold[1], ONE)
    if wp.length(hold) > mu_s:
        phi = restart(W, mu_d)
        constant = vec3(-mu_d * phi[0], -mu_d * phi[1], ONE)
    straight = wp.length(vec2(u0[0], u0[1])) <= _STILL * size
    compressed = bool(False)
    work = real(0.0)
    p_c = real(0.0)
    w_c = real(0.0)
    for _ in range(_STEPS):
        u = u0 + W * p
        speed = wp.length(vec2(u[0], u[1]))
        # Where a contact can only move along one line, slip ends together with compression.
        straight = straight or speed <= _STILL * size
        d = constant
        if not straight:
            d = slide_direction(W, u0, p, mu_d)
        du = W * d
        slows = real(0.0)
        if speed > ZERO:
            slows = (u[0] * du[0] + u[1] * du[1]) / speed
        turns = wp.sqrt(wp.max(du[0] * du[0] + du[1] * du[1] - slows * slows, ZERO))
        aligned = straight or turns <= _ALIGNED * strongest
        stops = not straight and slows < ZERO and (aligned or speed <= _STOPPED * size)
        to_stop = real(INFINITY)
        if stops:
            to_stop = -speed / slows
        to_end = until_zero(-u[2], du[2])
        if compressed:
            to_end = restitution_left(rule, e, p_c, w_c, p[2], work, u0[2], u[2], du[2])
        h = wp.min(to_stop, to_end)
        line = aligned or stops
        if not line:
            h = wp.min(h, _TURN * speed / wp.max(strongest, TINY))
        if not (h < INFINITY):
            return p
        old = p
        if line:
            p = p + d * h
        else:
            p = bent_step(W, u0, p, mu_d, h)
        # Work of the normal impulse: u_n is all but straight in p over a step (Simpson's rule).
        u_new = u0 + W * p
        middle = real(0.5) * (u[2] + u_new[2])
        if not line:
            u_half = u0 + W * bent_step(W, u0, old, mu_d, real(0.5) * h)
            middle = (u[2] + real(4.0) * u_half[2] + u_new[2]) / real(6.0)
        work += h * middle
        if to_stop < to_end:
            # Slip that has stopped is zero, whatever rounding left of it.
            left = solve_tangents(W, vec2(u_new[0], u_new[1]))
            p = p - vec3(left[0], left[1], ZERO)
            straight = True
        elif (line and h == to_end) or wp.abs(to_end) <= smallest:
            if compressed:
                return p
            compressed = True
            p_c = p[2]
            w_c = work
    return p
