r"""The motion with compliant contacts: forces are functions of depth, velocity and memory.

$$ M \dot v + c = \tau + J^T f(x, \dot x, z), \qquad \dot z = z'(z, u_t, f_n), $$

with the depth x = -gap and the bristle z of each contact. It is smooth while no contact touches,
parts, sticks or slips; these are the events. marhefka (6) and its "multiple contacts".
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._arrays import TINY, Array, Bool, Float, Scalar, Tolerance
from stiction.engines.contact_dynamics import free_dynamics
from stiction.engines.control import AbstractSwitchingControl
from stiction.engines.flow import (
    LEDGER,
    AbstractFlow,
    Arrival,
    Mode,
    Patterns,
    Seen,
    State,
    gap_error,
    with_guards,
)
from stiction.engines.forces import OPEN, SLIP, STICK
from stiction.engines.happenings import START, quiet
from stiction.engines.hybrid_loop import STEP, Loop
from stiction.engines.records import Packing
from stiction.engines.runge_kutta import error_ratio
from stiction.engines.solver import Solver
from stiction.laws import AbstractNormalLaw, AbstractSlidingLaw, AbstractTangentialLaw
from stiction.mechanism import Mechanism, kinetic_energy, rate
from stiction.mechanism.kinematics import motion
from stiction.mechanism.linear import solve_upper
from stiction.surfaces import Contacts, gaps_and_velocities

_TOUCH = Tolerance(1e-12, 1e-6)  # contacts nearer than this touch or part together [m]
_REST = Tolerance(1e-9, 1e-5)  # a contact that touches and slides slower than this sticks [m/s]
_FORCE_SLACK = 1e-12  # by which a sticking contact may be outside its cone: rounding [N]
_FINEST = Tolerance(1e-15, 1e-9)  # a depth that no step need resolve [m]
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
    # A stage of the step that ends where the contact parts may lie beyond. There the force goes on
    # straight: derivatives through that step would else miss what such stages weigh.
    inside = jnp.maximum(x, TINY.of(x))
    f_n, slope = jax.jvp(lambda x: normal.force(x, x_dot), (inside,), (jnp.ones_like(x),))
    f_n = jnp.where(is_closed, jnp.where(x > 0, f_n, x * slope), 0.0)
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
        normal_loss=normal.dissipated_power(x, x_dot),
        friction_loss=-f_t @ v - storing,
        stored=normal.energy(x) + stored,
        margin=tangential.margin(memory, v, pressed),
    )


class CompliantFlow(AbstractFlow):
    """The motion with compliant contacts. Laws have one number for each contact."""

    mechanism: Mechanism
    contacts: Contacts
    control: AbstractSwitchingControl
    normal: AbstractNormalLaw
    tangential: AbstractTangentialLaw
    patterns: Patterns

    def no_inner(self, dtype: Any) -> Inner:
        """Contacts that have not been loaded yet."""
        k, zero = self.contacts.dim - 1, jnp.zeros(self.contacts.count, dtype)
        memory = eqx.filter_vmap(lambda law: law.init_state(k))(self.tangential)
        return Inner(jax.tree.map(lambda z: z.astype(dtype), memory), zero, zero)

    def unseen(self, y: State, guards: Float[Array, "g"]) -> Seen:
        """No force, no gap."""
        rows = jnp.zeros((self.contacts.count, self.contacts.dim), y.q.dtype)
        return Seen(rows, rows[:, 0], rows, guards, rows[:, 0])

    def reactions(self, y: State, gap: Array, u: Array, modes: Array) -> Reaction:
        """What every contact does, with a leading axis."""
        return eqx.filter_vmap(react)(
            self.normal, self.tangential, y.inner.memory, gap, u, modes != OPEN
        )

    def look(self, t: Scalar, y: State, mode: Mode) -> tuple[State, Seen, None]:
        """`rates`, written out where that is faster."""
        return self.in_scalars(rates, t, y, mode)

    def step(
        self, advance: Callable, t: Scalar, y: State, k: State, mode: Mode, dt: Scalar
    ) -> Arrival:
        """The same in flight and in contact."""
        return self.step_looking(rates, advance, t, y, k, mode, dt)

    def error_ratio(self, at: Arrival, y: State, solver: Solver) -> Scalar:
        """Depths and bristles are asked for in parts of themselves: stiff contacts are shallow."""
        smooth, before, after = (
            (s.q, s.v, s.ledger, s.inner.normal_loss, s.inner.friction_loss)
            for s in (at.error, y, at.y)
        )
        ratio = error_ratio(smooth, before, after, solver.rtol, solver.atol)
        deepest = jnp.maximum(jnp.abs(y.gap), jnp.abs(at.seen.gap))
        pressed = jnp.minimum(y.gap, at.seen.gap) < 0
        fine = jnp.abs(at.error.gap) / (_FINEST.of(deepest) + solver.rtol * deepest)
        missed = jnp.where(pressed, fine, gap_error(at))

        def bent(error: Array, a: Array, b: Array) -> Scalar:
            most = jnp.maximum(jnp.max(jnp.abs(a), axis=-1), jnp.max(jnp.abs(b), axis=-1))
            return jnp.max(
                jnp.max(jnp.abs(error), axis=-1) / (_FINEST_BRISTLE + solver.rtol * most)
            )

        bristles = jax.tree.map(bent, at.error.inner.memory, y.inner.memory, at.y.inner.memory)
        return jnp.max(jnp.stack([ratio, jnp.max(missed), *jax.tree.leaves(bristles)]))

    def event_values(self, seen: Seen, mode: Mode) -> Float[Array, "e"]:
        """Open: the gap. Closed: the depth; sticking: how far inside the cone; slipping: outside.

        A law that has no stick slips for good.
        """
        is_open, sticks = mode.modes == OPEN, mode.modes == STICK
        first = jnp.where(is_open, seen.gap, -seen.gap)
        second = jnp.where(sticks, seen.margin + _FORCE_SLACK, -seen.margin)
        return with_guards(first, jnp.where(is_open, 1.0, second), seen.guards)

    def event_rates(self, seen: Seen, mode: Mode) -> tuple[Float[Array, "e"], Bool[Array, "e"]]:
        """Of gaps and depths."""
        u_n, none = seen.velocity[:, -1], jnp.zeros_like(seen.guards)
        first = jnp.where(mode.modes == OPEN, u_n, -u_n)
        yes, no = jnp.ones_like(u_n, bool), jnp.zeros_like(u_n, bool)
        known = with_guards(yes, no, none.astype(bool))
        return with_guards(first, jnp.zeros_like(u_n), none), known


def rates(flow: CompliantFlow, t: Scalar, y: State, mode: Mode) -> tuple[State, Seen, None]:
    """The rate of a state, and the contacts; nothing holds them."""
    m = flow.mechanism
    force, power = flow.joint_forces(t, y, mode)
    state = motion(m, y.q)

    def velocities(v: Array) -> tuple[Array, Array]:
        gap, u = gaps_and_velocities(m, flow.contacts, state, v, t)
        return u, gap

    # The transpose of v -> u takes contact forces to the joints.
    u, to_joints, gap = jax.vjp(velocities, y.v, has_aux=True)
    r = flow.reactions(y, gap, u, mode.modes)
    (tau,) = to_joints(r.force)
    L, half = free_dynamics(m, state, y.v, force + tau)
    # Of a body at rest the contact's velocity is that of the ground, turned round.
    given = -jnp.sum(r.force * velocities(jnp.zeros_like(y.v))[0])
    booked = jnp.stack([jnp.sum(r.friction_loss), given, jnp.sum(r.normal_loss)])
    inner = Inner(r.memory, r.normal_loss, r.friction_loss)
    ledger = jnp.concatenate([power, booked])
    k = State(rate(m, y.q, y.v), solve_upper(L, half), ledger, u[:, -1], inner)
    return k, Seen(r.force, gap, u, flow.guards(t, y, mode), r.margin), None


def _place(flow: CompliantFlow, t: Scalar, y: State, mode: Mode) -> tuple[Array, Array]:
    del mode
    return gaps_and_velocities(flow.mechanism, flow.contacts, motion(flow.mechanism, y.q), y.v, t)


def compliant_events(flow: CompliantFlow) -> Callable[[Loop, Packing], Loop]:
    """What `run_loop` does at an event of compliant contacts: modes change, velocities do not."""

    def happen(s: Loop, happening: Packing) -> Loop:
        gap, u = flow.in_scalars(_place, s.t, s.y, s.mode)
        closed = _closed(s, gap, u)
        y = _let_go(flow, s.y, (s.mode.modes != OPEN) & ~closed)
        memory = s.mode.memory
        k, seen, _ = flow.look(s.t, y, Mode(closed.astype(int), s.mode.direction, memory))
        y = State(y.q, y.v, y.ledger, seen.gap, y.inner)
        modes = jnp.where(closed, _rubbing(flow, s, seen), OPEN)
        mode = Mode(modes, s.mode.direction, memory)
        T = kinetic_energy(flow.mechanism, y.q, y.v)
        # A depth is no overlap that the list of events should tell of.
        what = eqx.tree_at(
            lambda h: (h.modes_after, h.speed, h.acceleration),
            quiet(s.t, y, s.mode, s.cause, jnp.maximum(gap, 0.0), u, T),
            (modes, jnp.max(jnp.abs(y.v)), jnp.max(jnp.abs(k.v))),
        )
        # The start is an event where something touches just then.
        touches = closed & (jnp.abs(gap) <= _TOUCH.of(gap)) & (u[:, -1] < -_REST.of(u))
        counts = (s.cause.contact != START) | jnp.any(touches)
        return eqx.tree_at(
            lambda s: (
                s.y, s.mode, s.k, s.seen, s.values, s.phase, s.current, s.events, s.keep,
                s.happened,
            ),
            s,
            (
                y, mode, k, seen, flow.event_values(seen, mode), jnp.full_like(s.phase, STEP),
                happening.pack(what, s.t.dtype), s.events + counts.astype(int), jnp.asarray(True),
                counts,
            ),
        )  # fmt: skip

    return happen


def _closed(s: Loop, gap: Array, u: Array) -> Array:
    """Which contacts are closed after an event: the one that touched, and all that touch with it;
    not the one that parted, nor those that part with it.
    """
    slack = _TOUCH.of(gap)
    caused = (jnp.arange(gap.size) == s.cause.contact) & (s.cause.function == 0)
    near, was = jnp.abs(gap) <= slack, s.mode.modes != OPEN
    closes = caused | (gap < -slack) | (near & (u[:, -1] <= 0))
    opens = caused | (near & (u[:, -1] > 0))
    return jnp.where(was, ~opens, closes)


def _rubbing(flow: CompliantFlow, s: Loop, seen: Seen) -> Array:
    """Whether closed contacts stick or slip: the one whose cone was reached changes, and a new one
    sticks if it is inside its cone, or hardly moves (at touch there is no force yet).
    """
    if isinstance(flow.tangential, AbstractSlidingLaw):
        return jnp.full_like(s.mode.modes, SLIP)
    u = seen.velocity
    slow = jnp.sum(u[:, :-1] ** 2, axis=1) <= _REST.of(u) ** 2
    new = jnp.where((seen.margin >= 0) | (slow & (seen.force[:, -1] <= 0)), STICK, SLIP)
    caused = (jnp.arange(u.shape[0]) == s.cause.contact) & (s.cause.function == 1)
    swapped = jnp.where(s.mode.modes == STICK, SLIP, STICK)
    old = jnp.where(caused, swapped, s.mode.modes)
    return jnp.where(s.mode.modes == OPEN, new, old)


def _let_go(flow: CompliantFlow, y: State, opens: Array) -> State:
    """The state after contacts have opened: their bristles spring back, and what they store is
    lost. The law would take c/k for that; here it is at once, and flight need not resolve it.
    """
    memory = y.inner.memory
    if memory is None:
        return y
    stored = eqx.filter_vmap(lambda law, z: law.energy(z))(flow.tangential, memory)
    lost = jnp.where(opens, stored, 0.0)

    def forget(z: Array, zero: Array) -> Array:
        return jnp.where(opens.reshape(-1, *[1] * (z.ndim - 1)), zero, z)

    inner = Inner(
        jax.tree.map(forget, memory, flow.no_inner(y.q.dtype).memory),
        y.inner.normal_loss,
        y.inner.friction_loss + lost,
    )
    friction = np.array([name == "friction_loss" for name in LEDGER], float)
    booked = jnp.asarray(friction, y.q.dtype) * jnp.sum(lost)
    return State(y.q, y.v, y.ledger + booked, y.gap, inner)
