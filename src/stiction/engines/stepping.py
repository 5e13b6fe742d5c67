"""The law of rigid contacts in fixed steps: all of a step in one complementarity problem."""

from typing import Any, Literal, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._base import defaults
from stiction._base.arrays import Array, ArrayLike, Float, is_traced
from stiction._base.checks import require_at_least, require_positive, require_restitution
from stiction._base.errors import unknown
from stiction.engines.by_contact import spread_by_contact
from stiction.impacts import RestitutionLaw
from stiction.laws import require_friction_pair
from stiction.surfaces import Contacts

StepSolver = Literal["newton", "lcp"]

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
        solver: "newton" for exact friction cones, "lcp" for pyramids by Lemke's method.
        restitution_law: "newton", on velocities, or "poisson", on impulses.
        sides: Of the pyramids of "lcp".
    """

    dt: Float[Array, "..."] = eqx.field(converter=jnp.asarray, default=defaults.DT)
    restitution: Float[Array, "..."] = eqx.field(
        converter=jnp.asarray, default=defaults.RESTITUTION
    )
    mu_static: Float[Array, "..."] = eqx.field(converter=jnp.asarray, default=defaults.MU_STATIC)
    mu_dynamic: Float[Array, "..."] = eqx.field(converter=jnp.asarray, default=defaults.MU_DYNAMIC)
    rest_speed: Float[Array, "..."] = eqx.field(converter=jnp.asarray, default=defaults.REST_SPEED)
    energetic: Float[Array, "..."] | None = eqx.field(converter=_or_none, default=None)
    solver: StepSolver = eqx.field(static=True, default="newton")
    restitution_law: RestitutionLaw = eqx.field(static=True, default="newton")
    sides: int = eqx.field(static=True, default=defaults.PYRAMID_SIDES)

    def __check_init__(self):
        if self.solver not in get_args(StepSolver):
            raise unknown("`contact.solver`", self.solver, get_args(StepSolver))
        if self.restitution_law not in get_args(RestitutionLaw):
            known = get_args(RestitutionLaw)
            raise unknown("`contact.restitution_law`", self.restitution_law, known)
        require_restitution("contact.restitution", self.restitution)
        for name in ("mu_static", "mu_dynamic", "rest_speed"):
            require_at_least(f"contact.{name}", getattr(self, name), 0.0)
        if self.energetic is not None:
            require_at_least("contact.energetic", self.energetic, 0.0)
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
            solver=self.solver,
            restitution_law=self.restitution_law,
            sides=self.sides,
        )
        return law, batch

    def steps_between_samples(self, until: Float[ArrayLike, "*batch"], samples: int) -> Any:
        """How many steps lie between two samples, the same in all lanes of a batch."""
        if not is_traced((until, self.dt)):
            wanted = np.max(np.asarray(until) / ((samples - 1) * np.asarray(self.dt)))
            return max(int(np.ceil(wanted * (1 - 1e-6))), 1)
        wanted = jnp.max(jax.lax.stop_gradient(until / ((samples - 1) * self.dt)))
        # A step may be longer than dt by rounding.
        return jnp.maximum(jnp.ceil(wanted * (1 - 1e-6)).astype(int), 1)
