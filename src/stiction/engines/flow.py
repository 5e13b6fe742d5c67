"""The smooth motion between events, when it is settled which contacts stick, slip or are open.

`AbstractFlow` is what the loop knows of a motion; `Flow` is the one of rigid contacts.
"""

import abc
import dataclasses
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from stiction._arrays import TINY, Array, Bool, Float, Int, Scalar, Tolerance
from stiction._scalars import Pattern, pattern_of, write_out
from stiction.engines.contact_dynamics import (
    ContactDynamics,
    contact_dynamics,
    free_dynamics,
)
from stiction.engines.control import AbstractSwitchingControl
from stiction.engines.forces import OPEN, SLIP, STICK, contact_forces, known_rows
from stiction.engines.runge_kutta import error_ratio
from stiction.engines.solver import Solver
from stiction.mechanism import (
    Mechanism,
    actuator_force,
    add_velocity,
    damping_force,
    normalize,
    rate,
    spring_force,
)
from stiction.mechanism.kinematics import motion
from stiction.mechanism.linear import solve_redundant, solve_upper
from stiction.surfaces import Contacts, gaps_and_velocities

FORCE_SLACK = Tolerance(
    1e-9, 1e-4
)  # part of the largest force by which a force may fall short of its bound
GAP_SLACK = Tolerance(1e-12, 1e-6)  # depth at which an open contact is taken to touch [m]
_LEAVING = Tolerance(
    1e-8, 1e-5
)  # depth from which a contact may part without having been dealt with anew [m]

_SLOW = Tolerance(1e-12, 1e-6)  # speeds below which slip has no direction of its own [m/s]

# A slip in space that slows down below this ends [m/s]. In the plane it goes through zero along a
# line; in space it turns ever faster as it ends, and what steps get wrong of that would let it miss
# zero and begin anew. The error is of second order: 1e-6 m/s last less than a microsecond.
CAPTURE = Tolerance(1e-6, 3e-4)

_GAP_ATOL, _GAP_RTOL = 1e-5, 1e-3  # by how much a step may be wrong about a gap [m], [-]

# What the ledger books [J]; all but the last entry are integrated along with the motion.
LEDGER = ("actuator_work", "damping_loss", "friction_loss", "support_work", "impact_loss")

_WRITTEN_OUT = 5  # freedoms of a mechanism


class Mode(eqx.Module):
    """What the smooth motion takes as settled."""

    modes: Int[Array, "n"]
    direction: Float[Array, "n k"]  # of slip, at the last event or step
    memory: Any  # of the control


class State(eqx.Module):
    """What is integrated."""

    q: Float[Array, "nq"]
    v: Float[Array, "nv"]
    ledger: Float[Array, "5"]
    # The gaps once more, from their rates: what a step gets wrong of them tells whether it is short
    # enough for contacts not to be missed.
    gap: Float[Array, "n"]
    # What contacts themselves remember and have lost; rigid ones nothing.
    inner: Any = ()


class Seen(eqx.Module):
    """What is known at a state besides its rate."""

    force: Float[Array, "n dim"]  # [N]
    gap: Float[Array, "n"]  # [m]
    velocity: Float[Array, "n dim"]  # [m/s]
    guards: Float[Array, "g"]  # of the control
    margin: Any = ()  # how far friction is inside its cone [N], where a law says so
    speeding: Any = ()  # rate of the slip's speed [m/s²], in space


class Patterns(eqx.Module):
    """Which numbers of the mechanism and of the contacts are 0, 1 or -1, if that is known."""

    mechanism: Pattern | None = eqx.field(static=True)
    contacts: Pattern | None = eqx.field(static=True)


def patterns_of(mechanism: Mechanism, contacts: Contacts) -> Patterns:
    """What is known of a mechanism and its contacts when they are not traced.

    The ground's tilt counts as unknown, so that another slope is not another program.
    """
    key = id(mechanism), id(contacts)
    told = _told.get(key)
    if told is not None and told.mechanism() is mechanism and told.contacts() is contacts:
        return told.patterns
    tilt = jnp.full_like(contacts.planes.rotation, jnp.nan)
    some = eqx.tree_at(lambda c: c.planes.rotation, contacts, tilt)
    patterns = Patterns(pattern_of(mechanism), pattern_of(some))
    forget = lambda _: _told.pop(key, None)  # noqa: E731
    _told[key] = _Told(weakref.ref(mechanism, forget), weakref.ref(contacts, forget), patterns)
    return patterns


class _Told(NamedTuple):
    """Patterns of a mechanism and contacts that still exist: to look at every number takes time."""

    mechanism: weakref.ref
    contacts: weakref.ref
    patterns: Patterns


_told: dict[tuple[int, int], _Told] = {}


class Held(NamedTuple):
    """What it takes to push contacts: as in `ContactDynamics`."""

    L: Float[Array, "nv nv"]
    Y: Float[Array, "nv m"]


