"""The smooth motion between events, when it is settled which contacts stick, slip or are open."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp

from stiction._arrays import Array, Float, Int, Scalar
from stiction.engines.contact_dynamics import (
    ContactDynamics,
    contact_dynamics,
    with_contacts,
)
from stiction.engines.forces import OPEN, SLIP, STICK, contact_forces, known_rows
from stiction.mechanism import (
    Mechanism,
    actuator_force,
    add_velocity,
    damping_force,
    rate,
    spring_force,
)
from stiction.mechanism.dynamics import bias_force_at, body_inertias, lower_mass_matrix
from stiction.mechanism.kinematics import motion
from stiction.mechanism.linear import cholesky, solve_lower, solve_redundant, solve_upper
from stiction.surfaces import Contacts, contact_kinematics, gaps_and_velocities

FORCE_SLACK = 1e-9  # part of the largest force by which a force may fall short of its bound
GAP_SLACK = 1e-12  # depth at which an open contact is taken to touch [m]

# Entries of the ledger that are integrated along with the motion [J].
LEDGER = ("actuator_work", "damping_loss", "friction_loss", "support_work")


class Mode(eqx.Module):
    """What the smooth motion takes as settled."""

    modes: Int[Array, "n"]
    direction: Float[Array, "n k"]  # of slip, at the last event or step


class State(eqx.Module):
    """What is integrated."""

    q: Float[Array, "nq"]
    v: Float[Array, "nv"]
    ledger: Float[Array, "4"]


class Seen(eqx.Module):
    """What is known at a state besides its rate."""

    force: Float[Array, "n dim"]  # [N]
    gap: Float[Array, "n"]  # [m]
    velocity: Float[Array, "n dim"]  # [m/s]


class Flow(eqx.Module):
    """A mechanism, what it may touch, and what drives it."""

    mechanism: Mechanism
    contacts: Contacts
    control: Callable
    mu_static: Float[Array, "n"]
    mu_dynamic: Float[Array, "n"]

    def joint_forces(self, t: Scalar, q: Array, v: Array, modes: Array) -> tuple[Array, Array]:
        """Springs, dampers and actuators together, and the power of actuators and of damping."""
        m = self.mechanism
        drive = actuator_force(m, q, v, self.control(t, q, v, modes))
        damping = damping_force(m, v)
        return spring_force(m, q) + damping + drive, jnp.stack([v @ drive, -(v @ damping)])

    def dynamics(self, t: Scalar, y: State, modes: Array) -> tuple[ContactDynamics, Array]:
        """All about the contacts at a state before forces are chosen, and the joints' power."""
        force, power = self.joint_forces(t, y.q, y.v, modes)
        return contact_dynamics(self.mechanism, self.contacts, y.q, y.v, t, force), power

    def rate(self, t: Scalar, y: State, mode: Mode) -> State:
        """dy/dt in a mode."""
        _, k, _ = self._look(t, y, mode, project=False)
        return k

    def arrive(self, t: Scalar, y: State, mode: Mode) -> tuple[State, State, Seen]:
        """The state at the end of a step, its rate and what else is known there.

        Kept contacts are brought back to zero gap and zero velocity: the drift of one step.
        """
        return self._look(t, y, mode, project=True)

    def _look(self, t: Scalar, y: State, mode: Mode, *, project: bool) -> tuple[State, State, Seen]:
        m, contacts = self.mechanism, self.contacts
        force, power = self.joint_forces(t, y.q, y.v, mode.modes)
        state = motion(m, y.q)
        inertias = body_inertias(m, state)
        L = cholesky(lower_mass_matrix(m, state, inertias))
        half = solve_lower(L, force - bias_force_at(m, state, inertias, y.v))

        def touching():
            d = with_contacts(contacts, L, half, contact_kinematics(m, contacts, state, y.v, t))
            u = d.contacts.velocity
            direction = slip_direction(u[:, :-1], mode.direction)
            f = contact_forces(d.W, d.a0, mode.modes, direction, self.mu_dynamic)
            shift, slow = self._correction(d, mode) if project else (y.v, y.v)
            by_contact = f.reshape(u.shape)
            return (
                d.acceleration(f),
                Seen(by_contact, d.contacts.gap, u),
                contact_power(d, by_contact),
                shift,
                slow,
            )

        def flying():
            gap, u = gaps_and_velocities(m, contacts, state, y.v, t)
            zero = jnp.zeros_like(y.v)
            seen = Seen(jnp.zeros_like(u), gap, u)
            return solve_upper(L, half), seen, jnp.zeros(2, u.dtype), zero, zero

        a, seen, of_contacts, shift, slow = jax.lax.cond(
            jnp.any(mode.modes != OPEN), touching, flying
        )
        k = State(rate(m, y.q, y.v), a, jnp.concatenate([power, of_contacts]))
        if not project:
            return y, k, seen
        return State(add_velocity(m, y.q, shift), y.v + slow, y.ledger), k, seen

    def correct(self, d: ContactDynamics, y: State, mode: Mode) -> State:
        """The state with kept contacts brought back to zero gap and zero velocity."""
        shift, slow = self._correction(d, mode)
        return State(add_velocity(self.mechanism, y.q, shift), y.v + slow, y.ledger)

    def _correction(self, d: ContactDynamics, mode: Mode) -> tuple[Array, Array]:
        u = d.contacts.velocity
        n, dim = u.shape
        gaps = jnp.zeros((n, dim), u.dtype).at[:, -1].set(d.contacts.gap)
        wrong = jnp.stack([gaps.reshape(-1), u.reshape(-1)], axis=1)
        rows = known_rows(mode.modes, dim).astype(u.dtype)[:, None]
        K = rows * d.W * rows.T + jnp.diag(1 - rows[:, 0])
        impulses = rows * solve_redundant(K, rows * wrong, jnp.max(jnp.diag(d.W)))
        shift, slow = -d.change(impulses).T
        return shift, slow

    def event_values(self, seen: Seen, mode: Mode) -> Float[Array, "n 2"]:
        """Two functions of each contact whose fall below zero ends the mode.

        Open: the gap. Closed: the normal force. Sticking: how far friction is inside the static
        cone. Slipping: the speed along the direction of slip. Forces may fall short of zero by
        rounding (redundant contacts share a load anyhow); gaps too.
        """
        f_t, f_n = seen.force[:, :-1], seen.force[:, -1]
        slack = FORCE_SLACK * jnp.max(jnp.abs(seen.force))
        friction = jnp.sqrt(jnp.sum(f_t**2, axis=1))
        margin = self.mu_static * f_n - friction
        speed = jnp.sum(seen.velocity[:, :-1] * mode.direction, axis=1)
        is_open, sticks, slips = (mode.modes == k for k in (OPEN, STICK, SLIP))
        first = jnp.where(is_open, seen.gap + GAP_SLACK, f_n + slack)
        # A gap that is below zero but opening has been dealt with.
        leaving = is_open & (seen.velocity[:, -1] >= 0)
        first = jnp.where(leaving, jnp.maximum(first, 0.0), first)
        second = jnp.where(sticks, margin + slack, jnp.where(slips, speed, 1.0))
        return jnp.stack([first, second], axis=1)


def contact_power(d: ContactDynamics, force: Float[Array, "n dim"]) -> Float[Array, "2"]:
    """What rubbing takes and what moving ground gives [W]."""
    rubbing = -jnp.sum(force[:, :-1] * d.contacts.velocity[:, :-1])
    return jnp.stack([rubbing, jnp.sum(force * d.contacts.support_velocity)])


def slip_direction(
    velocity: Float[Array, "n k"], settled: Float[Array, "n k"]
) -> Float[Array, "n k"]:
    """The direction of slip: of the velocity, or the settled one where it is about to vanish.

    In the plane the direction is a sign, which an event settles; so the motion stays smooth through
    the instant at which the slip ends, and the event can be found.
    """
    if velocity.shape[1] == 1:
        return settled
    along = jnp.sum(velocity * settled, axis=1, keepdims=True)
    speed = jnp.sqrt(jnp.sum(velocity**2, axis=1, keepdims=True) + 1e-300)
    return jnp.where(along > 1e-12, velocity / speed, settled)
