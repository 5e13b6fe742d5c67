r"""One step of the stepping engine: leapfrog, with impulses of contact.

Positions are known at t_k, velocities half a step later:

$$ M(q_k) (v_{k+1/2} - v_{k-1/2}) = h F(q_k, v_k) + J(q_k)^T p_k , \qquad
   q_{k+1} = q_k \oplus h \, v_{k+1/2} . $$

F holds gravity, Coriolis forces, springs, actuators and dampers. Where nothing touches this is
Verlet's method, of second order; where contacts are kept, their gaps are held at every t_k, as
SHAKE holds the bonds of molecules [Ryckaert1977]. v_k in F is extrapolated; joint damping takes the
mean of both velocities, which is stable for any step. In the step of an impact the motion goes on
as it was until the instant of the first one, and everything is evaluated there.

The contact velocity in the middle of the step is û = J v_{k+1/2} - s + (h/2) b, with s the velocity
of the support and b the acceleration that contacts have while v does not change.
"""

import equinox as eqx
import jax.numpy as jnp

from stiction._arrays import Array, Bool, Float, Scalar
from stiction.engines.flow import Patterns, in_scalars
from stiction.engines.stepping_contact import StepContacts
from stiction.mechanism import Mechanism, actuator_force, spring_force
from stiction.mechanism.dynamics import bias_force_at, body_inertias, lower_mass_matrix
from stiction.mechanism.kinematics import motion
from stiction.mechanism.linear import cholesky, solve_lower, solve_upper
from stiction.surfaces import Contacts, contact_kinematics


class StepDynamics(eqx.Module):
    """The equations of motion of a step before impulses are known."""

    L: Float[Array, "nv nv"]  # of M + (kick/2) D = L Lᵀ, D joint damping
    Y: Float[Array, "nv m"]  # L⁻¹ Jᵀ
    half: Float[Array, "nv"]  # L⁻¹ (kick F): half the way to the change of v without impulses
    drive: Float[Array, "nv"]  # joint forces of the actuators
    velocity: Float[Array, "n dim"]  # J v - s [m/s]
    bias: Float[Array, "n dim"]  # contact acceleration while v does not change [m/s²]
    support: Float[Array, "n dim"]  # s [m/s]
    contacts: StepContacts

    def kick(self, impulse: Float[Array, "n dim"]) -> Float[Array, "nv"]:
        """The whole change of v under impulses [N·s]."""
        return solve_upper(self.L, self.half + self.Y @ impulse.reshape(-1))

    def kinetic(self, v: Float[Array, "nv"], damping: Float[Array, "nv"]) -> Scalar:
        """½ vᵀ M v [J], with (kick/2) D given: the factored matrix has it in it."""
        momentum = self.L.T @ v
        return (momentum @ momentum - jnp.sum(damping * v * v)) / 2


def step_dynamics(
    mechanism: Mechanism,
    contacts: Contacts,
    patterns: Patterns,
    t: Scalar,
    q: Float[Array, "nq"],
    v: Float[Array, "nv"],
    v_now: Float[Array, "nv"],
    command: Float[Array, "nu"],
    kick: Scalar,
    since: Scalar,
    ahead: Scalar,
    kept: Bool[Array, "n"],
) -> StepDynamics:
    """The dynamics of a step, written out in scalars if the mechanism is small.

    Args:
        mechanism: What moves.
        contacts: What may touch.
        patterns: Which of their numbers are known.
        t: Time at the beginning of the step, or of an impact in it [s].
        q: Configuration then.
        v: Velocity in the middle of the last step (at the very start: then).
        v_now: Velocity at t, extrapolated.
        command: Of the actuators.
        kick: How long forces act [s]: h, and h/2 in the first step.
        since: Time from v to t [s].
        ahead: Time from t to the middle of the step [s].
        kept: Contacts that are closed already.
    """
    rest = (t, q, v, v_now, command, kick, since, ahead, kept)
    return in_scalars(_dynamics, patterns, mechanism, contacts, *rest)


def _dynamics(m: Mechanism, c: Contacts, t, q, v, v_now, command, kick, since, ahead, kept):
    state = motion(m, q)
    inertias = body_inertias(m, state)
    M = lower_mass_matrix(m, state, inertias) + jnp.diag(kick / 2 * m.joints.damping)
    L = cholesky(M)
    drive = actuator_force(m, q, v_now, command)
    force = spring_force(m, q) + drive - m.joints.damping * v
    force = kick * (force - bias_force_at(m, state, inertias, v_now))

    seen = contact_kinematics(m, c, state, v_now, t)
    rows = c.count * c.dim
    J = seen.jacobian.reshape(rows, m.nv)
    # All right sides at once: a call of a library for each would cost as much as this one.
    solved = solve_lower(L, jnp.concatenate([J.T, force[:, None]], axis=1))
    Y, half = solved[:, :-1], solved[:, -1]
    u = seen.velocity + (J @ (v - v_now)).reshape(seen.velocity.shape)
    pull = (Y.T @ half).reshape(u.shape)  # change of contact velocity without impulses
    # How tangents turn is known where contact is kept. Elsewhere v_now is not what v will be, and
    # several points of a body that has just landed could not all stick.
    tangents = jnp.where(kept[:, None], seen.bias[:, :-1], 0.0)
    bias = jnp.concatenate([tangents, seen.bias[:, -1:]], axis=1)
    return StepDynamics(
        L=L,
        Y=Y,
        half=half,
        drive=drive,
        velocity=u,
        bias=bias,
        support=seen.support_velocity,
        contacts=StepContacts(
            W=Y.T @ Y,
            gap=seen.gap,
            before=u - since * bias,
            free=u + pull + ahead * bias,
            acceleration=pull[:, -1] / kick + bias[:, -1],
        ),
    )


def book(
    m: Mechanism,
    d: StepDynamics,
    v: Float[Array, "nv"],
    change: Float[Array, "nv"],
    impulse: Float[Array, "n dim"],
    velocity_after: Float[Array, "n dim"],
    kick: Scalar,
    until_impact: Scalar,
    impact: Bool[Array, ""],
) -> Float[Array, "5"]:
    """Work done in a step [J], in the order of `flow.LEDGER`.

    Forces and impulses times mean velocities are exactly the change of ½ vᵀ M v. In the step of an
    impact, forces act along the way before it and after it, and friction is part of the impact.

    Args:
        m: The mechanism.
        d: The dynamics of the step.
        v: Velocity before.
        change: Its change.
        impulse: Of the contacts [N·s].
        velocity_after: Of the contacts [m/s].
        kick: How long forces act [s].
        until_impact: How long of that before the impact [s].
        impact: Whether there is one.
    """
    D, mean = m.joints.damping, v + change / 2
    u = (d.velocity + velocity_after) / 2
    rubbing = -jnp.sum(impulse[:, :-1] * u[:, :-1])
    normal = -jnp.sum(impulse[:, -1] * u[:, -1])
    # Beyond the mean velocity, as far as the impact is not in the middle.
    beyond = jnp.where(impact, (0.5 - until_impact / kick), 0.0) * change
    pushed = d.L @ d.half - kick / 2 * D * change
    return jnp.stack(
        [
            kick * (d.drive @ (mean + beyond)),
            kick * jnp.sum(D * mean * (mean + beyond)),
            jnp.where(impact, 0.0, rubbing),
            jnp.sum(impulse * d.support),
            normal + jnp.where(impact, rubbing, 0.0) + pushed @ beyond,
        ]
    )