class Arrival(eqx.Module):
    """The end of a step."""

    y: State
    kept: State  # the same, with kept contacts brought back to zero gap and zero velocity
    k: State  # dy/dt
    seen: Seen
    error: State  # an estimate of the step's error


class AbstractFlow(eqx.Module):
    """A mechanism, what it may touch, and what drives it: how it moves while nothing happens."""

    mechanism: eqx.AbstractVar[Mechanism]
    contacts: eqx.AbstractVar[Contacts]
    control: eqx.AbstractVar[AbstractSwitchingControl]
    patterns: eqx.AbstractVar[Patterns]

    @abc.abstractmethod
    def unseen(self, y: State, guards: Float[Array, "g"]) -> Seen:
        """What is seen before anything was looked at: zeros."""

    @abc.abstractmethod
    def step(
        self, advance: Callable, t: Scalar, y: State, k: State, mode: Mode, dt: Scalar
    ) -> Arrival:
        """A step over dt by `explicit_step` or its like, from a state and its rate k."""

    @abc.abstractmethod
    def error_ratio(self, at: Arrival, y: State, solver: Solver) -> Scalar:
        """The error of a step from y over what is tolerated."""

    @abc.abstractmethod
    def event_values(self, seen: Seen, mode: Mode) -> Float[Array, "e"]:
        """Two functions of each contact, and the guards, whose fall below zero ends the mode."""

    @abc.abstractmethod
    def event_rates(self, seen: Seen, mode: Mode) -> tuple[Float[Array, "e"], Bool[Array, "e"]]:
        """How fast these functions change, and of which of them that is known."""

    def command(self, t: Scalar, y: State, mode: Mode) -> Float[Array, "nu"]:
        """What the actuators are told."""
        u = self.control.command(t, y.q, y.v, mode.modes, mode.memory)
        return u.astype(y.q.dtype)

    def guards(self, t: Scalar, y: State, mode: Mode) -> Float[Array, "g"]:
        """Numbers whose fall below zero is an event of the control."""
        return self.control.guards(t, y.q, y.v, mode.modes, mode.memory).astype(y.q.dtype)

    def correct(self, y: State, velocity: Float[Array, "n dim"], held: Any, mode: Mode) -> State:
        """A state with such gaps and contact velocities, mended: as it is, if none are kept."""
        del velocity, held, mode
        return y

    def joint_forces(self, t: Scalar, y: State, mode: Mode) -> tuple[Array, Array]:
        """Springs, dampers and actuators together, and the power of actuators and of damping."""
        m = self.mechanism
        drive = actuator_force(m, y.q, y.v, self.command(t, y, mode))
        damping = damping_force(m, y.v)
        return spring_force(m, y.q) + damping + drive, jnp.stack([y.v @ drive, -(y.v @ damping)])

    def step_looking(self, look: Callable, advance: Callable, t, y, k, mode, dt) -> Arrival:
        """A step where `look` tells what there is at a state: rate, contacts, what holds them."""

        def see(t: Scalar, y: State) -> tuple[State, tuple[Seen, Any]]:
            k, seen, held = self.in_scalars(look, t, y, mode)
            return k, (seen, held)

        def finish(y: State) -> State:
            return State(normalize(self.mechanism, y.q), y.v, y.ledger, y.gap, y.inner)

        y, k, (seen, held), error = advance(see, finish, t, y, k, dt)
        kept = State(y.q, y.v, y.ledger, seen.gap, y.inner)
        return Arrival(y, self.correct(kept, seen.velocity, held, mode), k, seen, error)

    def in_scalars(self, f: Callable, t: Scalar, y: State, mode: Mode) -> Any:
        """f(flow, t, y, mode), written out in scalars where that is faster."""

        def of_leaves(m: Mechanism, c: Contacts, t: Scalar, y: State, mode: Mode) -> Any:
            return f(dataclasses.replace(self, mechanism=m, contacts=c), t, y, mode)

        return in_scalars(of_leaves, self.patterns, self.mechanism, self.contacts, t, y, mode)


def is_small(mechanism: Mechanism) -> bool:
    """Whether equations are better written out in scalars. With more freedoms (such as those of a
    free body) they are as fast in arrays, and sooner compiled.
    """
    return mechanism.nv <= _WRITTEN_OUT


def each(mechanism: Mechanism, f: Callable, *rows: Any) -> Any:
    """f of each row. On a processor they go one by one unless the mechanism is small: a control may
    solve equations, and calls into LAPACK for many rows may wait for each other (`wait_for`).
    """
    if is_small(mechanism):
        return jax.vmap(f)(*rows)
    return jax.lax.platform_dependent(
        *rows, cpu=lambda *r: jax.lax.map(lambda x: f(*x), r), default=jax.vmap(f)
    )


