"""A state inside of what it touches: how deep, and the nearest one that is not.

Rigid bodies cannot begin there: no motion of theirs leads to such a state, and to push them out
takes energy that nobody gave. `find_inside` names what is inside; `move_out` moves it out, as a
change of the start that is told. With the way y from the start, the gaps g and their Jacobian J,
each round solves

$$ \\min |y|^2 , \\qquad J y \\ge h = J y_0 - g , $$

by least distance programming. First only bodies that float are moved, and not turned: the posture
stays. Where that does not do, all joints are.
"""

from collections.abc import Iterator
from typing import NamedTuple

import jax.numpy as jnp
import mujoco
import numpy as np

from stiction._base.arrays import Array, ArrayLike, Bool, Float, Real
from stiction._base.errors import InputError
from stiction._base.least_distance import shortest_way
from stiction.mechanism import FREE, SLIDE, Mechanism, Pose, Tree
from stiction.surfaces.contacts import Contacts
from stiction.surfaces.geometry import contact_places
from stiction.surfaces.penetration import Penetration

_ROUNDS = 50
_START = jnp.zeros(())  # [s]
_OUT = 1e-12  # what is nearer than this to the surface is out [m]


class MovedOut(NamedTuple):
    """A start that was moved out of what it touched."""

    q: Float[Array, "nq"]
    inside: tuple[Penetration, ...]  # what was inside, the deepest first
    distance: float  # of the body that was moved farthest [m]
    turned: bool  # whether joints were, too
    energy: float  # potential energy that it has more [J]

    def __str__(self) -> str:
        first, more = self.inside[0], len(self.inside) - 1
        others = f" (and {more} more)" if more else ""
        return (
            f"the start was moved out of what it touches: {first.first} was {first.depth:.3g} m"
            f" inside of {first.second}{others}; bodies moved by up to {self.distance:.3g} m,"
            f" {'joints turned' if self.turned else 'none turned'},"
            f" potential energy {self.energy:+.3g} J"
        )


def find_inside(
    mechanism: Mechanism, contacts: Contacts, q: Real[ArrayLike, "nq"], deeper_than: float
) -> tuple[Penetration, ...]:
    """The contacts that are inside of what they touch at time zero, the deepest first."""
    gap = _State(mechanism, contacts, np.asarray(q)).gap
    return tuple(
        Penetration(contacts.touches[i].name, contacts.touches[i].on, float(-gap[i]), 0.0, True)
        for i in np.argsort(gap)
        if gap[i] < -deeper_than
    )


def move_out(mechanism: Mechanism, contacts: Contacts, q: Real[ArrayLike, "nq"]) -> MovedOut | None:
    """The nearest configuration in which nothing is inside; None if q itself is one.

    Raises an `InputError` where there is none near: a body between two walls, a base that is fixed.
    """
    q = np.array(q, float)
    inside = find_inside(mechanism, contacts, q, _OUT)
    if not inside:
        return None
    out, turned = _project(mechanism, contacts, q, _floats(mechanism.tree)), False
    if out is None:
        everything = np.ones(mechanism.nv, bool)
        out, turned = _project(mechanism, contacts, q, everything), True
    if out is None:
        worst = inside[0]
        raise InputError(
            f"`start.resolve` finds no way out: {worst.first} is {worst.depth:.3g} m inside of"
            f" {worst.second}, and no small change of `start.q` frees everything; give another"
        )
    before, after = (_State(mechanism, contacts, x) for x in (q, out))
    distance = float(np.linalg.norm(after.places - before.places, axis=1).max())
    moved = jnp.asarray(out, mechanism.q_reference.dtype)
    return MovedOut(moved, inside, distance, turned, after.energy - before.energy)


def _floats(tree: Tree) -> Bool[np.ndarray, " nv"]:
    """The freedoms that shift a whole mechanism: of free joints, and of slides on the world."""
    floats, shifts = np.zeros(tree.nv, bool), {0}
    for joint, kind in enumerate(tree.joint_types):
        first = tree.v_address[joint]
        if tree.joint_parents[joint] in shifts and kind in (FREE, SLIDE):
            floats[first : first + (3 if kind == FREE else 1)] = True
            shifts |= {joint + 1} if kind == SLIDE else set()
    return floats


def _project(
    mechanism: Mechanism, contacts: Contacts, start: np.ndarray, movable: Bool[np.ndarray, " nv"]
) -> np.ndarray | None:
    """The nearest to the start with no negative gap, by what is movable; None if none is found."""
    way, q = np.zeros(mechanism.nv), start
    for _ in range(_ROUNDS):
        state = _State(mechanism, contacts, q)
        gap, J, before = state.gap, state.jacobian[:, movable], way.copy()
        y = shortest_way(J, J @ way[movable] - gap)
        if y is None or not np.isfinite(y).all():
            return None
        way[movable] = y
        q = start.copy()
        mujoco.mj_integratePos(mechanism.compiled.model, q, way, 1.0)
        if np.abs(way - before).max() <= _OUT * max(1.0, np.abs(way).max()):
            return q
    return None


