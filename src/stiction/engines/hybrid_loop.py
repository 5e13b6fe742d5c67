"""The hybrid loop: one flat loop in which every pass is a trial step or an event.

A pass that finds an event function below zero at its end is not kept: the next passes take shorter
steps from the same state until one ends on the event (a bracketed secant, or Newton's method where
the rate of the event function is known). A last correction of first order puts the state on the
event exactly and, being part of the program, carries the derivative of the event's time with it.
There is no loop inside the loop, so that the lanes of a batch do not wait for each other.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from stiction._arrays import Array, Bool, Float, Int, Scalar
from stiction.engines.contact_dynamics import ContactDynamics
from stiction.engines.flow import Flow, Mode, Seen, State
from stiction.engines.forces import OPEN
from stiction.engines.happenings import Cause, Happening, collide, quiet, settle, touches
from stiction.engines.records import Records, Row, add_row, no_records, room_for, write
from stiction.engines.runge_kutta import (
    TABLEAUS,
    error_ratio,
    explicit_stages,
    next_step,
    step_error,
)
from stiction.engines.solver import Solver
from stiction.mechanism import normalize

_LANDED = 1e-8  # an event nearer than this part of the step is reached by the last correction
_MAX_SEARCH = 60  # passes to find one event
_MAX_CASCADE = 100  # events at one instant, beyond four for each contact

_ORDER = 5
_FIRST_STEP = 1e-4  # tried first [s]; the error estimate corrects it at once

# What a pass does.
STEP, EVENT, AFTER_IMPACT = range(3)
# How a loop ends.
RUNNING, DONE, STEPS_USED_UP, EVENTS_USED_UP, CASCADE, NOT_FINITE = range(6)


class Search(eqx.Module):
    """The bracket of an event inside a step."""

    on: Bool[Array, ""]
    trial: Scalar  # length of the step to try next
    low: Scalar  # length of a step without the event
    high: Scalar  # length of a step with it
    values_low: Float[Array, "n 2"]  # event functions at `low`
    f_low: Scalar  # the target's value at `low`, halved when `high` has moved twice running
    f_high: Scalar
    target: Int[Array, ""]  # index into the flattened event functions
    side: Int[Array, ""]  # which end moved last
    passes: Int[Array, ""]


class Loop(eqx.Module):
    """What a pass hands to the next, but for what is kept of the run."""

    t: Scalar
    y: State
    mode: Mode
    k: State  # dy/dt
    seen: Seen
    values: Float[Array, "n 2"]  # of the event functions at t
    dt: Scalar  # the stride of ordinary steps
    search: Search
    phase: Int[Array, ""]  # STEP, EVENT, or AFTER_IMPACT
    current: Happening  # the event being carried out
    steps: Int[Array, ""]
    events: Int[Array, ""]
    cascade: Int[Array, ""]  # events since time last moved on
    drift: Scalar  # the largest gap of a kept contact before it was brought back [m]
    status: Int[Array, ""]
    keep: Bool[Array, ""]  # the state is to be kept as a row
    happened: Bool[Array, ""]  # the current event is over


class Kept(eqx.Module):
    """What is kept of a run. Apart from the loop's state, for branches copy what they are given."""

    records: Records
    log: Happening


