"""Contacts: pairs of a place on a body and something it may touch, grouped by kind of pair.

Each kind is one batched computation; a contact keeps its place in one common order:
points on planes, round shapes on planes, points and balls on height fields, balls on balls.
"""

from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import numpy as np

from stiction._base.arrays import Array, Float
from stiction._base.errors import InputError, unknown
from stiction._base.spatial import CORNERS
from stiction.mechanism import HINGE, SLIDE, Mechanism
from stiction.surfaces.supports import HeightField, Planes, planes
from stiction.surfaces.touching import (
    ON_GROUND,
    Pair,
    may_touch_ground,
    pairs_that_may_touch,
    still_planes,
    touching_spheres,
)


class Touch(NamedTuple):
    """What a contact is: a point of a geom, a site or a body, and what it may touch."""

    name: str  # of the point: a geom's name, with a number where it has several
    kind: str  # sphere, ellipsoid, capsule end, box corner, site, body
    shape: str  # the geom, site or body
    body: str
    on: str  # a plane, a height field or a sphere


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
    touches: tuple[Touch, ...] = eqx.field(static=True)
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
    if points is None:
        builder.add_what_may_touch()
    else:
        for name in points:
            builder.add(name)
    if pairs:
        builder.add_pairs()
    return builder.contacts() if required or any(builder.found.values()) else None


def touching_table(
    mechanism: Mechanism, contacts: Contacts | None, ground: Planes | None = None
) -> list[Pair]:
    """Everything that may touch, and whether the given contacts treat it.

    Where sites or origins of bodies were chosen to touch a support, they stand for all geoms of
    their body there.
    """
    if contacts is not None:
        ground = contacts.planes
    supports = list((model_planes(mechanism) if ground is None else ground).names)
    treated: set[tuple[str, str]] = set()
    if contacts is not None:
        supports += [] if contacts.field is None else [contacts.field.name]
        for t in contacts.touches:
            chosen = t.kind in ("site", "body")
            treated.add((f"body {t.body}", t.on) if chosen else (t.shape, t.on))
            treated.add((t.on, t.shape))
    return pairs_that_may_touch(mechanism, supports, treated)


def model_planes(mechanism: Mechanism) -> Planes:
    """The plane geoms of a model that stand still."""
    shapes, bodies = mechanism.shapes, mechanism.bodies
    found = still_planes(mechanism)
    points, frames = [], []
    for i in found:
        body = shapes.bodies[i]
        R, p = np.asarray(bodies.rotation)[body], np.asarray(bodies.position)[body]
        points.append(p + R @ np.asarray(shapes.position)[i])
        frames.append(R @ np.asarray(shapes.rotation)[i])
    return planes(points, frames, [shapes.names[i] for i in found])


class _Place(NamedTuple):
    """A point, sphere or ellipsoid of a body, which may touch."""

    name: str
    kind: str
    shape: str
    body: int
    center: np.ndarray  # in the body's frame [m]
    rotation: np.ndarray = np.eye(3)
    semi_axes: np.ndarray | None = None  # [m]; None for a point


