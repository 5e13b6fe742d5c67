"""`simulate` while JAX traces: the run goes out to concrete numbers, its derivative by replay.

The run itself is a call out of the traced program, so that `jit` and `vmap` give what is computed
without them, event by event. Under `vmap` the lanes are one batch where only states, times and the
law's numbers differ from lane to lane; otherwise they go one after the other.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import dtypes
from jax.custom_derivatives import SymbolicZero

from stiction._base.arrays import Array
from stiction._base.errors import InputError
from stiction.control.switching import period_of
from stiction.engines.by_core import carry_out
from stiction.engines.compliant import Compliant
from stiction.engines.event_log import Cause, EventLog
from stiction.engines.given import Extent, Given, changed, unchecked
from stiction.engines.hybrid import Hybrid
from stiction.engines.replay import Replayed, replay
from stiction.engines.replay_compliant import SoftFlow
from stiction.engines.replay_record import record_of
from stiction.engines.replay_rigid import FreeFlow, RigidFlow
from stiction.engines.replay_stepping import replay_steps
from stiction.engines.result import RESULTS, Compliance, Trajectory
from stiction.engines.stepping import Stepping

_FLOWS = {Hybrid: RigidFlow, Compliant: SoftFlow}


def simulate_traced(given: Given, extent: Extent) -> Trajectory:
    """The motion, as a value of the traced program with derivatives."""
    arrays, rest = eqx.partition(given, _is_array)
    leaves, structure = jax.tree.flatten(arrays)

    @jax.custom_jvp
    def run(leaves: list[Any]) -> Trajectory:
        return _call_out(leaves, structure, rest, extent, 0)[0]

    def rule(primals: tuple, tangents: tuple) -> tuple[Trajectory, Trajectory]:
        (leaves,), (moves,) = primals, tangents
        if period_of(rest.control):
            raise InputError(
                "`control` holds its commands between its looks, and a run with it has no"
                " derivatives; let it look all the time (leave `track.rate` out)"
            )
        more = extent._replace(events=True)
        if type(rest.law) in _FLOWS and extent.samples == 2:
            more = more._replace(samples=3)  # ends alone do not tell the modes at the start
        room = rest.solver.max_steps + 1 if isinstance(rest.law, Stepping) else 0
        whole, impulses = _call_out(leaves, structure, rest, more, room)
        changes = [None if _is_still(dx) else dx for dx in moves]
        inputs = eqx.combine(jax.tree.unflatten(structure, leaves), rest)
        changes = jax.tree.unflatten(structure, changes)
        tangent = _tangent(inputs, changes, (whole, impulses), extent)
        return _as_asked(whole, extent), _blank_whole_numbers(tangent)

    run.defjvp(rule, symbolic_zeros=True)
    return run(leaves)


def _is_array(x: Any) -> bool:
    return isinstance(x, jax.Array | np.ndarray)


def _is_still(dx: Any) -> bool:
    """Whether a tangent is known to be none."""
    return isinstance(dx, SymbolicZero) or dx.dtype == dtypes.float0


def _call_out(
    leaves: list[Any], structure: Any, rest: Given, extent: Extent, room: int
) -> tuple[Trajectory, Any]:
    """The run with concrete numbers, and the impulses of so many fixed steps."""
    given = eqx.combine(jax.tree.unflatten(structure, leaves), rest)
    n = 0 if given.contacts is None else given.contacts.count
    size = (room, 1 + 12 * n) if room else (0, 1)
    noted = jax.ShapeDtypeStruct((*given.until.shape, *size), given.q.dtype)
    shapes = trajectory_shapes(given, extent), noted
    ranks = [np.ndim(x) for x in leaves]
    by_lane = _of_state_and_law(structure, len(leaves))

    def go(leaves: list[Any]) -> Any:
        arrays = jax.tree.unflatten(structure, [jnp.asarray(x) for x in leaves])
        done, impulses = carry_out(eqx.combine(arrays, rest), extent, room)
        done = _traceable(done)
        return jax.tree.map(lambda x, to: np.asarray(x, to.dtype), (done, impulses), shapes)

    def host(*numbers: Any) -> Any:
        leaves = [np.asarray(x) for x in numbers]
        extra = leaves[0].ndim - ranks[0]
        if extra == 0:
            return go(leaves)
        lanes = np.broadcast_shapes(*(x.shape[:extra] for x in leaves))
        each = [np.broadcast_to(x, (*lanes, *x.shape[extra:])) for x in leaves]
        same = [x.shape[:extra] == (1,) * extra for x in leaves]
        if all(a or b for a, b in zip(same, by_lane, strict=True)):
            batch = [
                x if b else np.asarray(x[(0,) * extra]) for x, b in zip(each, by_lane, strict=True)
            ]
            return go(batch)
        runs = [go([np.asarray(x[i]) for x in each]) for i in np.ndindex(*lanes)]
        return jax.tree.map(lambda *x: np.stack(x).reshape(*lanes, *x[0].shape), *runs)

    return jax.pure_callback(host, shapes, *leaves, vmap_method="expand_dims")


def _of_state_and_law(structure: Any, count: int) -> list[bool]:
    """Which leaves may have lanes of their own in one batch."""
    marked = jax.tree.unflatten(structure, [False] * count)
    for name in ("q", "v", "until", "law"):
        yes = jax.tree.map(lambda _: True, getattr(marked, name))
        marked = marked._replace(**{name: yes})
    return jax.tree.leaves(marked)


def trajectory_shapes(given: Given, extent: Extent) -> Trajectory:
    """Shapes and types of what a run gives."""
    m, dtype, batch, s = given.mechanism, given.q.dtype, given.until.shape, extent.samples
    free = given.contacts is None
    n, dim = (0, 3) if free else (given.contacts.count, given.contacts.dim)
    whole = jnp.asarray(0).dtype

    def real(*shape: int) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct((*batch, *shape), dtype)

    def other(kind: Any, *shape: int) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct((*batch, *shape), kind)

    def events() -> Any:
        e = extent.max_events + 1
        flags = {x: other(bool, e) for x in ("impact", "tangential", "consistent", "suspicious")}
        wholes = {x: other(whole, e, n) for x in ("modes_before", "modes_after")}
        rows = ("velocity_before", "velocity_after", "impulse", "work")
        scalars = ("time", "kinetic_before", "kinetic_after", "removed", "speed", "acceleration")
        return unchecked(
            EventLog,
            cause=unchecked(Cause, contact=other(whole, e), function=other(whole, e)),
            q=real(e, m.nq), v_before=real(e, m.nv), v_after=real(e, m.nv),
            direction_before=real(e, n, dim - 1), direction_after=real(e, n, dim - 1),
            **flags, **wholes,
            **{x: real(e, n, dim) for x in rows}, **{x: real(e) for x in scalars},
            **{x: real(e, n) for x in ("gap", "mu", "limit")}, places=None,
        )  # fmt: skip

    sampled = (
        "time", "kinetic", "potential", "actuator_work", "damping_loss", "friction_loss",
        "impact_loss", "support_work",
    )  # fmt: skip
    soft = isinstance(given.law, Compliant) and not free
    each = ("depth", "stored", "normal_loss", "friction_loss")
    compliance = unchecked(Compliance, **{x: real(s, n) for x in each}) if soft else None
    result = eqx.tree_at(
        lambda r: r._value, RESULTS.successful, other(RESULTS.successful._value.dtype)
    )
    return unchecked(
        Trajectory,
        **{x: real(s) for x in sampled},
        q=real(s, m.nq), v=real(s, m.nv), effort=real(s, m.nu), force=real(s, n, dim),
        modes=other(whole, s, n), log=events() if extent.events and not free else None,
        n_events=other(whole), drift=real(), steps=other(whole), result=result,
        residual=real(s) if isinstance(given.law, Stepping) and not free else None,
        compliance=compliance, acceleration=None, places=None, signals=None, origin=None,
    )  # fmt: skip


def _traceable(run: Trajectory) -> Trajectory:
    """A run without what is only told of known numbers."""
    log = run.log if run.log is None else changed(run.log, places=None)
    return changed(run, acceleration=None, places=None, signals=None, log=log)


def _as_asked(run: Trajectory, extent: Extent) -> Trajectory:
    """A run with all its events as it was asked for."""
    if not extent.events:
        run = replace(run, log=None)
    if run.time.shape[-1] == extent.samples:
        return run
    axis = run.n_events.ndim
    sampled = jax.tree.map(lambda x: jnp.take(x, np.array([0, -1]), axis=axis), _sampled(run))
    return replace(run, **sampled)


def _sampled(run: Trajectory) -> dict[str, Any]:
    apart = ("log", "n_events", "drift", "steps", "result", "origin")
    return {name: x for name, x in vars(run).items() if name not in apart}


def _blank_whole_numbers(tangent: Trajectory) -> Trajectory:
    """Whole numbers have no tangent."""

    def blank(x: Any) -> Any:
        return x if jnp.issubdtype(x.dtype, jnp.inexact) else np.zeros(x.shape, dtypes.float0)

    return jax.tree.map(blank, tangent)


@eqx.filter_jit
def _tangent(given: Given, changes: Given, noted: tuple, extent: Extent) -> Trajectory:
    """How the trajectory changes with its inputs, lane by lane."""
    by_lane = ("q", "v", "until", "law")

    @jax.checkpoint
    def lane(mapped: tuple) -> Trajectory:
        numbers, dots, (run, impulses) = mapped
        full, change = given._replace(**numbers), changes._replace(**dots)
        which = jax.tree.map(lambda x: x is not None, change, is_leaf=lambda x: x is None)
        moving, still = eqx.partition(full, which)

        def replayed(moving: Given) -> Replayed:
            full, times_move = eqx.combine(moving, still), change.until is not None
            return _replayed(full, run, impulses, extent, times_move)

        _, dots = jax.jvp(replayed, (moving,), (change,))
        return _as_trajectory(dots, _as_asked(run, extent))

    arrays = tuple({x: getattr(g, x) for x in by_lane} for g in (given, changes))
    one: Callable = lane
    for _ in given.until.shape:
        one = _one_by_one(one)
    return one((*arrays, noted))


def _one_by_one(f: Callable) -> Callable:
    """f for every entry along the first axis of its argument, one after the other."""
    return lambda x: jax.lax.map(f, x)


def _replayed(
    given: Given, run: Trajectory, impulses: Array, extent: Extent, times_move: bool
) -> Replayed:
    """The motion again, along what the run noted."""
    if isinstance(given.law, Stepping) and given.contacts is not None:
        return replay_steps(given, run.steps // (extent.samples - 1), impulses, extent)
    if given.contacts is None:
        flow = FreeFlow(given.mechanism, given.control)
    else:
        kind = _FLOWS[type(given.law)]
        flow = kind(given.mechanism, given.contacts, given.control, given.law)
    record = jax.lax.stop_gradient(record_of(run))
    start = given.q, given.v
    return replay(flow, start, given.until, given.solver, record, extent, times_move=times_move)


def _as_trajectory(dots: Replayed, run: Trajectory) -> Trajectory:
    """The changes of a run's numbers in the form of the run; what is no number does not change."""

    def change(x: Array, dx: Array | None) -> Array:
        if not jnp.issubdtype(x.dtype, jnp.inexact):
            return x
        return jnp.zeros_like(x) if dx is None else jnp.where(jnp.isfinite(x), dx, 0.0)

    def moved(part: Any, dots: dict[str, Array]) -> Any:
        if part is None:
            return None
        fields = {}
        for name, x in vars(part).items():
            whole = name in dots or isinstance(x, jax.Array)
            fields[name] = change(x, dots.get(name)) if whole else x
        return unchecked(type(part), **fields)

    each = {name.removesuffix("_each"): x for name, x in dots.samples.items()}
    compliance = moved(run.compliance, each)
    whole = moved(run, dots.samples)
    return replace(whole, compliance=compliance, log=moved(run.log, dots.events))
