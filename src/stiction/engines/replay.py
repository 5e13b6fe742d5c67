r"""Derivatives by replay: along a run's own sequence of modes and events the motion is smooth.

Between events modes are fixed, and steps are those of a Runge-Kutta method whose lengths are
choices, not results. An event is at the zero of its function g: with $\dot g$ along the motion,

$$ \delta t = -\delta g / \dot g , \qquad
   \delta y^+ = \frac{\partial R}{\partial y} (\delta y^- + k^- \delta t) + R_t \, \delta t
   - k^+ \delta t , $$

where R is what the event does to a state and k is dy/dt: the saltation matrix [Leine2004]. Here
that is written as a program whose value is the run's own, so that every derivative of it is right:
an event is carried out at t + δt, with δt zero in value, and the state is taken back to t after it.

Everything is one scan of passes (a step, an event, or nothing once the end is reached), so that
derivatives go forwards and backwards; a pass keeps nothing but its state and is made again on the
way back.
"""

import functools
from typing import Any, NamedTuple

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Bool, Float, Int, Scalar
from stiction.engines.event_log import GUARD, START
from stiction.engines.forces import OPEN
from stiction.engines.given import Extent
from stiction.engines.replay_record import Record
from stiction.engines.replay_rigid import EventJump, EventRow, Look
from stiction.engines.rosenbrock import rosenbrock_step
from stiction.engines.solver import Solver
from stiction.engines.state import LEDGER, Mode, State
from stiction.engines.step_length import error_ratio, next_step
from stiction.mechanism import actuator_effort, kinetic_energy, normalize, potential_energy

_TABLEAU = diffrax.Tsit5.tableau
_NODES = np.array([0.0, *_TABLEAU.c])
_WEIGHTS = np.zeros((_NODES.size, _NODES.size))
for _i, _row_ in enumerate(_TABLEAU.a_lower):
    _WEIGHTS[_i + 1, : len(_row_)] = _row_
# Where an event function is looked at around its zero, and the weights that make its slope of that.
_PLACES = np.array([0.0, -3, -2, -1, 1, 2, 3])
_DIFFERENCE = np.array([0.0, -1, 9, -45, 45, -9, 1]) / 60
_PROBE = 0.02  # part of a step by which these are apart

STEP, EVENT, AFTER, PROBE = range(4)  # what a pass does
_FIRST_STEP = 1e-4  # tried first [s]; the error estimate corrects it at once
_FINEST_PART = 1e-3  # of a step: how short the first in a compliant contact is
_OFF = 1e-3  # an event function that vanishes this much earlier or later is not the run's own [s]


class At(eqx.Module):
    """Where a replay is."""

    t: Scalar
    y: State
    k: State  # dy/dt, of which no derivative is taken
    look: Look
    memory: Any  # of the control
    stride: Scalar
    event: Int[Array, ""]  # the next one
    sample: Int[Array, ""]  # the next one
    shift: Scalar  # of the last event: 0, with the derivative of its time
    phase: Int[Array, ""]  # STEP, EVENT or AFTER; whether an event is due is seen from the time
    slope: Scalar  # of the function of the event that is due


class ReplayPlan(eqx.Module):
    """States that a pass looks at: y and the rates so far, weighted, row by row."""

    y: State
    times: Float[Array, "stages"]
    weights: Float[Array, "stages stages"]
    mode: Mode
    shift: Scalar
    probes: Bool[Array, ""]  # each row is a state of its own; otherwise only the last


class Noted(NamedTuple):
    """What an event tells besides its time."""

    jump: EventJump
    v_before: Float[Array, "nv"]
    q: Float[Array, "nq"]
    v_after: Float[Array, "nv"]


class Replayed(NamedTuple):
    """What a trajectory holds, as far as it has derivatives."""

    samples: dict[str, Array]
    events: dict[str, Array]


def stopped(tree: Any) -> Any:
    """The same numbers, of which no derivative is taken."""
    return jax.tree.map(lambda x: jax.lax.stop_gradient(x) if eqx.is_array(x) else x, tree)


def moved(tree: Any, rate: Any, shift: Scalar) -> Any:
    """Numbers a moment later."""
    return jax.tree.map(lambda x, k: x + shift * k, tree, stopped(rate))


