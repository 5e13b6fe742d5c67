"""Numbers of a law: one for all contacts and lanes of a batch, or one for each."""

from typing import Any

import jax.numpy as jnp

from stiction._arrays import Array
from stiction._errors import InputError
from stiction.surfaces import Contacts


def spread(
    values: dict[str, Array], contacts: Contacts, batch: tuple[int, ...], dtype: Any
) -> tuple[dict[str, Array], tuple[int, ...]]:
    """The same with one value for each contact as the last axis, and the batch of all of them.

    Args:
        values: Numbers of shape (), (n,) for each contact, (*batch,) or (*batch, n), by name.
        contacts: What may touch.
        batch: Other leading axes.
        dtype: Of the numbers.
    """
    n, last = contacts.count, {}
    for name, given in values.items():
        value = jnp.asarray(given, dtype)
        by_contact = value.shape == (n,) or (value.ndim > 1 and value.shape[-1] in (1, n))
        last[name] = value if by_contact else value[..., None]
        try:
            batch = jnp.broadcast_shapes(batch, last[name].shape[:-1])
        except ValueError:
            raise InputError(
                f"`contact.{name}` must be one number or {n} (one for each contact:"
                f" {', '.join(contacts.names)}), got {jnp.shape(given)}"
            ) from None
    return last, batch
