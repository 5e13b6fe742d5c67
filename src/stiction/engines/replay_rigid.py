r"""Rigid contacts along a known sequence: the smooth motion of a mode, and what an event does.

Which contacts stick, slip or are open is known, and so is what every event found and chose. So no
mode is searched for here, and the motion is a smooth function of its inputs: forces of a mode by
flickinger (3.17)-(3.21), impacts by the law that the run had.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from stiction._base.arrays import TINY, Array, Bool, Float, Int, Scalar
from stiction._base.linear import solve_redundant, solve_upper
from stiction.control import AbstractSwitchingControl
from stiction.engines.contact_dynamics import (
    ContactDynamics,
    contact_dynamics,
    impact_problem,
    kinetic,
)
from stiction.engines.forces import OPEN, SLIP, STICK, contact_forces, known_rows
from stiction.engines.state import Mode, State
from stiction.engines.tolerances import APPROACH, REST, TOUCH
from stiction.impacts import (
    ImpactProblem,
    ImpactSolution,
    bring_to_rest,
    fall_back,
    impact_law,
    no_slip,
)
from stiction.mechanism import (
    Mechanism,
    actuator_force,
    add_velocity,
    damping_force,
    forward_dynamics,
    rate,
    spring_force,
)
from stiction.surfaces import Contacts

# Slower than this, a contact that slips after an event begins to slip [m/s].
_BEGINS = 3e-6
# Rows of contacts up to which an impact is differentiated as a whole, so that derivatives can go
# backwards too; beyond it the matrix of its derivatives is too large, and they go forwards only.
_WHOLE = 48


class EventRow(eqx.Module):
    """What a run noted of an event, as far as it is not computed anew."""

    time: Scalar
    contact: Int[Array, ""]  # whose event function came to zero, or `START`, `GUARD`
    function: Int[Array, ""]
    impact: Bool[Array, ""]
    tangential: Bool[Array, ""]
    modes_before: Int[Array, "n"]
    modes_after: Int[Array, "n"]
    direction_before: Float[Array, "n k"]
    direction_after: Float[Array, "n k"]
    gap: Float[Array, "n"]
    velocity_before: Float[Array, "n dim"]
    q: Float[Array, "nq"]
    v_after: Float[Array, "nv"]


class Look(eqx.Module):
    """What is known at a state besides its rate."""

    force: Float[Array, "n dim"]  # [N]
    gap: Float[Array, "n"]  # [m]
    velocity: Float[Array, "n dim"]  # [m/s]
    margin: Float[Array, "n"]  # how far friction is inside its cone [N]
    stored: Float[Array, "n"]  # elastic energy [J]


class EventJump(eqx.Module):
    """What an event does to the contacts."""

    impulse: Float[Array, "n dim"]  # [N·s]
    velocity_before: Float[Array, "n dim"]  # [m/s]
    velocity_after: Float[Array, "n dim"]
    work: Float[Array, "n dim"]  # of each component of the impulse [J]
    gap: Float[Array, "n"]  # [m]
    kinetic_before: Scalar  # [J]
    kinetic_after: Scalar
    removed: Scalar  # by energy control, and as a sequence is cut short [J]
    limit: Float[Array, "n"]  # when an infinite sequence of impacts would have ended [s]


def joint_forces(
    m: Mechanism, control: AbstractSwitchingControl, t: Scalar, y: State, mode: Mode
) -> tuple[Array, Array]:
    """Springs, dampers and actuators together, and the power of actuators and of damping."""
    u = control.command(t, y.q, y.v, mode.modes, mode.memory).astype(y.q.dtype)
    drive, damping = actuator_force(m, y.q, y.v, u), damping_force(m, y.v)
    return spring_force(m, y.q) + damping + drive, jnp.stack([y.v @ drive, -(y.v @ damping)])


def slip_direction(
    velocity: Float[Array, "n k"], settled: Float[Array, "n k"]
) -> Float[Array, "n k"]:
    """The direction of slip: in the plane a sign, which an event settles; in space that of the
    velocity, or the settled one where it is about to vanish.
    """
    if velocity.shape[1] == 1:
        return settled
    along = jnp.sum(velocity * settled, axis=1, keepdims=True)
    slides = along > 1e-12
    speed = jnp.sqrt(jnp.sum(jnp.where(slides, velocity, 1.0) ** 2, axis=1, keepdims=True))
    return jnp.where(slides, velocity / speed, settled)


class RigidFlow(eqx.Module):
    """A mechanism with rigid contacts whose modes are known; the law has numbers by contact."""

    mechanism: Mechanism
    contacts: Contacts
    control: AbstractSwitchingControl
    law: Any

    is_soft: ClassVar[bool] = False

    def start(self, q: Float[Array, "nq"], v: Float[Array, "nv"]) -> State:
        """The state of a run's beginning."""
        return State(q, v, jnp.zeros(5, q.dtype), jnp.zeros(self.contacts.count, q.dtype))

    def dynamics(self, t: Scalar, y: State, mode: Mode) -> tuple[ContactDynamics, Array]:
        """All about the contacts at a state before forces, and the joints' power."""
        force, power = joint_forces(self.mechanism, self.control, t, y, mode)
        return contact_dynamics(self.mechanism, self.contacts, y.q, y.v, t, force), power

    def look(self, t: Scalar, y: State, mode: Mode) -> tuple[State, Look, ContactDynamics]:
        """The rate of a state, and the contacts."""
        d, power = self.dynamics(t, y, mode)
        u, ground = d.contacts.velocity, d.contacts.support_velocity
        direction = slip_direction(u[:, :-1], mode.direction)

        def closed() -> Array:
            return contact_forces(d.W, d.a0, mode.modes, direction, self.law.mu_dynamic)

        f = jax.lax.cond(jnp.any(mode.modes != OPEN), closed, lambda: jnp.zeros_like(d.a0))
        force = f.reshape(u.shape)
        rubbing, given = -jnp.sum(force[:, :-1] * u[:, :-1]), jnp.sum(force * ground)
        ledger = jnp.concatenate([power, jnp.stack([rubbing, given, jnp.zeros_like(given)])])
        k = State(rate(self.mechanism, y.q, y.v), d.acceleration(f), ledger, jnp.zeros_like(y.gap))
        friction = jnp.sqrt(jnp.sum(force[:, :-1] ** 2, axis=1) + TINY.of(f))
        margin = self.law.mu_static * force[:, -1] - friction
        return k, Look(force, d.contacts.gap, u, margin, jnp.zeros_like(margin)), d

    def correct(self, y: State, at: Look, d: ContactDynamics, mode: Mode) -> State:
        """Kept contacts are brought back to zero gap and zero velocity."""
        return self._hold(y, at.gap, at.velocity, d, mode.modes)

    def _hold(self, y: State, gap: Array, u: Array, d: ContactDynamics, modes: Array) -> State:
        # What is wrong is so little that only its own derivative counts.
        L, Y = jax.lax.stop_gradient((d.L, d.Y))
        dim = u.shape[1]
        W = Y.T @ Y
        gaps = jnp.concatenate([jnp.zeros_like(u[:, :-1]), gap[:, None]], axis=1)
        wrong = jnp.stack([gaps.reshape(-1), u.reshape(-1)], axis=1)
        rows = known_rows(modes, dim).astype(u.dtype)[:, None]
        K = rows * W * rows.T + jnp.diag(1 - rows[:, 0])
        impulses = rows * solve_redundant(K, rows * wrong, jnp.max(jnp.diag(W)))
        shift, slow = -solve_upper(L, Y @ impulses).T
        return State(add_velocity(self.mechanism, y.q, shift), y.v + slow, y.ledger, y.gap)

    def error(self, error: State, before: State, after: State, ratio: Callable) -> Scalar:
        """The error of a step over what is tolerated."""
        return ratio(*((y.q, y.v, y.ledger) for y in (error, before, after)))

    def event_value(self, row: EventRow, at: Look) -> Scalar:
        """The function of a contact that came to zero: open, the gap; closed, the normal force;
        sticking, how far friction is inside the static cone; slipping, the speed along the slip.
        """
        i = jnp.maximum(row.contact, 0)
        mode, u_t = row.modes_before[i], at.velocity[i, :-1]
        first = jnp.where(mode == OPEN, at.gap[i], at.force[i, -1])
        second = jnp.where(mode == STICK, at.margin[i], u_t @ row.direction_before[i])
        return jnp.where(row.function == 0, first, second)

    def jump(
        self, row: EventRow, t: Scalar, y: State, at: Look, d: ContactDynamics
    ) -> tuple[State, EventJump]:
        """The state after an event, and what the event did."""
        del at
        u, ground = d.contacts.velocity, d.contacts.support_velocity
        before = kinetic(d.L, y.v)
        s, back, problem, limit = self._impact(row, t, d, before)
        v = s.scale * (y.v + d.change((s.impulse + back).reshape(-1)))
        u_plus = s.scale * (problem.velocity_after(s.impulse + back) + ground) - ground
        after = kinetic(d.L, v)
        given = jnp.sum((s.impulse + back) * ground)
        booked = jnp.stack([*jnp.zeros(3, v.dtype), given, before - after + given])
        # What is at rest is so exactly, even if it is about to slip.
        slow = jnp.sum(jax.lax.stop_gradient(u_plus)[:, :-1] ** 2, axis=1) <= _BEGINS**2
        begins = (row.modes_after == SLIP) & slow
        rest = jnp.where(begins, STICK, row.modes_after)
        new = State(y.q, v, y.ledger + booked, y.gap)
        new = self._hold(new, d.contacts.gap, u_plus, d, rest)
        work = problem.work(s.impulse)
        removed = before + jnp.sum(work) + jnp.sum(s.impulse * ground) - after
        return new, EventJump(
            s.impulse, u, u_plus, work, d.contacts.gap, before, after, removed, limit
        )

    def _impact(self, row: EventRow, t: Scalar, d: ContactDynamics, energy: Scalar) -> tuple:
        """The impulses, of the contacts that took part in the run's own impact, what their load
        does besides (see `fall_back`), the problem, and when endless sequences would have ended."""
        law, u = self.law, d.contacts.velocity
        n, dim = u.shape
        fast = -row.velocity_before[:, -1]
        touching = (row.modes_before != OPEN) | (row.gap <= TOUCH.of(u))
        collides = touching & (fast > APPROACH.of(u))
        slow = (fast < law.rest_speed) | row.tangential
        # What only touches keeps its restitution: in a sequence it may be hit by others.
        e = jnp.where(slow & (collides | row.tangential), 0.0, law.restitution)
        active = touching & (fast >= -REST.of(u))
        problem = impact_problem(d, law, active, e, energy)
        at_rest = jnp.sum(row.velocity_before[:, :-1] ** 2, axis=1) <= REST.of(u) ** 2
        harmless = jnp.all(slow | ~collides)
        which = jnp.where(row.tangential, 1, jnp.where(harmless, 2, 3))
        laws = [
            _nothing,
            no_slip,
            lambda p: bring_to_rest(p, at_rest),
            impact_law(law.impact, law.energy_method, law.sequence),
        ]

        def resolve(problem: ImpactProblem) -> tuple[Array, Array, Scalar]:
            s = jax.lax.switch(jnp.where(row.impact, which, 0), laws, problem)
            back = fall_back(problem, s.impulse, at_rest, law.rest_speed)
            return s.impulse, jnp.where(row.impact & (which == 2), back, 0.0), s.scale

        impulse, back, scale = _both_ways(resolve, problem)
        # The flights that would have followed: v_k = eᵏ v, each 2 v_k / |a| long.
        fall = -d.a0.reshape(n, dim)[:, -1]
        ends = collides & slow & (law.restitution > 0) & (law.restitution < 1) & (fall > 0)
        flights = -2 * u[:, -1] * law.restitution
        flights = flights / jnp.where(ends, fall * (1 - law.restitution), 1.0)
        solution = ImpactSolution(impulse, fall, collides, scale, row.impact)
        return solution, back, problem, jnp.where(ends, t + flights, 0.0)


