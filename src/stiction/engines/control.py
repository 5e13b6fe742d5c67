"""Controls: functions of (t, q, v, modes) that give every actuator its command.

`modes` holds 0 (open), 1 (stick) or 2 (slip) for each contact and is empty in free motion. A
control is any callable; those with array fields are `eqx.Module`s, so that their numbers can be
changed, batched and differentiated without compiling again.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from stiction._arrays import Array, Float, Scalar


class HarmonicControl(eqx.Module):
    """u = offset + amplitude sin(2π frequency t + phase), an entry for each actuator."""

    offset: Float[Array, "nu"]
    amplitude: Float[Array, "nu"]
    frequency: Float[Array, "nu"]  # [Hz]
    phase: Float[Array, "nu"]  # [rad]

    def __call__(self, t: Scalar, q: Array, v: Array, modes: Array) -> Float[Array, "nu"]:
        del q, v, modes
        angle = 2 * jnp.pi * self.frequency * t + self.phase
        return self.offset + self.amplitude * jnp.sin(angle)


def no_control(nu: int) -> HarmonicControl:
    """Every command zero: motors are passive, servos hold zero."""
    zero = jnp.asarray(np.zeros(nu))
    return HarmonicControl(zero, zero, zero, zero)
