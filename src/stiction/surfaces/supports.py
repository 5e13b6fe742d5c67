"""What is touched: planes and height fields that stand still, move as prescribed, or run as a belt.

A support has a frame: its surface is the plane z = 0 of that frame, or a height field over it. The
frame may travel (a lift) and swing (a shaking platform); a belt's surface runs along x and y of the
frame without the frame moving (a conveyor). rodic (21)-(28) has such supports; their motion is
prescribed, so they can do work.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from stiction._arrays import Array, Float, Scalar
from stiction._errors import InputError


class Motion(eqx.Module):
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
    motion: Motion
    names: tuple[str, ...] = eqx.field(static=True)


class HeightField(eqx.Module):
    """Ground whose height over a rectangle is given on a grid, smooth between grid points.

    Between grid points the height is a bicubic spline (Catmull-Rom), continuous with its slope;
    beyond the grid the edge's height goes on.
    """

    position: Float[Array, "3"]  # of the middle of the grid [m]
    spacing: Float[Array, "2"]  # [m]
    height: Float[Array, "n_x n_y"]  # [m]
    name: str = eqx.field(static=True)

    def elevation(self, x: Scalar, y: Scalar) -> Scalar:
        """Height [m] of the ground above the world's z = 0 at a place."""
        n = np.array(self.height.shape)
        last = jnp.asarray(n - 1.0)
        place = (jnp.stack([x, y]) - self.position[:2]) / self.spacing + last / 2
        place = jnp.clip(place, 0.0, last)
        corner = jnp.clip(jnp.floor(place), 0.0, last - 1)
        u = place - corner
        neighbours = corner.astype(int)[:, None] + jnp.arange(-1, 3)[None]
        i, j = jnp.clip(neighbours, 0, n[:, None] - 1)
        patch = self.height[i[:, None], j[None, :]]
        return self.position[2] + _catmull_rom(u[0]) @ patch @ _catmull_rom(u[1])


def _catmull_rom(u: Scalar) -> Float[Array, "4"]:
    """Weights of four neighbours at a fraction u between the middle two."""
    u2, u3 = u * u, u * u * u
    return 0.5 * jnp.stack([-u3 + 2 * u2 - u, 3 * u3 - 5 * u2 + 2, -3 * u3 + 4 * u2 + u, u3 - u2])


def still(count: int) -> Motion:
    """No motion."""
    shapes = ((count, 3), (count, 3), (count,), (count,), (count, 2))
    return Motion(*(jnp.asarray(np.zeros(shape)) for shape in shapes))


def planes(
    points: list,
    rotations: list,
    names: list[str],
    motion: Motion | None = None,
) -> Planes:
    """Planes from points, frames and names."""
    if not (len(points) == len(rotations) == len(names)):
        raise InputError("`planes` needs a point, a frame and a name for each plane")
    n = len(points)
    return Planes(
        jnp.asarray(np.array(points, float).reshape(n, 3)),
        jnp.asarray(np.array(rotations, float).reshape(n, 3, 3)),
        still(n) if motion is None else motion,
        tuple(names),
    )


def slope_rotation(slope: float) -> np.ndarray:
    """The frame of a plane that falls towards +x at an angle [rad]: first tangent downhill."""
    c, s = np.cos(slope), np.sin(slope)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
