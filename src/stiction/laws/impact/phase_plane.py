r"""Depth against velocity during a free Hunt-Crossley impact, and the peaks.

symbol  name         meaning                                       unit
x       depth        penetration                                   m
v       velocity     rate of penetration, from v_i down to -v_o    m/s
v_i     speed        speed of approach                             m/s
m       mass         mass of the body (reduced mass of two)        kg
k, n    stiffness,   elastic coefficient and exponent              N/m^n, -
        exponent
d       dissipation  Hunt-Crossley dissipation                     s/m

marhefka (19), with $d = \tfrac32 \alpha$, is

$$ \frac{k \, x^{n+1}}{m (n+1)} = \frac{(u_i - \ln(1 + u_i)) - (q - \ln(1 + q))}{d^2},
   \qquad u_i = d v_i, \; q = d v . $$

It cancels near touch, near separation, and everywhere for small $d$. With
$\eta = (v_* - v)/(1 + d v)$ the right side is $\eta v + \eta^2 \phi(d \eta)$ for any $v_*$ on
the same contour (docs/compliant.md, HC.11); taking $v_* = v_i$ in compression and $v_* = -v_o$
in restitution makes both terms positive.
"""

import jax
import jax.numpy as jnp

from stiction._arrays import Scalar, ScalarLike
from stiction.laws.impact.excess import log_excess
from stiction.laws.impact.rebound import rebound_speed

PEAK_FORCE_NEWTON_STEPS = 7


def depth_at_velocity(
    velocity: ScalarLike,
    *,
    speed: ScalarLike,
    dissipation: ScalarLike,
    mass: ScalarLike,
    stiffness: ScalarLike,
    exponent: ScalarLike = 1.0,
) -> Scalar:
    r"""Depth at which a free impact has a given velocity, marhefka (19), for any exponent.

    Args:
        velocity: Rate of penetration $v$ [m/s], between $-v_o$ and $v_i$; beyond, the depth is 0.
        speed: Speed of approach $v_i$ [m/s].
        dissipation: Dissipation $d$ [s/m]; $d = \tfrac32 \alpha$.
        mass: Mass $m$ [kg].
        stiffness: Elastic coefficient $k$ [N/m^n].
        exponent: Elastic exponent $n$ [-].

    Returns:
        Depth $x \ge 0$ [m].
    """
    v, d, n = jnp.asarray(velocity), jnp.asarray(dissipation), jnp.asarray(exponent)
    v_out = rebound_speed(speed, dissipation)
    inside = (v > -v_out) & (v < jnp.asarray(speed))
    v = jnp.where(inside, v, 0.0)
    start = jnp.where(v >= 0, speed, -v_out)
    eta = (start - v) / (1.0 + d * v)
    half_speed_squared = eta * v + jnp.square(eta) * log_excess(d * eta)
    x = _depth(half_speed_squared, mass, stiffness, n)
    return jnp.where(inside, x, 0.0)


def peak_depth(
    *,
    speed: ScalarLike,
    dissipation: ScalarLike,
    mass: ScalarLike,
    stiffness: ScalarLike,
    exponent: ScalarLike = 1.0,
) -> Scalar:
    r"""Greatest depth of a free impact [m], where $v = 0$ in marhefka (19):

    $$ x_m^{n+1} = \frac{m (n+1)}{k} \, v_i^2 \, \phi(d v_i) . $$
    """
    v_i = jnp.asarray(speed)
    half_speed_squared = jnp.square(v_i) * log_excess(jnp.asarray(dissipation) * v_i)
    return _depth(half_speed_squared, mass, stiffness, jnp.asarray(exponent))


def peak_force(
    *,
    speed: ScalarLike,
    dissipation: ScalarLike,
    mass: ScalarLike,
    stiffness: ScalarLike,
    exponent: ScalarLike = 1.0,
) -> Scalar:
    r"""Greatest force of a free impact [N].

    It comes before the greatest depth, at the velocity $v = r v_i$ where $\dot f = 0$, that is
    $n m v = k d x^{n+1}$; with (19) and $u = d v_i$

    $$ \frac{n}{n+1} \, r + u \, r^2 \phi(u r) = u \, \phi(u) . $$
    """
    v_i, d, n = jnp.asarray(speed), jnp.asarray(dissipation), jnp.asarray(exponent)
    u = d * v_i
    target = u * log_excess(u)

    def residual(r: Scalar) -> Scalar:
        return n / (n + 1.0) * r + u * jnp.square(r) * log_excess(u * r) - target

    def newton(f, r: Scalar) -> Scalar:
        for _ in range(PEAK_FORCE_NEWTON_STEPS):
            value, slope = jax.jvp(f, (r,), (jnp.ones_like(r),))
            r = r - value / slope
        return r

    # The residual is convex and rises; from a point where it is positive Newton cannot overshoot.
    guess = jnp.minimum(target * (n + 1.0) / n, 1.0)
    r = jax.lax.custom_root(residual, guess, newton, lambda g, y: y / g(jnp.ones_like(y)))
    x = depth_at_velocity(
        r * v_i, speed=v_i, dissipation=d, mass=mass, stiffness=stiffness, exponent=n
    )
    return jnp.asarray(stiffness) * x**n * (1.0 + u * r)


def _depth(
    half_speed_squared: Scalar, mass: ScalarLike, stiffness: ScalarLike, n: Scalar
) -> Scalar:
    """x from k x^(n+1) / (m (n+1)); 0 for no speed, with finite derivatives."""
    moving = half_speed_squared > 0
    energy = jnp.where(moving, half_speed_squared, 1.0) * jnp.asarray(mass)
    x = ((n + 1.0) * energy / jnp.asarray(stiffness)) ** (1.0 / (n + 1.0))
    return jnp.where(moving, x, 0.0)
