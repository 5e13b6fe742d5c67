"""Capability in all directions: the accelerations that a stance can give its point."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from stiction._arrays import Array, Float
from stiction._compile import quick_jit
from stiction.agility.capability import Capability, capability
from stiction.agility.stance import Stance

AROUND, UP = 48, 25  # directions of the picture in space
IN_PLANE = 181


class Polytope(NamedTuple):
    """The boundary of what can be reached from rest, by direction [m/s²]; nan where nothing is."""

    directions: np.ndarray  # (AROUND, UP, 3)
    exact: np.ndarray  # (AROUND, UP)
    angles: np.ndarray  # (IN_PLANE,), from x towards z [rad]
    plane_exact: np.ndarray
    plane_motors: np.ndarray


@quick_jit
def capability_in(
    stance: Stance, q: Float[Array, "nq"], directions: Float[Array, "n 3"]
) -> tuple[Capability, Capability]:
    """Capability in many directions: by the motors alone, and while contacts hold."""
    return tuple(
        jax.vmap(lambda d, c=c: capability(stance, q, d, contact_limits=c))(directions)
        for c in (False, True)
    )


def polytope(stance: Stance, q: Float[Array, "nq"]) -> Polytope:
    """The set of accelerations around a posture at rest, by its boundary.

    The set is convex; where zero acceleration is in it, its boundary in each direction is the
    capability. Elsewhere a ray meets it later, or not at all.
    """
    around = np.linspace(0, 2 * np.pi, AROUND)
    up = np.linspace(-np.pi / 2, np.pi / 2, UP)
    a, b = np.meshgrid(around, up, indexing="ij")
    sphere = np.stack([np.cos(a) * np.cos(b), np.sin(a) * np.cos(b), np.sin(b)], axis=-1)
    angles = np.linspace(0, 2 * np.pi, IN_PLANE)
    ring = np.stack([np.cos(angles), np.zeros(IN_PLANE), np.sin(angles)], axis=-1)
    every = np.concatenate([sphere.reshape(-1, 3), ring])
    motors, exact = jax.device_get(capability_in(stance, q, jnp.asarray(every)))
    n = AROUND * UP

    def known(found: Capability) -> np.ndarray:
        return np.where(np.isfinite(found.value), found.value, np.nan)

    return Polytope(sphere, known(exact)[:n].reshape(AROUND, UP), angles, known(exact)[n:],
                    known(motors)[n:])  # fmt: skip
