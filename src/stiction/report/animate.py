"""From a run to an animation: the mechanism's shapes, carried along by its bodies."""

from collections.abc import Mapping

import numpy as np
from scipy.spatial.transform import Rotation

from stiction.engines import Trajectory, poses_at, rest_time
from stiction.mechanism import GREY, Mechanism
from stiction.report.meshes import Triangles, drawn, field_mesh
from stiction.report.player import Animation, Mark, Plane, Shape, Trail
from stiction.report.player.animation import SIZES
from stiction.report.player.payload import MOST_FRAMES
from stiction.report.run_path import sampled_forces, through_events, world_impulses

_MAX_TRAILS = 4


def animation(run: Trajectory, meshes: Mapping[int, Triangles]) -> Animation:
    """The motion of a run, to be played in its report, with the meshes of its shapes."""
    mechanism, path = run.mechanism, through_events(run).thinned(4 * MOST_FRAMES)
    position, rotation = poses_at(mechanism, path.q)
    return Animation(
        time=path.time,
        shapes=[
            *shapes_of(mechanism, planes=run.contacts is None, meshes=meshes),
            *_field(run),
        ],
        positions=position,
        quaternions=_quaternions(rotation),
        trails=_trails(mechanism),
        ground=_ground(run),
        events=[Mark(e.time, e.kind, e.contact or e.note) for e in run.events()],
        forces=sampled_forces(run, path),
        impulses=world_impulses(run),
        rest=rest_time(run),
    )


def _field(run: Trajectory) -> list[Shape]:
    """Ground that is not flat."""
    field = None if run.contacts is None else run.contacts.field
    return [] if field is None else [field_mesh(field)]


def _ground(run: Trajectory) -> list[Plane]:
    """The planes that are touched, tilted as they were; the model's own are shapes otherwise."""
    if run.contacts is None:
        return [] if "plane" in run.mechanism.shapes.kinds else [Plane()]
    planes = run.contacts.planes
    return [
        Plane(p, R[:, 2])
        for p, R in zip(*map(np.asarray, (planes.position, planes.rotation)), strict=True)
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
