"""Contacts: pairs of a place on a body and something it may touch, grouped by kind of pair.

Each kind is one batched computation; a contact keeps its place in one common order:
points on planes, round shapes on planes, points and balls on height fields, balls on balls.
"""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from stiction._arrays import Array, Float
from stiction._errors import InputError, unknown
from stiction.mechanism import Mechanism
from stiction.mechanism.tree import HINGE, SLIDE
from stiction.surfaces.supports import HeightField, Planes, planes

_CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)


class PointPlane(eqx.Module):
    """Points of bodies (sites, corners of boxes) against planes."""

    point: Float[Array, "n 3"]  # in the body's frame [m]
    bodies: tuple[int, ...] = eqx.field(static=True)
    planes: tuple[int, ...] = eqx.field(static=True)


class RoundPlane(eqx.Module):
    """Spheres, ends of capsules and ellipsoids against planes: the contact point is exact."""

    center: Float[Array, "n 3"]  # in the body's frame [m]
    rotation: Float[Array, "n 3 3"]  # of the semi-axes in the body's frame
    semi_axes: Float[Array, "n 3"]  # [m]
    bodies: tuple[int, ...] = eqx.field(static=True)
    planes: tuple[int, ...] = eqx.field(static=True)


class BallField(eqx.Module):
    """Points (radius 0) and spheres on a height field."""

    center: Float[Array, "n 3"]
    radius: Float[Array, "n"]
    bodies: tuple[int, ...] = eqx.field(static=True)


class BallBall(eqx.Module):
    """Spheres of two bodies against each other; the normal points from the second to the first."""

    center: Float[Array, "n 2 3"]
    radius: Float[Array, "n 2"]
    bodies: tuple[tuple[int, int], ...] = eqx.field(static=True)


class Contacts(eqx.Module):
    """All that may touch, in one order. Made by `find_contacts`."""

    point_plane: PointPlane
    round_plane: RoundPlane
    ball_field: BallField
    ball_ball: BallBall
    planes: Planes
    field: HeightField | None
    names: tuple[str, ...] = eqx.field(static=True)
    planar: bool = eqx.field(static=True)  # everything moves in a vertical plane: one tangent

    @property
    def count(self) -> int:
        """The number of contacts."""
        return len(self.names)

    @property
    def dim(self) -> int:
        """Rows of a contact: tangents, then normal; 2 in the plane, 3 in space."""
        return 2 if self.planar else 3

    @property
    def bodies(self) -> np.ndarray:
        """The two bodies of each contact, the world (0) for ground. Shape (n_contacts, 2)."""
        ground = (*self.point_plane.bodies, *self.round_plane.bodies, *self.ball_field.bodies)
        pairs = [(b, 0) for b in ground] + list(self.ball_ball.bodies)
        return np.array(pairs, int).reshape(-1, 2)


def find_contacts(
    mechanism: Mechanism,
    *,
    points: Sequence[str] | None = None,
    ground: Planes | None = None,
    field: HeightField | None = None,
    pairs: bool = True,
    required: bool = True,
) -> Contacts | None:
    """The contacts that a mechanism may have.

    Args:
        mechanism: What moves.
        points: Names of sites, geoms and bodies (their origin) that may touch the ground; by
            default all geoms whose contact bits match the ground's.
        ground: Planes to touch; by default the plane geoms that stand still in the model.
        field: A height field to touch.
        pairs: Whether spheres of different bodies may touch each other.
        required: Whether it is an error if nothing can touch; otherwise the answer is None.
    """
    ground = model_planes(mechanism) if ground is None else ground
    builder = _Builder(mechanism, ground, field)
    for name in points if points is not None else builder.default_shapes():
        builder.add(name)
    if pairs:
        builder.add_pairs()
    return builder.build() if required or any(builder.names.values()) else None


