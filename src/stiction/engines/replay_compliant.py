r"""Compliant contacts along a known sequence: forces are functions of depth, velocity and memory.

$$ M \dot v + c = \tau + J^T f(x, \dot x, z), \qquad \dot z = z'(z, u_t, f_n), $$

with the depth x = -gap and the bristle z of each contact. It is smooth while no contact touches,
parts, sticks or slips; these are the events. marhefka (6) and its "multiple contacts".
"""

from collections.abc import Callable
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from stiction._base.arrays import TINY, Array, Bool, Float, Scalar
from stiction._base.linear import solve_upper
from stiction.control import AbstractSwitchingControl
from stiction.engines.contact_dynamics import free_dynamics
from stiction.engines.forces import OPEN
from stiction.engines.replay_rigid import EventJump, EventRow, Look, joint_forces
from stiction.engines.state import Mode, State
from stiction.laws import AbstractNormalLaw, AbstractTangentialLaw
from stiction.mechanism import Mechanism, kinetic_energy, link_kinematics, rate
from stiction.surfaces import Contacts, gaps_and_velocities

_FINEST = 1e-15  # a depth that no step need resolve [m]
_FINEST_BRISTLE = 1e-12  # and a deflection [m]


class Inner(eqx.Module):
    """What contacts remember, and what they have lost since the start."""

    memory: Any  # of the tangential law
    normal_loss: Float[Array, "n"]  # [J]
    friction_loss: Float[Array, "n"]  # [J]


class Reaction(eqx.Module):
    """What one contact does."""

    force: Float[Array, "dim"]  # [N]
    memory: Any  # its rate
    normal_loss: Scalar  # [W]
    friction_loss: Scalar  # [W]
    stored: Scalar  # [J]
    margin: Scalar  # [N]


def react(
    normal: AbstractNormalLaw,
    tangential: AbstractTangentialLaw,
    memory: Any,
    gap: Scalar,
    u: Float[Array, "dim"],
    is_closed: Bool[Array, ""],
) -> Reaction:
    """The reaction of one contact. An open one has none, even where a trial step goes too far."""
    x, x_dot, v = jnp.where(is_closed, -gap, -1.0), -u[-1], u[:-1]
    # A stage of the step that ends where the contact parts may lie beyond. There force and loss
    # go on straight: derivatives through that step would else miss what such stages weigh.
    inside = jnp.maximum(x, TINY.of(x))

    def both(x: Scalar) -> tuple[Scalar, Scalar]:
        return normal.force(x, x_dot), normal.dissipated_power(x, x_dot)

    there, slopes = jax.jvp(both, (inside,), (jnp.ones_like(x),))
    f_n, normal_loss = (
        jnp.where(is_closed, jnp.where(x > 0, a, x * b), 0.0)
        for a, b in zip(there, slopes, strict=True)
    )
    pressed = jnp.maximum(f_n, 0.0)
    f_t = tangential.force(memory, v, pressed)
    z_dot = tangential.state_rate(memory, v, pressed)
    z_dot = jax.tree.map(lambda z: jnp.where(is_closed, z, 0.0), z_dot)
    stored = jnp.zeros_like(gap)
    if memory is not None:
        stored, storing = jax.jvp(tangential.energy, (memory,), (z_dot,))
    else:
        storing = stored
    return Reaction(
        force=jnp.concatenate([f_t, f_n[None]]),
        memory=z_dot,
        normal_loss=normal_loss,
        friction_loss=-f_t @ v - storing,
        stored=normal.energy(x) + stored,
        margin=tangential.margin(memory, v, pressed),
    )


