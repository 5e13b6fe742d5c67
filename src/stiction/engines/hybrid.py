"""The law of rigid contacts with exact events: impacts, contacts that truly stick and slip."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from stiction._base import defaults
from stiction._base.arrays import Array, Float
from stiction._base.checks import require_at_least, require_restitution
from stiction._base.errors import unknown
from stiction.engines.by_contact import broadcast, spread_by_contact
from stiction.engines.given import unchecked
from stiction.impacts import ENERGY_METHODS, IMPACT_LAWS
from stiction.laws import require_friction_pair
from stiction.surfaces import Contacts

# In single precision a hop after a slower impact is lost in the rounding of the gap [m/s].
_SLOWEST_IN_SINGLE = 1e-2

_BY_CONTACT = (
    "restitution", "mu_static", "mu_dynamic", "rest_speed", "stribeck_speed", "stribeck_exponent",
)  # fmt: skip


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

    restitution: Float[Array, "..."] = eqx.field(
        converter=jnp.asarray, default=defaults.RESTITUTION
    )
    mu_static: Float[Array, "..."] = eqx.field(converter=jnp.asarray, default=defaults.MU_STATIC)
    mu_dynamic: Float[Array, "..."] = eqx.field(converter=jnp.asarray, default=defaults.MU_DYNAMIC)
    energetic: Float[Array, "..."] = eqx.field(converter=jnp.asarray, default=1.0)
    rest_speed: Float[Array, "..."] = eqx.field(converter=jnp.asarray, default=defaults.REST_SPEED)
    stribeck_speed: Float[Array, "..."] = eqx.field(
        converter=jnp.asarray, default=defaults.STRIBECK_SPEED
    )
    stribeck_exponent: Float[Array, "..."] = eqx.field(
        converter=jnp.asarray, default=defaults.STRIBECK_EXPONENT
    )
    impact: str = eqx.field(static=True, default=defaults.IMPACT)
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
        given = {name: getattr(self, name) for name in _BY_CONTACT}
        values, batch = spread_by_contact(given, contacts, batch, dtype)
        batch = np.broadcast_shapes(batch, np.shape(self.energetic))
        if jnp.dtype(dtype) != jnp.float64:
            values["rest_speed"] = jnp.maximum(values["rest_speed"], _SLOWEST_IN_SINGLE)
        shape = (*batch, contacts.count)
        spread = {name: broadcast(x, shape) for name, x in values.items()}
        require_friction_pair(spread["mu_static"], spread["mu_dynamic"])
        law = unchecked(
            Hybrid,
            **spread,
            energetic=broadcast(self.energetic, batch),
            impact=self.impact,
            energy_method=self.energy_method,
            sequence=self.sequence,
        )
        return law, batch