def model_planes(mechanism: Mechanism) -> Planes:
    """The plane geoms of a model that stand still."""
    shapes, tree = mechanism.shapes, mechanism.tree
    found = [
        i
        for i, (kind, body) in enumerate(zip(shapes.kinds, shapes.bodies, strict=True))
        if kind == "plane" and tree.body_links[body] == 0
    ]
    bodies = mechanism.bodies
    points, frames = [], []
    for i in found:
        body = shapes.bodies[i]
        R, p = np.array(bodies.rotation[body]), np.array(bodies.position[body])
        points.append(p + R @ np.array(shapes.position[i]))
        frames.append(R @ np.array(shapes.rotation[i]))
    return planes(points, frames, [shapes.names[i] for i in found])


class _Builder:
    """Collects contacts kind by kind."""

    def __init__(self, mechanism: Mechanism, ground: Planes, field: HeightField | None):
        self.mechanism, self.ground, self.field = mechanism, ground, field
        self.point_plane: list[tuple] = []
        self.round_plane: list[tuple] = []
        self.ball_field: list[tuple] = []
        self.ball_ball: list[tuple] = []
        self.names: dict[str, list[str]] = {"pp": [], "rp": [], "bf": [], "bb": []}

    def default_shapes(self) -> list[str]:
        shapes, tree = self.mechanism.shapes, self.mechanism.tree
        bits = [
            t
            for k, t, b in zip(shapes.kinds, shapes.types, shapes.bodies, strict=True)
            if k == "plane" and tree.body_links[b] == 0
        ] or [(1, 1)]
        return [
            name
            for name, kind, body, (contype, affinity) in zip(
                shapes.names, shapes.kinds, shapes.bodies, shapes.types, strict=True
            )
            if tree.body_links[body] != 0
            and kind in ("sphere", "ellipsoid", "capsule", "box")
            and any((contype & a) or (affinity & c) for c, a in bits)
        ]

    def add(self, name: str) -> None:
        """A site, a geom or the origin of a body, against the ground."""
        m = self.mechanism
        if name in m.sites.names:
            i = m.sites.names.index(name)
            self._add_point(name, m.sites.bodies[i], np.array(m.sites.position[i]))
        elif name in m.shapes.names:
            self._add_shape(m.shapes.names.index(name))
        elif name in m.tree.body_names[1:]:  # URDF has no sites: the origin of a link
            self._add_point(name, m.tree.body_names.index(name), np.zeros(3))
        else:
            known = [*m.sites.names, *m.shapes.names]
            raise unknown("site or geom to touch with", name, known)

    def _add_shape(self, i: int) -> None:
        s = self.mechanism.shapes
        name, kind, body = s.names[i], s.kinds[i], s.bodies[i]
        center, R, size = (np.array(x[i]) for x in (s.position, s.rotation, s.size))
        if kind == "sphere":
            self._add_round(name, body, center, R, np.full(3, size[0]))
        elif kind == "ellipsoid":
            self._add_round(name, body, center, R, size)
        elif kind == "capsule":
            for end, sign in enumerate((-1, 1)):
                tip = center + sign * R @ np.array([0, 0, size[1]])
                self._add_round(f"{name}[{end}]", body, tip, R, np.full(3, size[0]))
        elif kind == "box":
            for corner, signs in enumerate(_CORNERS):
                self._add_point(f"{name}[{corner}]", body, center + R @ (signs * size))
        else:
            raise InputError(
                f"geom `{name}` is a {kind}, which takes no part in contact;"
                " use a sphere, ellipsoid, capsule or box, or sites"
            )

    def _add_point(self, name: str, body: int, point: np.ndarray) -> None:
        for k, plane in enumerate(self.ground.names):
            self.point_plane.append((point, body, k))
            self.names["pp"].append(self._named(name, plane))
        if self.field is not None:
            self.ball_field.append((point, 0.0, body))
            self.names["bf"].append(self._named(name, self.field.name))

    def _add_round(self, name: str, body: int, center, R, semi_axes) -> None:
        for k, plane in enumerate(self.ground.names):
            self.round_plane.append((center, R, semi_axes, body, k))
            self.names["rp"].append(self._named(name, plane))
        if self.field is not None:
            if np.ptp(semi_axes) > 0:
                raise InputError(
                    f"geom `{name}` is an ellipsoid, which may touch planes only;"
                    " use spheres on a height field"
                )
            self.ball_field.append((center, semi_axes[0], body))
            self.names["bf"].append(self._named(name, self.field.name))

    def _named(self, name: str, support: str) -> str:
        several = len(self.ground.names) + (self.field is not None) > 1
        return f"{name} on {support}" if several else name

    def add_pairs(self) -> None:
        """Spheres of bodies that no joint connects directly."""
        m = self.mechanism
        s, tree = m.shapes, m.tree
        balls = [
            i
            for i, k in enumerate(s.kinds)
            if k == "sphere" and tree.body_links[s.bodies[i]] != 0 and s.types[i] != (0, 0)
        ]
        for a_index, a in enumerate(balls):
            for b in balls[a_index + 1 :]:
                links = tree.body_links[s.bodies[a]], tree.body_links[s.bodies[b]]
                parents = [0, *tree.joint_parents]
                neighbours = parents[links[0]] == links[1] or parents[links[1]] == links[0]
                match = (s.types[a][0] & s.types[b][1]) or (s.types[b][0] & s.types[a][1])
                if links[0] == links[1] or neighbours or not match:
                    continue
                centers = np.array([s.position[a], s.position[b]])
                radii = np.array([s.size[a][0], s.size[b][0]])
                self.ball_ball.append((centers, radii, (s.bodies[a], s.bodies[b])))
                self.names["bb"].append(f"{s.names[a]}-{s.names[b]}")

    def build(self) -> Contacts:
        names = [n for key in ("pp", "rp", "bf", "bb") for n in self.names[key]]
        if not names:
            raise InputError(
                "nothing can touch: the model has no ground plane, or no geom that may touch it;"
                " name sites or geoms in `contact.points`, and give a ground"
            )
        pp, rp, bf, bb = self.point_plane, self.round_plane, self.ball_field, self.ball_ball
        return Contacts(
            PointPlane(
                _stack([c[0] for c in pp], 3),
                tuple(int(c[1]) for c in pp),
                tuple(int(c[2]) for c in pp),
            ),
            RoundPlane(
                _stack([c[0] for c in rp], 3),
                _stack([c[1] for c in rp], 3, 3),
                _stack([c[2] for c in rp], 3),
                tuple(int(c[3]) for c in rp),
                tuple(int(c[4]) for c in rp),
            ),
            BallField(
                _stack([c[0] for c in bf], 3),
                _stack([c[1] for c in bf]),
                tuple(int(c[2]) for c in bf),
            ),
            BallBall(
                _stack([c[0] for c in bb], 2, 3),
                _stack([c[1] for c in bb], 2),
                tuple((int(c[2][0]), int(c[2][1])) for c in bb),
            ),
            self.ground,
            self.field,
            tuple(names),
            self.field is None and _moves_in_plane(self.mechanism, self.ground),
        )


def _moves_in_plane(mechanism: Mechanism, ground: Planes) -> bool:
    """Whether all bodies keep to the x-z plane: hinges along y, slides across it, upright ground.

    Then the second tangent of every contact (y) is never used, and leaving it out keeps the
    contact problems small and of full rank.
    """
    tree, joints = mechanism.tree, mechanism.joints
    turns = [np.eye(3)]
    for joint, kind in enumerate(tree.joint_types):
        R = turns[tree.joint_parents[joint]] @ np.array(joints.rotation[joint])
        axis = R @ np.array(joints.axis[joint])
        along_y = abs(axis[1]) > 1 - 1e-12
        across_y = abs(axis[1]) < 1e-12
        if not ((kind == HINGE and along_y) or (kind == SLIDE and across_y)):
            return False
        turns.append(R)
    frames = np.array(ground.rotation)
    return bool(np.all(np.abs(np.abs(frames[:, 1, 1]) - 1) < 1e-12))


def _stack(rows: list, *shape: int) -> Array:
    return jnp.asarray(np.array(rows, float).reshape(len(rows), *shape))
