"""Parameters of laws: turned into arrays at the door, and checked there when their value is known.

Inside `jit`, `vmap` and `grad` the value is not known: nothing is checked, and nothing is slower.
"""

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from stiction._arrays import Array, ArrayLike
from stiction._errors import InputError


def to_float(value: ArrayLike) -> Array:
    """An array of real numbers; single precision stays single."""
    array = jnp.asarray(value)
    return array if jnp.issubdtype(array.dtype, jnp.floating) else array.astype(float)


def known(value: ArrayLike) -> np.ndarray | None:
    """The value as a NumPy array, or None while JAX is tracing."""
    return None if isinstance(value, Tracer) else np.asarray(value)


def require_at_least(name: str, value: ArrayLike, bound: float, unit: str = "") -> None:
    """Every entry must be a finite number >= `bound`."""
    _require(name, value, lambda x: x >= bound, f"at least {bound:g}{_in(unit)}")


def require_positive(name: str, value: ArrayLike, unit: str = "") -> None:
    """Every entry must be a finite number > 0."""
    _require(name, value, lambda x: x > 0, f"positive{_in(unit)}")


def require_restitution(name: str, value: ArrayLike, *, zero: bool = True) -> None:
    """Every entry must lie in [0, 1], or in (0, 1] where a law divides by it."""
    if zero:
        _require(name, value, lambda x: (x >= 0) & (x <= 1), "in [0, 1]")
    else:
        _require(name, value, lambda x: (x > 0) & (x <= 1), "in (0, 1]")


def _require(name: str, value: ArrayLike, holds, what: str) -> None:
    numbers = known(value)
    if numbers is None:
        return
    good = np.isfinite(numbers) & holds(numbers)
    if not np.all(good):
        got = np.atleast_1d(numbers)[~np.atleast_1d(good)][0]
        raise InputError(f"`{name}` must be {what}, got {got:g}")


def _in(unit: str) -> str:
    return f" [{unit}]" if unit else ""
