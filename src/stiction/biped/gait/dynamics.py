r"""Inverse dynamics: what the joints must do for a body to move as it does under known loads.

d'Alembert's principle, body by body. A material point of body b is $x = p + R \xi$, so the virtual
work of its inertia and weight less that of the loads is

$$ \delta W = \sum_b \int (\ddot x - g) \cdot \delta x \, dm - \delta W_\text{loads}
   = \sum_b P_b \cdot \delta p_b + Q_b : \delta R_b , $$
$$ P = m (\ddot p + \ddot R c - g) - f, \qquad
   Q = m (\ddot p - g) c^T + \ddot R \, (J + m c c^T) - f \rho^T - \tfrac12 [n]_\times R , $$

with the second moment $J = \tfrac12 \mathrm{tr}(I) - I$ about the centre of mass c, and a load f at
$\rho = R^T (x_f - p)$ with a moment n. Poses are a function of the coordinates, hence the
generalised forces are one reverse derivative of it,

$$ \tau = \Big(\frac{\partial (p, R)}{\partial q}\Big)^T (P, Q) , $$

the rows of (3) of rodic, for any joint that has poses: OpenSim's splines and couplings too. A
coordinate that follows others does no work of its own; its part is in theirs.

The force and the moment that a joint transmits are those of all that hangs on it (Newton, Euler):
what parent and child exert on each other in sum, muscles and bones together. Those of the joint
that carries the base are the **residual**: what the world would have to push there for motion,
masses and loads to agree. For exact data it is zero.
"""

from dataclasses import dataclass

import jax
import numpy as np

from stiction._base.arrays import Array, Float
from stiction._base.compile import quick_jit
from stiction.biped.grf.momentum import center_of_mass, second_moment
from stiction.biped.subject.subject import BodyMotion, Subject, SubjectBodies, carried, padded
from stiction.mechanism import Pose


@dataclass(frozen=True)
class FootLoads:
    """What the ground does to each foot: a force at a point, and a moment. World axes."""

    feet: tuple[str, ...]  # names of the feet
    bodies: tuple[int, ...]  # the body of each foot that it acts on
    force: np.ndarray  # on the foot [N], shape (n, n_feet, 3); nan where nothing is known of it
    point: np.ndarray  # centre of pressure [m]; nan while the foot bears nothing
    moment: np.ndarray  # at that point [N·m], mostly the free moment about the vertical
    measured: np.ndarray  # whether a plate said it, by frame and foot; otherwise the motion did

    @property
    def known(self) -> np.ndarray:
        """Whether a foot's load is known, by frame and foot."""
        return np.asarray(np.isfinite(self.force).all(axis=-1))


@dataclass(frozen=True)
class JointLoads:
    """What the joints do. By frame; world axes. Joints above a foot of unknown load are nan."""

    # generalised force of each coordinate [N·m of angles, N of lengths], (n, nq)
    moment: np.ndarray
    power: np.ndarray  # of each coordinate [W]; positive where the joint gives energy to the motion
    reaction: np.ndarray  # force that the joint below each body exerts on it [N], (n, n_bodies, 3)
    reaction_moment: np.ndarray  # its moment about the joint [N·m]
    joint: np.ndarray  # where the joints are [m]
    residual_force: np.ndarray  # what the base would have to be pushed with [N]
    residual_moment: np.ndarray  # the moment with it, about the centre of mass [N·m]


def joint_loads(
    subject: Subject, q: np.ndarray, rate: np.ndarray, motion: BodyMotion, loads: FootLoads
) -> JointLoads:
    """Joint moments, powers and reactions.

    Args:
        subject: Whose joints.
        q: Coordinates, one row a frame.
        rate: Their rates.
        motion: Poses and their derivatives at these coordinates.
        loads: What acts from outside.
    """
    P, Q = _work(subject.bodies, motion, loads)
    frames = jax.device_put([padded(x) for x in (q, P, Q)])
    tau = np.array(_pulled_back(subject.bodies.poses, *frames))[: len(q)]
    force, about_origin = _wrenches(motion.pose, P, Q)
    for foot, unknown in zip(loads.bodies, ~loads.known.T, strict=True):
        if unknown.any():  # felt by all that carries the foot, and by nothing else
            force[unknown, foot] = about_origin[unknown, foot] = np.nan
            tau[np.ix_(unknown, _moving(subject, q[0], foot))] = np.nan
    for body in range(len(subject.parents) - 1, 0, -1):  # from the limbs to the base
        force[:, subject.parents[body]] += force[:, body]
        about_origin[:, subject.parents[body]] += about_origin[:, body]
    joint = carried(motion.pose, slice(None), subject.joints)
    center = center_of_mass(subject.bodies, motion.pose)
    return JointLoads(
        moment=tau,
        power=tau * rate,
        reaction=force,
        reaction_moment=about_origin - np.cross(joint, force),
        joint=joint,
        residual_force=force[:, 0],
        residual_moment=about_origin[:, 0] - np.cross(center, force[:, 0]),
    )


