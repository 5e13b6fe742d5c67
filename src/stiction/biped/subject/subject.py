"""Who moves: bodies with mass whose poses are a function of coordinates, and feet to stand on.

An OpenSim model and a `Mechanism` both become a `Subject`; ground reactions need no more than this.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

import equinox as eqx
import jax
import numpy as np

from stiction._base.arrays import Array, Float, Int
from stiction._base.compile import quick_jit
from stiction._base.errors import InputError, unknown
from stiction.mechanism import BALL, FREE, HINGE, Mechanism, Pose, world_poses

NO_RANGE = (-np.inf, np.inf)
_SUFFIX = re.compile(r"^(?P<joint>.+?)_(?P<side>[lr])(?P<rest>_\w+)?$")
CHUNK = 256  # frames are padded to a multiple of this, so that recordings share a program


@dataclass(frozen=True)
class Coordinate:
    """One generalised coordinate."""

    name: str  # as motion files call it
    rotational: bool  # whether it is an angle [rad]; otherwise a length [m] or part of a quaternion
    default: float = 0.0  # its value where nothing else is said
    range: tuple[float, float] = NO_RANGE  # its least and largest value; not enforced
    locked: bool = False  # whether the model holds it at its default
    # the coordinates that give it by a coupling, whatever a file says
    follows: tuple[str, ...] = ()


class SubjectBodies(eqx.Module):
    """What moves, as a pytree: poses as a function of q, and inertia."""

    poses: Callable[[Array], Pose]  # q to the poses of all bodies in the world
    mass: Float[Array, "n_bodies"]  # mass of each body [kg]
    center: Float[Array, "n_bodies 3"]  # centre of mass in the body's frame [m]
    inertia: Float[Array, "n_bodies 3 3"]  # about the centre of mass, along the body's axes [kg·m²]
    gravity: Float[Array, "3"]  # acceleration [m/s²]


class BodyMotion(eqx.Module):
    """Poses of all bodies in every frame, and their first and second derivatives by time."""

    pose: Pose
    rate: Pose
    acceleration: Pose


@dataclass(frozen=True)
class Points:
    """Named points of bodies: markers, or what touches the ground."""

    names: tuple[str, ...]  # one each
    bodies: Int[np.ndarray, "n"]  # index of the body that carries each
    position: Float[np.ndarray, "n 3"]  # in the body's frame [m]
    radius: Float[np.ndarray, "n"]  # radius of the ball around each point [m]; 0 for a bare point
    feet: tuple[str, ...] = ()  # the foot that each belongs to; empty for markers
    source: str = ""  # where they come from, in words

    def __len__(self) -> int:
        return len(self.names)

    @property
    def foot_names(self) -> tuple[str, ...]:
        """The feet, each once."""
        return tuple(dict.fromkeys(self.feet))

    @property
    def membership(self) -> Float[np.ndarray, "n n_feet"]:
        """1 where a point belongs to a foot, 0 elsewhere."""
        return (np.array(self.feet)[:, None] == np.array(self.foot_names)[None]).astype(float)


NO_POINTS = Points((), np.zeros(0, int), np.zeros((0, 3)), np.zeros(0))


@dataclass(frozen=True)
class Subject:
    """A person or a robot on its feet."""

    name: str  # name of the model
    bodies: SubjectBodies  # poses and inertia, the part that computations need
    coordinates: tuple[Coordinate, ...]  # the entries of q
    body_names: tuple[str, ...]  # one each; the world or ground first
    parents: tuple[int, ...]  # the body that carries each; the world's is itself
    # where the joint that carries each body is, in the body's frame [m]
    joints: Float[np.ndarray, "n_bodies 3"]
    # the coordinates of the floating base, without which nothing can be said
    base: tuple[str, ...] = ()
    markers: Points = NO_POINTS  # what motion capture sees; none where the model has none
    soles: Points = NO_POINTS  # what may touch the ground; none where nothing is known
    notes: tuple[str, ...] = ()  # what was left out or decided in reading the model

    @property
    def mass(self) -> float:
        """Mass of all bodies [kg]."""
        return float(np.sum(self.bodies.mass))

    @property
    def weight(self) -> float:
        """Mass times gravity [N]."""
        return self.mass * float(np.linalg.norm(self.bodies.gravity))

    @property
    def up(self) -> np.ndarray:
        """The direction against gravity."""
        g = np.asarray(self.bodies.gravity)
        if not g.any():
            raise InputError(f"`gravity` of '{self.name}' is zero; which way is up?")
        return -g / np.linalg.norm(g)

    @property
    def defaults(self) -> np.ndarray:
        """Coordinates q where neither file nor motion says otherwise."""
        return np.array([c.default for c in self.coordinates])

    def motion(
        self,
        q: Float[np.ndarray, "n nq"],
        rate: Float[np.ndarray, "n nq"],
        acceleration: Float[np.ndarray, "n nq"],
    ) -> BodyMotion:
        """World poses of all bodies in every frame and their derivatives, as NumPy arrays."""
        frames = jax.device_put([padded(x) for x in (q, rate, acceleration)])
        found = _motion_of_frames(self.bodies.poses, *frames)
        return jax.tree.map(lambda x: np.asarray(x)[: len(q)], found)

    def poses(self, q: Float[np.ndarray, "n nq"]) -> Pose:
        """World poses of all bodies in every frame, as NumPy arrays."""
        # Poses alone would be quicker to compute; a second program costs more to get.
        return self.motion(q, np.zeros_like(q), np.zeros_like(q)).pose

    def body(self, name: str) -> int:
        """The index of a body."""
        if name not in self.body_names:
            raise unknown("body", name, self.body_names)
        return self.body_names.index(name)


def carried(pose: Pose, bodies, local: np.ndarray) -> np.ndarray:
    """Points fixed in bodies, or their rates where `pose` is a rate, shape (n, n_points, 3)."""
    turned = np.einsum("nkij,kj->nki", pose.rotation[:, bodies], local)
    return pose.position[:, bodies] + turned


def side_of(coordinate: str) -> tuple[str | None, str]:
    """Side and rest of a coordinate's or body's name: 'knee_angle_r' is ('right', 'knee_angle')."""
    for side in ("left", "right"):
        if coordinate.startswith(f"{side}_"):
            return side, coordinate.removeprefix(f"{side}_")
    if match := _SUFFIX.match(coordinate):
        side = {"l": "left", "r": "right"}[match["side"]]
        return side, match["joint"] + (match["rest"] or "")
    return None, coordinate


def padded(frames: np.ndarray) -> np.ndarray:
    """The frames, the last one repeated up to a multiple of `CHUNK`."""
    more = ((0, -len(frames) % CHUNK), *((0, 0) for _ in frames.shape[1:]))
    return np.pad(frames, more, mode="edge")


@quick_jit
def _motion_of_frames(
    poses: Callable[[Array], Pose],
    q: Float[Array, "n nq"],
    rate: Float[Array, "n nq"],
    acceleration: Float[Array, "n nq"],
) -> BodyMotion:
    """Differentiate poses along q(t), whatever the joints."""

    def frame(q, rate, acceleration):
        def first(q, rate):
            return jax.jvp(poses, (q,), (rate,))

        (pose, q_rate), (_, q_acceleration) = jax.jvp(first, (q, rate), (rate, acceleration))
        return BodyMotion(pose, q_rate, q_acceleration)

    return jax.vmap(frame)(q, rate, acceleration)


class MechanismPoses(eqx.Module):
    """The poses of a mechanism's bodies."""

    mechanism: Mechanism

    def __call__(self, q: Float[Array, "nq"]) -> Pose:
        """World poses of the world and the bodies."""
        return world_poses(self.mechanism, q)


