"""All possible motions of a mechanism at a state, with the contacts that touch there."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float
from stiction._base.errors import InputError
from stiction.engines import Hybrid
from stiction.engines.contact_dynamics import ContactDynamics, contact_dynamics
from stiction.engines.tolerances import APPROACH, REST, TOUCH
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
    near = seen.gap <= TOUCH.double
    normal_speed = seen.velocity[:, -1]
    colliding = near & (-normal_speed > APPROACH.double)
    if np.any(colliding):
        return Motions.collision(colliding, normal_speed)
    touching = near & (np.abs(normal_speed) <= REST.double)
    most = MOST_CONTACTS[contacts.dim]
    if touching.sum() > most:
        raise InputError(
            f"{touching.sum()} contacts touch at this state; motions of a mechanism are enumerated"
            f" for {most} at most"
        )
    if not touching.any():
        nothing = np.zeros((contacts.count, contacts.dim))
        free = PossibleMotion(d.free, (BREAK,) * contacts.count, nothing, forces_unique=True)
        return Motions.of((free,), zero_reaction=True, zero_net_force=False)
    slip = seen.velocity[touching, :-1]
    slides = np.linalg.norm(slip, axis=1) > REST.double
    static, dynamic = (
        np.broadcast_to(mu, contacts.count) for mu in (law.mu_static, law.mu_dynamic)
    )
    answer = possible_accelerations(
        mass_matrix=d.L @ d.L.T,
        applied=d.L @ (d.L.T @ d.free),
        jacobian=seen.jacobian[touching],
        bias=seen.bias[touching],
        slip_velocity=slip,
        mu=np.where(slides, dynamic[touching], static[touching]),
        directions=directions,
        rest_speed=REST.double,
    )
    return answer.with_separated(touching)


@eqx.filter_jit
def _dynamics(
    mechanism: Mechanism, contacts: Contacts, q: Array, v: Array, t: Array, u: Array
) -> ContactDynamics:
    force = spring_force(mechanism, q) + damping_force(mechanism, v)
    force = force + actuator_force(mechanism, q, v, u)
    return contact_dynamics(mechanism, contacts, q, v, t, force)
