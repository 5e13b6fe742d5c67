"""What happens at an event: an impact, a contact that parts, begins to slip or comes to stick."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp

from stiction._arrays import Array, Bool, Float, Int, Scalar
from stiction.engines.contact_dynamics import kinetic
from stiction.engines.flow import Flow, Mode, State
from stiction.engines.forces import OPEN, SLIP, STICK
from stiction.engines.modes import select_modes
from stiction.impacts.problem import ImpactProblem, ImpactSolution

TOUCH = 1e-9  # a contact nearer than this touches [m]
APPROACH = 1e-10  # a touching contact that approaches faster than this collides [m/s]
REST = 1e-9  # slower than this a touching contact neither parts nor slides [m/s]


class Happening(eqx.Module):
    """An event, with what it did to every contact."""

    time: Scalar
    contact: Int[Array, ""]  # whose event function fell below zero
    function: Int[Array, ""]  # which of its two
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


def happen(
    flow: Flow,
    resolve: Callable[[ImpactProblem], ImpactSolution],
    law,
    t: Scalar,
    y: State,
    mode: Mode,
    contact: Int[Array, ""],
    function: Int[Array, ""],
) -> tuple[State, Mode, Happening]:
    """Carry out the event of one contact at (t, y), and of all others that happen with it."""
    d = flow.dynamics(t, y, mode.modes)
    u = d.contacts.velocity
    n, dim = u.shape
    target = jnp.arange(n) == contact
    closed = mode.modes != OPEN
    touching = closed | (d.contacts.gap <= TOUCH)
    collides = touching & (u[:, -1] < -APPROACH)
    impact = jnp.any(collides)
    before = kinetic(d.L, y.v)

    # Slow collisions do not rebound; an infinite sequence of them ends here.
    slow = -u[:, -1] < law.rest_speed
    restitution = jnp.where(slow, 0.0, law.restitution)
    problem = ImpactProblem(
        W=d.W,
        velocity=u,
        active=touching & (u[:, -1] <= REST),
        restitution=restitution,
        mu_static=flow.mu_static,
        mu_dynamic=flow.mu_dynamic,
        stribeck_speed=law.stribeck_speed,
        stribeck_exponent=law.stribeck_exponent,
        kinetic=before,
        energetic=law.energetic,
    )

    def collide():
        s = resolve(problem)
        v_plus = s.scale * (y.v + d.change(s.impulse.reshape(-1)))
        u_plus = s.scale * (problem.velocity_after(s.impulse) + d.contacts.support_velocity)
        u_plus = u_plus - d.contacts.support_velocity
        return v_plus, u_plus, s.impulse, s.mu, problem.work(s.impulse)

    def pass_by():
        zero = jnp.zeros_like(u)
        return y.v, u, zero, zero[:, 0], zero

    v, u_plus, impulse, mu, work = jax.lax.cond(impact, collide, pass_by)
    after = kinetic(d.L, v)
    removed = before + jnp.sum(work) - after

    # Where the slip of the contact has come to zero, it is zero.
    ends_slip = target & (function == 1) & (mode.modes == SLIP) & ~impact
    speed = jnp.sqrt(jnp.sum(u_plus[:, :-1] ** 2, axis=1))
    keeps = touching & (jnp.abs(u_plus[:, -1]) <= REST)
    at_rest = keeps & ((speed <= REST) | (ends_slip & (dim == 2)))

    # The mode afterwards, with accelerations at the new velocity.
    y_plus = State(y.q, v, y.ledger)
    d_plus = jax.lax.cond(impact, lambda: flow.dynamics(t, y_plus, mode.modes), lambda: d)
    found = select_modes(
        d_plus.W,
        d_plus.a0,
        u_plus[:, :-1],
        keeps,
        at_rest,
        flow.mu_static,
        flow.mu_dynamic,
        opens=target & (function == 0) & closed & ~impact,
        starts_to_slip=target & (function == 1) & (mode.modes == STICK) & ~impact,
    )
    new_mode = Mode(found.modes, found.direction)
    y_plus = flow.project(t, y_plus, new_mode)

    # t + Σ of the flights that would have followed: v_k = eᵏ v, each 2 v_k / |a| long.
    fall = -d.a0.reshape(n, dim)[:, -1]
    flights = -2 * u[:, -1] * law.restitution / (fall * (1 - law.restitution))
    ends = collides & slow & (law.restitution > 0) & (law.restitution < 1) & (fall > 0)
    return (
        y_plus,
        new_mode,
        Happening(
            time=t,
            contact=contact,
            function=function,
            impact=impact,
            consistent=found.consistent,
            modes_before=mode.modes,
            modes_after=found.modes,
            velocity_before=u,
            velocity_after=u_plus,
            impulse=impulse,
            mu=mu,
            work=work,
            kinetic_before=before,
            kinetic_after=after,
            removed=removed,
            limit=jnp.where(ends, t + flights, jnp.nan),
        ),
    )


def settle(flow: Flow, t: Scalar, y: State) -> Mode:
    """The mode at the start: nothing collides, contacts that touch stick, slip or part."""
    n, k = flow.contacts.count, flow.contacts.dim - 1
    open_mode = Mode(jnp.full(n, OPEN), jnp.zeros((n, k), y.q.dtype))
    d = flow.dynamics(t, y, open_mode.modes)
    u = d.contacts.velocity
    keeps = (d.contacts.gap <= TOUCH) & (jnp.abs(u[:, -1]) <= REST)
    speed = jnp.sqrt(jnp.sum(u[:, :-1] ** 2, axis=1))
    nothing = jnp.zeros(n, bool)
    found = select_modes(
        d.W,
        d.a0,
        u[:, :-1],
        keeps,
        keeps & (speed <= REST),
        flow.mu_static,
        flow.mu_dynamic,
        opens=nothing,
        starts_to_slip=nothing,
    )
    return Mode(found.modes, found.direction)


__all__ = ["APPROACH", "OPEN", "REST", "SLIP", "STICK", "TOUCH", "Happening", "happen", "settle"]