def _nothing(problem: ImpactProblem) -> ImpactSolution:
    none = jnp.zeros_like(problem.velocity)
    return ImpactSolution.of(none, jnp.zeros_like(problem.active), jnp.asarray(True))


def _both_ways(resolve: Callable, problem: ImpactProblem) -> tuple[Array, Array, Scalar]:
    """resolve(problem), whose derivatives can go backwards although it is solved by loops.

    Its matrix of derivatives is made forwards, column by column; what goes through it is linear.
    """
    if problem.W.shape[0] > _WHOLE:
        return resolve(problem)
    floats, rest = eqx.partition(problem, eqx.is_inexact_array)

    def flat(floats: ImpactProblem) -> Array:
        impulse, back, scale = resolve(eqx.combine(floats, rest))
        return jnp.concatenate([impulse.reshape(-1), back.reshape(-1), scale[None]])

    at = jax.lax.stop_gradient(floats)
    p, J = flat(at), jax.jacfwd(flat)(at)
    # One by one: of numbers that do not change a derivative that is none does no harm.
    for dp, x, x0 in zip(*map(jax.tree.leaves, (J, floats, at)), strict=True):
        change = jnp.where(jnp.isfinite(x0), x - x0, 0.0)  # a bound that is none is infinite
        p = p + jnp.tensordot(dp, change, axes=x.ndim)
    impulse, back = p[:-1].reshape(2, *problem.velocity.shape)
    return impulse, back, p[-1]


