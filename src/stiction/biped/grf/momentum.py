r"""What the ground must do: the rate of change of momentum, less gravity.

Summed over all bodies, with masses $m_i$, centres of mass $c_i$ and angular momenta $h_i$ about
them, and about a point o fixed in space,

$$ F = \sum_i m_i (\ddot c_i - g), \qquad
   N_o = \sum_i (c_i - o) \times m_i (\ddot c_i - g) + \dot h_i . $$

These are the first six rows of the equations of motion, (3) of rodic, in which no joint drive
appears: nothing but the ground pushes from outside. They need no mass matrix, and of the motion no
more than the poses' second derivatives: with $J = \int \xi \xi^T dm = \tfrac12 \mathrm{tr}(I) - I$
over a body's material, $h = \int R \xi \times \dot R \xi \, dm$ gives

$$ \dot h_a = \epsilon_{abc} \, (R J \ddot R^T)_{bc} . $$
"""

from dataclasses import dataclass

import numpy as np

from stiction.biped.subject.subject import BodyMotion, Points, SubjectBodies, carried
from stiction.mechanism import Pose


@dataclass(frozen=True)
class TotalReaction:
    """What all contacts together exert in every frame, and where the body is."""

    force: np.ndarray  # on the body [N], shape (n, 3)
    moment: np.ndarray  # about the world's origin [N·m]
    center: np.ndarray  # centre of mass [m]
    center_velocity: np.ndarray  # its velocity [m/s]


def total_reaction(bodies: SubjectBodies, motion: BodyMotion) -> TotalReaction:
    """Force and moment that the ground must exert for the bodies to move as they do."""
    m, I, g = (np.asarray(x) for x in (bodies.mass, bodies.inertia, bodies.gravity))
    c, c_rate, c_acceleration = _carried(motion, slice(None), np.asarray(bodies.center))
    f = m[:, None] * (c_acceleration - g)
    J = second_moment(I)
    R, R_acceleration = motion.pose.rotation, motion.acceleration.rotation
    M = np.einsum("nbij,nbkj->nik", R @ J, R_acceleration)
    spin = np.stack([M[:, 1, 2] - M[:, 2, 1], M[:, 2, 0] - M[:, 0, 2], M[:, 0, 1] - M[:, 1, 0]], -1)
    return TotalReaction(
        force=f.sum(axis=1),
        moment=np.cross(c, f).sum(axis=1) + spin,
        center=m @ c / m.sum(),
        center_velocity=m @ c_rate / m.sum(),
    )


def center_of_mass(bodies: SubjectBodies, pose: Pose) -> np.ndarray:
    """Centre of mass of the whole body in every frame [m]."""
    m = np.asarray(bodies.mass)
    return m @ carried(pose, slice(None), np.asarray(bodies.center)) / m.sum()


def point_motion(
    points: Points, motion: BodyMotion, up: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where points of bodies are and how fast, (26) and (27) of rodic.

    Args:
        points: Points of bodies; where a ball surrounds one, the lowest point of the ball counts.
        motion: Poses and their rates.
        up: Unit vector out of the ground.

    Returns:
        Positions [m] and velocities [m/s] of the bodies' material there, shape (n, n_points, 3).
    """
    center, velocity, _ = _carried(motion, points.bodies, points.position)
    below = -points.radius[:, None] * up
    # As seen by the body, the lowest point is where it is for the moment: ω × below.
    R, R_rate = (x.rotation[:, points.bodies] for x in (motion.pose, motion.rate))
    turning = np.einsum("nkij,nklj,kl->nki", R_rate, R, below)
    return center + below, velocity + turning


def second_moment(inertia: np.ndarray) -> np.ndarray:
    """∫ ξ ξᵀ dm of bodies from their inertias: tr(I)/2 - I."""
    return np.trace(inertia, axis1=1, axis2=2)[:, None, None] / 2 * np.eye(3) - inertia


def _carried(motion: BodyMotion, bodies, local: np.ndarray) -> list[np.ndarray]:
    """Points fixed in bodies: position, velocity, acceleration."""
    return [carried(x, bodies, local) for x in (motion.pose, motion.rate, motion.acceleration)]
