"""Where contacts are in the world, and what they do there."""

import equinox as eqx
import numpy as np

from stiction._base.arrays import AnyArray, Array, Float


class ContactPlaces(eqx.Module):
    """Where contacts are, and what they do to the first of their bodies, in world axes.

    Zero where a contact is not there: what is found on the way comes and goes.
    """

    point: Float[Array, "*times n 3"]  # [m]
    tangent: Float[Array, "*times n 3"]  # the first
    normal: Float[Array, "*times n 3"]
    force: Float[Array, "*times n 3"]  # [N], or the impulse of an event [N·s]
    torque: Float[Array, "*times n 3"]  # of spin and rolling friction [N·m], or [N·m·s]

    @property
    def frame(self) -> Float[AnyArray, "*times n 3 3"]:
        """Rows are the two tangents and the normal."""
        second = np.cross(self.normal, self.tangent)
        return np.stack([self.tangent, second, self.normal], axis=-2)
