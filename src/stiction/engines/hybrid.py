"""The hybrid engine: exact events, impacts by law, contacts that truly stick and slip."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from stiction._arrays import Array, Float, Scalar, Tolerance
from stiction._checks import require_at_least, require_restitution
from stiction._errors import InputError, unknown
from stiction.engines import hybrid_loop as loops
from stiction.engines.control import AbstractSwitchingControl
from stiction.engines.flow import LEDGER, Flow, Patterns, State
from stiction.engines.hybrid_loop import Loop, run_loop
from stiction.engines.records import Row, sample
from stiction.engines.result import RESULTS, Trajectory
from stiction.engines.solver import Solver
from stiction.impacts import ENERGY_METHODS, IMPACT_LAWS, impact_law
from stiction.laws.tangential.stribeck import require_friction_pair
from stiction.mechanism import (
    Mechanism,
    actuator_effort,
    kinetic_energy,
    normalize,
    potential_energy,
)
from stiction.surfaces import Contacts

# In single precision a hop after a slower impact is lost in the rounding of the gap [m/s].
_SLOWEST = Tolerance(0.0, 1e-2)

_BY_CONTACT = (
    "restitution", "mu_static", "mu_dynamic", "rest_speed", "stribeck_speed", "stribeck_exponent",
)  # fmt: skip


class Keep(NamedTuple):
    """How much of a run is kept. Static: it shapes the program."""

    samples: int  # 2 keeps the ends only
    events: bool  # whether the list of events is kept
    max_events: int


class Hybrid(eqx.Module):
    """How contacts rebound and rub. Every value is a number, or one for each contact.

    Attributes:
        restitution: Normal restitution e, in [0, 1].
        mu_static: Static coefficient of friction.
        mu_dynamic: Dynamic coefficient of friction, at most the static one.
        energetic: e* of flickinger (5.2): the most of the kinetic energy that an impact may leave.
        rest_speed: Slower collisions do not rebound [m/s]; in single precision at least 1e-2.
        stribeck_speed: v_s of (4.10) [m/s].
        stribeck_exponent: a of (4.10).
        impact: The impact law, one of `stiction.impacts.IMPACT_LAWS`.
        energy_method: "off", "scale" (5.2)-(5.4) or "constrain" (5.6)-(5.14).
        sequence: Whether simultaneous impacts are resolved one after the other, fastest first.
    """

    restitution: Float[Array, "..."] = eqx.field(converter=jnp.asarray, default=0.0)
    mu_static: Float[Array, "..."] = eqx.field(converter=jnp.asarray, default=0.74)
    mu_dynamic: Float[Array, "..."] = eqx.field(converter=jnp.asarray, default=0.57)
    energetic: Float[Array, "..."] = eqx.field(converter=jnp.asarray, default=1.0)
    rest_speed: Float[Array, "..."] = eqx.field(converter=jnp.asarray, default=1e-3)
    stribeck_speed: Float[Array, "..."] = eqx.field(converter=jnp.asarray, default=1.4e-4)
    stribeck_exponent: Float[Array, "..."] = eqx.field(converter=jnp.asarray, default=1.0)
    impact: str = eqx.field(static=True, default="dissipation")
    energy_method: str = eqx.field(static=True, default="off")
    sequence: bool = eqx.field(static=True, default=False)

    def __check_init__(self):
        if self.impact not in IMPACT_LAWS:
            raise unknown("`contact.impact`", self.impact, IMPACT_LAWS)
        if self.energy_method not in ENERGY_METHODS:
            raise unknown("`contact.energy_method`", self.energy_method, ENERGY_METHODS)
        require_restitution("contact.restitution", self.restitution)
        for name in ("mu_static", "mu_dynamic", "energetic", "rest_speed", "stribeck_speed"):
            require_at_least(f"contact.{name}", getattr(self, name), 0.0)

    def spread(
        self, contacts: Contacts, batch: tuple[int, ...], dtype: Any
    ) -> tuple["Hybrid", tuple[int, ...]]:
        """The same with one value for each lane of a batch and each contact, and the batch."""
        n = contacts.count
        values = {name: jnp.asarray(getattr(self, name), dtype) for name in _BY_CONTACT}
        for name, value in values.items():
            by_contact = value.shape == (n,) or (value.ndim > 1 and value.shape[-1] in (1, n))
            value = value if by_contact else value[..., None]
            values[name] = value
            try:
                batch = jnp.broadcast_shapes(batch, value.shape[:-1])
            except ValueError:
                raise InputError(
                    f"`contact.{name}` must be one number or {n} (one for each contact:"
                    f" {', '.join(contacts.names)}), got {jnp.shape(getattr(self, name))}"
                ) from None
        energetic = jnp.asarray(self.energetic, dtype)
        batch = jnp.broadcast_shapes(batch, energetic.shape)
        slowest = _SLOWEST.of(values["rest_speed"])
        values["rest_speed"] = jnp.maximum(values["rest_speed"], slowest)
        spread = {name: jnp.broadcast_to(x, (*batch, n)) for name, x in values.items()}
        require_friction_pair(spread["mu_static"], spread["mu_dynamic"])
        law = Hybrid(
            **spread,
            energetic=jnp.broadcast_to(energetic, batch),
            impact=self.impact,
            energy_method=self.energy_method,
            sequence=self.sequence,
        )
        return law, batch


def simulate_hybrid(
    mechanism: Mechanism,
    q: Float[Array, "nq"],
    v: Float[Array, "nv"],
    *,
    until: Scalar,
    contacts: Contacts,
    law: Hybrid,
    control: AbstractSwitchingControl,
    solver: Solver,
    keep: Keep,
    patterns: Patterns,
) -> Trajectory:
    """The motion with contacts, from event to event."""
    flow = Flow(mechanism, contacts, control, law.mu_static, law.mu_dynamic, patterns)
    resolve = impact_law(law.impact, law.energy_method, law.sequence)
    booked, gap = jnp.zeros(len(LEDGER), q.dtype), jnp.zeros(contacts.count, q.dtype)
    start = State(normalize(mechanism, q), v, booked, gap)
    ends_only = keep.samples == 2
    loop, rows, count, log = run_loop(
        flow,
        resolve,
        law,
        solver,
        start,
        until,
        rows=0 if ends_only else solver.max_steps + 2 * keep.max_events + 2,
        log=keep.max_events if keep.events else 0,
        max_events=keep.max_events,
    )
    times = jnp.linspace(0, 1, keep.samples, dtype=q.dtype) * until
    if ends_only:
        rows = _ends(start, loop, times)
        reached = jnp.array([True, True])
    else:
        rows = sample(mechanism, rows, count, times)
        reached = times <= loop.t

    def effort(row: Row) -> Array:
        u = control.command(row.time, row.y.q, row.y.v, row.modes, row.memory).astype(q.dtype)
        return actuator_effort(mechanism, row.y.q, row.y.v, u)

    ledger = dict(zip(LEDGER, rows.y.ledger.T, strict=True))
    trajectory = Trajectory(
        time=times,
        q=rows.y.q,
        v=rows.y.v,
        kinetic=jax.vmap(lambda a, b: kinetic_energy(mechanism, a, b))(rows.y.q, rows.y.v),
        potential=jax.vmap(lambda a: potential_energy(mechanism, a))(rows.y.q),
        **ledger,
        effort=jax.vmap(effort)(rows),
        force=rows.force,
        modes=rows.modes,
        events=log,
        n_events=loop.events,
        drift=loop.drift,
        steps=loop.steps,
        result=_result(loop),
    )
    # What was not reached is not a number.
    return _blank(trajectory, reached)


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
