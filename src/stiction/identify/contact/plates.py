"""What is touched: flat plates, and how stiff a plate on four springs is where it is pressed."""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float

Numbers = Sequence | np.ndarray  # lists of numbers, or of lists of them, or arrays


class FlatPlates(eqx.Module):
    """Flat rectangular plates fixed in the world. Material lies behind them, against the normal."""

    origin: Float[Array, "n_plates 3"]  # a point of each plate, the middle of its extent [m]
    # columns are two directions in the plate and its unit normal, which points out of it
    axes: Float[Array, "n_plates 3 3"]
    # half the extent along the first two axes [m]; infinite where it does not end
    half_size: Float[Array, "n_plates 2"]

    @property
    def normal(self) -> Float[Array, "n_plates 3"]:
        """Unit normals, out of the plates."""
        return self.axes[:, :, 2]


def plates(origin: Numbers, normal: Numbers, half_size: Numbers | None = None) -> FlatPlates:
    """Plates from points and normals.

    The first in-plate axis is the world axis most nearly in the plate (x before y before z), made
    exact; the second completes a right-handed frame.

    Args:
        origin: The middle of each plate [m].
        normal: Outward normals, of any length.
        half_size: Half extents [m] along the two in-plate axes; unbounded when left out.
    """
    n = np.asarray(normal, dtype=float)
    n = n / np.linalg.norm(n, axis=-1, keepdims=True)
    nearest = np.eye(3)[np.argmin(np.round(np.abs(n), 12), axis=-1)]
    first = nearest - np.sum(nearest * n, axis=-1, keepdims=True) * n
    first /= np.linalg.norm(first, axis=-1, keepdims=True)
    axes = np.stack([first, np.cross(n, first), n], axis=-1)
    extent = np.full((len(n), 2), np.inf) if half_size is None else np.asarray(half_size, float)
    return FlatPlates(jnp.asarray(origin, dtype=float), jnp.asarray(axes), jnp.asarray(extent))


def compound_stiffness(springs: Numbers) -> float:
    r"""Stiffness of a rigid plate on four springs, pressed at its centre (ma 16).

    $$ k = \frac{4 (k_2 k_3 k_4 + k_1 k_3 k_4 + k_1 k_2 k_4 + k_1 k_2 k_3)}
                {(k_1 + k_3)(k_2 + k_4)} $$

    Args:
        springs: Stiffness of each [N/m], numbered around the plate: 1 and 3 on one diagonal.
    """
    k1, k2, k3, k4 = springs
    return 4 * (k2 * k3 * k4 + k1 * k3 * k4 + k1 * k2 * k4 + k1 * k2 * k3) / ((k1 + k3) * (k2 + k4))


def plate_stiffness(springs: Numbers, positions: Numbers, point: Numbers) -> float:
    """Stiffness [N/m] felt where a rigid plate on springs is pressed: (ma 16) off the centre.

    The plate moves as z = a + b x + c y. With g = (1, x, y) at a spring or at the point,
    K = Σ kᵢ gᵢ gᵢᵀ is the stiffness to (a, b, c), and the point yields by gᵀ K⁻¹ g per newton.

    Args:
        springs: Stiffness of each spring [N/m].
        positions: Where each stands, in the plate [m].
        point: Where the plate is pressed [m].
    """
    g = np.column_stack([np.ones(len(springs)), np.asarray(positions, dtype=float)])
    K = g.T @ (np.asarray(springs, dtype=float)[:, None] * g)
    at = np.array([1.0, *point])
    return float(1.0 / (at @ np.linalg.solve(K, at)))
