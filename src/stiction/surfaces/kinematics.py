r"""Contact velocities, Jacobians and bias accelerations.

symbol  meaning                                                         shape
φ       gap                                                             (n,)
u       velocity of the body at the contact relative to what it         (n, dim)
        touches, in the contact's frame: tangents, then normal
J       u = J v + (support's part)                                      (n, dim, nv)
b       u̇ = J v̇ + b                                                     (n, dim)

The rate of the gap is the normal part of u (the nearest points slide along both surfaces, which
changes the gap only to second order). flickinger (2.3), (2.4); rodic (21)-(31).
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float, Scalar
from stiction._base.spatial import cross, rotate
from stiction.mechanism import (
    LinkKinematics,
    Mechanism,
    Pose,
    as_mask,
    body_poses,
    link_velocities,
    subspace_rate,
)
from stiction.surfaces.contacts import Contacts
from stiction.surfaces.geometry import Places, contact_places


class ContactKinematics(eqx.Module):
    """How the contacts move, at a state."""

    gap: Float[Array, "n"]  # [m]
    velocity: Float[Array, "n dim"]  # [m/s]
    jacobian: Float[Array, "n dim nv"]
    bias: Float[Array, "n dim"]  # [m/s²]
    support_velocity: Float[Array, "n dim"]  # of the ground's material, in the frame [m/s]
    point: Float[Array, "n 3"]  # [m]
    frame: Float[Array, "n 3 3"]


def gaps_and_velocities(
    mechanism: Mechanism,
    contacts: Contacts,
    state: LinkKinematics,
    v: Float[Array, "nv"],
    t: Scalar,
) -> tuple[Float[Array, "n"], Float[Array, "n dim"]]:
    """Gaps and contact velocities: what tells when something touches, and how fast."""
    places = contact_places(contacts, body_poses(mechanism, state.links), t)
    return places.gap, _velocity(contacts, state, places, body_velocities(mechanism, state, v))


def contact_kinematics(
    mechanism: Mechanism,
    contacts: Contacts,
    state: LinkKinematics,
    v: Float[Array, "nv"],
    t: Scalar,
) -> ContactKinematics:
    """Everything about the motion of the contacts, with `state = link_kinematics(mechanism, q)`."""
    tree = mechanism.tree
    poses = body_poses(mechanism, state.links)
    V_links = link_velocities(tree, state, v)
    V = V_links[np.array(tree.body_links)]

    # Places and their rates, by differentiating along the motion of the bodies.
    rates = _pose_rates(poses, V, state.reference)
    places, moving = jax.jvp(
        lambda poses, t: contact_places(contacts, poses, t),
        (poses, t),
        (rates, jnp.ones_like(t)),
    )
    J = _jacobian(mechanism, contacts, state, places)
    u = _velocity(contacts, state, places, V)

    # d/dt of the material velocity at the moving contact point, with v̇ = 0.
    A = as_mask(tree.moves_body, v) @ (subspace_rate(tree, state, V_links) * v[:, None])
    p = places.point - state.reference[None]
    first, second = contacts.bodies.T
    V1, V2 = V[first], V[second]
    world = _point_velocity(V1 - V2, p)
    change = _point_velocity(A[first] - A[second], p) + cross(V1[:, :3] - V2[:, :3], moving.point)
    drift = rotate(places.frame, change - moving.support_velocity) + rotate(
        moving.frame, world - places.support_velocity
    )
    keep = _rows(contacts)
    return ContactKinematics(
        gap=places.gap,
        velocity=u,
        jacobian=J,
        bias=drift[:, keep],
        support_velocity=rotate(places.frame, places.support_velocity)[:, keep],
        point=places.point,
        frame=places.frame,
    )


def body_velocities(
    mechanism: Mechanism, state: LinkKinematics, v: Float[Array, "nv"]
) -> Float[Array, "n_bodies 6"]:
    """Spatial velocity of every body about the reference point."""
    links = np.array(mechanism.tree.body_links)
    return link_velocities(mechanism.tree, state, v)[links]


def _jacobian(
    mechanism: Mechanism, contacts: Contacts, state: LinkKinematics, places: Places
) -> Float[Array, "n dim nv"]:
    """Rows of the frame times the velocity that each freedom gives the material point."""
    moves = mechanism.tree.moves_body.astype(int)
    first, second = contacts.bodies.T
    signs = as_mask(moves[first] - moves[second], places.gap)  # (n, nv)
    p = places.point - state.reference[None]
    w, u = state.S[:, :3], state.S[:, 3:]
    shape = (contacts.count, mechanism.nv, 3)
    reach = cross(
        jnp.broadcast_to(w[None], shape), jnp.broadcast_to(p[:, None], shape)
    ) + jnp.broadcast_to(u[None], shape)
    frame = places.frame[:, _rows(contacts)]
    return jnp.einsum("nkx,ndx->nkd", frame, reach) * signs[:, None, :]


def _velocity(
    contacts: Contacts, state: LinkKinematics, places: Places, V: Float[Array, "n_bodies 6"]
) -> Float[Array, "n dim"]:
    p = places.point - state.reference[None]
    first, second = contacts.bodies.T
    world = _point_velocity(V[first] - V[second], p)
    return rotate(places.frame, world - places.support_velocity)[:, _rows(contacts)]


def _point_velocity(V: Float[Array, "n 6"], p: Float[Array, "n 3"]) -> Float[Array, "n 3"]:
    return V[:, 3:] + cross(V[:, :3], p)


def _pose_rates(poses: Pose, V: Float[Array, "n_bodies 6"], reference: Array) -> Pose:
    w = V[:, :3]
    position = _point_velocity(V, poses.position - reference[None])
    # dR/dt = [w]ₓ R, column by column.
    columns = jnp.swapaxes(poses.rotation, 1, 2)
    turned = cross(jnp.broadcast_to(w[:, None], columns.shape), columns)
    return Pose(position, jnp.swapaxes(turned, 1, 2))


def _rows(contacts: Contacts) -> np.ndarray:
    """The rows of a contact's frame that are used: in the plane, no second tangent."""
    return np.array([0, 2]) if contacts.planar else np.array([0, 1, 2])
