"""Capability in all directions: the accelerations that a stance can give its point."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float
from stiction._base.compile import quick_jit
from stiction.agility.capability import Capability, both_capabilities, farthest_acceleration
from stiction.agility.stance import Stance, stance_maps

AROUND, UP = 32, 17  # directions in which the set of accelerations is asked for its farthest point
IN_PLANE = 180


class AccelerationSet(NamedTuple):
    """Points on the boundary of a convex set of accelerations [m/s²]: their hull is the set."""

    motors: np.ndarray  # on contacts that hold whatever happens. Shape (n, k)
    exact: np.ndarray  # on contacts that can slip and lift; empty if they cannot but do so


@quick_jit
def capability_in(
    stance: Stance, q: Float[Array, "nq"], directions: Float[Array, "n 3"]
) -> tuple[Capability, Capability]:
    """Capability in many directions: by the motors alone, and while contacts hold."""
    return jax.vmap(lambda d: both_capabilities(stance, q, d))(directions)


def acceleration_set(stance: Stance, q: Float[Array, "nq"]) -> AccelerationSet:
    """All accelerations that the point can have at rest: a polytope, rounded by friction cones.

    A zonotope by the motors alone; what contacts allow of it is a part of that. The capability in a
    direction is where the ray along it leaves the set.
    """
    angles = np.linspace(0, 2 * np.pi, IN_PLANE, endpoint=False)
    if stance.contacts.planar:
        directions = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    else:
        a, b = np.meshgrid(
            np.linspace(0, 2 * np.pi, AROUND, endpoint=False),
            np.linspace(-np.pi / 2, np.pi / 2, UP),
            indexing="ij",
        )
        sphere = np.stack([np.cos(a) * np.cos(b), np.sin(a) * np.cos(b), np.sin(b)], axis=-1)
        ring = np.stack([np.cos(angles), 0 * angles, np.sin(angles)], axis=-1)
        directions = np.concatenate([sphere.reshape(-1, 3), ring])
    motors, exact = jax.device_get(_farthest(stance, q, jnp.asarray(directions)))
    return AccelerationSet(motors, exact[np.isfinite(exact).all(axis=1)])


@quick_jit
def _farthest(stance: Stance, q: Array, directions: Array) -> tuple[Array, Array]:
    maps = stance_maps(stance, q, jnp.zeros(stance.mechanism.nv, q.dtype))
    reduced = maps.without_forces()
    middle, half = (maps.upper + maps.lower) / 2, (maps.upper - maps.lower) / 2
    efforts = middle[None] + half[None] * jnp.sign(directions @ reduced.D)
    motors = reduced.a0[None] + efforts @ reduced.D.T
    exact = jax.vmap(lambda d: farthest_acceleration(maps, d, stance.mu))(directions)
    return motors, exact
