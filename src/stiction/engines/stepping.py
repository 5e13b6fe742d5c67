"""The stepping engine: fixed steps, all contacts of a step in one complementarity problem."""

from typing import Any, Literal, get_args

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp

from stiction._arrays import Array, ArrayLike, Float, Int, Scalar
from stiction._checks import require_at_least, require_positive, require_restitution
from stiction._errors import InputError, unknown
from stiction.complementarity.impact import RestitutionLaw
from stiction.engines.by_contact import spread_by_contact
from stiction.engines.control import AbstractSwitchingControl
from stiction.engines.flow import LEDGER, Patterns
from stiction.engines.result import RESULTS, Trajectory
from stiction.engines.stepping_loop import run_steps
from stiction.laws.tangential.stribeck import require_friction_pair
from stiction.mechanism import (
    Mechanism,
    kinetic_energy,
    normalize,
    potential_energy,
)
from stiction.surfaces import Contacts

StepSolver = Literal["newton", "admm", "lcp"]

_BY_CONTACT = ("restitution", "mu_static", "mu_dynamic", "rest_speed")


def _or_none(x: ArrayLike | None) -> Array | None:
    return None if x is None else jnp.asarray(x)


class Stepping(eqx.Module):
    """How contacts rebound and rub when time goes in fixed steps.

    Attributes:
        dt: Longest step [s]; steps are shortened so that a whole number of them lies between
            samples.
        restitution: Normal restitution e, in [0, 1].
        mu_static: Friction of contacts that stuck in the last step.
        mu_dynamic: Friction of all others, at most the static one.
        rest_speed: Slower collisions do not rebound [m/s].
        energetic: e* of flickinger (5.2): the most of the kinetic energy that an impact may leave;
            None for no bound.
        tolerance: Residual of "newton", as a share of the largest contact velocity.
        solver: "newton" and "admm" for exact friction cones, the second with a fixed number of
            iterations (large batches, single precision); "lcp" for pyramids, by Lemke's method.
        restitution_law: "newton", on velocities, or "poisson", on impulses.
        iterations: Of "admm" in every step.
        sides: Of the pyramids of "lcp".
    """

    dt: Float[Array, "..."] = eqx.field(converter=jnp.asarray, default=1e-3)
    restitution: Float[Array, "..."] = eqx.field(converter=jnp.asarray, default=0.0)
    mu_static: Float[Array, "..."] = eqx.field(converter=jnp.asarray, default=0.74)
    mu_dynamic: Float[Array, "..."] = eqx.field(converter=jnp.asarray, default=0.57)
    rest_speed: Float[Array, "..."] = eqx.field(converter=jnp.asarray, default=1e-3)
    energetic: Float[Array, "..."] | None = eqx.field(converter=_or_none, default=None)
    tolerance: Scalar = eqx.field(converter=jnp.asarray, default=1e-8)
    solver: StepSolver = eqx.field(static=True, default="newton")
    restitution_law: RestitutionLaw = eqx.field(static=True, default="newton")
    iterations: int = eqx.field(static=True, default=50)
    sides: int = eqx.field(static=True, default=8)

    def __check_init__(self):
        if self.solver not in get_args(StepSolver):
            raise unknown("`contact.solver`", self.solver, get_args(StepSolver))
        if self.restitution_law not in get_args(RestitutionLaw):
            known = get_args(RestitutionLaw)
            raise unknown("`contact.restitution_law`", self.restitution_law, known)
        if self.iterations < 1:
            raise InputError(f"`contact.iterations` must be at least 1, got {self.iterations}")
        require_restitution("contact.restitution", self.restitution)
        for name in ("mu_static", "mu_dynamic", "rest_speed"):
            require_at_least(f"contact.{name}", getattr(self, name), 0.0)
        if self.energetic is not None:
            require_at_least("contact.energetic", self.energetic, 0.0)
        require_positive("contact.tolerance", self.tolerance)
        require_positive("solver.dt", self.dt, "s")

    def spread(
        self, contacts: Contacts, batch: tuple[int, ...], dtype: Any
    ) -> tuple["Stepping", tuple[int, ...]]:
        """The same with one value for each lane of a batch and each contact, and the batch."""
        values = {name: getattr(self, name) for name in _BY_CONTACT}
        values, batch = spread_by_contact(values, contacts, batch, dtype)
        dt = jnp.asarray(self.dt, dtype)
        energetic = None if self.energetic is None else jnp.asarray(self.energetic, dtype)
        batch = jnp.broadcast_shapes(batch, dt.shape, () if energetic is None else energetic.shape)
        values = {k: jnp.broadcast_to(x, (*batch, contacts.count)) for k, x in values.items()}
        require_friction_pair(values["mu_static"], values["mu_dynamic"])
        law = Stepping(
            dt=jnp.broadcast_to(dt, batch),
            **values,
            energetic=None if energetic is None else jnp.broadcast_to(energetic, batch),
            tolerance=jnp.broadcast_to(jnp.asarray(self.tolerance, dtype), batch),
            solver=self.solver,
            restitution_law=self.restitution_law,
            iterations=self.iterations,
            sides=self.sides,
        )
        return law, batch

    def steps_between_samples(self, until: Float[Array, "*batch"], samples: int) -> Int[Array, ""]:
        """How many steps lie between two samples, the same in all lanes of a batch."""
        wanted = jnp.max(jax.lax.stop_gradient(until / ((samples - 1) * self.dt)))
        # A step may be longer than dt by rounding.
        return jnp.maximum(jnp.ceil(wanted * (1 - 1e-6)).astype(int), 1)


def simulate_stepping(
    mechanism: Mechanism,
    q: Float[Array, "nq"],
    v: Float[Array, "nv"],
    *,
    until: Scalar,
    between: Int[Array, ""],
    contacts: Contacts,
    law: Stepping,
    control: AbstractSwitchingControl,
    samples: int,
    log: int,
    patterns: Patterns,
) -> Trajectory:
    """The motion with contacts, step by step.

    Args:
        mechanism: What moves.
        q: The initial configuration.
        v: The initial velocity.
        until: Duration [s].
        between: Steps from one sample to the next.
        contacts: What may touch.
        law: What contacts do.
        control: What the actuators are told.
        samples: Number of equally spaced times at which the motion is kept.
        log: Room for events; 0 keeps none.
        patterns: Which numbers of mechanism and contacts are known.
    """
    h = until / ((samples - 1) * between).astype(q.dtype)
    start = normalize(mechanism, q)
    end, rows, happenings = run_steps(
        mechanism, contacts, patterns, law, control, start, v, h, between, samples, log
    )

    finite = jnp.all(jnp.isfinite(end.q)) & jnp.all(jnp.isfinite(end.v))
    return Trajectory(
        time=jnp.linspace(0, 1, samples, dtype=q.dtype) * until,
        q=rows.q,
        v=rows.v,
        kinetic=jax.vmap(lambda a, b: kinetic_energy(mechanism, a, b))(rows.q, rows.v),
        potential=jax.vmap(lambda a: potential_energy(mechanism, a))(rows.q),
        **dict(zip(LEDGER, rows.ledger.T, strict=True)),
        effort=rows.effort,
        force=rows.force,
        modes=rows.modes,
        events=happenings,
        n_events=end.events,
        drift=end.drift,
        steps=(samples - 1) * between,
        result=RESULTS.where(
            finite, RESULTS.promote(diffrax.RESULTS.successful), RESULTS.not_finite
        ),
        residual=rows.residual,
    )
