"""Values as they come in, checked: each failure names the argument and what it must be."""

import numpy as np
from jaxtyping import Float

from stiction._errors import InputError

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