class SoftFlow(eqx.Module):
    """A mechanism with compliant contacts whose modes are known; laws have numbers by contact."""

    mechanism: Mechanism
    contacts: Contacts
    control: AbstractSwitchingControl
    law: Any

    is_soft: ClassVar[bool] = True

    def start(self, q: Float[Array, "nq"], v: Float[Array, "nv"]) -> State:
        """The state of a run's beginning: contacts have not been loaded yet."""
        zero = jnp.zeros(self.contacts.count, q.dtype)
        inner = Inner(self._unloaded(q.dtype), zero, zero)
        return State(q, v, jnp.zeros(5, q.dtype), zero, inner)

    def _unloaded(self, dtype: Any) -> Any:
        k = self.contacts.dim - 1
        memory = eqx.filter_vmap(lambda law: law.init_state(k))(self.law.tangential)
        return jax.tree.map(lambda z: z.astype(dtype), memory)

    def look(self, t: Scalar, y: State, mode: Mode) -> tuple[State, Look, None]:
        """The rate of a state, and the contacts."""
        m = self.mechanism
        force, power = joint_forces(m, self.control, t, y, mode)
        state = link_kinematics(m, y.q)

        def velocities(v: Array) -> tuple[Array, Array]:
            gap, u = gaps_and_velocities(m, self.contacts, state, v, t)
            return u, gap

        # The transpose of v -> u takes contact forces to the joints.
        u, to_joints, gap = jax.vjp(velocities, y.v, has_aux=True)
        laws = self.law.normal, self.law.tangential
        r = eqx.filter_vmap(react)(*laws, y.inner.memory, gap, u, mode.modes != OPEN)
        (tau,) = to_joints(r.force)
        L, half = free_dynamics(m, state, y.v, force + tau)
        # Of a body at rest the contact's velocity is that of the ground, turned round.
        given = -jnp.sum(r.force * velocities(jnp.zeros_like(y.v))[0])
        booked = jnp.stack([jnp.sum(r.friction_loss), given, jnp.sum(r.normal_loss)])
        inner = Inner(r.memory, r.normal_loss, r.friction_loss)
        ledger = jnp.concatenate([power, booked])
        k = State(rate(m, y.q, y.v), solve_upper(L, half), ledger, u[:, -1], inner)
        return k, Look(r.force, gap, u, r.margin, r.stored), None

    def correct(self, y: State, at: Look, more: None, mode: Mode) -> State:
        """Nothing is kept closed here."""
        del more, mode
        return State(y.q, y.v, y.ledger, at.gap, y.inner)

    def error(self, error: State, before: State, after: State, ratio: Callable) -> Scalar:
        """The error of a step over what is tolerated: of depths and bristles in parts of
        themselves, for stiff contacts are shallow.
        """
        smooth = ratio(*((y.q, y.v, y.ledger) for y in (error, before, after)))
        pressed = jnp.minimum(before.gap, after.gap) < 0
        deep = ratio(
            *(jnp.where(pressed, y.gap, 0.0) for y in (error, before, after)), atol=_FINEST
        )
        bent = (y.inner.memory for y in (error, before, after))
        bristles = () if before.inner.memory is None else (ratio(*bent, atol=_FINEST_BRISTLE),)
        return jnp.max(jnp.stack([smooth, deep, *bristles]))

    def event_value(self, row: EventRow, at: Look) -> Scalar:
        """The gap of a contact, or how far friction is inside its cone."""
        i = jnp.maximum(row.contact, 0)
        return jnp.where(row.function == 0, at.gap[i], at.margin[i])

    def jump(
        self, row: EventRow, t: Scalar, y: State, at: Look, more: None
    ) -> tuple[State, EventJump]:
        """Modes change, velocities do not; bristles of contacts that open spring back, and what
        they store is lost. The law would take c/k for that; here it is at once.
        """
        del t, more
        gap, u = at.gap, at.velocity
        inner, ledger = y.inner, y.ledger
        if inner.memory is not None:
            opens = (row.modes_before != OPEN) & (row.modes_after == OPEN)
            stored = eqx.filter_vmap(lambda law, z: law.energy(z))(
                self.law.tangential, inner.memory
            )
            lost = jnp.where(opens, stored, 0.0)

            def forget(z: Array, zero: Array) -> Array:
                return jnp.where(opens.reshape(-1, *[1] * (z.ndim - 1)), zero, z)

            memory = jax.tree.map(forget, inner.memory, self._unloaded(y.q.dtype))
            inner = Inner(memory, inner.normal_loss, inner.friction_loss + lost)
            ledger = ledger.at[2].add(jnp.sum(lost))
        T, none = kinetic_energy(self.mechanism, y.q, y.v), jnp.zeros_like(gap)
        still = jnp.zeros_like(u)
        what = EventJump(still, u, u, still, gap, T, T, jnp.zeros_like(T), none)
        return State(y.q, y.v, ledger, gap, inner), what
