"""Joint forces other than inertia and contact: springs, dampers and actuators."""

import functools

import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float
from stiction.mechanism.mechanism import Mechanism
from stiction.mechanism.tree import BALL, FREE, Tree


def spring_force(mechanism: Mechanism, q: Float[Array, "nq"]) -> Float[Array, "nv"]:
    """-k (q - q₀) along hinges and slides [N, N·m]."""
    joints = mechanism.joints
    at_q, at_v = scalar_entries(mechanism.tree)
    stretch = (q - joints.spring_zero)[at_q[1]]
    force = jnp.zeros(mechanism.nv, q.dtype)
    return force.at[at_v].set(-joints.stiffness[at_q[0]] * stretch)


def damping_force(mechanism: Mechanism, v: Float[Array, "nv"]) -> Float[Array, "nv"]:
    """-d v [N, N·m]."""
    return -mechanism.joints.damping * v


def passive_force(
    mechanism: Mechanism, q: Float[Array, "nq"], v: Float[Array, "nv"]
) -> Float[Array, "nv"]:
    """Springs and dampers (MuJoCo's `qfrc_passive`)."""
    return spring_force(mechanism, q) + damping_force(mechanism, v)


def actuator_effort(
    mechanism: Mechanism,
    q: Float[Array, "nq"],
    v: Float[Array, "nv"],
    control: Float[Array, "nu"],
) -> Float[Array, "nu"]:
    """What each actuator exerts [N or N·m, before its gear], within its limits."""
    a = mechanism.actuators
    u = jnp.clip(control, a.control_range[:, 0], a.control_range[:, 1])
    return jnp.clip(a.gain * u + a.offset(q, v), a.force_range[:, 0], a.force_range[:, 1])


def actuator_force(
    mechanism: Mechanism,
    q: Float[Array, "nq"],
    v: Float[Array, "nv"],
    control: Float[Array, "nu"],
) -> Float[Array, "nv"]:
    """The joint forces of all actuators (MuJoCo's `qfrc_actuator`)."""
    a = mechanism.actuators
    force = a.moment.T @ actuator_effort(mechanism, q, v, control)
    return jnp.clip(force, a.joint_range[:, 0], a.joint_range[:, 1])


@functools.cache
def scalar_entries(tree: Tree) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Hinges and slides: (joint, entry in q) and entry in v."""
    joints = np.flatnonzero(~np.isin(tree.joint_types, (FREE, BALL)))
    return (joints, tree.q_address[joints]), tree.v_address[joints]
