"""The hybrid engine: exact events, impacts by law, contacts that truly stick and slip."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._arrays import Array, ArrayLike, Float, Scalar
from stiction._errors import InputError, unknown
from stiction.engines import hybrid_loop as loops
from stiction.engines.flow import Flow, State
from stiction.engines.happenings import Happening
from stiction.engines.hybrid_loop import Loop, run_loop
from stiction.engines.records import Row, sample
from stiction.engines.result import RESULTS, Trajectory
from stiction.engines.solver import Solver
from stiction.impacts import ENERGY_METHODS, IMPACT_LAWS, impact_law
from stiction.mechanism import (
    Mechanism,
    actuator_effort,
    kinetic_energy,
    normalize,
    potential_energy,
)
from stiction.surfaces import Contacts


class Hybrid(eqx.Module):
    """How contacts rebound and rub. Every value is a number, or one for each contact.

    Attributes:
        restitution: Normal restitution e, in [0, 1].
        mu_static: Static coefficient of friction.
        mu_dynamic: Dynamic coefficient of friction, at most the static one.
        energetic: e* of flickinger (5.2): the most of the kinetic energy that an impact may leave.
        rest_speed: Slower collisions do not rebound [m/s].
        stribeck_speed: v_s of (4.10) [m/s].
        stribeck_exponent: a of (4.10).
        impact: The impact law, one of `stiction.impacts.IMPACT_LAWS`.
        energy_method: "off", "scale" (5.2)-(5.4) or "constrain" (5.6)-(5.14).
    """

    restitution: Float[Array, "..."] = eqx.field(converter=jnp.asarray, default=0.0)
    mu_static: Float[Array, "..."] = eqx.field(converter=jnp.asarray, default=0.74)
    mu_dynamic: Float[Array, "..."] = eqx.field(converter=jnp.asarray, default=0.57)
    energetic: Scalar = eqx.field(converter=jnp.asarray, default=1.0)
    rest_speed: Float[Array, "..."] = eqx.field(converter=jnp.asarray, default=1e-3)
    stribeck_speed: Float[Array, "..."] = eqx.field(converter=jnp.asarray, default=1.4e-4)
    stribeck_exponent: Float[Array, "..."] = eqx.field(converter=jnp.asarray, default=1.0)
    impact: str = eqx.field(static=True, default="dissipation")
    energy_method: str = eqx.field(static=True, default="off")

    def __check_init__(self):
        if self.impact not in IMPACT_LAWS:
            raise unknown("`contact.impact`", self.impact, IMPACT_LAWS)
        if self.energy_method not in ENERGY_METHODS:
            raise unknown("`contact.energy_method`", self.energy_method, ENERGY_METHODS)
        _bounded("restitution", self.restitution, 0.0, 1.0)
        _bounded("mu_static", self.mu_static, 0.0)
        _bounded("mu_dynamic", self.mu_dynamic, 0.0)
        _bounded("energetic", self.energetic, 0.0)
        _bounded("rest_speed", self.rest_speed, 0.0)
        _bounded("stribeck_speed", self.stribeck_speed, 0.0)

    def spread(self, contacts: Contacts, dtype) -> "Hybrid":
        """The same with one value for each contact."""

        def each(name: str, value: ArrayLike) -> Array:
            if jnp.shape(value) not in ((), (contacts.count,)):
                raise InputError(
                    f"`{name}` must be one number or {contacts.count} (one for each contact:"
                    f" {', '.join(contacts.names)}), got {jnp.shape(value)}"
                )
            return jnp.broadcast_to(jnp.asarray(value, dtype), (contacts.count,))

        names = (
            "restitution",
            "mu_static",
            "mu_dynamic",
            "rest_speed",
            "stribeck_speed",
            "stribeck_exponent",
        )
        values = {name: each(name, getattr(self, name)) for name in names}
        energetic = jnp.asarray(self.energetic, dtype)
        return Hybrid(
            **values, energetic=energetic, impact=self.impact, energy_method=self.energy_method
        )


def simulate_hybrid(
    mechanism: Mechanism,
    q: Float[Array, "nq"],
    v: Float[Array, "nv"],
    *,
    until: Scalar,
    contacts: Contacts,
    law: Hybrid,
    control: Callable,
    samples: int,
    solver: Solver,
    max_events: int,
) -> Trajectory:
    """The motion with contacts, from event to event."""
    law = law.spread(contacts, q.dtype)
    return _simulate(mechanism, q, v, until, contacts, law, control, solver, samples, max_events)


@eqx.filter_jit
def _simulate(
    mechanism: Mechanism,
    q: Array,
    v: Array,
    until: Array,
    contacts: Contacts,
    law: Hybrid,
    control: Callable,
    solver: Solver,
    samples: int,
    max_events: int,
) -> Trajectory:
    flow = Flow(mechanism, contacts, control, law.mu_static, law.mu_dynamic)
    resolve = impact_law(law.impact, law.energy_method)
    start = State(normalize(mechanism, q), v, jnp.zeros(4, q.dtype))
    rows = solver.max_steps + 2 * max_events + 2 if samples > 2 else 0
    loop, kept = run_loop(
        flow, resolve, law, solver, start, until, rows=rows, max_events=max_events
    )
    times = jnp.linspace(0, 1, samples, dtype=q.dtype) * until
    if samples > 2:
        rows = sample(mechanism, kept.records, times)
        reached = times <= loop.t
    else:
        rows = _ends(start, loop, times)
        reached = jnp.array([True, True])
    u = jax.vmap(control)(rows.time, rows.y.q, rows.y.v, rows.modes)
    ledger = rows.y.ledger
    trajectory = Trajectory(
        time=times,
        q=rows.y.q,
        v=rows.y.v,
        kinetic=jax.vmap(lambda a, b: kinetic_energy(mechanism, a, b))(rows.y.q, rows.y.v),
        potential=jax.vmap(lambda a: potential_energy(mechanism, a))(rows.y.q),
        actuator_work=ledger[:, 0],
        damping_loss=ledger[:, 1],
        friction_loss=ledger[:, 2],
        impact_loss=_impact_loss(kept.log, loop.events, times),
        support_work=ledger[:, 3],
        effort=jax.vmap(lambda a, b, c: actuator_effort(mechanism, a, b, c))(rows.y.q, rows.y.v, u),
        force=rows.force,
        modes=rows.modes,
        events=kept.log,
        n_events=loop.events,
        drift=loop.drift,
        steps=loop.steps,
        result=_result(loop),
    )
    # What was not reached is not a number.
    return _blank(trajectory, reached)


def _ends(start: State, loop: Loop, times: Array) -> Row:
    """The first and the last state."""
    first = Row(times[0], start, loop.k, jnp.zeros_like(loop.seen.force), loop.mode.modes)
    last = Row(loop.t, loop.y, loop.k, loop.seen.force, loop.mode.modes)
    return jax.tree.map(lambda a, b: jnp.stack([a, b]), first, last)


def _impact_loss(log: Happening, events: Array, times: Array) -> Array:
    """Kinetic energy lost in impacts up to each time."""
    happened = jnp.arange(log.time.shape[0]) < events
    loss = jnp.where(happened, log.kinetic_before - log.kinetic_after, 0.0)
    when = jnp.where(happened, log.time, jnp.inf)
    total = jnp.concatenate([jnp.zeros(1, loss.dtype), jnp.cumsum(loss)])
    return total[jnp.searchsorted(when, times, side="right")]


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


def _blank(trajectory: Trajectory, reached: Array) -> Trajectory:
    def blank(x: Array) -> Array:
        mask = reached.reshape(-1, *[1] * (x.ndim - 1))
        return jnp.where(mask, x, jnp.nan) if jnp.issubdtype(x.dtype, jnp.floating) else x

    names = [
        "q", "v", "kinetic", "potential", "actuator_work", "damping_loss", "friction_loss",
        "impact_loss", "support_work", "effort", "force",
    ]  # fmt: skip
    return eqx.tree_at(
        lambda t: [getattr(t, name) for name in names],
        trajectory,
        [blank(getattr(trajectory, name)) for name in names],
    )


def _bounded(name: str, value: ArrayLike, low: float, high: float = np.inf) -> None:
    if isinstance(value, jax.core.Tracer):
        return
    array = np.asarray(value)
    if not np.all((array >= low) & (array <= high)):
        bound = f"in [{low:g}, {high:g}]" if np.isfinite(high) else f">= {low:g}"
        raise InputError(f"`contact.{name}` must be {bound}, got {array}")
