r"""Which points touch: rodic's functional coordinates, and how near zero they are.

Of every point of the soles, the functional coordinates are its height above the support and its
place along it, (21) of rodic; their rates are relative to the support, which may move, (25). In
exact numbers a point touches if $g_N = 0$ and $\dot g_N = 0$ (the set $\Omega_N$ of (19)). Measured
motion needs tolerances: skin and soles give way, markers and filters blur. Each point is given a
nearness

$$ a = \Big(1 - \frac{(g_N)_+}{g_0}\Big)_+ \Big(1 - \frac{|\dot g|}{v_0}\Big)_+ , $$

1 where it rests on the ground, 0 from the tolerances on, and between them falling evenly, so that
forces come and go without a jump.

A runner's sole moves at 1 to 3 m/s when it meets the ground, and no tolerance tells that from a low
swing. But a body that does not fall freely is borne by something: while no point is near by the
tolerances, the lowest ones are, with $g_N$ counted from the lowest (`nearest`). Whether the body
needs support is not seen here but in the force (`sharing`).

Two things are not known beforehand and are taken from the recording itself. A treadmill's **belt
velocity** is that of points which are low and do not rise or fall. The **level** of a point is its
height while it rests: models put the sole centimetres off, and skin and shoes differ.
"""

from dataclasses import dataclass

import numpy as np

from stiction._base.errors import InputError

# Slower than this [m/s], a support is taken to stand still; slower than that, a point to rest.
_SLOWEST_BELT, _STEADY = 0.2, 0.1
# Where no nearness reaches this, nobody stands by the tolerances: the lowest points take over.
_NOBODY = 0.05
# A point counts as low in this part of the record, and as resting in this (slowest) part.
_LOW, _RESTING = 0.3, 0.2


@dataclass(frozen=True)
class Ground:
    """The ground under the feet, and when a point counts as touching it."""

    friction: float = 0.8  # coefficient of friction μ
    # height under every point [m]; none takes it from the recording, point by point
    level: float | None = None
    gap_tolerance: float = 0.03  # points higher than this above the ground do not touch, g_0 [m]
    speed_tolerance: float = 1.0  # points faster than this do not touch, v_0 [m/s]

    def __post_init__(self) -> None:
        for name, unit in (
            ("friction", ""),
            ("gap_tolerance", " [m]"),
            ("speed_tolerance", " [m/s]"),
        ):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0):
                raise InputError(f"`{name}` must be a positive number{unit}, got {value}")


@dataclass(frozen=True)
class FootTouch:
    """Functional coordinates of the points of all soles."""

    position: np.ndarray  # where the points are [m]
    gap: np.ndarray  # height above the support less the point's level, g_N [m]
    rate: np.ndarray  # velocity relative to the support [m/s], in world axes
    gap_rate: np.ndarray  # its upward part [m/s]
    nearness: np.ndarray  # from 0, apart, to 1, at rest on the ground
    level: np.ndarray  # height at which each point rests [m]
    support_velocity: np.ndarray  # velocity of the ground or belt [m/s]


def touching(
    position: np.ndarray,
    velocity: np.ndarray,
    up: np.ndarray,
    ground: Ground | None = None,
) -> FootTouch:
    """Functional coordinates and nearness of points.

    Args:
        position: Positions of the points in every frame, shape (n, n_points, 3) [m].
        velocity: Velocities of the points in every frame, shape (n, n_points, 3) [m/s].
        up: Unit vector out of the ground.
        ground: Its level and the tolerances.
    """
    ground = ground or Ground()
    height, rise = position @ up, velocity @ up
    belt = support_velocity(height, velocity, rise, up)
    rate = velocity - belt
    speed = np.linalg.norm(rate, axis=-1)
    if ground.level is None:
        slow = speed <= np.quantile(speed, _RESTING, axis=0)
        levels = np.nanmedian(np.where(slow, height, np.nan), axis=0)
    else:
        levels = np.full(height.shape[1], float(ground.level))
    gap = height - levels
    near = np.clip(1 - np.maximum(gap, 0) / ground.gap_tolerance, 0, 1)
    nearness = near * np.clip(1 - speed / ground.speed_tolerance, 0, 1)
    return FootTouch(position, gap, rate, rise, nearness, levels, belt)


def nearest(nearness: np.ndarray, gap: np.ndarray, tolerance: float) -> np.ndarray:
    """Nearness such that some point is always near: where none touches, the lowest ones."""
    nobody = 1 - np.clip(nearness.max(axis=1, keepdims=True) / _NOBODY, 0, 1)
    above = np.maximum(gap, 0)
    above = above - above.min(axis=1, keepdims=True)
    return np.maximum(nearness, nobody * np.clip(1 - above / tolerance, 0, 1))


def support_velocity(
    height: np.ndarray, velocity: np.ndarray, rise: np.ndarray, up: np.ndarray
) -> np.ndarray:
    """The velocity of the ground: that of low points which neither rise nor fall [m/s]."""
    low = height <= np.quantile(height, _LOW, axis=0)
    resting = low & (np.abs(rise) < _STEADY)
    if not resting.any():
        return np.zeros(3)
    belt = np.median(velocity[resting], axis=0)
    belt = belt - (belt @ up) * up
    return belt if np.linalg.norm(belt) > _SLOWEST_BELT else np.zeros(3)