def replay(
    flow: Any,
    start: tuple[Array, Array],
    until: Scalar,
    solver: Solver,
    record: Record,
    extent: Extent,
    *,
    times_move: bool,
) -> Replayed:
    """The motion from (q, v) along a run's record, as a differentiable function of its arguments.

    Args:
        flow: A `RigidFlow` or a `SoftFlow`.
        start: The initial configuration and velocity.
        until: Duration [s].
        solver: Tolerances; whether steps are implicit; and `max_steps`, the passes at most.
        record: What the run noted.
        extent: How many samples and events there are.
        times_move: Whether derivatives by `until` are wanted: forces are then looked at again.
    """
    q, v = start
    times = stopped(jnp.linspace(0, 1, extent.samples, dtype=q.dtype) * until)
    passes = solver.max_steps + extent.samples + extent.max_events
    pass_ = functools.partial(_one_pass, flow, solver, record, times)
    y = flow.start(normalize(flow.mechanism, q), v)
    zero, u = jnp.zeros_like(times[0]), jnp.zeros_like(record.rows.velocity_before[0])
    n = u[:, 0]
    begin = At(
        t=zero, y=y, k=jax.tree.map(jnp.zeros_like, y), look=Look(u, n, u, n, n),
        memory=flow.control.memory(), stride=jnp.minimum(times[-1], _FIRST_STEP),
        event=record.first, sample=jnp.asarray(1), shift=zero, phase=jnp.asarray(STEP), slope=zero,
    )  # fmt: skip
    _, (states, noted) = jax.lax.scan(jax.checkpoint(pass_), begin, None, length=passes)
    shown = _samples(flow, record, states, times, until, times_move)
    return Replayed(shown, _events(record, states, noted, extent))


def _row(record: Record, event: Int[Array, ""]) -> EventRow:
    return jax.tree.map(lambda x: x[event], record.rows)


def _mode(record: Record, at: At) -> Mode:
    """The mode between the last event and the next."""
    row = _row(record, jnp.maximum(at.event - 1, 0))
    return Mode(row.modes_after, row.direction_after, at.memory)


def _one_pass(flow, solver: Solver, record: Record, times: Array, at: At, _: None) -> tuple:
    """A step, an event, the state after it, or nothing.

    All of them look at states in one place, so that the equations of motion are compiled once.
    """
    u = jnp.zeros_like(at.look.force)
    n, one, v = u[:, 0], jnp.zeros_like(at.t), jnp.zeros_like(at.y.v)
    nothing = Noted(EventJump(u, u, u, u, n, one, one, one, n), v, jnp.zeros_like(at.y.q), v)
    due = (_next_event(record, at) <= at.t) & (at.phase == STEP)
    kind = jnp.where(due, PROBE, at.phase)

    def act(at: At) -> tuple[At, Noted]:
        plans = [_plan_step, _plan_event, _plan_after, _plan_probe]
        plan = jax.lax.switch(kind, [functools.partial(f, flow, record, times) for f in plans], at)
        y, k, looks, more, error = _stages(flow, plan)
        seen = jax.tree.map(lambda x: x[-1], looks)
        if solver.method == "kvaerno5":
            stiff = functools.partial(_stiff_step, flow, plan)
            y, k, seen, error = jax.lax.cond(kind == STEP, stiff, lambda: (y, k, seen, error))

        def step(at: At) -> tuple[At, Noted]:
            y_ = flow.correct(y, seen, more, plan.mode)
            return _arrive(flow, solver, record, times, at, plan, y_, k, seen, error), nothing

        def event(at: At) -> tuple[At, Noted]:
            return _event(flow, record, at, plan, seen, more)

        def after(at: At) -> tuple[At, Noted]:
            done = (y, stopped(k), seen, jnp.asarray(STEP))
            return eqx.tree_at(lambda a: (a.y, a.k, a.look, a.phase), at, done), nothing

        def probe(at: At) -> tuple[At, Noted]:
            done = (_slope(flow, record, at, plan, looks), jnp.asarray(EVENT))
            return eqx.tree_at(lambda a: (a.slope, a.phase), at, done), nothing

        return jax.lax.switch(kind, [step, event, after, probe], at)

    over = (at.t >= times[-1]) & (kind == STEP)
    new, what = jax.lax.cond(over, lambda at: (at, nothing), act, at)
    return new, (new, what)


def _next_event(record: Record, at: At) -> Scalar:
    time = record.rows.time
    waits = at.event < record.count
    return jnp.where(waits, time[jnp.minimum(at.event, time.size - 1)], jnp.inf)


