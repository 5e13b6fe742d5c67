"""Free motion: a mechanism under gravity, springs, dampers and actuators, touching nothing."""

import diffrax
import jax
import jax.numpy as jnp

from stiction._arrays import Array
from stiction.engines.control import AbstractSwitchingControl
from stiction.engines.flow import each
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


def simulate_free(
    mechanism: Mechanism,
    q0: Array,
    v0: Array,
    until: Array,
    control: AbstractSwitchingControl,
    solver: Solver,
    samples: int,
) -> Trajectory:
    """The motion from (q0, v0) over `until` seconds. A control's guards are not watched."""
    no_contacts = jnp.zeros(0, int)
    memory = control.memory()

    def field(t, state, _):
        q, v, _ = state
        u = control.command(t, q, v, no_contacts, memory)
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
    told = lambda t, q, v: control.command(t, q, v, no_contacts, memory)  # noqa: E731
    u = each(mechanism, told, times, q, v)
    finite = jnp.all(jnp.isfinite(v)) | (solution.result != diffrax.RESULTS.successful)
    result = RESULTS.where(finite, RESULTS.promote(solution.result), RESULTS.not_finite)
    nothing = jnp.zeros_like(times)
    return Trajectory(
        time=times,
        q=q,
        v=v,
        kinetic=jax.vmap(lambda a, b: kinetic_energy(mechanism, a, b))(q, v),
        potential=jax.vmap(lambda a: potential_energy(mechanism, a))(q),
        actuator_work=work[:, 0],
        damping_loss=work[:, 1],
        friction_loss=nothing,
        impact_loss=nothing,
        support_work=nothing,
        effort=jax.vmap(lambda a, b, c: actuator_effort(mechanism, a, b, c))(q, v, u),
        force=jnp.zeros((samples, 0, 3), q.dtype),
        modes=jnp.zeros((samples, 0), int),
        events=None,
        n_events=jnp.asarray(0),
        drift=jnp.zeros((), q.dtype),
        steps=solution.stats["num_steps"],
        result=result,
    )
