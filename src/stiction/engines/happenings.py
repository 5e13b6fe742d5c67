"""What happens at an event: an impact, a contact that parts, begins to slip or comes to stick.

An event is carried out in one or two passes of the loop: if something collides, velocities jump;
then (or at once, if nothing does) the mode is settled at the new velocities. If no mode is
consistent while a contact slides (Painlevé), it is stopped by an impact without collision, and the
mode is settled after that.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from stiction._arrays import Array, Bool, Float, Int, Scalar, Tolerance
from stiction.engines.contact_dynamics import ContactDynamics, kinetic
from stiction.engines.flow import (
    CAPTURE,
    Flow,
    Held,
    Mode,
    Seen,
    State,
    contact_power,
    slip_speed,
    slip_speeding,
)
from stiction.engines.forces import OPEN, SLIP, STICK
from stiction.engines.modes import select_modes
from stiction.engines.records import Packing
from stiction.impacts.no_slip import no_slip
from stiction.impacts.problem import ImpactProblem
from stiction.impacts.slow import bring_to_rest
from stiction.mechanism import rate

TOUCH = Tolerance(1e-9, 2e-6)  # a contact nearer than this touches [m]
APPROACH = Tolerance(1e-10, 1e-5)  # a touching contact that closes in faster collides [m/s]
REST = Tolerance(1e-9, 1e-5)  # slower than this a touching contact neither parts nor slides [m/s]
# Slower than this a contact comes to rest when another does, in the plane [m/s].
TOGETHER = Tolerance(1e-7, 1e-4)

# Causes that are not contacts.
START, GUARD = -1, -2


class Cause(eqx.Module):
    """Which event function has fallen below zero.

    Of a contact the first or the second; of the control (contact = `GUARD`) the guard of that
    index; at the start of a run none (contact = `START`).
    """

    contact: Int[Array, ""]
    function: Int[Array, ""]


class Happening(eqx.Module):
    """An event, with what it did to every contact."""

    time: Scalar
    cause: Cause
    impact: Bool[Array, ""]
    tangential: Bool[Array, ""]  # an impact without collision
    consistent: Bool[Array, ""]  # whether a consistent mode was found
    suspicious: Bool[Array, ""]  # whether there may be no such mode, or several
    modes_before: Int[Array, "n"]
    modes_after: Int[Array, "n"]
    direction_before: Float[Array, "n k"]  # of slip
    direction_after: Float[Array, "n k"]
    gap: Float[Array, "n"]  # before kept contacts were brought back to the surface [m]
    velocity_before: Float[Array, "n dim"]
    velocity_after: Float[Array, "n dim"]
    impulse: Float[Array, "n dim"]
    mu: Float[Array, "n"]
    work: Float[Array, "n dim"]  # of each component of the impulse [J]
    q: Float[Array, "nq"]
    v_before: Float[Array, "nv"]
    v_after: Float[Array, "nv"]
    kinetic_before: Scalar
    kinetic_after: Scalar
    removed: Scalar  # by energy control [J]
    limit: Float[Array, "n"]  # when an infinite sequence of impacts would have ended [s], or nan
    speed: Scalar  # the largest |v| after
    acceleration: Scalar  # the largest |dv/dt| after


def quiet(
    t: Scalar,
    y: State,
    mode: Mode,
    cause: Cause,
    gap: Float[Array, "n"],
    velocity: Float[Array, "n dim"],
    kinetic_energy: Scalar,
) -> Happening:
    """An event without an impact."""
    zero, none = jnp.zeros_like(velocity), jnp.zeros_like(kinetic_energy)
    no, yes = jnp.asarray(False), jnp.asarray(True)
    return Happening(
        time=t,
        cause=cause,
        impact=no,
        tangential=no,
        consistent=yes,
        suspicious=no,
        modes_before=mode.modes,
        modes_after=mode.modes,
        direction_before=mode.direction,
        direction_after=mode.direction,
        gap=gap,
        velocity_before=velocity,
        velocity_after=velocity,
        impulse=zero,
        mu=zero[:, 0],
        work=zero,
        q=y.q,
        v_before=y.v,
        v_after=y.v,
        kinetic_before=kinetic_energy,
        kinetic_after=kinetic_energy,
        removed=none,
        limit=jnp.full_like(zero[:, 0], jnp.nan),
        speed=none,
        acceleration=none,
    )


class FlagsOnly(Packing):
    """Of an event only what the loop itself asks for, when no list of events is kept."""

    def __init__(self, template: Happening):
        super().__init__((template.tangential, template.suspicious))
        self.template = template

    def pack(self, tree: Happening, dtype: Any) -> Float[Array, "2"]:
        """The flags."""
        return super().pack((tree.tangential, tree.suspicious), dtype)

    def unpack(self, vector: Float[Array, "2"]) -> Happening:
        """An event with these flags, of which nothing else is known."""
        flags = super().unpack(vector)
        return eqx.tree_at(lambda h: (h.tangential, h.suspicious), self.template, flags)


def touches(d: ContactDynamics, mode: Mode) -> tuple[Bool[Array, "n"], Bool[Array, "n"]]:
    """Contacts that touch, and those of them that collide."""
    touching = (mode.modes != OPEN) | (d.contacts.gap <= TOUCH.of(d.W))
    return touching, touching & (d.contacts.velocity[:, -1] < -APPROACH.of(d.W))


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


def collide(
    flow: Flow,
    resolve: Callable,
    law: Any,
    t: Scalar,
    y: State,
    mode: Mode,
    cause: Cause,
    tangential: Bool[Array, ""],
    d: ContactDynamics,
) -> tuple[State, Happening]:
    """Velocities jump: by the impact law, or to a stop if it is an impact without collision."""
    u = d.contacts.velocity
    touching, collides = touches(d, mode)
    n, dim = u.shape
    # Slow collisions do not rebound; if all are slow, an infinite sequence of them ends here.
    slow = (-u[:, -1] < law.rest_speed) | tangential
    # What only touches keeps its restitution: in a sequence it may be hit by others.
    restitution = jnp.where(slow & (collides | tangential), 0.0, law.restitution)
    active = touching & (u[:, -1] <= REST.of(u))
    problem = impact_problem(d, law, active, restitution, kinetic(d.L, y.v))
    at_rest = jnp.sum(u[:, :-1] ** 2, axis=1) <= REST.of(u) ** 2
    harmless = jnp.all(slow | ~collides)
    s = jax.lax.switch(
        jnp.where(tangential, 0, jnp.where(harmless, 1, 2)),
        [no_slip, lambda p: bring_to_rest(p, at_rest), resolve],
        problem,
    )
    v = s.scale * (y.v + d.change(s.impulse.reshape(-1)))
    ground = d.contacts.support_velocity
    u_plus = s.scale * (problem.velocity_after(s.impulse) + ground) - ground
    work = problem.work(s.impulse)
    T = kinetic(d.L, v)
    given = jnp.sum(s.impulse * ground)
    lost = problem.kinetic - T + given
    # The flights that would have followed: v_k = eᵏ v, each 2 v_k / |a| long.
    fall = -d.a0.reshape(n, dim)[:, -1]
    e = law.restitution
    ends = collides & slow & (e > 0) & (e < 1) & (fall > 0)
    flights = -2 * u[:, -1] * e / jnp.where(ends, fall * (1 - e), 1.0)
    what = eqx.tree_at(
        lambda h: (
            h.impact, h.tangential, h.velocity_after, h.impulse, h.mu, h.work, h.v_after,
            h.kinetic_after, h.removed, h.limit,
        ),
        quiet(t, y, mode, cause, d.contacts.gap, u, problem.kinetic),
        (
            jnp.asarray(True), tangential, u_plus, s.impulse, s.mu, work, v, T,
            problem.kinetic + jnp.sum(work) + given - T,
            jnp.where(ends, t + flights, jnp.nan),
        ),
    )  # fmt: skip
    booked = jnp.stack([*jnp.zeros((3,), T.dtype), given, lost])
    return State(y.q, v, y.ledger + booked, y.gap), what


class Settled(eqx.Module):
    """A mode, with the state and its rate in it."""

    y: State
    mode: Mode
    k: State
    seen: Seen
    consistent: Bool[Array, ""]
    suspicious: Bool[Array, ""]
    slides: Bool[Array, ""]  # whether a closed contact slides


def settle(
    flow: Flow,
    t: Scalar,
    y: State,
    mode: Mode,
    cause: Cause,
    after_impact: Bool[Array, ""],
    d: ContactDynamics,
    power: Float[Array, "2"],
) -> Settled:
    """The mode at the new velocities."""
    u = d.contacts.velocity
    n, dim = u.shape
    target = (jnp.arange(n) == cause.contact) & ~after_impact
    touching, _ = touches(d, mode)
    keeps = touching & (jnp.abs(u[:, -1]) <= REST.of(u))
    speed = slip_speed(u)
    # In the plane a slip whose speed has come to zero is at rest, whatever rounding says; in space
    # one that was captured. Where a body stops as a whole, its contacts do so together.
    ends_slip = target & (cause.function == 1) & (mode.modes == SLIP)
    together = TOGETHER.of(u) if dim == 2 else 3 * CAPTURE.of(u)
    slow = jnp.where(jnp.any(ends_slip), together, REST.of(u))
    at_rest = keeps & ((speed <= slow) | (ends_slip & (dim == 2)))
    # What parted a moment ago is not closed again unless it sinks: contacts that let go together
    # would do so by turns without end.
    anew = after_impact | target | (cause.contact == START)
    parted = (mode.modes == OPEN) & ~anew
    found = select_modes(
        d.W,
        d.a0,
        u[:, :-1],
        keeps,
        at_rest,
        flow.mu_static,
        flow.mu_dynamic,
        opens=(target & (cause.function == 0) & (mode.modes != OPEN)) | parted,
        starts_to_slip=target & (cause.function == 1) & (mode.modes == STICK),
    )
    new = Mode(found.modes, found.direction, mode.memory)
    # What is at rest is so exactly, even if it is about to slip: what little it moves, perhaps
    # another way, would else end that slip at once.
    still = at_rest & (found.modes != OPEN)
    resting = Mode(jnp.where(still, STICK, found.modes), found.direction, mode.memory)
    y = flow.correct(State(y.q, y.v, y.ledger, d.contacts.gap), u, Held(d.L, d.Y), resting)
    acceleration = d.acceleration(found.force.reshape(-1))
    ledger = jnp.concatenate([power, contact_power(d, found.force)])
    k = State(rate(flow.mechanism, y.q, y.v), acceleration, ledger, u[:, -1])
    # What the correction takes away is rounding.
    moving = jnp.where(still[:, None], 0.0, u[:, :-1])
    normal = jnp.where(found.modes != OPEN, 0.0, u[:, -1])
    velocity = jnp.concatenate([moving, normal[:, None]], axis=1)
    u_rate = (d.a0 + d.W @ found.force.reshape(-1)).reshape(u.shape)
    seen = Seen(
        found.force,
        jnp.where(found.modes != OPEN, 0.0, d.contacts.gap),
        velocity,
        flow.guards(t, y, new),
        speeding=slip_speeding(velocity, u_rate),
    )
    slides = jnp.any(keeps & ~at_rest)
    return Settled(y, new, k, seen, found.consistent, found.suspicious, slides)
