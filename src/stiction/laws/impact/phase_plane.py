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

It cancels near touch, near separation, and everywhere for small $d$. With $y = \ln(1 + d v)/d$
and $D = y_* - y$, for any $v_*$ on the same contour, the right side is

$$ v \, D \, \epsilon(d D) + D^2 \psi(d D), \qquad \epsilon(z) = (e^z - 1)/z $$

(docs/compliant.md, HC.11). Taking $v_* = v_i$ in compression and $v_* = -v_o$ in restitution makes
both terms positive.
"""

import jax.numpy as jnp

from stiction._base.arrays import Scalar, ScalarLike
from stiction.laws.impact.excess import exp_excess, exp_ratio, log_excess, log_ratio
from stiction.laws.impact.newton import newton_root
from stiction.laws.impact.rebound import rebound_speed

PEAK_FORCE_NEWTON_STEPS = 7
LOG_SWITCH_SPEED = 10.0  # d v_i at which 1 - d v_o is 2e-4


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
    v_i = jnp.asarray(speed)
    v_o = rebound_speed(v_i, d)
    inside = (v > -v_o) & (v < v_i)
    v = jnp.where(inside, v, 0.0)
    D = _log_distance(v, v_i, v_o, d)
    x = _depth(D * energy_over_distance(v, D, d), mass, stiffness, n)
    return jnp.where(inside, x, 0.0)


def energy_over_distance(v: Scalar, D: Scalar, d: Scalar) -> Scalar:
    r"""Elastic energy per mass and distance, $k x^{n+1}/(m (n+1) D)$ [m/s], by (HC.11)."""
    return v * exp_ratio(d * D) + D * exp_excess(d * D)


def log_velocities(v_i: Scalar, v_o: Scalar, d: Scalar) -> tuple[Scalar, Scalar]:
    r"""$y = \ln(1 + d v)/d$ at touch and at separation.

    The first integral reads $y_i - y_o = v_i + v_o$; $\ln(1 - d v_o)$ itself would lose its digits
    as $d v_o$ tends to 1.
    """
    y_i = v_i * log_ratio(d * v_i)
    return y_i, y_i - (v_i + v_o)


def _log_distance(v: Scalar, v_i: Scalar, v_o: Scalar, d: Scalar) -> Scalar:
    """D from the end of the same side: >= 0 in compression, <= 0 in restitution."""
    closing = v >= 0
    has_digits = closing | (d * v_i < LOG_SWITCH_SPEED)
    start = jnp.where(closing, v_i, -v_o)
    eta = jnp.where(has_digits, start - v, 0.0) / (1.0 + d * v)
    near = eta * log_ratio(d * eta)  # keeps its digits close to the end
    _, y_o = log_velocities(v_i, v_o, d)
    far = y_o - v * log_ratio(d * v)  # keeps them where 1 - d v_o has none
    return jnp.where(has_digits, near, far)


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

    # The residual is convex and rises; from a point where it is positive Newton cannot overshoot.
    guess = jnp.minimum(target * (n + 1.0) / n, 1.0)
    r = newton_root(residual, guess, steps=PEAK_FORCE_NEWTON_STEPS)
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
