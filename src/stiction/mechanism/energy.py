"""Energy, momentum and the centre of mass."""

import jax.numpy as jnp

from stiction._base.arrays import Array, Float, Scalar
from stiction._base.spatial import cross, rotate
from stiction.mechanism.dynamics import body_inertias, spatial_momentum
from stiction.mechanism.forces import scalar_entries
from stiction.mechanism.kinematics import link_kinematics, link_velocities, world_poses
from stiction.mechanism.mechanism import Mechanism


def kinetic_energy(mechanism: Mechanism, q: Float[Array, "nq"], v: Float[Array, "nv"]) -> Scalar:
    """½ vᵀ M v [J], armature included."""
    V, momenta = _bodies_in_motion(mechanism, q, v)
    rotors = jnp.sum(mechanism.joints.armature * v * v)
    return (jnp.sum(V * momenta) + rotors) / 2


def potential_energy(mechanism: Mechanism, q: Float[Array, "nq"]) -> Scalar:
    """Of gravity (zero at the world's origin) and of joint springs [J]."""
    poses = world_poses(mechanism, q)
    bodies, joints = mechanism.bodies, mechanism.joints
    centers = poses.position + rotate(poses.rotation, bodies.center)
    weight = -jnp.sum(bodies.mass * (centers @ mechanism.gravity))
    at, _ = scalar_entries(mechanism.tree)
    stretch = (q - joints.spring_zero)[at[1]]
    return weight + jnp.sum(joints.stiffness[at[0]] * stretch**2) / 2


def center_of_mass(mechanism: Mechanism, q: Float[Array, "nq"]) -> Float[Array, "3"]:
    """World position [m] of the centre of mass of all moving bodies."""
    poses = world_poses(mechanism, q)
    bodies = mechanism.bodies
    mass = bodies.mass * _moving(mechanism, q)
    centers = poses.position + rotate(poses.rotation, bodies.center)
    return mass @ centers / jnp.sum(mass)


def momentum(
    mechanism: Mechanism, q: Float[Array, "nq"], v: Float[Array, "nv"]
) -> tuple[Float[Array, "3"], Float[Array, "3"]]:
    """Linear momentum [kg·m/s] and angular momentum about the centre of mass [kg·m²/s]."""
    _, momenta = _bodies_in_motion(mechanism, q, v)
    total = jnp.sum(momenta, axis=0)
    arm = center_of_mass(mechanism, q) - link_kinematics(mechanism, q).reference
    return total[3:], total[:3] - cross(arm, total[3:])


def total_mass(mechanism: Mechanism) -> Scalar:
    """Mass of all moving bodies [kg]."""
    mass = mechanism.bodies.mass
    return jnp.sum(mass * _moving(mechanism, mass))


def _bodies_in_motion(mechanism: Mechanism, q: Array, v: Array) -> tuple[Array, Array]:
    """Velocity and momentum of every body about the reference point."""
    state = link_kinematics(mechanism, q)
    V = link_velocities(mechanism.tree, state, v)[jnp.array(mechanism.tree.body_links)]
    return V, spatial_momentum(body_inertias(mechanism, state), V)


def _moving(mechanism: Mechanism, like: Array) -> Array:
    """1 for bodies that can move, 0 for those fixed to the world."""
    return jnp.asarray([link != 0 for link in mechanism.tree.body_links], like.dtype)
