"""A field that may differ by contact: a number, a list, or a table by contact's name."""

import jax.numpy as jnp
import numpy as np

from stiction._errors import InputError, unknown
from stiction.scenes.scenario import PerContact
from stiction.surfaces import Contacts


def per_contact(
    field: str, given: PerContact, default: PerContact, contacts: Contacts
) -> jnp.ndarray:
    """One value for each contact."""
    n = contacts.count
    if isinstance(given, dict):
        values = np.full(n, default, float)
        for name, value in given.items():
            if name not in contacts.names:
                raise unknown(f"contact in `contact.{field}`", name, contacts.names)
            values[contacts.names.index(name)] = value
        return jnp.asarray(values)
    if isinstance(given, list) and len(given) != n:
        raise InputError(
            f"`contact.{field}` must be one number or {n} (one for each contact:"
            f" {', '.join(contacts.names)}), got {len(given)}"
        )
    return jnp.asarray(np.broadcast_to(np.array(given, float), (n,)).copy())
