"""The door: from a state and a law to a trajectory."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from stiction._arrays import Array, Float, ScalarLike
from stiction._errors import InputError
from stiction.engines.control import no_control
from stiction.engines.free import simulate_free
from stiction.engines.hybrid import Hybrid, simulate_hybrid
from stiction.engines.result import Trajectory
from stiction.engines.solver import Solver
from stiction.mechanism import Mechanism
from stiction.surfaces import Contacts


def simulate(
    mechanism: Mechanism,
    q: Float[Array, "nq"],
    v: Float[Array, "nv"],
    *,
    until: ScalarLike,
    contacts: Contacts | None = None,
    law: Hybrid | None = None,
    control: Callable | None = None,
    samples: int = 501,
    solver: Solver | None = None,
    max_events: int = 1000,
    throw: bool = True,
) -> Trajectory:
    """The motion from the state (q, v) over `until` seconds.

    Differentiable, jittable and vmappable over states, times, masses, tolerances and controls.

    Args:
        mechanism: What moves.
        q: The initial configuration; quaternions are brought to unit length.
        v: The initial velocity.
        until: Duration [s].
        contacts: What may touch, from `stiction.find_contacts`; nothing by default.
        law: What contacts do; the hybrid law with its defaults if none is given.
        control: A function of (t, q, v, modes) giving each actuator's command; none by default.
        samples: Number of equally spaced times at which the motion is kept; 2 keeps only the ends,
            which needs far less memory in a batch.
        solver: Method and tolerances.
        max_events: Events after which the run ends with a result code.
        throw: Raise a `RunError` if the run fails (outside `jit`); otherwise see `result`.
    """
    q, v = jnp.asarray(q), jnp.asarray(v)
    for name, value, size in (("q", q, mechanism.nq), ("v", v, mechanism.nv)):
        if value.shape != (size,):
            raise InputError(f"`{name}` has shape {value.shape}, expected ({size},)")
    if samples < 2:
        raise InputError(f"`samples` must be at least 2, got {samples}")
    solver = Solver() if solver is None else solver
    control = no_control(mechanism.nu) if control is None else control
    end = jnp.asarray(until, q.dtype)
    if contacts is None:
        trajectory = simulate_free(mechanism, q, v, end, control, solver, samples)
    else:
        trajectory = simulate_hybrid(
            mechanism,
            q,
            v,
            until=end,
            contacts=contacts,
            law=Hybrid() if law is None else law,
            control=control,
            samples=samples,
            solver=solver,
            max_events=max_events,
        )
    traced = any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(trajectory))
    return trajectory.check() if throw and not traced else trajectory