def in_scalars(
    f: Callable, patterns: Patterns, mechanism: Mechanism, contacts: Contacts, *more: Any
) -> Any:
    """f(mechanism, contacts, *more), written out in scalars unless the mechanism is large, or
    traced: without knowing which of its numbers are zero there would be too many.
    """
    if not is_small(mechanism) or patterns.mechanism is None:
        return f(mechanism, contacts, *more)
    known = (patterns.mechanism, patterns.contacts, *(None for _ in more))
    return write_out(f, known)(mechanism, contacts, *more)


class Flow(AbstractFlow):
    """The motion with rigid contacts."""

    mechanism: Mechanism
    contacts: Contacts
    control: AbstractSwitchingControl
    mu_static: Float[Array, "n"]
    mu_dynamic: Float[Array, "n"]
    patterns: Patterns

    def unseen(self, y: State, guards: Float[Array, "g"]) -> Seen:
        """No force, no gap."""
        rows = jnp.zeros((self.contacts.count, self.contacts.dim), y.q.dtype)
        return Seen(rows, rows[:, 0], rows, guards, speeding=slip_speeding(rows, rows))

    def dynamics(self, t: Scalar, y: State, mode: Mode) -> tuple[ContactDynamics, Array]:
        """All about the contacts at a state before forces are chosen, and the joints' power."""
        return self.in_scalars(_dynamics, t, y, mode)

    def step(
        self, advance: Callable, t: Scalar, y: State, k: State, mode: Mode, dt: Scalar
    ) -> Arrival:
        """In flight no contact force is looked for: that is another program."""

        def touching() -> Arrival:
            return self.step_looking(_touch, advance, t, y, k, mode, dt)

        def flying() -> Arrival:
            return self.step_looking(_fly, advance, t, y, k, mode, dt)

        return jax.lax.cond(jnp.any(mode.modes != OPEN), touching, flying)

    def error_ratio(self, at: Arrival, y: State, solver: Solver) -> Scalar:
        """Of gaps less is asked than of the motion."""
        smooth, before, after = ((s.q, s.v, s.ledger) for s in (at.error, y, at.y))
        ratio = error_ratio(smooth, before, after, solver.rtol, solver.atol)
        return jnp.maximum(ratio, jnp.max(gap_error(at)))

    def correct(
        self, y: State, velocity: Float[Array, "n dim"], held: Held | None, mode: Mode
    ) -> State:
        """Kept contacts are brought back to zero gap and zero velocity: the drift of one step."""
        if held is None:
            return y
        # To write it out for many contacts only to see that it is too long takes seconds.
        f = write_out(_correction, (None,) * 4) if is_small(self.mechanism) else _correction
        shift, slow = f(held, y.gap, velocity, mode.modes)
        return State(add_velocity(self.mechanism, y.q, shift), y.v + slow, y.ledger, y.gap)

    def event_values(self, seen: Seen, mode: Mode) -> Float[Array, "e"]:
        """Open: the gap. Closed: the normal force. Sticking: how far friction is inside the static
        cone. Slipping: the speed along the direction of slip, in space also the speed as such while
        it slows down. Forces may fall short of zero by rounding (redundant contacts share a load
        anyhow); gaps too.
        """
        f_t, f_n = seen.force[:, :-1], seen.force[:, -1]
        slack = FORCE_SLACK.of(seen.gap) * jnp.max(jnp.abs(seen.force))
        friction = jnp.sqrt(jnp.sum(f_t**2, axis=1))
        margin = self.mu_static * f_n - friction
        speed = jnp.sum(seen.velocity[:, :-1] * mode.direction, axis=1)
        if seen.velocity.shape[1] == 3:
            excess = slip_speed(seen.velocity) - CAPTURE.of(speed)
            speed = jnp.where(seen.speeding < 0, jnp.minimum(speed, excess), speed)
        is_open, sticks, slips = (mode.modes == k for k in (OPEN, STICK, SLIP))
        first = jnp.where(is_open, seen.gap + GAP_SLACK.of(seen.gap), f_n + slack)
        # A gap that is hardly below zero and opens has been dealt with.
        leaving = is_open & (seen.velocity[:, -1] >= 0) & (seen.gap > -_LEAVING.of(seen.gap))
        first = jnp.where(leaving, jnp.maximum(first, 0.0), first)
        second = jnp.where(sticks, margin + slack, jnp.where(slips, speed, 1.0))
        return with_guards(first, second, seen.guards)

    def event_rates(self, seen: Seen, mode: Mode) -> tuple[Float[Array, "e"], Bool[Array, "e"]]:
        """Of gaps only."""
        is_open, no = mode.modes == OPEN, jnp.zeros_like(mode.modes, bool)
        u_n, zero = seen.velocity[:, -1], jnp.zeros_like(seen.gap)
        none = jnp.zeros_like(seen.guards)
        return with_guards(u_n, zero, none), with_guards(is_open, no, none.astype(bool))