class _Builder:
    """Collects contacts group by group: what each is, and a row of each array of its group."""

    def __init__(self, mechanism: Mechanism, ground: Planes, field: HeightField | None):
        self.mechanism, self.ground, self.field = mechanism, ground, field
        self.supports = [*ground.names, *([] if field is None else [field.name])]
        groups = (PointPlane, RoundPlane, BallField, BallBall)
        self.found: dict[type, list[tuple[str, Touch, tuple]]] = {group: [] for group in groups}

    def add_what_may_touch(self) -> None:
        """Every shape that the model allows on the ground, and that can be treated there."""
        table = may_touch_ground(self.mechanism, self.supports)
        for i, kind in enumerate(self.mechanism.shapes.kinds):
            if kind in ON_GROUND:
                on = [s for s, may in zip(self.supports, table[i], strict=True) if may]
                self._add(self._places(i), on)

    def add(self, name: str) -> None:
        """A site, a geom or the origin of a body, against the ground."""
        m = self.mechanism
        if name in m.sites.names:
            i = m.sites.names.index(name)
            places = [_Place(name, "site", name, m.sites.bodies[i], np.array(m.sites.position[i]))]
        elif name in m.shapes.names:
            places = self._places(m.shapes.names.index(name))
        elif name in m.tree.body_names[1:]:  # URDF has no sites: the origin of a link
            places = [_Place(name, "body", name, m.tree.body_names.index(name), np.zeros(3))]
        else:
            known = [*m.sites.names, *m.shapes.names]
            raise unknown("site or geom to touch with", name, known)
        self._add(places, self.supports)

    def _places(self, i: int) -> list[_Place]:
        """Where a shape may touch a plane."""
        s = self.mechanism.shapes
        name, kind, body = s.names[i], s.kinds[i], s.bodies[i]
        center, R, size = (np.array(x)[i] for x in (s.position, s.rotation, s.size))
        if kind in ("sphere", "ellipsoid"):
            axes = np.full(3, size[0]) if kind == "sphere" else size
            return [_Place(name, kind, name, body, center, R, axes)]
        if kind == "capsule":
            tips = [center + sign * R @ np.array([0, 0, size[1]]) for sign in (-1, 1)]
            ball = np.full(3, size[0])
            return [
                _Place(f"{name}[{k}]", "capsule end", name, body, tip, R, ball)
                for k, tip in enumerate(tips)
            ]
        if kind == "box":
            corners = [center + R @ (signs * size) for signs in CORNERS]
            return [
                _Place(f"{name}[{k}]", "box corner", name, body, corner)
                for k, corner in enumerate(corners)
            ]
        raise InputError(
            f"geom `{name}` is a {kind}, which takes no part in contact;"
            " use a sphere, ellipsoid, capsule or box, or sites"
        )

    def _add(self, places: list[_Place], on: list[str]) -> None:
        for place, support in ((p, s) for p in places for s in on):
            center, R, axes = place.center, place.rotation, place.semi_axes
            if support in self.ground.names:
                k = self.ground.names.index(support)
                if axes is None:
                    group, row = PointPlane, (center, place.body, k)
                else:
                    group, row = RoundPlane, (center, R, axes, place.body, k)
            elif axes is not None and np.ptp(axes) > 0:
                raise InputError(
                    f"geom `{place.name}` is an ellipsoid, which may touch planes only;"
                    " use spheres on a height field"
                )
            else:
                group, row = BallField, (center, 0.0 if axes is None else axes[0], place.body)
            name = f"{place.name} on {support}" if len(self.supports) > 1 else place.name
            body = self.mechanism.tree.body_names[place.body]
            touch = Touch(place.name, place.kind, place.shape, body, support)
            self.found[group].append((name, touch, row))

    def add_pairs(self) -> None:
        """Spheres of different bodies against each other."""
        s, names = self.mechanism.shapes, self.mechanism.tree.body_names
        position, size = np.asarray(s.position), np.asarray(s.size)  # JAX's entries are slow to get
        for a, b in touching_spheres(self.mechanism):
            centers, radii = position[[a, b]], size[[a, b], 0]
            bodies = s.bodies[a], s.bodies[b]
            touch = Touch(s.names[a], "sphere", s.names[a], names[bodies[0]], s.names[b])
            row = (centers, radii, bodies)
            self.found[BallBall].append((f"{s.names[a]}-{s.names[b]}", touch, row))

    def contacts(self) -> Contacts:
        """All contacts, in the order of their groups."""
        found = [entry for group in self.found.values() for entry in group]
        if not found:
            raise InputError(
                "nothing can touch: the model has no ground plane, or no geom that may touch it;"
                " name sites or geoms in `contact.points`, and give a ground"
            )

        def column(group: type, i: int, *shape: int) -> Array:
            rows = [row[i] for _, _, row in self.found[group]]
            return jax.device_put(np.array(rows, float).reshape(len(rows), *shape))

        def integers(group: type, i: int) -> tuple[int, ...]:
            return tuple(int(row[i]) for _, _, row in self.found[group])

        pp, rp, bf, bb = self.found
        pairs = tuple((int(row[2][0]), int(row[2][1])) for _, _, row in self.found[bb])
        return Contacts(
            PointPlane(column(pp, 0, 3), integers(pp, 1), integers(pp, 2)),
            RoundPlane(
                column(rp, 0, 3),
                column(rp, 1, 3, 3),
                column(rp, 2, 3),
                integers(rp, 3),
                integers(rp, 4),
            ),
            BallField(column(bf, 0, 3), column(bf, 1), integers(bf, 2)),
            BallBall(column(bb, 0, 2, 3), column(bb, 1, 2), pairs),
            self.ground,
            self.field,
            tuple(name for name, _, _ in found),
            tuple(touch for _, touch, _ in found),
            self.field is None and _moves_in_plane(self.mechanism, self.ground),
        )


def _moves_in_plane(mechanism: Mechanism, ground: Planes) -> bool:
    """Whether all bodies keep to the x-z plane: hinges along y, slides across it, upright ground.

    Then the second tangent of every contact (y) is never used, and leaving it out keeps the
    contact problems small and of full rank.
    """
    tree, joints = mechanism.tree, mechanism.joints
    turns, rotation, axes = [np.eye(3)], np.asarray(joints.rotation), np.asarray(joints.axis)
    for joint, kind in enumerate(tree.joint_types):
        R = turns[tree.joint_parents[joint]] @ rotation[joint]
        axis = R @ axes[joint]
        along_y = abs(axis[1]) > 1 - 1e-12
        across_y = abs(axis[1]) < 1e-12
        if not ((kind == HINGE and along_y) or (kind == SLIDE and across_y)):
            return False
        turns.append(R)
    frames = np.array(ground.rotation)
    return bool(np.all(np.abs(np.abs(frames[:, 1, 1]) - 1) < 1e-12))
