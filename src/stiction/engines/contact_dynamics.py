r"""The equations of motion at a state with contacts, as far as no force is chosen yet.

$$ \dot v = \dot v_0 + M^{-1} J^T f, \qquad \dot u = W f + a_0, \qquad W = J M^{-1} J^T, $$

with v̇₀ the acceleration and a₀ = J v̇₀ + b the contact acceleration that there would be without
contact forces. Rows of a contact are its tangents, then its normal. flickinger (2.1)-(2.4), rodic
(35).
"""

import equinox as eqx
import jax.numpy as jnp

from stiction._arrays import Array, Float, Scalar
from stiction.mechanism import Mechanism
from stiction.mechanism.dynamics import (
    bias_force_at,
    body_inertias,
    lower_mass_matrix,
)
from stiction.mechanism.kinematics import Motion, motion
from stiction.mechanism.linear import cholesky, solve_lower, solve_upper
from stiction.surfaces import ContactKinematics, Contacts, contact_kinematics


class ContactDynamics(eqx.Module):
    """What a contact law needs to know about the mechanism at one instant."""

    L: Float[Array, "nv nv"]  # M = L Lᵀ
    Y: Float[Array, "nv m"]  # L⁻¹ Jᵀ, so that W = Yᵀ Y
    W: Float[Array, "m m"]  # Delassus matrix [1/kg]
    a0: Float[Array, "m"]  # contact acceleration without contact forces [m/s²]
    free: Float[Array, "nv"]  # acceleration without contact forces
    contacts: ContactKinematics

    def acceleration(self, force: Float[Array, "m"]) -> Float[Array, "nv"]:
        """v̇ under contact forces [N]."""
        return self.free + self.change(force)

    def change(self, impulse: Float[Array, "m *k"]) -> Float[Array, "nv *k"]:
        """M⁻¹ Jᵀ p: how v changes under contact impulses [N·s] (or v̇ under forces)."""
        return solve_upper(self.L, self.Y @ impulse)


def contact_dynamics(
    mechanism: Mechanism,
    contacts: Contacts,
    q: Float[Array, "nq"],
    v: Float[Array, "nv"],
    t: Scalar,
    force: Float[Array, "nv"],
) -> ContactDynamics:
    """The dynamics at (q, v, t) under joint forces, before contact forces are chosen."""
    state = motion(mechanism, q)
    L, half = free_dynamics(mechanism, state, v, force)
    seen = contact_kinematics(mechanism, contacts, state, v, t)
    return with_contacts(contacts, L, half, seen)


def free_dynamics(
    mechanism: Mechanism, state: Motion, v: Float[Array, "nv"], force: Float[Array, "nv"]
) -> tuple[Float[Array, "nv nv"], Float[Array, "nv"]]:
    """The factor L of M = L Lᵀ, and L⁻¹ (force - c): half the way to the acceleration."""
    inertias = body_inertias(mechanism, state)
    L = cholesky(lower_mass_matrix(mechanism, state, inertias))
    return L, solve_lower(L, force - bias_force_at(mechanism, state, inertias, v))


def with_contacts(
    contacts: Contacts,
    L: Float[Array, "nv nv"],
    half: Float[Array, "nv"],
    seen: ContactKinematics,
) -> ContactDynamics:
    """The dynamics with contacts from the factor L of M and half = L⁻¹ (force - c)."""
    m = contacts.count * contacts.dim
    Y = solve_lower(L, seen.jacobian.reshape(m, half.size).T)
    return ContactDynamics(
        L=L,
        Y=Y,
        W=Y.T @ Y,
        a0=Y.T @ half + seen.bias.reshape(m),
        free=solve_upper(L, half),
        contacts=seen,
    )


def kinetic(L: Float[Array, "nv nv"], v: Float[Array, "nv"]) -> Scalar:
    """½ vᵀ M v from the factor of M."""
    momentum = L.T @ v
    return jnp.sum(momentum * momentum) / 2
