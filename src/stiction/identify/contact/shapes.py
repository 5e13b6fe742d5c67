"""What moves and touches: shapes, and the points of theirs that a plate can meet.

A shape touches a plate where it reaches furthest into it. A polytope does so with its corners, a
sphere with one point, a cylinder with one point of each rim. The points move over the body as it
turns (except corners), but the depth's rate is still the velocity of the material point there: the
point is where the depth is stationary along the surface.
"""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float, Matrix3, Vector3
from stiction._base.spatial import CORNERS

# A cylinder's rim meets a plate parallel to it everywhere at once; below this sine of the angle
# between axis and normal the point slides to the rim's centre, so that it stays a smooth function.
_FLAT_RIM = 1e-6


class AbstractShape(eqx.Module):
    """A convex piece of the moving body, in the body's frame."""

    @abc.abstractmethod
    def touch_points(self, R_WB: Matrix3, p_WB: Vector3, normal: Vector3) -> Float[Array, "m 3"]:
        """World positions [m] of the points that may touch a plate whose normal is `normal`."""

    @property
    def n_points(self) -> int:
        """How many of its points may touch a plate."""
        up = jnp.array([0.0, 0.0, 1.0])
        return jax.eval_shape(self.touch_points, jnp.eye(3), jnp.zeros(3), up).shape[0]

    @property
    @abc.abstractmethod
    def size(self) -> float:
        """A length [m] that says how large the piece is, for plausibility checks."""

    @property
    @abc.abstractmethod
    def arm(self) -> float:
        """The greatest distance [m] of its points from the body's origin."""


class Corners(AbstractShape):
    """A polytope (box, convex mesh, H-peg): its corners."""

    points: Float[Array, "m 3"]  # positions in the body's frame [m]

    def touch_points(self, R_WB: Matrix3, p_WB: Vector3, normal: Vector3) -> Float[Array, "m 3"]:
        """All corners, wherever the plate is."""
        del normal
        return p_WB[None] + self.points @ R_WB.T

    @property
    def size(self) -> float:
        """Diagonal of the bounding box."""
        return float(np.linalg.norm(np.ptp(np.asarray(self.points), axis=0)))

    @property
    def arm(self) -> float:
        """Distance of the furthest corner from the body's origin."""
        return float(np.linalg.norm(np.asarray(self.points), axis=1).max())


class Sphere(AbstractShape):
    """A ball, or the round tip of a rod."""

    center: Vector3  # in the body's frame [m]
    radius: Float[Array, ""]  # [m]

    def touch_points(self, R_WB: Matrix3, p_WB: Vector3, normal: Vector3) -> Float[Array, "m 3"]:
        """The one point furthest against the normal."""
        return (p_WB + R_WB @ self.center - self.radius * normal)[None]

    @property
    def size(self) -> float:
        """The diameter."""
        return 2 * float(self.radius)

    @property
    def arm(self) -> float:
        """Distance of the centre: a turn about that moves no touching point."""
        return float(np.linalg.norm(np.asarray(self.center)))


class Cylinder(AbstractShape):
    """A right circular cylinder."""

    center: Vector3  # in the body's frame [m]
    axis: Vector3  # unit vector in the body's frame
    radius: Float[Array, ""]  # [m]
    half_length: Float[Array, ""]  # [m]

    def touch_points(self, R_WB: Matrix3, p_WB: Vector3, normal: Vector3) -> Float[Array, "m 3"]:
        """On each rim, the point furthest against the normal."""
        axis = R_WB @ self.axis
        radial = (normal @ axis) * axis - normal
        length = jnp.sqrt(radial @ radial + _FLAT_RIM**2)
        middle = p_WB + R_WB @ self.center + self.radius * radial / length
        return jnp.stack([middle - self.half_length * axis, middle + self.half_length * axis])

    @property
    def size(self) -> float:
        """Diagonal of the cross-section through the axis."""
        return 2 * float(np.hypot(self.radius, self.half_length))

    @property
    def arm(self) -> float:
        """Distance of the furthest point of a rim, at most."""
        return float(np.linalg.norm(np.asarray(self.center))) + self.size / 2


Body = tuple[AbstractShape, ...]


def box(half_size: Float[np.ndarray, "3"], center: Float[np.ndarray, "3"] | None = None) -> Corners:
    """A box with edges along the body's axes, half lengths in [m]."""
    middle = np.zeros(3) if center is None else np.asarray(center, dtype=float)
    return Corners(jnp.asarray(middle + CORNERS * np.asarray(half_size, dtype=float)))


def convex_mesh(vertices: Float[np.ndarray, "n 3"]) -> Corners:
    """A convex mesh [m]: those of its vertices that are corners of the hull, each once."""
    from scipy.spatial import ConvexHull

    points = np.unique(np.asarray(vertices, dtype=float), axis=0)
    return Corners(jnp.asarray(points[np.sort(ConvexHull(points).vertices)]))


def h_peg(
    width: float = 0.08, height: float = 0.12, depth: float = 0.03, leg: float = 0.02
) -> Corners:
    """ma's H-shaped peg: two upright legs joined by a bar, seen in the x-z plane.

    The bar lies inside the hull of the legs and touches nothing flat; the sixteen corners of the
    legs are what meets the plates. The origin is the middle of the lower ends. The document gives
    no sizes; the defaults are this project's.

    Args:
        width: Outer distance across both legs, along x [m].
        height: Of the legs, along z [m].
        depth: Along y [m].
        leg: Width of one leg along x [m].
    """
    xs = np.array([-width / 2, -width / 2 + leg, width / 2 - leg, width / 2])
    corners = [[x, y, z] for x in xs for y in (-depth / 2, depth / 2) for z in (0.0, height)]
    return Corners(jnp.asarray(corners))