def _stop(record: Record, times: Array, at: At) -> Scalar:
    """Where a step must end: at the next event or sample."""
    return jnp.minimum(_next_event(record, at), times[jnp.minimum(at.sample, times.size - 1)])


def _length(flow, record: Record, times: Array, at: At) -> Scalar:
    """How long the next step is.

    Where compliant contacts touch and part, derivatives of their force (by its exponent, x ln x)
    are less smooth than the force, whose error alone is controlled: steps there grow from small
    ones, and shrink to small ones.
    """
    left = _stop(record, times, at) - at.t
    h = jnp.minimum(at.stride, left)
    if flow.is_soft:
        last = _row(record, jnp.maximum(at.event - 1, 0))
        closed = jnp.any(last.modes_after != OPEN)
        ahead = _next_event(record, at) - at.t
        finest = _FINEST_PART * at.stride
        graded = jnp.maximum(jnp.minimum(at.t - last.time, ahead / 2), finest)
        h = jnp.where(closed & (ahead > finest), jnp.minimum(h, graded), h)
    return stopped(h)


def _plan_step(flow, record: Record, times: Array, at: At) -> ReplayPlan:
    """Tsitouras' step; its last stage is at the new state."""
    h = _length(flow, record, times, at)
    c, a = (jnp.asarray(x, h.dtype) for x in (_NODES, _WEIGHTS))
    no = jnp.asarray(False)
    return ReplayPlan(at.y, at.t + c * h, a * h, _mode(record, at), jnp.zeros_like(h), no)


def _plan_probe(flow, record: Record, times: Array, at: At) -> ReplayPlan:
    """States along the motion around an event, y + s k, which tell the slope of its function."""
    row = _row(record, at.event)
    mode = Mode(row.modes_before, row.direction_before, at.memory)
    s = _PROBE * stopped(at.stride) * jnp.asarray(_PLACES, at.t.dtype)
    weights = jnp.zeros_like(jnp.asarray(_WEIGHTS, at.t.dtype)).at[:, 0].set(s)
    return ReplayPlan(at.y, at.t + s, weights, mode, jnp.zeros_like(at.t), jnp.asarray(True))


def _slope(flow, record: Record, at: At, plan: ReplayPlan, looks: Look) -> Scalar:
    """ġ of the event that is due, by a difference of sixth order: its error is rounding."""
    row = _row(record, at.event)
    values = jax.vmap(lambda look: flow.event_value(row, look))(looks)
    weights = jnp.asarray(_DIFFERENCE, at.t.dtype) / (_PROBE * at.stride)
    t, y, k, memory = stopped((at.t, at.y, at.k, at.memory))

    def guards(t: Scalar, y: State) -> Array:
        return flow.control.guards(t, y.q, y.v, row.modes_before, memory).astype(t.dtype)

    rates = jax.jvp(guards, (t, y), (jnp.ones_like(t), k))[1]
    g_dot = jnp.sum(weights * values)
    if rates.size:
        which = jnp.where(row.contact == GUARD, row.function, 0)
        g_dot = jnp.where(row.contact == GUARD, rates[which], g_dot)
    return stopped(g_dot)


def _plan_event(flow, record: Record, times: Array, at: At) -> ReplayPlan:
    """The state at the event's own instant, in the mode that ends."""
    row = _row(record, at.event)
    mode = Mode(row.modes_before, row.direction_before, at.memory)
    shift = _shift(flow, record, row, at, mode)
    still = jnp.zeros_like(jnp.asarray(_WEIGHTS, at.t.dtype))
    y, no = moved(at.y, at.k, shift), jnp.asarray(False)
    return ReplayPlan(y, at.t + shift + still[0], still, mode, shift, no)


def _plan_after(flow, record: Record, times: Array, at: At) -> ReplayPlan:
    """From the event's own instant back to the time at which it was: y - k δt."""
    back = jnp.zeros_like(jnp.asarray(_WEIGHTS, at.t.dtype)).at[1:, 0].add(-at.shift)
    when = at.t + jnp.zeros_like(back[0]).at[0].add(at.shift)
    return ReplayPlan(at.y, when, back, _mode(record, at), at.shift, jnp.asarray(False))


