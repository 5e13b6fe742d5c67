"""The door: from a state and a law to a trajectory."""

import functools
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from stiction._arrays import Array, Float, ScalarLike, is_traced
from stiction._compile import jit_with, quick_options
from stiction._errors import InputError, unknown
from stiction.engines.compliant import Compliant, simulate_compliant
from stiction.engines.control import AbstractSwitchingControl, as_switching, no_control
from stiction.engines.flow import patterns_of
from stiction.engines.free import simulate_free
from stiction.engines.hybrid import Hybrid, simulate_hybrid
from stiction.engines.result import RESULTS, Trajectory
from stiction.engines.runge_kutta import EXPLICIT
from stiction.engines.sampling import STEPS, Keep
from stiction.engines.solver import METHODS, Solver
from stiction.engines.stepping import Stepping, simulate_stepping
from stiction.mechanism import Mechanism
from stiction.surfaces import Contacts

ENGINES = {Hybrid: simulate_hybrid, Compliant: simulate_compliant}
# What each may be integrated by.
_METHODS = {Hybrid: EXPLICIT, Compliant: STEPS, Stepping: METHODS}


def simulate(
    mechanism: Mechanism,
    q: Float[Array, "*batch nq"],
    v: Float[Array, "*batch nv"],
    *,
    until: ScalarLike | Float[Array, "*batch"],
    contacts: Contacts | None = None,
    law: Hybrid | Stepping | Compliant | None = None,
    control: Callable | AbstractSwitchingControl | None = None,
    samples: int = 501,
    solver: Solver | None = None,
    max_events: int = 1000,
    keep_events: bool = True,
    throw: bool = True,
) -> Trajectory:
    """The motion from the state (q, v) over `until` seconds.

    Differentiable, jittable and vmappable over states, times, masses, tolerances and controls.
    Leading axes of `q`, `v`, `until` and of the law's numbers are a batch: one compiled call, each
    lane at its own pace.

    Args:
        mechanism: What moves.
        q: The initial configuration; quaternions are brought to unit length.
        v: The initial velocity.
        until: Duration [s].
        contacts: What may touch, from `stiction.find_contacts`; nothing by default.
        law: What contacts do, which is also the choice of the engine: `Hybrid` (rigid, exact
            events; the default), `Stepping` (rigid, fixed steps) or `Compliant`. In a batch its
            numbers have the shape (), (n,) for each contact, (*batch,) or (*batch, n).
        control: A function of (t, q, v, modes) giving each actuator's command, or an
            `AbstractSwitchingControl`; none by default.
        samples: Number of equally spaced times at which the motion is kept; 2 keeps only the ends,
            which needs far less memory in a batch.
        solver: Method and tolerances; by default 1e-8, with compliant contacts 1e-10.
        max_events: Events after which the run ends with a result code.
        keep_events: Whether the list of events is kept; without it a batch needs less memory.
        throw: Raise a `RunError` if the run fails (outside `jit`); otherwise see `result`.
    """
    q, v = jnp.asarray(q), jnp.asarray(v)
    for name, value, size in (("q", q, mechanism.nq), ("v", v, mechanism.nv)):
        if value.shape[-1:] != (size,):
            raise InputError(f"`{name}` has shape {value.shape}, expected (..., {size})")
    if samples < 2:
        raise InputError(f"`samples` must be at least 2, got {samples}")
    law = Hybrid() if law is None else law
    solver = (default_solver(law) if solver is None else solver).astype(q.dtype)
    methods = METHODS if contacts is None else _METHODS[type(law)]
    if solver.method not in methods:
        raise unknown("`solver.method` here", solver.method, methods)
    if contacts is None and isinstance(control, AbstractSwitchingControl):
        raise InputError(
            "`control` has events of its own, which free motion does not look for; give `contacts`"
        )
    none = jax.tree.map(lambda x: x.astype(q.dtype), no_control(mechanism.nu))
    control = as_switching(none if control is None else control)
    end = jnp.asarray(until, q.dtype)
    batch = jnp.broadcast_shapes(q.shape[:-1], v.shape[:-1], end.shape)
    if contacts is not None:
        law, batch = law.spread(contacts, batch, q.dtype)
    keep = Keep(samples, keep_events, max_events)
    q = jnp.broadcast_to(q, (*batch, q.shape[-1]))
    v = jnp.broadcast_to(v, (*batch, v.shape[-1]))
    end = jnp.broadcast_to(end, batch)
    patterns = None if contacts is None else patterns_of(mechanism, contacts)

    def run(solver: Solver) -> Trajectory:
        return _simulate(
            mechanism, q, v, end, contacts, law, control, solver, keep, patterns, len(batch)
        )

    trajectory = run(solver)
    if is_traced(trajectory):
        return trajectory
    if contacts is not None and isinstance(law, Compliant) and solver.method == "auto":
        trajectory = _with_stiff_lanes(trajectory, lambda: run(solver.by("rodas5p")))
    return trajectory.check() if throw else trajectory


def default_solver(law: Any) -> Solver:
    """What a law is integrated with unless one says otherwise.

    Of compliant contacts more is asked: their depths are small parts of the motion.
    """
    return Solver(1e-10, 1e-11) if isinstance(law, Compliant) else Solver()


def _with_stiff_lanes(explicit: Trajectory, again: Callable[[], Trajectory]) -> Trajectory:
    """Lanes whose explicit steps were used up, as the implicit method finds them."""
    stiff = explicit.result == RESULTS.max_steps_reached
    if not bool(jnp.any(stiff)):
        return explicit

    def choose(a: Array, b: Array) -> Array:
        return jnp.where(stiff.reshape(*stiff.shape, *[1] * (a.ndim - stiff.ndim)), b, a)

    return jax.tree.map(choose, explicit, again())


def _simulate(*args) -> Trajectory:
    return _compiled(inside_another=is_traced(args))(*args)


@functools.cache
def _compiled(*, inside_another: bool) -> Callable:
    """The jitted program. One inside another is compiled as the other one is."""
    return jit_with(_run, None if inside_another else quick_options())


def _run(
    mechanism, q, v, until, contacts, law, control, solver, keep, patterns, axes
) -> Trajectory:
    stepping = isinstance(law, Stepping) and contacts is not None
    between: Any = law.steps_between_samples(until, keep.samples) if stepping else None

    def one(q, v, until, law):
        if contacts is None:
            return simulate_free(mechanism, q, v, until, control, solver, keep.samples)
        if stepping:
            return simulate_stepping(
                mechanism,
                q,
                v,
                until=until,
                between=between,
                contacts=contacts,
                law=law,
                control=control,
                samples=keep.samples,
                log=keep.max_events if keep.events else 0,
                patterns=patterns,
            )
        return ENGINES[type(law)](
            mechanism,
            q,
            v,
            until=until,
            contacts=contacts,
            law=law,
            control=control,
            solver=solver,
            keep=keep,
            patterns=patterns,
        )

    # On a processor what goes from event to event goes lane by lane, in one program all the same:
    # side by side each would do the work of all that happens to the others, and wait for the last.
    alone = jax.default_backend() == "cpu" and contacts is not None and not stepping
    for _ in range(axes):
        one = _one_by_one(one) if alone else eqx.filter_vmap(one)
    return one(q, v, until, law)


def _one_by_one(f: Callable) -> Callable:
    """f for every entry along the first axis of its arguments, one after the other."""

    def mapped(*args: Any) -> Any:
        arrays, rest = eqx.partition(args, eqx.is_array)
        return jax.lax.map(lambda a: f(*eqx.combine(a, rest)), arrays)

    return mapped
