"""From a run of the loop to a trajectory: states at equal times, energies, how it ended."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from stiction._arrays import Array, Scalar
from stiction.engines import hybrid_loop as loops
from stiction.engines.flow import LEDGER, AbstractFlow, State, each
from stiction.engines.hybrid_loop import Loop, run_loop
from stiction.engines.records import Row, sample
from stiction.engines.result import RESULTS, Trajectory
from stiction.engines.rosenbrock import rosenbrock_step
from stiction.engines.runge_kutta import EXPLICIT
from stiction.engines.solver import Solver
from stiction.mechanism import actuator_effort, kinetic_energy, potential_energy

# A step of each method, as the loop takes it; all are of order 5.
STEPS = {**EXPLICIT, "rodas5p": rosenbrock_step}


class Keep(NamedTuple):
    """How much of a run is kept. Static: it shapes the program."""

    samples: int  # 2 keeps the ends only
    events: bool  # whether the list of events is kept
    max_events: int


def run_and_sample(
    flow: AbstractFlow,
    happen: Callable,
    start: State,
    until: Scalar,
    *,
    solver: Solver,
    keep: Keep,
    account: Callable[[Row], dict[str, Any]] = lambda rows: {},
    rate_of: Callable[[Row], State] | None = None,
) -> Trajectory:
    """The motion from a state, sampled at equal times.

    Args:
        flow: The smooth motion.
        happen: What is done at events.
        start: The initial state.
        until: Duration [s].
        solver: Method and tolerances.
        keep: How much is kept.
        account: Fields of the trajectory that are not taken from the rows as they are.
        rate_of: The rate of a state, where much is booked within a step: see `sample`.
    """
    mechanism, dtype = flow.mechanism, start.q.dtype
    ends_only = keep.samples == 2
    loop, rows, count, log = run_loop(
        flow,
        happen,
        STEPS[solver.method],
        solver,
        start,
        until,
        rows=0 if ends_only else solver.max_steps + 2 * keep.max_events + 2,
        log=keep.max_events if keep.events else 0,
        max_events=keep.max_events,
    )
    times = jnp.linspace(0, 1, keep.samples, dtype=dtype) * until
    if ends_only:
        rows = _ends(start, loop, times)
        reached = jnp.array([True, True])
    else:
        rows = sample(mechanism, rows, count, times, rate_of)
        reached = times <= loop.t

    def effort(row: Row) -> Array:
        u = flow.control.command(row.time, row.y.q, row.y.v, row.modes, row.memory).astype(dtype)
        return actuator_effort(mechanism, row.y.q, row.y.v, u)

    sampled = {
        "q": rows.y.q,
        "v": rows.y.v,
        "kinetic": jax.vmap(lambda a, b: kinetic_energy(mechanism, a, b))(rows.y.q, rows.y.v),
        "potential": jax.vmap(lambda a: potential_energy(mechanism, a))(rows.y.q),
        **dict(zip(LEDGER, rows.y.ledger.T, strict=True)),
        "effort": each(mechanism, effort, rows),
        "force": rows.force,
        "modes": rows.modes,
        **account(rows),
    }
    return Trajectory(
        time=times,
        **_blank(sampled, reached),
        events=log,
        n_events=loop.events,
        drift=loop.drift,
        steps=loop.steps,
        result=_result(loop),
    )


def _ends(start: State, loop: Loop, times: Array) -> Row:
    """The first and the last state."""
    force = jnp.zeros_like(loop.seen.force)
    first = Row(times[0], start, loop.k, force, loop.mode.modes, loop.mode.memory, loop.events)
    last = Row(
        loop.t, loop.y, loop.k, loop.seen.force, loop.mode.modes, loop.mode.memory, loop.events
    )
    return jax.tree.map(lambda a, b: jnp.stack([a, b]), first, last)


def _result(loop: Loop):
    outcomes = {
        loops.DONE: RESULTS.successful,
        loops.STEPS_USED_UP: RESULTS.max_steps_reached,
        loops.EVENTS_USED_UP: RESULTS.events_used_up,
        loops.CASCADE: RESULTS.cascade,
        loops.NOT_FINITE: RESULTS.not_finite,
    }
    result = RESULTS.not_finite
    for status, outcome in outcomes.items():
        result = RESULTS.where(loop.status == status, outcome, result)
    return result


def _blank(sampled: dict[str, Any], reached: Array) -> dict[str, Any]:
    """What was not reached is not a number."""

    def blank(x: Array) -> Array:
        mask = reached.reshape(-1, *[1] * (x.ndim - 1))
        return jnp.where(mask, x, jnp.nan) if jnp.issubdtype(x.dtype, jnp.floating) else x

    return jax.tree.map(blank, sampled)
