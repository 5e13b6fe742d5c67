"""Numbers of a law that may differ from contact to contact and from lane to lane of a batch."""

from typing import Any

import jax.numpy as jnp

from stiction._arrays import Array
from stiction._errors import InputError
from stiction.surfaces import Contacts


def spread_by_contact(
    values: dict[str, Array], contacts: Contacts, batch: tuple[int, ...], dtype: Any
) -> tuple[dict[str, Array], tuple[int, ...]]:
    """The values with a last axis for contacts, and the batch with the axes that they bring.

    Values have the shape (), (n,), (*batch,) or (*batch, n).
    """
    n = contacts.count
    spread = {}
    for name, given in values.items():
        value = jnp.asarray(given, dtype)
        by_contact = value.shape == (n,) or (value.ndim > 1 and value.shape[-1] in (1, n))
        spread[name] = value if by_contact else value[..., None]
        try:
            batch = jnp.broadcast_shapes(batch, spread[name].shape[:-1])
        except ValueError:
            raise InputError(
                f"`contact.{name}` must be one number or {n} (one for each contact:"
                f" {', '.join(contacts.names)}), got {jnp.shape(given)}"
            ) from None
    return spread, batch
