"""The hybrid loop: one flat loop in which every pass is a trial step or an event.

It knows no kind of contact: a flow tells how the motion goes on and which functions end it, and
`happen` carries an event out.

A pass that finds an event function below zero at its end is not kept: the next passes take shorter
steps from the same state until one ends on the event (a bracketed secant, or Newton's method where
the rate of the event function is known). A last correction of first order puts the state on the
event exactly and, being part of the program, carries the derivative of the event's time with it;
for that the rate of the event function must be right, so where it is not known one more, slightly
longer step measures it.

There is no loop over steps inside the loop: the lanes of a batch do not wait for each other.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from stiction._arrays import Array, Bool, Float, Int, Scalar
from stiction._scalars import write_out
from stiction.engines.event_search import Search, grazing, search_event, select
from stiction.engines.flow import (
    CAPTURE,
    AbstractFlow,
    Arrival,
    Mode,
    Seen,
    State,
    is_small,
    slip_direction,
    slip_speed,
)
from stiction.engines.forces import OPEN, SLIP
from stiction.engines.happenings import GUARD, START, Cause, FlagsOnly, Happening, quiet
from stiction.engines.records import Packing, Records, Row, add, no_records
from stiction.engines.runge_kutta import next_step
from stiction.engines.solver import Solver

_PART = 0.7  # of the time to the end of a slip in space: what a step may take at most
_MAX_CASCADE = 100  # events at one instant, beyond four for each contact

_ORDER = 5
_FIRST_STEP = 1e-4  # tried first [s]; the error estimate corrects it at once

# What a pass does.
STEP, EVENT, AFTER_IMPACT, JAMMED = range(4)
# How a loop ends.
RUNNING, DONE, STEPS_USED_UP, EVENTS_USED_UP, CASCADE, NOT_FINITE = range(6)


class Loop(eqx.Module):
    """What a pass hands to the next, but for what is kept of the run."""

    t: Scalar
    y: State
    mode: Mode
    k: State  # dy/dt
    seen: Seen
    values: Float[Array, "e"]  # of the event functions at t
    dt: Scalar  # the stride of ordinary steps
    search: Search
    phase: Int[Array, ""]  # STEP, EVENT, AFTER_IMPACT or JAMMED
    cause: Cause  # of the event that is due
    current: Float[Array, "h"]  # the event being carried out: a `Happening`, packed
    steps: Int[Array, ""]
    events: Int[Array, ""]
    cascade: Int[Array, ""]  # events since time last moved on
    drift: Scalar  # the largest gap of a kept contact before it was brought back [m]
    status: Int[Array, ""]
    keep: Bool[Array, ""]  # the state is to be kept as a row
    happened: Bool[Array, ""]  # the current event is over


class Kept(eqx.Module):
    """What is kept of a run. Apart from the loop's state, for branches copy what they are given."""

    rows: Records
    log: Records


