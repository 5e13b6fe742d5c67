"""How long steps may be: their error over what is tolerated, and the next length."""

from typing import Any

import jax
import jax.numpy as jnp

from stiction._base.arrays import Array, Scalar

_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 5.0


def error_ratio(error: Any, y: Any, y_next: Any, rtol: Scalar, atol: Scalar) -> Scalar:
    """Root mean square of the error over what is tolerated: at most 1 for an accepted step."""

    def square(e: Array, a: Array, b: Array) -> Array:
        return jnp.sum((e / (atol + rtol * jnp.maximum(jnp.abs(a), jnp.abs(b)))) ** 2)

    squares = jax.tree.leaves(jax.tree.map(square, error, y, y_next))
    count = sum(leaf.size for leaf in jax.tree.leaves(error))
    return jnp.sqrt(sum(squares[1:], squares[0]) / count)


def next_step(dt: Scalar, ratio: Scalar, order: int) -> Scalar:
    """The step that the error of this one asks for."""
    wanted = _SAFETY * jnp.maximum(ratio, 1e-10) ** (-1 / order)
    wanted = jnp.where(jnp.isfinite(ratio), wanted, _SHRINK)
    return dt * jnp.clip(wanted, _SHRINK, _GROW)
