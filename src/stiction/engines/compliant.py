"""The law of compliant contacts: springs, dampers and bristles."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction.engines.by_contact import spread_by_contact
from stiction.laws import AbstractNormalLaw, AbstractTangentialLaw, RegularizedCoulomb
from stiction.surfaces import Contacts


class Compliant(eqx.Module):
    """How contacts give way and rub: one law along the normal, one across it.

    The numbers of both are one for all contacts or one for each, and may have batch axes.

    Attributes:
        normal: Any law of `stiction.laws` along the normal.
        tangential: Any tangential law; no friction by default.
    """

    normal: AbstractNormalLaw
    tangential: AbstractTangentialLaw

    def __init__(self, normal: AbstractNormalLaw, tangential: AbstractTangentialLaw | None = None):
        self.normal = normal
        self.tangential = RegularizedCoulomb(mu=0.0) if tangential is None else tangential

    def spread(
        self, contacts: Contacts, batch: tuple[int, ...], dtype: Any
    ) -> tuple["Compliant", tuple[int, ...]]:
        """The same with one value for each lane of a batch and each contact, and the batch."""
        with_paths, structure = jax.tree.flatten_with_path(self)
        given = {jax.tree_util.keystr(path)[1:]: leaf for path, leaf in with_paths}
        values, batch = spread_by_contact(given, contacts, batch, dtype)
        shape = (*batch, contacts.count)
        leaves = [jnp.broadcast_to(x, shape) for x in values.values()]
        return jax.tree.unflatten(structure, leaves), batch

    def numbers(self, shape: tuple[int, ...]) -> np.ndarray:
        """The laws as rows of numbers, in the order of `core.layout`."""
        n, t = self.normal.power_law(), self.tangential.friction_law()
        row = (
            n.stiffness, n.exponent, n.closing, n.parting, n.damping, float(self.normal.clamp),
            t.mu_static, t.mu_dynamic, t.stribeck_speed, t.stribeck_power, t.slip_speed,
            t.stiffness, t.damping,
        )  # fmt: skip
        flat = [np.asarray(x).reshape(shape if np.ndim(x) else ()) for x in row]
        return np.stack([np.broadcast_to(x, shape) for x in flat], axis=-1)