def subject_of_mechanism(mechanism: Mechanism) -> Subject:
    """A mechanism (MJCF, URDF, a scene) as a subject; its feet are found by `soles`."""
    tree = mechanism.tree
    angles = {int(tree.q_address[j]) for j in tree.joints_of_type(HINGE)}
    ranges = {
        int(a): (float(r[0]), float(r[1]))
        for a, r, kind in zip(
            tree.q_address, np.asarray(mechanism.joints.range), tree.joint_types, strict=True
        )
        if kind not in (FREE, BALL)
    }
    reference = np.asarray(mechanism.q_reference)
    coordinates = tuple(
        Coordinate(name, i in angles, float(reference[i]), ranges.get(i, NO_RANGE))
        for i, name in enumerate(tree.coordinate_names)
    )
    bodies = mechanism.bodies
    moving = np.array([link != 0 for link in tree.body_links])
    return Subject(
        name=mechanism.name,
        bodies=SubjectBodies(
            MechanismPoses(mechanism),
            jax.device_put(np.asarray(bodies.mass) * moving),
            bodies.center,
            bodies.inertia,
            mechanism.gravity,
        ),
        coordinates=coordinates,
        body_names=tree.body_names,
        parents=_parents(mechanism),
        joints=_anchors(mechanism),
        base=tuple(c.name for c in coordinates if _of_base(c.name, mechanism)),
    )


def _parents(mechanism: Mechanism) -> tuple[int, ...]:
    """The body that carries each body: the last one on the nearest link below its own."""
    tree = mechanism.tree
    last = {link: body for body, link in enumerate(tree.body_links)}
    parents = []
    for link in tree.body_links:
        below = tree.joint_parents[link - 1] if link else 0
        while below not in last:
            below = tree.joint_parents[below - 1]
        parents.append(last[below] if link else 0)
    return tuple(parents)


def _anchors(mechanism: Mechanism) -> np.ndarray:
    """The joint of each body's link, in the body's frame [m]."""
    bodies, links = mechanism.bodies, np.array(mechanism.tree.body_links)
    anchor = np.concatenate([np.zeros((1, 3)), np.asarray(mechanism.joints.anchor)])[links]
    apart = anchor - np.asarray(bodies.position)
    return np.einsum("bji,bj->bi", np.asarray(bodies.rotation), apart)


def _of_base(coordinate: str, mechanism: Mechanism) -> bool:
    tree = mechanism.tree
    return any(coordinate.startswith(f"{tree.joint_names[j]}.") for j in tree.joints_of_type(FREE))
