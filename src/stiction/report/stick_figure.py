"""A stick figure of any subject: lines from joint to joint, and on to the ends of limbs."""

import numpy as np

from stiction.biped import Subject


def bones(subject: Subject) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """Lines of a stick figure: the body that carries each, and its ends in the body's frame [m]."""
    pose = subject.poses(subject.defaults[None])
    position, rotation = pose.position[0], pose.rotation[0]
    center = np.asarray(subject.bodies.center)
    lines, carries = [], set()
    for body, parent in enumerate(subject.parents):
        if body == 0 or parent == 0:
            continue
        end = rotation[parent].T @ (position[body] - position[parent])
        if np.linalg.norm(end) > 0.01:
            lines.append((parent, np.zeros(3), end))
        carries.add(parent)
    for body in range(1, len(subject.body_names)):
        if body not in carries and np.linalg.norm(center[body]) > 0.01:
            # The end of a limb is about as far beyond its centre of mass as its joint before it.
            lines.append((body, np.zeros(3), 2 * center[body]))
    return lines


def stick_figures(subject: Subject, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Stick figures of several frames.

    Returns:
        The body that carries each line, and the lines in the world [m], shape (n, n_lines, 2, 3).
    """
    lines = bones(subject)
    poses = subject.poses(q)
    index = np.array([body for body, _, _ in lines])
    position, rotation = poses.position[:, index], poses.rotation[:, index]
    ends = np.stack(
        [np.stack([a for _, a, _ in lines]), np.stack([b for _, _, b in lines])], axis=1
    )
    return index, position[:, :, None] + np.einsum("nkij,kej->nkei", rotation, ends)