class FreeFlow(eqx.Module):
    """A mechanism that touches nothing."""

    mechanism: Mechanism
    control: AbstractSwitchingControl

    is_soft: ClassVar[bool] = False

    def start(self, q: Float[Array, "nq"], v: Float[Array, "nv"]) -> State:
        """The state of a run's beginning."""
        return State(q, v, jnp.zeros(5, q.dtype), jnp.zeros(0, q.dtype))

    def look(self, t: Scalar, y: State, mode: Mode) -> tuple[State, Look, None]:
        """The rate of a state."""
        m = self.mechanism
        force, power = joint_forces(m, self.control, t, y, mode)
        ledger = jnp.concatenate([power, jnp.zeros(3, power.dtype)])
        k = State(rate(m, y.q, y.v), forward_dynamics(m, y.q, y.v, force), ledger, y.gap)
        none = jnp.zeros((0, 3), y.q.dtype)
        return k, Look(none, y.gap, none, y.gap, y.gap), None

    def correct(self, y: State, at: Look, more: None, mode: Mode) -> State:
        """There is nothing to keep."""
        del at, more, mode
        return y

    error = RigidFlow.error

    def event_value(self, row: EventRow, at: Look) -> Scalar:
        """There are no events."""
        del at
        return jnp.zeros_like(row.time)

    def jump(
        self, row: EventRow, t: Scalar, y: State, at: Look, more: None
    ) -> tuple[State, EventJump]:
        """The start, which changes nothing."""
        del t, at, more
        none, zero = jnp.zeros((0, 3), y.q.dtype), jnp.zeros_like(row.time)
        return y, EventJump(none, none, none, none, y.gap, zero, zero, zero, y.gap)
