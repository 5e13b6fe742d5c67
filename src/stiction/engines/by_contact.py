"""Numbers of a law that may differ from contact to contact and from lane to lane of a batch."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, ArrayLike, is_traced
from stiction._base.errors import InputError
from stiction.surfaces import Contacts


def spread_by_contact(
    values: dict[str, Array], contacts: Contacts, batch: tuple[int, ...], dtype: Any
) -> tuple[dict[str, ArrayLike], tuple[int, ...]]:
    """The values with a last axis for contacts, and the batch with the axes that they bring.

    Values have the shape (), (n,), (*batch,) or (*batch, n).
    """
    n = contacts.count
    spread = {}
    for name, given in values.items():
        # Where numbers are known NumPy does this in a tenth of the time.
        value = jnp.asarray(given, dtype) if is_traced(given) else np.asarray(given, dtype)
        by_contact = value.shape == (n,) or (value.ndim > 1 and value.shape[-1] in (1, n))
        spread[name] = value if by_contact else value[..., None]
        try:
            batch = np.broadcast_shapes(batch, spread[name].shape[:-1])
        except ValueError:
            raise InputError(
                f"`contact.{name}` must be one number or {n} (one for each contact:"
                f" {', '.join(contacts.names)}), got {jnp.shape(given)}"
            ) from None
    return spread, batch


def broadcast(x: ArrayLike, shape: tuple[int, ...]) -> ArrayLike:
    """x in a shape, by NumPy where its numbers are known."""
    return (jnp if is_traced(x) else np).broadcast_to(x, shape)
