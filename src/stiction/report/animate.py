"""From a run to an animation: the mechanism's shapes, carried along by its bodies."""

from collections.abc import Mapping

import jax
import numpy as np
from scipy.spatial.transform import Rotation

from stiction.mechanism import Mechanism, world_poses
from stiction.mechanism.mechanism import GREY
from stiction.report.meshes import Triangles, drawn, field_mesh
from stiction.report.player import Animation, Event, Plane, Shape, Trail
from stiction.report.player.animation import SIZES
from stiction.scenes.reactions import world_forces
from stiction.scenes.run import Run

_MAX_TRAILS = 4


def animation(run: Run, meshes: Mapping[int, Triangles]) -> Animation:
    """The motion of a run, to be played in its report, with the meshes of its shapes."""
    mechanism, trajectory = run.mechanism, run.trajectory
    finite = np.isfinite(np.asarray(trajectory.q)).all(axis=1)
    forces = world_forces(run)
    poses = jax.jit(jax.vmap(lambda q: world_poses(mechanism, q)))(trajectory.q[finite])
    return Animation(
        time=np.asarray(trajectory.time)[finite],
        shapes=[
            *shapes_of(mechanism, planes=run.contacts is None, meshes=meshes),
            *_field(run),
        ],
        positions=np.array(poses.position),
        quaternions=_quaternions(np.array(poses.rotation)),
        trails=_trails(mechanism),
        ground=_ground(run),
        events=[Event(e.time, e.kind, e.contact or e.note) for e in run.events],
        forces=None if forces is None else forces[finite],
    )


def _field(run: Run) -> list[Shape]:
    """Ground that is not flat."""
    field = None if run.contacts is None else run.contacts.field
    return [] if field is None else [field_mesh(field)]


def _ground(run: Run) -> list[Plane]:
    """The planes that are touched, tilted as they were; the model's own are shapes otherwise."""
    if run.contacts is None:
        return [] if "plane" in run.mechanism.shapes.kinds else [Plane()]
    planes = run.contacts.planes
    return [
        Plane(np.asarray(p), np.asarray(R)[:, 2])
        for p, R in zip(planes.position, planes.rotation, strict=True)
    ]


def shapes_of(
    mechanism: Mechanism, *, planes: bool, meshes: Mapping[int, Triangles] | None = None
) -> list[Shape]:
    """What a mechanism looks like, with or without its planes; of meshes those that are given."""
    shapes, meshes = mechanism.shapes, meshes or {}
    turns = _quaternions(np.array(shapes.rotation))
    return [
        Shape(
            kind,
            np.asarray(shapes.size[i]),
            None if shapes.colors[i] == GREY else shapes.colors[i],
            shapes.bodies[i],
            np.asarray(shapes.position[i]),
            turns[i],
            *meshes.get(i, ()),
        )
        for i, (kind, seen) in enumerate(zip(shapes.kinds, drawn(mechanism), strict=True))
        if seen and _can_be_drawn(kind, planes, i in meshes)
    ]


def _can_be_drawn(kind: str, planes: bool, has_mesh: bool) -> bool:
    return {"plane": planes, "mesh": has_mesh}.get(kind, kind in SIZES)


def _trails(mechanism: Mechanism) -> list[Trail]:
    """Sites mark points of interest; where there are none, the centre of the first moving body."""
    sites = mechanism.sites
    if sites.names:
        points = zip(sites.bodies, np.asarray(sites.position), strict=True)
        return [Trail(body, point) for body, point in list(points)[:_MAX_TRAILS]]
    moving = [b for b, link in enumerate(mechanism.tree.body_links) if link != 0]
    return [Trail(moving[0], np.asarray(mechanism.bodies.center[moving[0]]))]


def _quaternions(rotations: np.ndarray) -> np.ndarray:
    flat = Rotation.from_matrix(rotations.reshape(-1, 3, 3))
    return flat.as_quat(scalar_first=True).reshape(*rotations.shape[:-2], 4)
