"""What happens at an event: an impact, a contact that parts, begins to slip or comes to stick.

An event is carried out in one or two passes of the loop: if something collides, velocities jump;
then (or at once, if nothing does) the mode is settled at the new velocities.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from stiction._arrays import Array, Bool, Float, Int, Scalar
from stiction.engines.contact_dynamics import ContactDynamics, kinetic
from stiction.engines.flow import Flow, Mode, Seen, State, contact_power
from stiction.engines.forces import OPEN, SLIP, STICK
from stiction.engines.modes import select_modes
from stiction.impacts.problem import ImpactProblem
from stiction.mechanism import rate

TOUCH = 1e-9  # a contact nearer than this touches [m]
APPROACH = 1e-10  # a touching contact that approaches faster than this collides [m/s]
REST = 1e-9  # slower than this a touching contact neither parts nor slides [m/s]


class Cause(eqx.Module):
    """Which event function has fallen below zero: a contact's first or second; none at first."""

    contact: Int[Array, ""]
    function: Int[Array, ""]


class Happening(eqx.Module):
    """An event, with what it did to every contact."""

    time: Scalar
    cause: Cause
    impact: Bool[Array, ""]
    consistent: Bool[Array, ""]  # whether a consistent mode was found
    modes_before: Int[Array, "n"]
    modes_after: Int[Array, "n"]
    velocity_before: Float[Array, "n dim"]
    velocity_after: Float[Array, "n dim"]
    impulse: Float[Array, "n dim"]
    mu: Float[Array, "n"]
    work: Float[Array, "n dim"]  # of each component of the impulse [J]
    kinetic_before: Scalar
    kinetic_after: Scalar
    removed: Scalar  # by energy control [J]
    limit: Float[Array, "n"]  # when an infinite sequence of impacts would have ended [s], or nan


def quiet(t: Scalar, y: State, mode: Mode, cause: Cause, d: ContactDynamics) -> Happening:
    """An event without an impact."""
    u = d.contacts.velocity
    zero = jnp.zeros_like(u)
    T = kinetic(d.L, y.v)
    return Happening(
        time=t,
        cause=cause,
        impact=jnp.asarray(False),
        consistent=jnp.asarray(True),
        modes_before=mode.modes,
        modes_after=mode.modes,
        velocity_before=u,
        velocity_after=u,
        impulse=zero,
        mu=zero[:, 0],
        work=zero,
        kinetic_before=T,
        kinetic_after=T,
        removed=jnp.zeros_like(T),
        limit=jnp.full_like(zero[:, 0], jnp.nan),
    )


def touches(d: ContactDynamics, mode: Mode) -> tuple[Bool[Array, "n"], Bool[Array, "n"]]:
    """Contacts that touch, and those of them that collide."""
    touching = (mode.modes != OPEN) | (d.contacts.gap <= TOUCH)
    return touching, touching & (d.contacts.velocity[:, -1] < -APPROACH)


def collide(
    flow: Flow,
    resolve: Callable,
    law: Any,
    t: Scalar,
    y: State,
    mode: Mode,
    cause: Cause,
    d: ContactDynamics,
) -> tuple[State, Happening]:
    """Velocities jump."""
    u = d.contacts.velocity
    touching, collides = touches(d, mode)
    n, dim = u.shape
    # Slow collisions do not rebound; an infinite sequence of them ends here.
    slow = -u[:, -1] < law.rest_speed
    problem = ImpactProblem(
        W=d.W,
        velocity=u,
        active=touching & (u[:, -1] <= REST),
        restitution=jnp.where(slow, 0.0, law.restitution),
        mu_static=flow.mu_static,
        mu_dynamic=flow.mu_dynamic,
        stribeck_speed=law.stribeck_speed,
        stribeck_exponent=law.stribeck_exponent,
        kinetic=kinetic(d.L, y.v),
        energetic=law.energetic,
    )
    s = resolve(problem)
    v = s.scale * (y.v + d.change(s.impulse.reshape(-1)))
    ground = d.contacts.support_velocity
    u_plus = s.scale * (problem.velocity_after(s.impulse) + ground) - ground
    work = problem.work(s.impulse)
    T = kinetic(d.L, v)
    # The flights that would have followed: v_k = eᵏ v, each 2 v_k / |a| long.
    fall = -d.a0.reshape(n, dim)[:, -1]
    e = law.restitution
    ends = collides & slow & (e > 0) & (e < 1) & (fall > 0)
    flights = -2 * u[:, -1] * e / jnp.where(ends, fall * (1 - e), 1.0)
    base = quiet(t, y, mode, cause, d)
    what = eqx.tree_at(
        lambda h: (
            h.impact, h.velocity_after, h.impulse, h.mu, h.work, h.kinetic_after, h.removed, h.limit
        ),
        base,
        (
            jnp.asarray(True), u_plus, s.impulse, s.mu, work, T,
            base.kinetic_before + jnp.sum(work) - T,
            jnp.where(ends, t + flights, jnp.nan),
        ),
    )  # fmt: skip
    return State(y.q, v, y.ledger), what


def settle(
    flow: Flow,
    y: State,
    mode: Mode,
    cause: Cause,
    after_impact: Bool[Array, ""],
    d: ContactDynamics,
    power: Float[Array, "2"],
) -> tuple[State, Mode, State, Seen, Bool[Array, ""]]:
    """The mode at the new velocities, with the state and its rate in it."""
    u = d.contacts.velocity
    n, dim = u.shape
    target = (jnp.arange(n) == cause.contact) & ~after_impact
    touching, _ = touches(d, mode)
    keeps = touching & (jnp.abs(u[:, -1]) <= REST)
    speed = jnp.sqrt(jnp.sum(u[:, :-1] ** 2, axis=1))
    # In the plane a slip whose speed has come to zero is at rest, whatever rounding says.
    ends_slip = target & (cause.function == 1) & (mode.modes == SLIP) & (dim == 2)
    at_rest = keeps & ((speed <= REST) | ends_slip)
    found = select_modes(
        d.W,
        d.a0,
        u[:, :-1],
        keeps,
        at_rest,
        flow.mu_static,
        flow.mu_dynamic,
        opens=target & (cause.function == 0) & (mode.modes != OPEN),
        starts_to_slip=target & (cause.function == 1) & (mode.modes == STICK),
    )
    new = Mode(found.modes, found.direction)
    y = flow.correct(d, y, new)
    acceleration = d.acceleration(found.force.reshape(-1))
    ledger = jnp.concatenate([power, contact_power(d, found.force)])
    k = State(rate(flow.mechanism, y.q, y.v), acceleration, ledger)
    # What the correction takes away is rounding; sticking contacts are exactly at rest.
    moving = jnp.where((found.modes == STICK)[:, None], 0.0, u[:, :-1])
    normal = jnp.where(found.modes != OPEN, 0.0, u[:, -1])
    seen = Seen(
        found.force,
        jnp.where(found.modes != OPEN, 0.0, d.contacts.gap),
        jnp.concatenate([moving, normal[:, None]], axis=1),
    )
    return y, new, k, seen, found.consistent