def mechanical_energy(bodies: SubjectBodies, motion: BodyMotion) -> np.ndarray:
    r"""Kinetic and potential energy of all bodies in every frame [J].

    $T = \tfrac12 m |\dot c|^2 + \tfrac12 \mathrm{tr}(\dot R J \dot R^T)$ a body.
    """
    m, g = np.asarray(bodies.mass), np.asarray(bodies.gravity)
    center = np.asarray(bodies.center)
    c, c_rate = (carried(x, slice(None), center) for x in (motion.pose, motion.rate))
    R_rate = motion.rate.rotation
    spin = np.einsum("nbij,bjk,nbik->n", R_rate, second_moment(np.asarray(bodies.inertia)), R_rate)
    return np.sum(m * (np.sum(c_rate**2, axis=-1) / 2 - c @ g), axis=1) + spin / 2


def _work(
    bodies: SubjectBodies, motion: BodyMotion, loads: FootLoads
) -> tuple[np.ndarray, np.ndarray]:
    """P and Q of every body and frame."""
    m, c, I, g = (
        np.asarray(x) for x in (bodies.mass, bodies.center, bodies.inertia, bodies.gravity)
    )
    p_acceleration, R_acceleration = motion.acceleration.position, motion.acceleration.rotation
    lifted = m[:, None] * (p_acceleration - g)
    P = lifted + np.einsum("nbij,bj->nbi", R_acceleration, m[:, None] * c)
    J = second_moment(I) + m[:, None, None] * c[:, :, None] * c[:, None, :]
    Q = lifted[..., None] * c[None, :, None, :] + R_acceleration @ J
    for k, body in enumerate(loads.bodies):
        f, n = np.nan_to_num(loads.force[:, k]), np.nan_to_num(loads.moment[:, k])
        R, p = motion.pose.rotation[:, body], motion.pose.position[:, body]
        arm = np.nan_to_num(loads.point[:, k] - p)
        P[:, body] -= f
        # f (Rᵀ arm)ᵀ + ½ [n]ₓ R
        Q[:, body] -= f[:, :, None] * np.einsum("nji,nj->ni", R, arm)[:, None, :]
        Q[:, body] -= np.cross(n[:, None, :], np.swapaxes(R, 1, 2)).swapaxes(1, 2) / 2
    return P, Q


def _moving(subject: Subject, q: np.ndarray, body: int) -> np.ndarray:
    """Which coordinates move a body: those in which any work on it is felt."""
    rng = np.random.default_rng(0)
    P, Q = np.zeros((1, len(subject.parents), 3)), np.zeros((1, len(subject.parents), 3, 3))
    P[0, body], Q[0, body] = rng.standard_normal(3), rng.standard_normal((3, 3))
    frames = jax.device_put([padded(x) for x in (q[None], P, Q)])
    return np.asarray(_pulled_back(subject.bodies.poses, *frames))[0] != 0


@quick_jit
def _pulled_back(
    poses, q: Float[Array, "n nq"], P: Float[Array, "n b 3"], Q: Float[Array, "n b 3 3"]
) -> Float[Array, "n nq"]:
    def frame(q, P, Q):
        _, pull = jax.vjp(poses, q)
        return pull(Pose(P, Q))[0]

    return jax.vmap(frame)(q, P, Q)


def _wrenches(pose: Pose, P: np.ndarray, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Force, and moment about the origin, that P and Q are: δR = [δθ]ₓ R picks Q Rᵀ's odd part."""
    M = Q @ np.swapaxes(pose.rotation, -1, -2)
    odd = np.stack(
        [M[..., 2, 1] - M[..., 1, 2], M[..., 0, 2] - M[..., 2, 0], M[..., 1, 0] - M[..., 0, 1]], -1
    )
    return P.copy(), odd + np.cross(pose.position, P)