def _stages(flow, plan: ReplayPlan) -> tuple[State, State, Look, Any, State]:
    """The last state of a plan, its rate, what is seen on the way, and a step's error."""
    y, weights = plan.y, plan.weights
    count = weights.shape[0]

    def combine(w: Array, stages: State) -> State:
        return jax.tree.map(lambda s: jnp.tensordot(w, s, axes=1), stages)

    def state(i: Array | int, stages: State) -> State:
        return jax.tree.map(jnp.add, y, combine(weights[i], stages))

    def stage(stages: State, i: Array) -> tuple[State, Any]:
        new, unit = state(i, stages), (i == count - 1) | plan.probes
        new = jax.tree.map(lambda x, z: jnp.where(unit, x, z), _on_sphere(flow, new), new)
        k, *seen = flow.look(plan.times[i], new, plan.mode)
        return jax.tree.map(lambda s, x: s.at[i].set(x), stages, k), seen

    stages = jax.tree.map(lambda x: jnp.zeros((count, *x.shape), x.dtype), y)
    stages, seen = jax.lax.scan(stage, stages, jnp.arange(count))
    looks, more = seen
    k, more = jax.tree.map(lambda x: x[-1], (stages, more))
    h = stopped(plan.times[-1] - plan.times[0])
    error = combine(h * jnp.asarray(_TABLEAU.b_error, h.dtype), stages)
    return _on_sphere(flow, state(count - 1, stages)), k, looks, more, error


def _on_sphere(flow, y: State) -> State:
    """The same with quaternions of unit length."""
    return State(normalize(flow.mechanism, y.q), y.v, y.ledger, y.gap, y.inner)


def _stiff_step(flow, plan: ReplayPlan) -> tuple[State, State, Look, State]:
    t, h = plan.times[0], stopped(plan.times[-1] - plan.times[0])

    def look(t: Scalar, y: State) -> tuple[State, Look]:
        return flow.look(t, y, plan.mode)[:2]

    k = look(t, plan.y)[0]
    return rosenbrock_step(look, lambda y: _on_sphere(flow, y), t, plan.y, k, h)


def _arrive(flow, solver: Solver, record, times, at: At, plan, y, k, look, error) -> At:
    """Where a step leads; one that is too long is tried again, shorter, by the next pass."""
    stop = _stop(record, times, at)
    h = _length(flow, record, times, at)
    lands = h >= stop - at.t

    def ratio(e: Any, a: Any, b: Any, atol: Any = solver.atol) -> Scalar:
        return error_ratio(e, a, b, solver.rtol, jnp.asarray(atol, h.dtype))

    share = stopped(flow.error(error, at.y, y, ratio))
    good = share <= 1
    wanted = next_step(h, share, 5)
    # A step that is shorter than it might be leaves the stride, unless it could be longer still.
    stride = jnp.where(good & (h < at.stride), jnp.maximum(at.stride, wanted), wanted)
    reached = lands & (stop >= times[jnp.minimum(at.sample, times.size - 1)])
    there = At(
        jnp.where(lands, stop, at.t + h), y, stopped(k), look, at.memory, stride, at.event,
        at.sample + reached.astype(int), at.shift, at.phase, at.slope,
    )  # fmt: skip
    other = eqx.tree_at(lambda a: a.stride, at, stride)
    return jax.tree.map(lambda a, b: jnp.where(good, a, b), there, other)


def _shift(flow, record: Record, row: EventRow, at: At, mode: Mode) -> Scalar:
    """δt of an event: zero, with its derivative -δg / ġ."""
    g, g_dot = flow.event_value(row, at.look), at.slope
    guards = flow.control.guards(at.t, at.y.q, at.y.v, mode.modes, mode.memory)
    if guards.size:
        which = jnp.where(row.contact == GUARD, row.function, 0)
        g = jnp.where(row.contact == GUARD, guards[which].astype(g.dtype), g)
    starts = row.contact == START
    # What stops a slide without a collision comes at the same instant as what it follows.
    earlier = _row(record, jnp.maximum(at.event - 1, 0))
    follows = row.tangential & (row.time == earlier.time) & (at.event > record.first)
    off = jnp.abs(stopped(g)) > _OFF * jnp.abs(g_dot)
    shift = -(g - stopped(g)) / jnp.where(starts, 1.0, g_dot) * jnp.where(off, jnp.nan, 1.0)
    return jnp.where(starts, 0.0, jnp.where(follows, at.shift, shift))


