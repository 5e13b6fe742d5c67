r"""Rebound of a body on a linear spring and damper, exactly.

symbol  name           meaning                                          unit
ω       -              natural frequency, ω = sqrt(k/m)                 rad/s
ζ       damping_ratio  damping over critical damping, ζ = b/(2 sqrt(k m))  -

The restitution depends on $\zeta$ alone: on the mass, and not on the speed. Many engines are such
a law underneath, so that this is also what their numbers mean (`stiction.interop`).
"""

import jax
import jax.numpy as jnp

from stiction._base.arrays import Scalar, ScalarLike
from stiction.laws.impact.newton import newton_root

NEWTON_STEPS = 8
SERIES_SWITCH = 0.2
SERIES_TERMS = 16  # ratio tends to (1 - ζ)/2: at the switch the first term left out is 1e-17


def damping_ratio(*, mass: ScalarLike, stiffness: ScalarLike, damping: ScalarLike) -> Scalar:
    r"""$\zeta = b / (2 \sqrt{k m})$ [-]."""
    return jnp.asarray(damping) / (2.0 * jnp.sqrt(jnp.asarray(stiffness) * jnp.asarray(mass)))


def spring_damper_restitution(damping_ratio: ScalarLike, *, clamp: bool = True) -> Scalar:
    r"""Restitution of a free impact on a linear spring and damper.

    Unclamped, the bodies part where the depth returns to zero, after the force has pulled,
    marhefka (4): $e = \exp(-\pi \zeta / \sqrt{1 - \zeta^2})$, and 0 for $\zeta \ge 1$. Clamped,
    they part where the force returns to zero:

    $$ e = \exp\left( -2 \zeta \, \frac{\arccos \zeta}{\sqrt{1 - \zeta^2}} \right) , $$

    for $\zeta > 1$ with arcosh and $\sqrt{\zeta^2 - 1}$; $e^{-2}$ at critical damping
    ([SchwagerPoschel2007] has the same in another form; derived in docs/compliant.md, HC.16).

    Args:
        damping_ratio: Damping ratio $\zeta \ge 0$ [-].
        clamp: Whether the force is kept from pulling.
    """
    zeta = jnp.asarray(damping_ratio)
    if clamp:
        return jnp.exp(-2.0 * zeta * _angle_over_sine(zeta))
    under = zeta < 1
    safe = jnp.where(under, zeta, 0.0)
    e = jnp.exp(-jnp.pi * safe / jnp.sqrt(1.0 - jnp.square(safe)))
    return jnp.where(under, e, 0.0)


def damping_ratio_for_restitution(restitution: ScalarLike, *, clamp: bool = True) -> Scalar:
    r"""The damping ratio that gives a wanted restitution in (0, 1] (inverse of the above).

    Unclamped it is $\zeta = -\ln e / \sqrt{\pi^2 + \ln^2 e}$; clamped it is found by Newton's
    method on $\ln e$.
    """
    loss = -jnp.log(jnp.asarray(restitution))
    if not clamp:
        return loss / jnp.hypot(loss, jnp.pi)
    return _clamped_ratio(loss)


@jax.jit  # once for all calls: the loop inside would else be traced, and stored, by each
def _clamped_ratio(loss: Scalar) -> Scalar:
    def residual(zeta: Scalar) -> Scalar:
        return 2.0 * zeta * _angle_over_sine(zeta) - loss

    # Slope π at 0; exp(loss/2)/2 far above critical damping.
    guess = jnp.minimum(loss / jnp.pi * (1.0 + loss / 4.0), 0.5 * jnp.exp(0.5 * loss))
    return newton_root(residual, guess, steps=NEWTON_STEPS)


def spring_damper_peak_depth(
    *, speed: ScalarLike, mass: ScalarLike, stiffness: ScalarLike, damping: ScalarLike
) -> Scalar:
    r"""Greatest depth of a free impact [m]: $x_m = (v_i/\omega) \sqrt{e}$ with the clamped $e$.

    The turn lies midway in time between touch and the zero of the force, so that it has half of
    the exponent.
    """
    zeta = damping_ratio(mass=mass, stiffness=stiffness, damping=damping)
    omega = jnp.sqrt(jnp.asarray(stiffness) / jnp.asarray(mass))
    return jnp.asarray(speed) / omega * jnp.sqrt(spring_damper_restitution(zeta))


def _angle_over_sine(zeta: Scalar) -> Scalar:
    """arccos(ζ)/sqrt(1 - ζ²), continued smoothly through ζ = 1 and beyond."""
    near_one = jnp.abs(1.0 - zeta) < SERIES_SWITCH
    below = jnp.where(near_one | (zeta > 1), 0.0, zeta)
    above = jnp.where(near_one | (zeta < 1), 2.0, zeta)
    gap = jnp.where(near_one, 1.0 - zeta, 0.0)
    near = jnp.ones_like(gap)
    for k in reversed(range(1, SERIES_TERMS + 1)):  # Σ 2^k (k!)²/(2k+1)! (1-ζ)^k, by ratios
        near = 1.0 + near * gap * k / (2 * k + 1)
    under = jnp.arccos(below) / jnp.sqrt(1.0 - jnp.square(below))
    over = jnp.arccosh(above) / jnp.sqrt(jnp.square(above) - 1.0)
    return jnp.where(near_one, near, jnp.where(zeta < 1, under, over))
