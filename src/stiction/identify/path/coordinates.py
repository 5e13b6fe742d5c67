"""The body's path as six functions of time x(t), and back.

Position, and Rodrigues parameters g = tan(angle/2) × axis of the turn from a mean orientation R₀.
They need no trigonometry, R = R₀ C(g) with Cayley's C, and serve turns of up to 150° either way.
"""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.interpolate import BSpline

from stiction._base.arrays import Array, Float
from stiction._base.errors import InputError
from stiction.identify.contact.geometry import BodyState, skew
from stiction.identify.contact.mapped import sample_jit

_MAX_TURN = np.radians(150.0)


def motion_of(center: Float[Array, "3 3"], x: Float[Array, "6"], v: Float[Array, "6"]) -> BodyState:
    """The motion whose path coordinates are x and their rates v.

    C(g) = I + 2 ([g]× + [g]×²) / (1 + g²) and ω = R₀ 2 (ġ + g × ġ) / (1 + g²).
    """
    g, g_dot = x[3:], v[3:]
    G = skew(g)
    scale = 2 / (1 + g @ g)
    rotation = center + center @ ((G + G @ G) * scale)
    return BodyState(x[:3], rotation, v[:3], center @ (g_dot + G @ g_dot) * scale)


def acceleration_of(
    center: Float[Array, "3 3"], x: Float[Array, "6"], v: Float[Array, "6"], a: Float[Array, "6"]
) -> tuple[Array, Array]:
    """Linear and angular acceleration, world axes, of path coordinates with rates v and a."""

    def omega(x, v):
        return motion_of(center, x, v).angular_velocity

    return a[:3], jax.jvp(omega, (x, v), (v, a))[1]


def mean_orientation(rotation: Float[np.ndarray, "n 3 3"]) -> np.ndarray:
    """The rotation nearest to the samples' mean matrix."""
    u, _, vt = np.linalg.svd(np.mean(rotation, axis=0))
    return u @ np.diag([1, 1, np.linalg.det(u @ vt)]) @ vt


def rodrigues(center: Float[np.ndarray, "3 3"], rotation: Float[np.ndarray, "n 3 3"]) -> np.ndarray:
    """g of each orientation relative to the centre: [g]× = (C - Cᵀ) / (1 + tr C)."""
    C = np.swapaxes(center, -1, -2) @ rotation
    trace = 1 + np.trace(C, axis1=-2, axis2=-1)
    if np.any(trace < 2 * (1 + np.cos(_MAX_TURN))):
        row = int(np.argmin(trace)) + 1
        raise InputError(
            f"`pose.orientation` must stay within {np.degrees(_MAX_TURN):.0f}° of its mean, got"
            f" more in row {row}; cut the log into tests that turn less, or check units.angle and"
            " the order of quaternions"
        )
    axial = np.stack(
        [C[:, 2, 1] - C[:, 1, 2], C[:, 0, 2] - C[:, 2, 0], C[:, 1, 0] - C[:, 0, 1]], axis=-1
    )
    return axial / trace[:, None]


def path_coordinates(
    position: Float[np.ndarray, "n 3"], rotation: Float[np.ndarray, "n 3 3"]
) -> tuple[Float[np.ndarray, "3 3"], Float[np.ndarray, "n 6"]]:
    """R₀ and x of measured poses."""
    center = mean_orientation(rotation)
    return center, np.concatenate([position, rodrigues(center, rotation)], axis=1)


def motion_along(
    center: Float[np.ndarray, "3 3"], x: BSpline, time: Float[np.ndarray, " n"]
) -> tuple[BodyState, Float[Array, "n 6"]]:
    """Motion and accelerations (linear, angular) at many times of a path."""
    return _motion_along(jnp.asarray(center), *(jnp.asarray(x(time, nu=d)) for d in range(3)))


@sample_jit(1)
def _motion_along(center, x, v, a):
    return jax.vmap(lambda x, v, a: motion_and_acceleration(center, x, v, a))(x, v, a)


def motion_and_acceleration(center, x, v, a) -> tuple[BodyState, Float[Array, "6"]]:
    """Both of one sample, the accelerations one after the other."""
    return motion_of(center, x, v), jnp.concatenate(acceleration_of(center, x, v, a))
