"""Free motion: a mechanism under gravity, springs, dampers and actuators, touching nothing."""

from collections.abc import Callable

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp

from stiction._arrays import Array, Float, ScalarLike
from stiction._errors import InputError
from stiction.engines.control import no_control
from stiction.engines.result import RESULTS, Trajectory
from stiction.engines.solver import Solver
from stiction.mechanism import (
    Mechanism,
    actuator_effort,
    actuator_force,
    damping_force,
    forward_dynamics,
    kinetic_energy,
    normalize,
    potential_energy,
    rate,
    spring_force,
)

Control = Callable[..., Array]


def simulate(
    mechanism: Mechanism,
    q: Float[Array, "nq"],
    v: Float[Array, "nv"],
    *,
    until: ScalarLike,
    control: Control | None = None,
    samples: int = 501,
    solver: Solver | None = None,
    throw: bool = True,
) -> Trajectory:
    """The motion from the state (q, v) over `until` seconds.

    Differentiable, jittable and vmappable over states, times, masses, tolerances and controls.

    Args:
        mechanism: What moves.
        q: The initial configuration; quaternions are brought to unit length.
        v: The initial velocity.
        until: Duration [s].
        control: A function of (t, q, v) giving a command for each actuator; none by default.
        samples: Number of equally spaced times at which the motion is kept.
        solver: Method and tolerances.
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
    trajectory = _simulate(mechanism, q, v, jnp.asarray(until, q.dtype), control, solver, samples)
    traced = any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(trajectory))
    return trajectory.check() if throw and not traced else trajectory


@eqx.filter_jit
def _simulate(
    mechanism: Mechanism,
    q0: Array,
    v0: Array,
    until: Array,
    control: Control,
    solver: Solver,
    samples: int,
) -> Trajectory:
    def field(t, state, _):
        q, v, _ = state
        u = control(t, q, v)
        drive, damping = actuator_force(mechanism, q, v, u), damping_force(mechanism, v)
        force = spring_force(mechanism, q) + damping + drive
        # Work is integrated along with the motion, so that the energy ledger can close.
        power = jnp.stack([v @ drive, -(v @ damping)])
        return rate(mechanism, q, v), forward_dynamics(mechanism, q, v, force), power

    start = (normalize(mechanism, q0), v0, jnp.zeros(2, q0.dtype))
    times = jnp.linspace(0, 1, samples, dtype=q0.dtype) * until
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(field),
        solver.stepper(),
        t0=0.0,
        t1=until,
        dt0=None,
        y0=start,
        saveat=diffrax.SaveAt(ts=times),
        stepsize_controller=solver.controller(times),
        max_steps=solver.max_steps,
        throw=False,
    )
    assert solution.ys is not None
    q, v, work = solution.ys
    q = jax.vmap(lambda x: normalize(mechanism, x))(q)
    u = jax.vmap(control)(times, q, v)
    finite = jnp.all(jnp.isfinite(v)) | (solution.result != diffrax.RESULTS.successful)
    result = RESULTS.where(finite, RESULTS.promote(solution.result), RESULTS.not_finite)
    return Trajectory(
        time=times,
        q=q,
        v=v,
        kinetic=jax.vmap(lambda a, b: kinetic_energy(mechanism, a, b))(q, v),
        potential=jax.vmap(lambda a: potential_energy(mechanism, a))(q),
        actuator_work=work[:, 0],
        damping_loss=work[:, 1],
        effort=jax.vmap(lambda a, b, c: actuator_effort(mechanism, a, b, c))(q, v, u),
        steps=solution.stats["num_steps"],
        result=result,
    )


__all__ = ["simulate"]
