r"""Contact of two convex bodies that both move: the region in which they overlap (ma Sec. 2.1).

Both bodies are taken as rigid; where they overlap they would be deformed. Of that region, a convex
polytope bounded by faces of both, the contact has

symbol  name    meaning                                                        unit
n       normal  out of body 2 into body 1: of its faces' areas in the region   -
d       depth   its longest chord along n: moved that far along n, they part   m
r       point   its centroid, where the force acts                             m
w_i     weight  part of n's area that each face of body 2 (or 1) has           -

The areas of a closed surface add up to zero, so that the faces of body 1 give the same normal with
the other sign: neither body is preferred. A corner that reaches over an edge touches several faces,
which may be of different materials: each takes part with its weight (ma Sec. 5.2 (3)), so that the
force stays linear in the parameters of all of them,

$$ f = \sum_i w_i (k_i d^\lambda n + c_i \dot d n + \mu_i k_i d^\lambda t) . $$

The velocity is that of body 1 against body 2 at the centroid, and $\dot d = -v \cdot n$.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, HalfspaceIntersection, QhullError

from stiction._base.errors import InputError

_FLAT = 1e-9  # of the bodies' size: regions thinner than this are touch without depth
_SAME_FACE = 1e-9  # facets of the hull whose planes are nearer are one face


@dataclass(frozen=True)
class ConvexBody:
    """A convex polytope by its corners, with a material for each of its faces."""

    vertices: Float[np.ndarray, "n 3"]  # in the body's frame [m]
    # name of the material of each face, in the order of `faces`; one for all if it is a single name
    materials: str | tuple[str, ...] = "body"

    @cached_property
    def faces(self) -> Float[np.ndarray, "m 4"]:
        """Planes (n, b) with n·x + b <= 0 inside; triangles of one face together."""
        try:
            planes = ConvexHull(np.asarray(self.vertices, float)).equations
        except (QhullError, ValueError) as error:
            raise InputError(
                "`vertices` must be at least four points that are not in one plane"
            ) from error
        size = np.ptp(self.vertices, axis=0).max()
        scaled = planes / np.array([1, 1, 1, size])
        apart = np.linalg.norm(scaled[:, None] - scaled[None], axis=-1)
        return planes[~np.any(np.tril(apart < _SAME_FACE, -1), axis=1)]

    def material(self, face: int) -> str:
        """Name of a face's material."""
        return self.materials if isinstance(self.materials, str) else self.materials[face]

    @property
    def size(self) -> float:
        """Diagonal of its bounding box [m]."""
        return float(np.linalg.norm(np.ptp(self.vertices, axis=0)))


@dataclass(frozen=True)
class RigidMotion:
    """Pose and velocity of a body: its origin in the world, and world axes."""

    position: Float[np.ndarray, "3"]
    rotation: Float[np.ndarray, "3 3"]
    velocity: Float[np.ndarray, "3"]
    angular_velocity: Float[np.ndarray, "3"]

    def at(self, point: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3"]:
        """Velocity of the material point there [m/s]."""
        return self.velocity + np.cross(self.angular_velocity, point - self.position)

    def planes(self, body: ConvexBody) -> Float[np.ndarray, "m 4"]:
        """The body's faces in the world."""
        normals = body.faces[:, :3] @ self.rotation.T
        return np.column_stack([normals, body.faces[:, 3] - normals @ self.position])


@dataclass(frozen=True)
class ContactRegion:
    """Where two bodies overlap, as one contact; forces are those on body 1."""

    point: Float[np.ndarray, "3"]
    normal: Float[np.ndarray, "3"]
    depth: float
    depth_rate: float
    slip: Float[np.ndarray, "3"]
    volume: float
    weights: tuple[dict[str, float], dict[str, float]]  # of the materials of body 1 and body 2


def contact_region(
    one: ConvexBody, motion_one: RigidMotion, two: ConvexBody, motion_two: RigidMotion
) -> ContactRegion | None:
    """The region in which two bodies overlap; None where they do not."""
    planes = np.concatenate([motion_one.planes(one), motion_two.planes(two)])
    inside = _innermost(planes)
    size = max(one.size, two.size)
    if inside is None or inside[3] <= _FLAT * size:
        return None
    center = inside[:3]
    corners = HalfspaceIntersection(planes, center).intersections
    hull = ConvexHull(corners)
    areas, centroid, volume = _measure(hull, center)
    owner = _owner(hull.equations, planes)
    # Outward area vectors by plane; those of body 2 point out of it, into body 1.
    by_plane = np.zeros((len(planes), 3))
    np.add.at(by_plane, owner, areas)
    split = len(one.faces)
    total = by_plane[split:].sum(axis=0)
    if np.linalg.norm(total) <= _FLAT * size**2:
        raise InputError(
            "one of the bodies is wholly inside the other, so that the contact has no normal; check"
            " poses and units"
        )
    normal = total / np.linalg.norm(total)
    relative = motion_one.at(centroid) - motion_two.at(centroid)
    rate = float(-relative @ normal)
    return ContactRegion(
        point=centroid,
        normal=normal,
        depth=_longest_chord(planes, normal),
        depth_rate=rate,
        slip=relative + rate * normal,
        volume=volume,
        weights=(
            _weights(one, -by_plane[:split] @ normal),
            _weights(two, by_plane[split:] @ normal),
        ),
    )


def _innermost(planes: np.ndarray) -> np.ndarray | None:
    """Centre and radius of the largest ball inside all planes; None if there is none."""
    A = np.column_stack([planes[:, :3], np.ones(len(planes))])
    found = linprog([0, 0, 0, -1], A, -planes[:, 3], bounds=[(None, None)] * 3 + [(0, None)])
    return found.x if found.status == 0 else None


def _longest_chord(planes: np.ndarray, normal: np.ndarray) -> float:
    """The most s for which x and x + s n are both in the region."""
    n, b = planes[:, :3], planes[:, 3]
    both = np.concatenate(
        [np.column_stack([n, np.zeros(len(n))]), np.column_stack([n, n @ normal])]
    )
    bounds = [(None, None)] * 3 + [(0, None)]
    return float(-linprog([0, 0, 0, -1], both, np.tile(-b, 2), bounds=bounds).fun)


def _measure(hull: ConvexHull, inside: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Outward area vector of each triangle, the centroid and the volume."""
    a, b, c = (hull.points[hull.simplices[:, i]] for i in range(3))
    area = np.cross(b - a, c - a) / 2
    outward = np.sign(np.sum(area * hull.equations[:, :3], axis=1))
    area = area * outward[:, None]
    volumes = np.sum(area * (a - inside), axis=1) / 3
    middles = (a + b + c + inside) / 4
    volume = float(volumes.sum())
    return area, volumes @ middles / volume, volume


def _owner(facets: np.ndarray, planes: np.ndarray) -> np.ndarray:
    """The plane that each facet of the region lies in."""
    return np.argmin(np.linalg.norm(facets[:, None] - planes[None], axis=-1), axis=1)


def _weights(body: ConvexBody, towards: np.ndarray) -> dict[str, float]:
    """Of each material the part of the area that faces along the normal."""
    share = np.maximum(towards, 0.0)
    share = share / share.sum()
    out: dict[str, float] = {}
    for face, part in enumerate(share):
        if part > 0:
            name = body.material(face)
            out[name] = out.get(name, 0.0) + float(part)
    return out