def run_loop(
    flow: Flow,
    resolve: Callable,
    law: Any,
    solver: Solver,
    y0: State,
    until: Scalar,
    *,
    rows: int,
    max_events: int,
) -> tuple[Loop, Kept]:
    """Simulate from y0 over `until` seconds; keep up to `rows` states and `max_events` events."""
    tableau = TABLEAUS[solver.method]

    def event(s: Loop) -> Loop:
        # The last correction to the event: second order in what is missing, exact in derivatives.
        shift = jnp.where(s.phase == EVENT, _missing(s), 0.0)
        y = jax.tree.map(lambda y, k: y + shift * k, s.y, s.k)
        t = s.t + shift
        d, power = flow.dynamics(t, y, s.mode.modes)
        s = eqx.tree_at(lambda s: (s.t, s.y), s, (t, y))
        _, collides = touches(d, s.mode)
        s = jax.lax.cond(jnp.any(collides), _collide, _settle, s, d, power)
        status = jnp.where(s.events >= max_events, EVENTS_USED_UP, s.status)
        limit = _MAX_CASCADE + 4 * flow.contacts.count
        status = jnp.where(s.cascade > limit, CASCADE, status)
        return eqx.tree_at(
            lambda s: (s.search.on, s.search.passes, s.cascade, s.status),
            s,
            (jnp.asarray(False), jnp.asarray(0), s.cascade + 1, status),
        )

    def _collide(s: Loop, d: ContactDynamics, power: Array) -> Loop:
        del power
        y, what = collide(flow, resolve, law, s.t, s.y, s.mode, s.current.cause, d)
        return eqx.tree_at(
            lambda s: (s.y, s.phase, s.current, s.keep, s.happened),
            s,
            (y, jnp.full_like(s.phase, AFTER_IMPACT), what, jnp.asarray(False), jnp.asarray(False)),
        )

    def _settle(s: Loop, d: ContactDynamics, power: Array) -> Loop:
        after = s.phase == AFTER_IMPACT
        cause = s.current.cause
        y, mode, k, seen, consistent = settle(flow, s.y, s.mode, cause, after, d, power)
        fresh = quiet(s.t, s.y, s.mode, cause, d)
        what = jax.tree.map(lambda a, b: jnp.where(after, a, b), s.current, fresh)
        what = eqx.tree_at(lambda h: (h.modes_after, h.consistent), what, (mode.modes, consistent))
        # Settling at the start is no event, unless something collided.
        counts = after | (cause.contact >= 0)
        return eqx.tree_at(
            lambda s: (
                s.y, s.mode, s.k, s.seen, s.values, s.phase, s.current, s.events, s.keep,
                s.happened,
            ),
            s,
            (
                y, mode, k, seen, flow.event_values(seen, mode), jnp.full_like(s.phase, STEP),
                what, s.events + counts, jnp.asarray(True), counts,
            ),
        )  # fmt: skip

    def step(s: Loop) -> Loop:
        left = until - s.t
        last = (s.dt >= left) & ~s.search.on
        # Lengths of steps are choices, not results; only the last one is given, by where it ends.
        dt = jax.lax.stop_gradient(jnp.where(s.search.on, s.search.trial, s.dt))
        dt = jnp.where(last, left, dt)
        t = jnp.where(last, until, s.t + dt)
        stages, y = explicit_stages(
            tableau, lambda t, y: flow.rate(t, y, s.mode), s.t, s.y, s.k, dt
        )
        y = State(normalize(flow.mechanism, y.q), y.v, y.ledger)
        kept, k, seen = flow.arrive(t, y, s.mode)
        values = flow.event_values(seen, s.mode)
        ratio = error_ratio(step_error(tableau, stages, k, dt), s.y, y, solver.rtol, solver.atol)
        ratio = jnp.where(s.search.on, 0.0, ratio)
        good = ratio <= 1.0

        fallen = (values < 0) & good
        grazed, reach = _grazing(s, seen, dt)
        grazed = grazed & good & ~jnp.any(fallen) & ~s.search.on
        search = _narrow(s.search, s.values, dt, values, fallen)
        search = eqx.tree_at(lambda x: x.trial, search, _guess(search, s, dt, seen, values))
        found = search.on & _landed(search, s.mode, seen, values, dt, s.t)
        keep = good & ~grazed & (found | ~search.on)
        # The event itself decides what becomes of the contacts: no correction before it.
        y = jax.tree.map(lambda a, b: jnp.where(found, a, b), y, kept)

        def choose(a: Any, b: Any) -> Any:
            return jax.tree.map(lambda a, b: jnp.where(keep, a, b), a, b)

        # A search leaves the stride of ordinary steps as it was.
        stride = jnp.where(s.search.on, s.dt, next_step(dt, ratio, _ORDER))
        stride = jnp.where(grazed, reach, stride)
        steps = s.steps + 1
        status = jnp.where(steps >= solver.max_steps, STEPS_USED_UP, s.status)
        stuck = (stride <= 1e-15 * (1.0 + jnp.abs(s.t))) & ~keep & ~search.on
        status = jnp.where(stuck, NOT_FINITE, status)
        status = jnp.where(keep & ~found & last, DONE, status)
        drift = jnp.max(jnp.where(s.mode.modes != OPEN, jnp.abs(seen.gap), 0.0))
        cause = Cause(search.target // 2, search.target % 2)
        return Loop(
            t=jnp.where(keep, t, s.t),
            y=choose(y, s.y),
            mode=s.mode,
            k=choose(k, s.k),
            seen=choose(seen, s.seen),
            values=jnp.where(keep, values, s.values),
            dt=stride,
            search=search,
            phase=jnp.where(found, EVENT, STEP),
            current=eqx.tree_at(lambda h: h.cause, s.current, cause),
            steps=steps,
            events=s.events,
            cascade=jnp.where(keep & (dt > 0), 0, s.cascade),
            drift=jnp.maximum(s.drift, jnp.where(keep, drift, 0.0)),
            status=status,
            keep=keep,
            happened=jnp.asarray(False),
        )

    def one_pass(carry: tuple[Loop, Kept]) -> tuple[Loop, Kept]:
        s, kept = carry
        s = jax.lax.cond(s.phase == STEP, step, event, s)
        records = add_row(kept.records, _row(s), s.keep)
        log = write(kept.log, s.current, s.events - 1, s.happened)
        return s, Kept(records, log)

    start = _start(flow, y0, until)
    kept = Kept(no_records(_row(start), rows), room_for(start.current, max_events))
    return jax.lax.while_loop(lambda c: c[0].status == RUNNING, one_pass, (start, kept))


def _row(s: Loop) -> Row:
    return Row(s.t, s.y, s.k, s.seen.force, s.mode.modes)


def _start(flow: Flow, y0: State, until: Scalar) -> Loop:
    """Nothing is known yet: the first pass settles the modes, as after an event."""
    n, dim = flow.contacts.count, flow.contacts.dim
    dtype = y0.q.dtype
    zero, whole, flag = jnp.zeros((), dtype), jnp.asarray(0), jnp.asarray(False)
    mode = Mode(jnp.full(n, OPEN), jnp.zeros((n, dim - 1), dtype))
    rows = jnp.zeros((n, dim), dtype)
    values = jnp.zeros((n, 2), dtype)
    nobody = Cause(jnp.asarray(-1), whole)
    return Loop(
        t=zero,
        y=y0,
        mode=mode,
        k=jax.tree.map(jnp.zeros_like, y0),
        seen=Seen(rows, rows[:, 0], rows),
        values=values,
        dt=jnp.minimum(until, _FIRST_STEP),
        search=Search(flag, zero, zero, zero, values, zero, zero, whole, whole, whole),
        phase=jnp.asarray(EVENT),
        current=Happening(
            zero, nobody, flag, flag, mode.modes, mode.modes, rows, rows, rows, rows[:, 0], rows,
            zero, zero, zero, rows[:, 0],
        ),
        steps=whole,
        events=whole,
        cascade=whole,
        drift=zero,
        status=jnp.asarray(RUNNING),
        keep=flag,
        happened=flag,
    )  # fmt: skip


def _narrow(s: Search, values_start: Array, dt: Scalar, values: Array, fallen: Array) -> Search:
    """The bracket after a trial step of length dt with the given event functions at its end."""
    inside = jnp.any(fallen)
    low = jnp.where(s.on, s.low, 0.0)
    values_low = jnp.where(s.on, s.values_low, values_start)
    # Which event comes first: the least root of the chords.
    start = jnp.maximum(values_low, 0.0)
    roots = jnp.where(fallen, start / jnp.where(fallen, start - values, 1.0), jnp.inf)
    first = jnp.argmin(roots)
    target = jnp.where(inside, first, s.target)
    same = s.on & (target == s.target)
    f_new = values.reshape(-1)[target]
    halved_low = jnp.where(same & (s.side == 1), 0.5, 1.0) * s.f_low
    f_low_in = jnp.where(same, halved_low, start.reshape(-1)[target])
    halved_high = jnp.where(s.side == -1, 0.5, 1.0) * s.f_high
    return Search(
        on=s.on | inside,
        trial=s.trial,
        low=jnp.where(inside, low, jnp.where(s.on, dt, low)),
        high=jnp.where(inside, dt, s.high),
        values_low=jnp.where(inside | ~s.on, values_low, values),
        f_low=jnp.where(inside, f_low_in, f_new),
        f_high=jnp.where(inside, f_new, halved_high),
        target=target,
        side=jnp.where(inside, 1, -1),
        passes=s.passes + 1,
    )


def _rate_of_target(search: Search, mode: Mode, seen: Seen) -> tuple[Scalar, Bool[Array, ""]]:
    """How fast the target falls, and whether that is known exactly: for gaps it is."""
    contact, function = search.target // 2, search.target % 2
    is_gap = (function == 0) & (mode.modes[contact] == OPEN)
    chord = (search.f_high - search.f_low) / jnp.maximum(search.high - search.low, 1e-300)
    return jnp.where(is_gap, seen.velocity[contact, -1], chord), is_gap


def _landed(
    search: Search, mode: Mode, seen: Seen, values: Array, dt: Scalar, t: Scalar
) -> Bool[Array, ""]:
    """Whether the step has come so close to its event that a correction does the rest."""
    slope, _ = _rate_of_target(search, mode, seen)
    missing = jnp.abs(values.reshape(-1)[search.target] / jnp.minimum(slope, -1e-300))
    close = missing <= _LANDED * jnp.maximum(search.high, dt)
    narrow = search.high - search.low <= 4e-16 * (1.0 + jnp.abs(t))
    return close | narrow | (search.passes >= _MAX_SEARCH)


def _missing(s: Loop) -> Scalar:
    """The time from the state of a pending event to the event itself, to first order [s]."""
    contact, function = s.current.cause.contact, s.current.cause.function
    slope, is_gap = _rate_of_target(s.search, s.mode, s.seen)
    value = jnp.where(is_gap, s.seen.gap[contact], s.values[contact, function])
    falling = slope < 0
    shift = jnp.where(falling, -value / jnp.where(falling, slope, -1.0), 0.0)
    # A function that only grazes zero has no such correction; nor has the start.
    small = jnp.abs(shift) <= 1e-3 * s.dt
    return jnp.where(small & (contact >= 0), shift, 0.0)


def _guess(search: Search, s: Loop, dt: Scalar, seen: Seen, values: Array) -> Scalar:
    """The next length to try: Newton's where it stays inside the bracket, else the chord's."""
    slope, is_gap = _rate_of_target(search, s.mode, seen)
    value = values.reshape(-1)[search.target]
    newton = dt - value / jnp.where(slope < 0, slope, -1.0)
    width = search.high - search.low
    chord = search.low + width * search.f_low / jnp.maximum(search.f_low - search.f_high, 1e-300)
    inside = (newton > search.low) & (newton < search.high) & (slope < 0) & is_gap
    guess = jnp.where(inside, newton, chord)
    # Every fourth pass halves the bracket, whatever the functions do.
    middle = search.low + width / 2
    guess = jnp.where(search.passes % 4 == 0, jnp.where(inside, newton, middle), guess)
    return jnp.clip(guess, search.low, search.high)


def _grazing(s: Loop, seen: Seen, dt: Scalar) -> tuple[Bool[Array, ""], Scalar]:
    """Whether a gap dips below zero and comes back inside the step, and a step that ends there.

    The gap over the step is the cubic with its values and rates at both ends.
    """
    g0, g1 = s.seen.gap, seen.gap
    r0, r1 = s.seen.velocity[:, -1] * dt, seen.velocity[:, -1] * dt
    # Derivative of the Hermite cubic: a θ² + b θ + r0.
    a = 6 * (g0 - g1) + 3 * (r0 + r1)
    b = -6 * (g0 - g1) - 4 * r0 - 2 * r1
    dips = (s.mode.modes == OPEN) & (g0 > 0) & (r0 < 0) & (r1 > 0)
    disc = jnp.sqrt(jnp.maximum(b * b - 4 * a * r0, 0.0))
    # The root at which the derivative rises through zero.
    theta = 2 * r0 / jnp.where(dips, -b - disc, -1.0)
    theta = jnp.clip(theta, 0.0, 1.0)
    lowest = g0 + theta * (r0 + theta * (b / 2 + theta * a / 3))
    grazes = dips & (lowest < 0) & (theta > 1e-6) & (theta < 1 - 1e-6)
    first = jnp.min(jnp.where(grazes, theta, 1.0))
    # A little short of the lowest point, where the gap still closes.
    return jnp.any(grazes), 0.99 * dt * first
