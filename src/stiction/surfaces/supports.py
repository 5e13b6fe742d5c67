"""What is touched: planes and height fields that stand still, move as prescribed, or run as a belt.

A support has a frame: its surface is the plane z = 0 of that frame, or a height field over it. The
frame may travel (a lift) and swing (a shaking platform); a belt's surface runs along x and y of the
frame without the frame moving (a conveyor). rodic (21)-(28) has such supports; their motion is
prescribed, so they can do work.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy  # which imports its parts when they are first used: they are slow to import
from numpy.typing import ArrayLike

from stiction._base.arrays import Array, Float, Scalar
from stiction._base.errors import InputError


class SupportMotion(eqx.Module):
    """Prescribed motion of a frame: x(t) = x₀ + velocity t + amplitude sin(2π f t + phase).

    The frame does not turn.
    """

    velocity: Float[Array, "n 3"]  # [m/s]
    amplitude: Float[Array, "n 3"]  # [m]
    frequency: Float[Array, "n"]  # [Hz]
    phase: Float[Array, "n"]  # [rad]
    belt: Float[Array, "n 2"]  # speed of the surface along the frame's x and y [m/s]

    def shift(self, t: Scalar) -> Float[Array, "n 3"]:
        """How far each frame has come since its place in the file [m]."""
        angle = 2 * jnp.pi * self.frequency * t + self.phase
        swing = jnp.sin(angle) - jnp.sin(self.phase)
        return self.velocity * t + self.amplitude * swing[:, None]


class Planes(eqx.Module):
    """Planes, endless, each with its normal along z of its frame."""

    position: Float[Array, "n 3"]  # a point of each [m]
    rotation: Float[Array, "n 3 3"]  # columns: the two tangents and the normal
    motion: SupportMotion
    names: tuple[str, ...] = eqx.field(static=True)


class HeightField(eqx.Module):
    """Ground whose height over a rectangle is given on a grid, smooth between grid points.

    A bicubic spline through the given heights, continuous with its curvature, so that what rolls
    over it is pushed smoothly. It is level at the edges of the grid, and the edge's height goes on
    beyond. Made by `height_field`.
    """

    position: Float[Array, "3"]  # of the middle of the grid [m]
    spacing: Float[Array, "2"]  # [m]
    coefficients: Float[Array, "n_x n_y"]  # of the B-splines [m]
    name: str = eqx.field(static=True)

    def elevation(self, x: Scalar, y: Scalar) -> Scalar:
        """Height [m] of the ground above the world's z = 0 at a place."""
        return self.shape(jnp.stack([x, y]))[0]

    def shape(self, xy: Float[Array, "2"]) -> tuple[Scalar, Float[Array, "2"], Float[Array, "2 2"]]:
        """Height [m], slope and second derivatives [1/m] at a place."""
        n = np.array(self.coefficients.shape)
        last = jnp.asarray(n - 1.0)
        place = (xy - self.position[:2]) / self.spacing + last / 2
        inside = (place > 0) & (place < last)
        place = jnp.clip(place, 0.0, last)
        corner = jnp.clip(jnp.floor(place), 0.0, last - 1)
        u = place - corner
        neighbours = corner.astype(int)[:, None] + jnp.arange(-1, 3)[None]
        # Mirrored at the edges, which makes it level there.
        i, j = (n[:, None] - 1) - jnp.abs((n[:, None] - 1) - jnp.abs(neighbours))
        patch = self.coefficients[i[:, None], j[None, :]]
        scale = jnp.where(inside, 1 / self.spacing, 0.0)  # beyond the grid nothing changes
        (a, da, dda), (b, db, ddb) = _cubic(u[0]), _cubic(u[1])
        along_x, along_y = patch @ b, a @ patch
        twist = da @ patch @ db
        slope = scale * jnp.stack([da @ along_x, along_y @ db])
        second = jnp.stack([jnp.stack([dda @ along_x, twist]), jnp.stack([twist, along_y @ ddb])])
        return self.position[2] + a @ along_x, slope, scale[:, None] * second * scale[None, :]


def height_field(
    heights: ArrayLike, spacing: ArrayLike, position: ArrayLike = (0, 0, 0), name: str = "field"
) -> HeightField:
    """Ground through given heights.

    Args:
        heights: On a grid, at least 2 x 2: rows along x, columns along y [m].
        spacing: Of the grid in x and y [m].
        position: Of the middle of the grid [m].
        name: What it is called in results.
    """
    grid = np.asarray(heights, float)
    if grid.ndim != 2 or min(grid.shape) < 2 or not np.isfinite(grid).all():
        raise InputError(f"`heights` must be at least 2 x 2 finite numbers, got {grid.shape}")
    steps = np.asarray(spacing, float)
    if not np.all(steps > 0):
        raise InputError(f"`spacing` must be positive, got {steps}")
    return HeightField(
        jnp.asarray(np.asarray(position, float)),
        jnp.asarray(steps),
        jnp.asarray(scipy.ndimage.spline_filter(grid, order=3, mode="mirror")),
        name,
    )


def _cubic(u: Scalar) -> tuple[Array, Array, Array]:
    """The four cubic B-splines at a fraction u between the middle two, and their derivatives."""
    v = 1 - u
    value = [v**3, 4 - 6 * u**2 + 3 * u**3, 4 - 6 * v**2 + 3 * v**3, u**3]
    first = [-(v**2), u * (3 * u - 4), v * (4 - 3 * v), u**2]
    second = [v, 3 * u - 2, 3 * v - 2, u]
    return jnp.stack(value) / 6, jnp.stack(first) / 2, jnp.stack(second)


def still(count: int) -> SupportMotion:
    """No motion."""
    shapes = ((count, 3), (count, 3), (count,), (count,), (count, 2))
    return SupportMotion(*(jax.device_put(np.zeros(shape)) for shape in shapes))


def planes(
    points: list,
    rotations: list,
    names: list[str],
    motion: SupportMotion | None = None,
) -> Planes:
    """Planes from points, frames and names."""
    if not (len(points) == len(rotations) == len(names)):
        raise InputError("`planes` needs a point, a frame and a name for each plane")
    n = len(points)
    return Planes(
        jax.device_put(np.array(points, float).reshape(n, 3)),  # `jnp.asarray` compiles a program
        jax.device_put(np.array(rotations, float).reshape(n, 3, 3)),
        still(n) if motion is None else motion,
        tuple(names),
    )


def level_ground() -> Planes:
    """A plane through the origin."""
    return planes([np.zeros(3)], [np.eye(3)], ["ground"])


def slope_rotation(slope: float) -> np.ndarray:
    """The frame of a plane that falls towards +x at an angle [rad]: first tangent downhill."""
    c, s = np.cos(slope), np.sin(slope)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
