r"""Rebound of a free impact with one dissipation in compression and another in restitution.

Compression takes the speed $v_i$ to the depth where the energy stored is that of the speed
$v_e = v_i \sqrt{2 \phi(d_c v_i)}$ (docs/compliant.md, HC.9). Restitution returns it: with
$s = -\ln(1 - d_r v_o)/d_r$,

$$ s \sqrt{2 \psi(-d_r s)} = v_e, \qquad v_o = s \, \frac{1 - e^{-d_r s}}{d_r s} . $$

Mass, stiffness and exponent drop out, as for the symmetric law.
"""

import jax
import jax.numpy as jnp

from stiction._base.arrays import Scalar, ScalarLike
from stiction.laws.impact.excess import exp_excess, exp_ratio, log_excess
from stiction.laws.impact.newton import newton_root

NEWTON_STEPS = 6  # the guess is right to a factor of 2; tested up to d v = 1e6


@jax.jit
def asymmetric_rebound_speed(
    speed: ScalarLike,
    compression_dissipation: ScalarLike,
    restitution_dissipation: ScalarLike,
) -> Scalar:
    """Speed of rebound [m/s] of `AsymmetricHuntCrossley` in a free impact.

    Args:
        speed: Speed of approach $v_i$ [m/s].
        compression_dissipation: Dissipation $d_c$ [s/m] while closing.
        restitution_dissipation: Dissipation $d_r$ [s/m] while parting. With both equal this is
            `rebound_speed`.
    """
    v_i, d_c = jnp.asarray(speed), jnp.asarray(compression_dissipation)
    d_r = jnp.asarray(restitution_dissipation)
    v_e = v_i * jnp.sqrt(2.0 * log_excess(d_c * v_i))

    def residual(s: Scalar) -> Scalar:
        return s * jnp.sqrt(2.0 * exp_excess(-d_r * s)) - v_e

    s = newton_root(residual, v_e * (1.0 + 0.5 * d_r * v_e), steps=NEWTON_STEPS)
    return s * exp_ratio(-d_r * s)
