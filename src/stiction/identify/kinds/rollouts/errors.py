"""How far a simulated motion is from the measured one, in the words of people."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Bool, Float
from stiction._base.compile import quick_jit
from stiction.mechanism import Mechanism, world_poses


@dataclass(frozen=True)
class RolloutErrors:
    """Errors of rollouts, row by row, each the mean over the bodies that move."""

    # distance of the bodies' origins [m]; not a number where nothing was compared
    position: Float[np.ndarray, "n rows"]
    # angle between their axes [rad]; not a number where nothing was compared
    rotation: Float[np.ndarray, "n rows"]

    def part(self, which: Bool[np.ndarray, " n"]) -> "RolloutErrors":
        """The errors of some of the rollouts."""
        return RolloutErrors(self.position[which], self.rotation[which])

    def summary(self) -> dict[str, float]:
        """Means over rows, then over rollouts; and the median of rollouts."""
        position = np.nanmean(self.position, axis=1)
        rotation = np.rad2deg(np.nanmean(self.rotation, axis=1))
        return {
            "position_mean_m": float(np.mean(position)),
            "position_median_m": float(np.median(position)),
            "rotation_mean_deg": float(np.mean(rotation)),
            "rotation_median_deg": float(np.median(rotation)),
        }


def rollout_errors(
    mechanism: Mechanism,
    simulated: Float[np.ndarray, "n rows nq"],
    measured: Float[np.ndarray, "n rows nq"],
    compared: Bool[np.ndarray, "n rows"],
) -> RolloutErrors:
    """Errors of the poses of all bodies that move."""
    moving = np.array(mechanism.tree.body_links) > 0
    shape = compared.shape
    a, b = (jnp.asarray(x.reshape(-1, x.shape[-1])) for x in (simulated, measured))
    distance, angle = (np.asarray(x)[:, moving].mean(axis=1) for x in _apart(mechanism, a, b))
    good = compared & np.isfinite(distance.reshape(shape))
    return RolloutErrors(
        np.where(good, distance.reshape(shape), np.nan),
        np.where(good, angle.reshape(shape), np.nan),
    )


@quick_jit
def _apart(mechanism: Mechanism, a: Array, b: Array) -> tuple[Array, Array]:
    def one(a: Array, b: Array) -> tuple[Array, Array]:
        x, y = world_poses(mechanism, a), world_poses(mechanism, b)
        turn = jnp.einsum("nij,nik->njk", x.rotation, y.rotation)
        # From sine and cosine: exact for small turns as for half ones.
        axis = jnp.stack([turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0],
                          turn[:, 1, 0] - turn[:, 0, 1]], axis=-1)  # fmt: skip
        sine = jnp.linalg.norm(axis, axis=-1) / 2
        cosine = (jnp.trace(turn, axis1=1, axis2=2) - 1) / 2
        return jnp.linalg.norm(x.position - y.position, axis=-1), jnp.arctan2(sine, cosine)

    return jax.vmap(one)(a, b)