def _event(
    flow, record: Record, at: At, plan: ReplayPlan, look: Look, more: Any
) -> tuple[At, Noted]:
    """What an event does, at its own instant."""
    row, y, shift, memory = _row(record, at.event), plan.y, plan.shift, at.memory
    t = at.t + shift
    if jax.tree.leaves(memory):
        which = jnp.where(row.contact == GUARD, row.function, 0)
        switched = flow.control.switch(which, t, y.q, y.v, row.modes_before, memory)
        memory = jax.tree.map(lambda a, b: jnp.where(row.contact == GUARD, a, b), switched, memory)
    new, what = flow.jump(row, t, y, look, more)
    # In value the run's own: what steps get wrong is not carried over an event.
    q, v = new.q + stopped(row.q - new.q), new.v + stopped(row.v_after - new.v)
    new = State(q, v, new.ledger, new.gap, new.inner)
    done = At(
        at.t, new, at.k, at.look, memory, at.stride, at.event + 1, at.sample, shift,
        jnp.asarray(AFTER), at.slope,
    )  # fmt: skip
    return done, Noted(what, y.v, new.q, new.v)


def _samples(
    flow, record: Record, states: At, times: Array, until: Scalar, times_move: bool
) -> dict[str, Array]:
    """What a trajectory shows at its times; at the time of an event, the state after it."""
    index = jnp.searchsorted(states.t, times, side="right").astype(int) - 1
    m = flow.mechanism

    def sample(i: Array, t: Scalar) -> dict[str, Any]:
        at = jax.tree.map(lambda x: x[i], states)
        mode = _mode(record, at)
        later = t - stopped(t)  # 0, with the derivative of the sample's time
        t, y = at.t + later, moved(at.y, at.k, later)
        seen = flow.look(t, y, mode)[1] if times_move else at.look
        u = flow.control.command(t, y.q, y.v, mode.modes, mode.memory).astype(y.q.dtype)
        shown = {
            "time": t,
            "q": y.q,
            "v": y.v,
            "kinetic": kinetic_energy(m, y.q, y.v),
            "potential": potential_energy(m, y.q),
            **dict(zip(LEDGER, y.ledger, strict=True)),
            "effort": actuator_effort(m, y.q, y.v, u),
            "force": seen.force,
        }
        if y.inner != ():
            shown["depth"], shown["stored"] = -seen.gap, seen.stored
            shown["normal_loss"] = y.inner.normal_loss
            shown["friction_loss_each"] = y.inner.friction_loss
        known = jnp.where(at.t >= stopped(t), 1.0, jnp.nan)
        return jax.tree.map(lambda x: x * known, shown)

    moving = jnp.linspace(0, 1, times.size, dtype=times.dtype) * until
    return jax.lax.map(lambda x: sample(*x), (index, moving))


def _events(record: Record, states: At, jumps: Any, extent: Extent) -> dict[str, Array]:
    """What the list of events tells, as far as it has derivatives."""
    number = jnp.arange(extent.max_events + 1) + 1
    index = jnp.searchsorted(states.event, number + 1).astype(int)
    happened = number < record.count

    def at(x: Array) -> Array:
        chosen = x[jnp.minimum(index, x.shape[0] - 1)]
        return jnp.where(happened.reshape(-1, *[1] * (chosen.ndim - 1)), chosen, 0.0)

    noted = jax.tree.map(at, jumps)
    what = noted.jump
    normal, rubs = what.impulse[..., -1], jnp.sum(what.impulse[..., :-1] ** 2, axis=-1)
    # Where nothing rubs there is no derivative of the root.
    mu = jnp.sqrt(jnp.where(rubs > 0, rubs, 1.0)) / jnp.where(normal > 0, normal, 1.0)
    return {
        "time": at(states.t + states.shift),
        "gap": what.gap,
        "velocity_before": what.velocity_before,
        "velocity_after": what.velocity_after,
        "impulse": what.impulse,
        "mu": jnp.where((rubs > 0) & (normal > 0), mu, 0.0),
        "work": what.work,
        "q": noted.q,
        "v_before": noted.v_before,
        "v_after": noted.v_after,
        "kinetic_before": what.kinetic_before,
        "kinetic_after": what.kinetic_after,
        "removed": what.removed,
        "limit": what.limit,
        "speed": jnp.max(jnp.abs(noted.v_after), axis=1),
    }
