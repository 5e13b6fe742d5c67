r"""The equations of motion at a state with contacts, as far as no force is chosen yet.

$$ \dot v = \dot v_0 + M^{-1} J^T f, \qquad \dot u = W f + a_0, \qquad W = J M^{-1} J^T, $$

with v̇₀ the acceleration and a₀ = J v̇₀ + b the contact acceleration that there would be without
contact forces. Rows of a contact are its tangents, then its normal. flickinger (2.1)-(2.4), rodic
(35).
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp

from stiction._base.arrays import Array, Bool, Float, Scalar
from stiction._base.linear import cholesky, solve_lower, solve_upper
from stiction.impacts import ImpactProblem
from stiction.mechanism import (
    LinkKinematics,
    Mechanism,
    bias_force_at,
    body_inertias,
    link_kinematics,
    lower_mass_matrix,
)
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
    state = link_kinematics(mechanism, q)
    L, half = free_dynamics(mechanism, state, v, force)
    here = contact_kinematics(mechanism, contacts, state, v, t)
    m = contacts.count * contacts.dim
    Y = solve_lower(L, here.jacobian.reshape(m, half.size).T)
    return ContactDynamics(
        L=L,
        Y=Y,
        W=Y.T @ Y,
        a0=Y.T @ half + here.bias.reshape(m),
        free=solve_upper(L, half),
        contacts=here,
    )


def free_dynamics(
    mechanism: Mechanism, state: LinkKinematics, v: Float[Array, "nv"], force: Float[Array, "nv"]
) -> tuple[Float[Array, "nv nv"], Float[Array, "nv"]]:
    """The factor L of M = L Lᵀ, and L⁻¹ (force - c): half the way to the acceleration."""
    inertias = body_inertias(mechanism, state)
    L = cholesky(lower_mass_matrix(mechanism, state, inertias))
    return L, solve_lower(L, force - bias_force_at(mechanism, state, inertias, v))


def impact_problem(
    d: ContactDynamics,
    law: Any,
    active: Bool[Array, "n"],
    restitution: Float[Array, "n"],
    kinetic_energy: Scalar,
) -> ImpactProblem:
    """The impact of the active contacts under a law with numbers for each contact."""
    return ImpactProblem(
        W=d.W,
        velocity=d.contacts.velocity,
        active=active,
        restitution=restitution,
        mu_static=law.mu_static,
        mu_dynamic=law.mu_dynamic,
        stribeck_speed=law.stribeck_speed,
        stribeck_exponent=law.stribeck_exponent,
        kinetic=kinetic_energy,
        energetic=law.energetic,
    )


def kinetic(L: Float[Array, "nv nv"], v: Float[Array, "nv"]) -> Scalar:
    """½ vᵀ M v from the factor of M."""
    momentum = L.T @ v
    return jnp.sum(momentum * momentum) / 2
