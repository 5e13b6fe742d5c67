"""Numbers of a law that may differ from contact to contact and from lane to lane of a batch."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from stiction._arrays import Array, ArrayLike
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


def check_bounds(field: str, value: ArrayLike, low: float, high: float = np.inf) -> None:
    """Raise an `InputError` unless all numbers lie in [low, high]; traced ones are not looked at.

    Args:
        field: The name of the field in a scenario.
        value: The numbers.
        low: The least.
        high: The largest.
    """
    if isinstance(value, jax.core.Tracer):
        return
    array = np.asarray(value)
    if not np.all((array >= low) & (array <= high)):
        bound = f"in [{low:g}, {high:g}]" if np.isfinite(high) else f">= {low:g}"
        raise InputError(f"`{field}` must be {bound}, got {array}")