def gap_error(at: Arrival) -> Float[Array, "n"]:
    """The error of each gap over what is tolerated, so that no contact is missed."""
    return jnp.abs(at.error.gap) / (_GAP_ATOL + _GAP_RTOL * jnp.abs(at.seen.gap))


def with_guards(first: Array, second: Array, guards: Array) -> Array:
    """The first and the second of each contact in turn, then the guards."""
    return jnp.concatenate([jnp.stack([first, second], axis=1).reshape(-1), guards])


def _dynamics(flow: Flow, t: Scalar, y: State, mode: Mode) -> tuple[ContactDynamics, Array]:
    force, power = flow.joint_forces(t, y, mode)
    return contact_dynamics(flow.mechanism, flow.contacts, y.q, y.v, t, force), power


def _fly(flow: Flow, t: Scalar, y: State, mode: Mode) -> tuple[State, Seen, None]:
    """The rate and where contacts are, when all are open."""
    m = flow.mechanism
    force, power = flow.joint_forces(t, y, mode)
    state = motion(m, y.q)
    L, half = free_dynamics(m, state, y.v, force)
    gap, u = gaps_and_velocities(m, flow.contacts, state, y.v, t)
    ledger = jnp.concatenate([power, jnp.zeros(3, power.dtype)])
    k = State(rate(m, y.q, y.v), solve_upper(L, half), ledger, u[:, -1])
    nothing = jnp.zeros_like(u)
    speeding = slip_speeding(u, nothing)
    return k, Seen(nothing, gap, u, flow.guards(t, y, mode), speeding=speeding), None


def _touch(flow: Flow, t: Scalar, y: State, mode: Mode) -> tuple[State, Seen, Held]:
    """The rate when some contacts are closed, the contacts, and what holds them."""
    m = flow.mechanism
    d, power = _dynamics(flow, t, y, mode)
    u = d.contacts.velocity
    direction = slip_direction(u[:, :-1], mode.direction)
    f = contact_forces(d.W, d.a0, mode.modes, direction, flow.mu_dynamic)
    force = f.reshape(u.shape)
    ledger = jnp.concatenate([power, contact_power(d, force)])
    k = State(rate(m, y.q, y.v), d.acceleration(f), ledger, u[:, -1])
    speeding = slip_speeding(u, (d.a0 + d.W @ f).reshape(u.shape))
    seen = Seen(force, d.contacts.gap, u, flow.guards(t, y, mode), speeding=speeding)
    return k, seen, Held(d.L, d.Y)


def _correction(
    held: Held, gap: Float[Array, "n"], u: Float[Array, "n dim"], modes: Int[Array, "n"]
) -> tuple[Array, Array]:
    """Changes of q and v that bring kept contacts back to zero gap and zero velocity."""
    n, dim = u.shape
    W = held.Y.T @ held.Y
    gaps = jnp.concatenate([jnp.zeros((n, dim - 1), u.dtype), gap[:, None]], axis=1)
    wrong = jnp.stack([gaps.reshape(-1), u.reshape(-1)], axis=1)
    rows = known_rows(modes, dim).astype(u.dtype)[:, None]
    K = rows * W * rows.T + jnp.diag(1 - rows[:, 0])
    impulses = rows * solve_redundant(K, rows * wrong, jnp.max(jnp.diag(W)))
    shift, slow = -solve_upper(held.L, held.Y @ impulses).T
    return shift, slow


def contact_power(d: ContactDynamics, force: Float[Array, "n dim"]) -> Float[Array, "3"]:
    """What rubbing takes and what moving ground gives [W]; impacts take nothing in between."""
    rubbing = -jnp.sum(force[:, :-1] * d.contacts.velocity[:, :-1])
    given = jnp.sum(force * d.contacts.support_velocity)
    return jnp.stack([rubbing, given, jnp.zeros_like(given)])


def slip_speed(u: Float[Array, "n dim"]) -> Float[Array, "n"]:
    """The speed along the surface."""
    return jnp.sqrt(jnp.sum(u[:, :-1] ** 2, axis=1) + TINY.of(u))


def slip_speeding(
    u: Float[Array, "n dim"], rate: Float[Array, "n dim"]
) -> Float[Array, "n"] | tuple[()]:
    """The rate of the slip's speed, from that of the contact velocity; in space only."""
    if u.shape[1] == 2:
        return ()
    return jnp.sum(u[:, :-1] * rate[:, :-1], axis=1) / slip_speed(u)


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
    speed = jnp.sqrt(jnp.sum(velocity**2, axis=1, keepdims=True) + TINY.of(velocity))
    return jnp.where(along > _SLOW.of(velocity), velocity / speed, settled)
