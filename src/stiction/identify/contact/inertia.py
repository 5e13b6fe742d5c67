"""The wrench of inertia on a sensor that moves along with the body (ma 24)."""

import equinox as eqx
import jax.numpy as jnp

from stiction._base.arrays import Array, Float, Vector3
from stiction.identify.contact.geometry import BodyState, skew


class CarriedInertia(eqx.Module):
    """What hangs on the sensor beside the contact."""

    mass: Float[Array, ""]  # [kg]
    center: Float[Array, "3"]  # centre of mass in the body's frame [m]
    matrix: Float[Array, "3 3"]  # about the centre of mass, body axes [kg·m²]
    gravity: Float[Array, "3"]  # world axes [m/s²]; zero for a sensor that was tared


def inertial_wrench(
    inertia: CarriedInertia,
    motion: BodyState,
    acceleration: Vector3,
    angular_acceleration: Vector3,
    reference: Vector3,
) -> Float[Array, "6"]:
    r"""The wrench that inertia and weight add to the contact wrench in the reading (ma 24).

    $$ w_\text{inertia} = \begin{bmatrix} m (g - a_c) \\
       r_c \times m (g - a_c) - I \dot\omega - \omega \times I \omega \end{bmatrix} $$

    so that $w = w_\text{measured} - w_\text{inertia}$ is the contacts' alone. World axes.

    Accelerations are those of the body's origin; `reference` is the wrench's, in the world.
    """
    R, w = motion.rotation, motion.angular_velocity
    W, arm = skew(w), R @ inertia.center
    a_c = acceleration + skew(angular_acceleration) @ arm + W @ (W @ arm)
    f = inertia.mass * (inertia.gravity - a_c)
    I = R @ inertia.matrix @ R.T
    moment = skew(motion.position + arm - reference) @ f - I @ angular_acceleration - W @ (I @ w)
    return jnp.concatenate([f, moment])