def run_loop(
    flow: AbstractFlow,
    happen: Callable[[Loop, Packing], Loop],
    advance: Callable,
    solver: Solver,
    y0: State,
    until: Scalar,
    *,
    rows: int,
    log: int,
    max_events: int,
) -> tuple[Loop, Row, Array, Happening | None]:
    """Simulate from y0 over `until` seconds.

    Args:
        flow: The smooth motion.
        happen: Carries out the event that is due, which it keeps packed as `current`.
        advance: A step of the method: `explicit_step` or `rosenbrock_step`.
        solver: Tolerances and limits.
        y0: The initial state.
        until: Duration [s].
        rows: Room for states that are kept.
        log: Room for events that are kept.
        max_events: Events after which the run ends.

    Returns:
        The end, the states kept and their number, and the events, if they are kept.
    """
    start, happening = _start(flow, y0, until, log=log > 0)
    row, dtype = Packing(_row(start)), y0.q.dtype
    contacts = flow.contacts.count

    def event(s: Loop) -> Loop:
        # The last correction to the event: second order in what is missing, exact in derivatives.
        shift = jnp.where(s.phase == EVENT, _missing(s), 0.0)
        y = jax.tree.map(lambda y, k: y + shift * k, s.y, s.k)
        t = s.t + shift
        cause = s.cause
        which = jnp.where(cause.contact == GUARD, cause.function, 0)
        switched = flow.control.switch(which, t, y.q, y.v, s.mode.modes, s.mode.memory)
        switches = (cause.contact == GUARD) & (s.phase == EVENT)
        memory = jax.tree.map(lambda a, b: jnp.where(switches, a, b), switched, s.mode.memory)
        s = eqx.tree_at(
            lambda s: (s.t, s.y, s.mode),
            s,
            (t, y, Mode(s.mode.modes, s.mode.direction, memory)),
        )
        s = happen(s, happening)
        status = jnp.where(s.events >= max_events, EVENTS_USED_UP, s.status)
        status = jnp.where(s.cascade > _MAX_CASCADE + 4 * contacts, CASCADE, status)
        return eqx.tree_at(
            lambda s: (s.search.on, s.search.passes, s.search.probed, s.cascade, s.status),
            s,
            (jnp.asarray(False), jnp.asarray(0), jnp.asarray(False), s.cascade + 1, status),
        )

    def step(s: Loop) -> Loop:
        left = until - s.t
        stride = jnp.minimum(s.dt, _before_stop(s))
        last = (stride >= left) & ~s.search.on
        # Lengths of steps are choices, not results; only the last one is given, by where it ends.
        dt = jax.lax.stop_gradient(jnp.where(s.search.on, s.search.trial, stride))
        dt = jnp.where(last, left, dt)
        at = flow.step(advance, s.t, s.y, s.k, s.mode, dt)
        written = write_out(decide, (None,) * 4) if is_small(flow.mechanism) else decide
        return written(s, at, dt, last)

    def decide(s: Loop, at: Arrival, dt: Scalar, last: Array) -> Loop:
        """Whether a step is kept, is too long, or shows that there is an event on the way."""
        t = jnp.where(last, until, s.t + dt)
        k, seen = at.k, at.seen
        values = flow.event_values(seen, s.mode)
        ratio = flow.error_ratio(at, s.y, solver)
        ratio = jnp.where(s.search.on, 0.0, ratio)
        good = ratio <= 1.0

        fallen = (values < 0) & good
        grazed, reach = grazing(s.seen, s.mode, seen, dt)
        grazed = grazed & good & ~jnp.any(fallen) & ~s.search.probed
        rates = flow.event_rates(seen, s.mode)
        search, found = search_event(s.search, s.t, s.values, dt, rates, values, fallen)
        # A search that steps over another contact begins anew, with that.
        anew = eqx.tree_at(
            lambda x: (x.trial, x.low, x.values_low, x.f_low, x.probed),
            s.search,
            (reach, jnp.zeros_like(dt), s.values, jnp.zeros_like(dt), jnp.asarray(False)),
        )
        search = select(grazed, anew, search)
        found = found & ~grazed
        keep = good & ~grazed & (found | ~search.on)
        # The event itself decides what becomes of the contacts: no correction before it.
        y = select(found, at.y, at.kept)

        def choose(a: Any, b: Any) -> Any:
            return jax.tree.map(lambda a, b: jnp.where(keep, a, b), a, b)

        mode = s.mode
        if not isinstance(seen.speeding, tuple):  # a slip in space turns as it goes
            along = slip_direction(seen.velocity[:, :-1], mode.direction)
            turned = jnp.where(keep & ~found, along, mode.direction)
            mode = Mode(mode.modes, turned, mode.memory)
            values = flow.event_values(seen, mode)
        # A search leaves the stride of ordinary steps as it was, and so does the end of a slip.
        short = good & (dt < jnp.minimum(s.dt, until - s.t))
        stride = jnp.where(s.search.on | short, s.dt, next_step(dt, ratio, _ORDER))
        stride = jnp.where(grazed, reach, stride)
        steps = s.steps + 1
        status = jnp.where(steps >= solver.max_steps, STEPS_USED_UP, s.status)
        stuck = (stride <= 4 * jnp.finfo(dt.dtype).eps * (1.0 + jnp.abs(s.t))) & ~keep & ~search.on
        status = jnp.where(stuck, NOT_FINITE, status)
        status = jnp.where(keep & ~found & last, DONE, status)
        drift = jnp.max(jnp.where(s.mode.modes != OPEN, jnp.abs(seen.gap), 0.0))
        guard = search.target >= 2 * contacts
        cause = Cause(
            jnp.where(guard, GUARD, search.target // 2),
            jnp.where(guard, search.target - 2 * contacts, search.target % 2),
        )
        return Loop(
            t=jnp.where(keep, t, s.t),
            y=choose(y, s.y),
            mode=mode,
            k=choose(k, s.k),
            seen=choose(seen, s.seen),
            values=jnp.where(keep, values, s.values),
            dt=stride,
            search=search,
            phase=jnp.where(found, EVENT, STEP),
            cause=cause,
            current=s.current,
            steps=steps,
            events=s.events,
            cascade=jnp.where(keep & (dt > 0), 0, s.cascade),
            drift=jnp.maximum(s.drift, jnp.where(keep, drift, 0.0)),
            status=status,
            keep=keep,
            happened=jnp.asarray(False),
        )

    def record(s: Loop, kept: Kept) -> Kept:
        rows = add(kept.rows, row.pack(_row(s), s.t.dtype), s.keep)
        return Kept(rows, add(kept.log, s.current, s.happened))

    def one_pass(carry: tuple[Loop, Kept]) -> tuple[Loop, Kept]:
        s, kept = carry
        s = jax.lax.cond(s.phase == STEP, step, event, s)
        return s, record(s, kept)

    kept = Kept(no_records(row.size, rows, dtype), no_records(happening.size, log, dtype))
    s, kept = jax.lax.while_loop(lambda c: c[0].status == RUNNING, one_pass, (start, kept))
    packed = kept.rows.vectors, kept.log.vectors
    events = happening.unpack(packed[1]) if log else None
    return s, row.unpack(packed[0]), kept.rows.count, events


def _row(s: Loop) -> Row:
    return Row(s.t, s.y, s.k, s.seen.force, s.mode.modes, s.mode.memory, s.events)


def _start(flow: AbstractFlow, y0: State, until: Scalar, *, log: bool) -> tuple[Loop, Packing]:
    """Nothing is known yet: the first pass settles the modes, as after an event.

    Returns also how events are packed: whole, if a list of them is kept.
    """
    n, dim = flow.contacts.count, flow.contacts.dim
    dtype = y0.q.dtype
    zero, whole, flag = jnp.zeros((), dtype), jnp.asarray(0), jnp.asarray(False)
    rows = jnp.zeros((n, dim), dtype)
    mode = Mode(jnp.full(n, OPEN), rows[:, 1:], flow.control.memory())
    guards = jnp.zeros_like(flow.guards(zero, y0, mode))
    values = jnp.zeros(2 * n + guards.size, dtype)
    nobody = Cause(jnp.asarray(START), whole)
    what = quiet(zero, y0, mode, nobody, rows[:, 0], rows, zero)
    happening = Packing(what) if log else FlagsOnly(what)
    start = Loop(
        t=zero,
        y=y0,
        mode=mode,
        k=jax.tree.map(jnp.zeros_like, y0),
        seen=flow.unseen(y0, guards),
        values=values,
        dt=jnp.minimum(until, _FIRST_STEP),
        search=Search(
            flag, zero, zero, zero, values, zero, zero, whole, whole, whole, flag, zero, zero
        ),
        phase=jnp.asarray(EVENT),
        cause=nobody,
        current=happening.pack(what, dtype),
        steps=whole,
        events=whole,
        cascade=whole,
        drift=zero,
        status=jnp.asarray(RUNNING),
        keep=flag,
        happened=flag,
    )
    return start, happening


def _before_stop(s: Loop) -> Scalar:
    """The longest step that leaves a part of every slip in space that is about to end [s].

    Such a slip turns ever faster: a step across its end would not see that, nor would its error.
    """
    if isinstance(s.seen.speeding, tuple):
        return jnp.asarray(jnp.inf, s.dt.dtype)
    speed, rate = slip_speed(s.seen.velocity), s.seen.speeding
    ends = (s.mode.modes == SLIP) & (rate < 0) & (speed > 3 * CAPTURE.of(speed))
    return jnp.min(jnp.where(ends, -_PART * speed / jnp.where(ends, rate, -1.0), jnp.inf))


def _missing(s: Loop) -> Scalar:
    """The time from the state of a pending event to the event itself, to first order [s]."""
    contact = jnp.maximum(s.cause.contact, 0)
    is_gap = (s.cause.contact >= 0) & (s.cause.function == 0) & (s.mode.modes[contact] == OPEN)
    slope = jnp.where(is_gap, s.seen.velocity[contact, -1], s.search.slope)
    value = jnp.where(is_gap, s.seen.gap[contact], s.values[s.search.target])
    falling = slope < 0
    shift = jnp.where(falling, -value / jnp.where(falling, slope, -1.0), 0.0)
    # A function that only grazes zero has no such correction; nor has the start.
    small = jnp.abs(shift) <= 1e-3 * s.dt
    shift = jnp.where(small & (s.cause.contact != START), shift, 0.0)
    if isinstance(s.seen.speeding, tuple):  # not in space, or not rigid
        return shift
    # A slip that is captured goes on until it stops.
    speed, rate = slip_speed(s.seen.velocity)[contact], s.seen.speeding[contact]
    slips = (s.cause.contact >= 0) & (s.cause.function == 1) & (s.mode.modes[contact] == SLIP)
    stops = slips & (rate < 0) & (speed <= 2 * CAPTURE.of(speed))
    return jnp.where(stops, -speed / jnp.where(stops, rate, -1.0), shift)
