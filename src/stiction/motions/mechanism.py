"""All possible motions of a mechanism at a state, with the contacts that touch there."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float
from stiction._base.compile import quick_jit
from stiction._base.errors import InputError
from stiction.engines import Hybrid
from stiction.engines.contact_dynamics import ContactDynamics, contact_dynamics
from stiction.engines.tolerances import APPROACH, REST, TOUCH
from stiction.engines.worlds.state import WorldState
from stiction.mechanism import Mechanism, actuator_force, damping_force, spring_force
from stiction.motions.enumeration import possible_accelerations
from stiction.motions.result import BREAK, Motions, PossibleMotion
from stiction.surfaces import Contacts

# More touching contacts than this are not enumerated: the search tree may be too large.
MOST_CONTACTS = {2: 20, 3: 12}


def motions_of_mechanism(
    mechanism: Mechanism,
    contacts: Contacts,
    q: Float[Array, "nq"],
    v: Float[Array, "nv"],
    *,
    law: Hybrid,
    time: float = 0.0,
    command: Float[Array, "nu"] | None = None,
    directions: int = 8,
) -> Motions:
    """Every acceleration that the contacts of a mechanism allow at a state.

    A contact at rest has its static coefficient of friction, also if it is about to slip; one that
    slides has the dynamic one.

    Args:
        mechanism: The mechanism.
        contacts: What may touch.
        q: Configuration.
        v: Velocity.
        law: What contacts do; its coefficients of static and dynamic friction count here.
        time: When [s]; matters where the ground moves.
        command: What the actuators are told; nothing by default.
        directions: Edges of the friction pyramid of a spatial contact at rest.

    Returns:
        The motions, told for all contacts: those that do not touch break.
    """
    u = jnp.zeros(mechanism.nu) if command is None else command
    at = _dynamics(mechanism, contacts, q, v, jnp.asarray(time), u)
    d: Any = jax.device_get(at)  # NumPy arrays from here on
    seen = d.contacts
    static, dynamic = (
        np.broadcast_to(mu, contacts.count) for mu in (law.mu_static, law.mu_dynamic)
    )
    return _motions(
        near=seen.gap <= TOUCH.double,
        velocity=seen.velocity,
        jacobian=seen.jacobian,
        bias=seen.bias,
        mass_matrix=d.L @ d.L.T,
        applied=d.L @ (d.L.T @ d.free),
        static=static,
        dynamic=dynamic,
        directions=directions,
    )


def motions_of_world(state: WorldState, *, directions: int = 8) -> Motions:
    """Every acceleration that what touches in a world allows, its loops kept.

    Args:
        state: What touches, and the equations there.
        directions: Edges of the friction pyramid of a spatial contact at rest.

    Returns:
        The motions, told for all of `state.names`.
    """
    answer = _motions(
        near=np.ones(len(state.names), bool),
        velocity=state.velocity,
        jacobian=state.jacobian,
        bias=state.bias,
        mass_matrix=state.mass_matrix,
        applied=state.applied,
        static=state.law[:, 1],
        dynamic=state.law[:, 2],
        directions=directions,
    )
    return answer.of_first(len(state.v))


def _motions(
    *, near, velocity, jacobian, bias, mass_matrix, applied, static, dynamic, directions
) -> Motions:
    """The motions of what is near, told for all contacts."""
    n, dim = velocity.shape
    normal_speed = velocity[:, -1]
    colliding = near & (-normal_speed > APPROACH.double)
    if np.any(colliding):
        return Motions.collision(colliding, normal_speed)
    touching = near & (np.abs(normal_speed) <= REST.double)
    most = MOST_CONTACTS[dim]
    if touching.sum() > most:
        raise InputError(
            f"{touching.sum()} contacts touch at this state; motions of a mechanism are enumerated"
            f" for {most} at most"
        )
    if not touching.any():
        free = np.linalg.solve(mass_matrix, applied)
        apart = PossibleMotion(free, (BREAK,) * n, np.zeros((n, dim)), forces_unique=True)
        return Motions.of((apart,), zero_reaction=True, zero_net_force=False)
    slip = velocity[touching, :-1]
    slides = np.linalg.norm(slip, axis=1) > REST.double
    answer = possible_accelerations(
        mass_matrix=mass_matrix,
        applied=applied,
        jacobian=jacobian[touching],
        bias=bias[touching],
        slip_velocity=slip,
        mu=np.where(slides, dynamic[touching], static[touching]),
        directions=directions,
        rest_speed=REST.double,
    )
    return answer.with_separated(touching)


@quick_jit
def _dynamics(
    mechanism: Mechanism, contacts: Contacts, q: Array, v: Array, t: Array, u: Array
) -> ContactDynamics:
    force = spring_force(mechanism, q) + damping_force(mechanism, v)
    force = force + actuator_force(mechanism, q, v, u)
    return contact_dynamics(mechanism, contacts, q, v, t, force)
