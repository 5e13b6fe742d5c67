"""From a run to an animation: the mechanism's shapes, carried along by its bodies."""

import jax
import numpy as np
from scipy.spatial.transform import Rotation

from stiction.mechanism import Mechanism, world_poses
from stiction.report.player import Animation, Shape, Trail
from stiction.report.player.animation import SIZES
from stiction.scenes.run import Run

_MAX_TRAILS = 4


def animation(run: Run) -> Animation:
    """The motion of a run, to be played in its report."""
    mechanism, trajectory = run.mechanism, run.trajectory
    finite = np.isfinite(np.asarray(trajectory.q)).all(axis=1)
    poses = jax.jit(jax.vmap(lambda q: world_poses(mechanism, q)))(trajectory.q[finite])
    return Animation(
        time=np.asarray(trajectory.time)[finite],
        shapes=_shapes(mechanism),
        positions=np.array(poses.position),
        quaternions=_quaternions(np.array(poses.rotation)),
        trails=_trails(mechanism),
    )


def _shapes(mechanism: Mechanism) -> list[Shape]:
    shapes = mechanism.shapes
    turns = _quaternions(np.array(shapes.rotation))
    return [
        Shape(
            kind,
            np.asarray(shapes.size[i]),
            # MuJoCo's default grey means that nobody chose a colour.
            None if shapes.colors[i] == (0.5, 0.5, 0.5, 1.0) else shapes.colors[i],
            shapes.bodies[i],
            np.asarray(shapes.position[i]),
            turns[i],
        )
        for i, kind in enumerate(shapes.kinds)
        if kind in SIZES
    ]


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
