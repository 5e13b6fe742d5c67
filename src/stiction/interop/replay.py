"""The wrenches that an engine's own contacts make of a given motion of a body over plates."""

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from stiction._base.arrays import Float

POINT = 1e-9  # m: radius of a corner in an engine that knows no points


@dataclass(frozen=True)
class ReplayPiece:
    """What of the body an engine collides: a ball, or a cylinder."""

    plates: tuple[int, ...]  # numbers of the plates that it may meet
    center: Float[np.ndarray, "3"]  # in the body's frame [m]
    radius: float  # [m]; `POINT` for a corner
    half_length: float | None = None  # of a cylinder [m]; None for a ball
    # of a cylinder: columns are its axes, the third along it
    axes: Float[np.ndarray, "3 3"] | None = None


@dataclass(frozen=True)
class ReplayPlate:
    """A flat plate fixed in the world."""

    origin: Float[np.ndarray, "3"]  # the middle of its surface [m]
    # columns are two directions in the plate and its normal, which points out of it
    axes: Float[np.ndarray, "3 3"]
    # half its extent along the first two axes [m]; infinite where it does not end
    half_size: Float[np.ndarray, "2"]
    ends: bool  # whether something passes beyond its edge, behind its surface
    parameters: Mapping[str, Any]  # of a contact with it, by the engine's names


@dataclass(frozen=True)
class ReplayScene:
    """A rigid body of mass [kg] and the plates that it may touch."""

    plates: tuple[ReplayPlate, ...]
    pieces: tuple[ReplayPiece, ...]
    mass: float


@dataclass(frozen=True)
class ReplayMotion:
    """Pose and velocity of the body sample by sample, world axes, SI units."""

    position: Float[np.ndarray, "n 3"]
    rotation: Float[np.ndarray, "n 3 3"]
    velocity: Float[np.ndarray, "n 3"]
    angular_velocity: Float[np.ndarray, "n 3"]


# Force and moment about the world's origin that the plates exert on the body, sample by sample.
Replayer = Callable[[ReplayScene, ReplayMotion], Float[np.ndarray, "n 6"]]


def replayer(engine: str) -> tuple[str, Replayer] | None:
    """Name with version and function of an engine that is here and tells the force of a motion."""
    if engine == "mujoco":
        from stiction.interop.replay_mujoco import NAME, wrenches_in_mujoco

        return NAME, wrenches_in_mujoco
    if engine == "drake" and importlib.util.find_spec("pydrake") is not None:
        from stiction.interop.replay_drake import NAME, wrenches_in_drake

        return NAME, wrenches_in_drake
    return None
