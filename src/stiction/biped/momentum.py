r"""What the ground must do: the rate of change of momentum, less gravity.

Summed over all bodies, with masses $m_i$, centres of mass $c_i$ and angular momenta $h_i$ about
them, and about a point o fixed in space,

$$ F = \sum_i m_i (\ddot c_i - g), \qquad
   N_o = \sum_i (c_i - o) \times m_i (\ddot c_i - g) + \dot h_i . $$

These are the first six rows of the equations of motion, (3) of rodic, in which no joint drive
appears: nothing but the ground pushes from outside. They need no mass matrix. Velocities and
accelerations come from the poses by differentiating along q(t), so that they hold for any joint.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._arrays import Array, Float
from stiction.biped.subject import Bodies
from stiction.mechanism.spatial import cross, multiply, rotate


class Reaction(eqx.Module):
    """What all contacts together exert, and where the body is.

    Attributes:
        force: On the body [N].
        moment: About the world's origin [N·m].
        center: Centre of mass [m].
        center_velocity: Its velocity [m/s].
    """

    force: Float[Array, "*n 3"]
    moment: Float[Array, "*n 3"]
    center: Float[Array, "*n 3"]
    center_velocity: Float[Array, "*n 3"]


class PointMotion(eqx.Module):
    """Points of bodies in the world.

    Attributes:
        position: Of the lowest point of each ball, or of the bare point [m].
        velocity: Of the body's material that is there [m/s].
    """

    position: Float[Array, "*n n_points 3"]
    velocity: Float[Array, "*n n_points 3"]


def total_reaction(
    bodies: Bodies,
    q: Float[Array, "nq"],
    q_rate: Float[Array, "nq"],
    q_acceleration: Float[Array, "nq"],
) -> Reaction:
    """Force and moment that the ground must exert for the bodies to move as they do.

    Args:
        bodies: Poses and inertia.
        q: Coordinates.
        q_rate: Their first derivatives by time.
        q_acceleration: Their second derivatives.
    """

    def momentum(q, q_rate):
        pose, rate = jax.jvp(bodies.poses, (q,), (q_rate,))
        c = pose.position + rotate(pose.rotation, bodies.center)
        c_rate = rate.position + rotate(rate.rotation, bodies.center)
        P = bodies.mass[:, None] * c_rate
        w = angular_velocity(pose.rotation, rate.rotation)
        in_body = rotate(jnp.swapaxes(pose.rotation, -1, -2), w)
        h = rotate(pose.rotation, rotate(bodies.inertia, in_body))
        return jnp.sum(P, 0), jnp.sum(cross(c, P) + h, 0), bodies.mass @ c / jnp.sum(bodies.mass)

    (P, _, center), (P_rate, L_rate, _) = jax.jvp(momentum, (q, q_rate), (q_rate, q_acceleration))
    m, g = jnp.sum(bodies.mass), bodies.gravity
    return Reaction(P_rate - m * g, L_rate - cross(center, m * g), center, P / m)


def point_motion(
    bodies: Bodies,
    carriers: tuple[int, ...],
    position: Float[Array, "n_points 3"],
    radius: Float[Array, "n_points"],
    q: Float[Array, "nq"],
    q_rate: Float[Array, "nq"],
) -> PointMotion:
    """Where points of bodies are and how fast, (26) and (27) of rodic.

    Args:
        bodies: Poses and gravity (which says where down is).
        carriers: The body that carries each point.
        position: Of the points in their bodies' frames [m].
        radius: Of the balls around them [m]; what counts is their lowest point.
        q: Coordinates.
        q_rate: Their derivatives by time.
    """
    pose, rate = jax.jvp(bodies.poses, (q,), (q_rate,))
    index = np.array(carriers, int)
    R, R_rate = pose.rotation[index], rate.rotation[index]
    down = bodies.gravity / jnp.linalg.norm(bodies.gravity)
    below = radius[:, None] * down[None]
    center = pose.position[index] + rotate(R, position)
    velocity = rate.position[index] + rotate(R_rate, position)
    w = angular_velocity(R, R_rate)
    return PointMotion(center + below, velocity + cross(w, below))


def angular_velocity(
    R: Float[Array, "*n 3 3"], R_rate: Float[Array, "*n 3 3"]
) -> Float[Array, "*n 3"]:
    """The vector of the skew matrix dR/dt Rᵀ, in world axes [rad/s]."""
    W = multiply(R_rate, jnp.swapaxes(R, -1, -2))
    return jnp.stack([W[..., 2, 1], W[..., 0, 2], W[..., 1, 0]], axis=-1)
