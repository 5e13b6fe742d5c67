"""Commands that are constant or swing."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float, Scalar


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
