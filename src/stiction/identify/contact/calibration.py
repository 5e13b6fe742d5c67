"""What the setup may have slightly wrong about frames, sizes and the sensor's mounting.

Small corrections of a contact model, all zero where the setup is right. They act on the motion
before contacts are looked for, on plates and shapes, and on the wrench as the sensor has it.
"""

import equinox as eqx
import jax.numpy as jnp

from stiction._base.arrays import Array, Float
from stiction.identify.contact.geometry import BodyState, skew


class Calibration(eqx.Module):
    """Corrections of a setup."""

    # rotation vector of the wrench sensor's axes against the stated ones [rad]
    sensor_turn: Float[Array, "3"]
    # of the wrench's reference point against the stated one, its axes [m]
    sensor_point: Float[Array, "3"]
    # rotation vector of the motion sensor's world against the plates' [rad]
    frame_turn: Float[Array, "3"]
    # rotation vector of the body in the tracked frame, beyond the stated one [rad]
    tool_turn: Float[Array, "3"]
    tool_offset: Float[Array, "3"]  # of the body in the tracked frame, beyond the stated one [m]
    plates: Float[Array, " n_plates"]  # how far each plate stands out of its stated place [m]
    size: Float[Array, ""]  # relative growth of the body's shapes about its origin

    @staticmethod
    def none(n_plates: int) -> "Calibration":
        """No correction."""
        zero = jnp.zeros(3)
        return Calibration(zero, zero, zero, zero, zero, jnp.zeros(n_plates), jnp.zeros(()))

    def moved(self, motion: BodyState) -> BodyState:
        """The body's motion in the plates' world, from that of the tracked frame."""
        W = small_turn(self.frame_turn)
        R = W @ motion.rotation @ small_turn(self.tool_turn)
        omega = W @ motion.angular_velocity
        arm = R @ self.tool_offset
        return BodyState(
            W @ motion.position + arm,
            R,
            W @ motion.velocity + skew(omega) @ arm,
            omega,
        )


def small_turn(r: Float[Array, "3"]) -> Float[Array, "3 3"]:
    """The rotation of a small rotation vector, by Cayley's map, smooth at 0."""
    G = skew(r / 2)
    return jnp.eye(3) + (G + G @ G) * (2 / (1 + r @ r / 4))