class _State:
    """Gaps of contacts at a configuration, and what changes them, by MuJoCo: nothing is compiled.

    Bodies are where the model as it was loaded has them.
    """

    def __init__(self, mechanism: Mechanism, contacts: Contacts, q: Float[np.ndarray, " nq"]):
        self._model = mechanism.compiled.model
        self._data = mujoco.MjData(self._model)
        self._data.qpos[:] = q
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_comPos(self._model, self._data)
        self.places = np.array(self._data.xpos)
        self._turns = np.array(self._data.xmat).reshape(-1, 3, 3)
        self._contacts = contacts
        found = [*self._points(), *self._round(), *self._field(), *self._balls()]
        self.gap = np.array([gap for gap, _, _ in found])
        self._point = np.array([point for _, point, _ in found])
        self._normal = np.array([normal for _, _, normal in found])

    @property
    def energy(self) -> float:
        """Of gravity and springs [J]."""
        mujoco.mj_energyPos(self._model, self._data)
        return float(self._data.energy[0])

    @property
    def jacobian(self) -> Float[np.ndarray, "n nv"]:
        """The rate of each gap that every freedom gives."""
        rows = np.zeros((len(self.gap), self._model.nv))
        of_point = np.zeros((3, self._model.nv))
        for row, point, normal, bodies in zip(
            rows, self._point, self._normal, self._contacts.bodies, strict=True
        ):
            for body, sign in zip(bodies, (1, -1), strict=True):
                mujoco.mj_jac(self._model, self._data, of_point, None, point, body)
                row += sign * normal @ of_point
        return rows

    def _on_plane(self, point: np.ndarray, plane: int) -> tuple[float, np.ndarray, np.ndarray]:
        planes = self._contacts.planes
        normal = np.asarray(planes.rotation)[plane, :, 2]
        origin = np.asarray(planes.position)[plane] + np.asarray(planes.motion.shift(_START))[plane]
        return float(normal @ (point - origin)), point, normal

    def _points(self) -> Iterator[tuple[float, np.ndarray, np.ndarray]]:
        group = self._contacts.point_plane
        for x, body, plane in zip(np.asarray(group.point), group.bodies, group.planes, strict=True):
            yield self._on_plane(self.places[body] + self._turns[body] @ x, plane)

    def _round(self) -> Iterator[tuple[float, np.ndarray, np.ndarray]]:
        """The lowest point of an ellipsoid: x - R A² Rᵀ n / |A Rᵀ n|."""
        group, frames = self._contacts.round_plane, np.asarray(self._contacts.planes.rotation)
        for i, (body, plane) in enumerate(zip(group.bodies, group.planes, strict=True)):
            R, axes = (
                self._turns[body] @ np.asarray(group.rotation[i]),
                np.asarray(group.semi_axes[i]),
            )
            scaled = axes * (R.T @ frames[plane, :, 2])
            center = self.places[body] + self._turns[body] @ np.asarray(group.center[i])
            yield self._on_plane(center - R @ (axes * scaled) / np.linalg.norm(scaled), plane)

    def _field(self) -> Iterator[tuple[float, np.ndarray, np.ndarray]]:
        group = self._contacts.ball_field
        if self._contacts.field is None or not group.bodies:
            return
        at = Pose(jnp.asarray(self.places), jnp.asarray(self._turns))
        found = contact_places(self._contacts, at, _START)
        first = len(self._contacts.point_plane.bodies) + len(self._contacts.round_plane.bodies)
        for i in range(first, first + len(group.bodies)):
            point, frame = np.asarray(found.point[i]), np.asarray(found.frame[i])
            yield float(found.gap[i]), point, frame[2]

    def _balls(self) -> Iterator[tuple[float, np.ndarray, np.ndarray]]:
        group = self._contacts.ball_ball
        centers, radii = np.asarray(group.center), np.asarray(group.radius)
        for i, (a, b) in enumerate(group.bodies):
            x, y = (
                self.places[k] + self._turns[k] @ c for k, c in zip((a, b), centers[i], strict=True)
            )
            apart = float(np.linalg.norm(x - y))
            normal = (x - y) / apart if apart > 0 else np.array([0.0, 0.0, 1.0])
            yield apart - radii[i].sum(), x - radii[i, 0] * normal, normal
