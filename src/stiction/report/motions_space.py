"""A spatial body's contacts, forces and motion, on three-dimensional matplotlib axes."""

import numpy as np
from mpl_toolkits.mplot3d import Axes3D

from stiction.motions import PossibleMotion, SpatialProblem, contact_tangents
from stiction.report.motions_body import APPLIED, MOTION, OBSTACLE, REACTION


def draw_space(axes: Axes3D, problem: SpatialProblem, motion: PossibleMotion | None) -> None:
    """Contact points and normals; the applied force, or a motion with its contact forces."""
    points = np.array([c.point for c in problem.contacts]).reshape(-1, 3)
    normals = np.array([c.normal for c in problem.contacts]).reshape(-1, 3)
    normals = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    center = np.array(problem.center)
    size = float(np.ptp(np.concatenate([points, center[None]]), axis=0).max()) or 1.0
    axes.plot(*points.T, "o", color=OBSTACLE, ms=4)
    axes.plot(*center[:, None], "o", color=APPLIED, ms=4)
    for (x, y, z), name in zip(points.tolist(), problem.names, strict=True):
        axes.text(x, y, z, f" {name}", fontsize=7)
    for corner in points:  # the body, as spokes to its contacts
        axes.plot(*np.stack([center, corner]).T, color="#B8C7D4", lw=1.0)
    if motion is None:
        _arrows(axes, points, 0.15 * size * normals, OBSTACLE)
        _arrows(axes, center[None], 0.5 * size * _unit(np.array([problem.force])), APPLIED)
    else:
        tangents = contact_tangents(normals)
        forces = np.einsum("kt,ktx->kx", motion.forces[:, :-1], tangents)
        forces = forces + motion.forces[:, -1:] * normals
        largest = np.linalg.norm(forces, axis=1).max(initial=0.0) or 1.0
        _arrows(axes, points, 0.5 * size * forces / largest, REACTION)
        _arrows(axes, center[None], 0.5 * size * _unit(motion.acceleration[None, :3]), MOTION)
        axis = 0.35 * size * _unit(motion.acceleration[None, 3:])
        _arrows(axes, center[None], axis, MOTION, linestyle=":")  # the axis of the turn
    axes.set_aspect("equal")
    axes.set_xlabel("x")
    axes.set_ylabel("y")
    axes.set_zlabel("z")
    axes.locator_params(nbins=5)


def _unit(vectors):
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.where(length > 1e-9, vectors / np.where(length > 0, length, 1.0), 0.0)


def _arrows(axes: Axes3D, starts, vectors, color: str, **options) -> None:
    there = np.linalg.norm(vectors, axis=1) > 0
    if there.any():
        axes.quiver(*starts[there].T, *vectors[there].T, color=color, lw=1.5, **options)
