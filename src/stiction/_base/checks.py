"""Values as they come in, checked: each failure names the argument and what it must be.

Parameters of laws are turned into arrays, and checked when their value is known: inside `jit`,
`vmap` and `grad` it is not, nothing is checked, and nothing is slower (`require_…`). Numbers of
problems that NumPy solves are given back as arrays of the shape that they must have. JAX is not
imported here, because `stiction motions` answers without it.
"""

import sys
from typing import Any

import numpy as np
from jaxtyping import Float

from stiction._base.errors import InputError

ArrayLike = Any  # numbers, lists, NumPy arrays, JAX arrays and tracers
LARGEST = 1e30  # of a mechanism's numbers and states: energies and what is drawn stay finite


def to_float(value: ArrayLike) -> Any:
    """A JAX array of real numbers; single precision stays single."""
    import jax.numpy as jnp

    array = jnp.asarray(value)
    return array if jnp.issubdtype(array.dtype, jnp.floating) else array.astype(float)


def known(value: ArrayLike) -> np.ndarray | None:
    """The value as a NumPy array, or None while JAX is tracing."""
    jax = sys.modules.get("jax")  # where it is not loaded nothing is being traced
    return None if jax and isinstance(value, jax.core.Tracer) else np.asarray(value)


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


def require_moderate(name: str, value: ArrayLike) -> None:
    """Every entry must be a number below `LARGEST`, of either sign."""
    _require(name, value, lambda x: np.abs(x) < LARGEST, f"finite and below {LARGEST:g}")


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


Values = Float[np.ndarray, "..."] | float | int | list | tuple


def positive(name: str, value: float, unit: str) -> float:
    """A finite number > 0."""
    number = float(value)
    if not (np.isfinite(number) and number > 0):
        raise InputError(f"`{name}` must be a finite number > 0 [{unit}], got {value!r}")
    return number


def finite_array(name: str, value: Values, shape: tuple[int, ...]) -> Float[np.ndarray, "..."]:
    """Finite numbers of the given shape, where -1 stands for any length."""
    array = np.asarray(value, float)
    if array.size == 0 and shape[0] in (-1, 0):
        array = array.reshape(0, *shape[1:])
    matches = array.ndim == len(shape) and all(
        wanted in (-1, n) for wanted, n in zip(shape, array.shape, strict=True)
    )
    if not matches:
        wanted = " x ".join("k" if s == -1 else str(s) for s in shape)
        raise InputError(f"`{name}` must have the shape {wanted}, got {array.shape}")
    if not np.all(np.isfinite(array)):
        raise InputError(f"`{name}` must be finite, got {array.tolist()}")
    return array


def unit_vectors(name: str, value: Values, shape: tuple[int, ...]) -> Float[np.ndarray, "k d"]:
    """Directions made unit."""
    vectors = finite_array(name, value, shape)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.all(lengths > 0):
        raise InputError(f"`{name}` must not be zero: a direction is needed")
    return vectors / lengths


def friction_coefficients(name: str, value: Values, k: int) -> Float[np.ndarray, " k"]:
    """One coefficient >= 0 for each contact; a single number serves all."""
    array = np.asarray(value, float)
    mu = finite_array(name, np.full(k, array) if array.ndim == 0 else array, (k,))
    if np.any(mu < 0):
        raise InputError(f"`{name}` must be >= 0, got {mu.min():g}")
    return mu
