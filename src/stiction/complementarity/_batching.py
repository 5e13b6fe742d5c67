"""How a solver's loops are run for a batch."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import PyTree

from stiction._base.arrays import Array


def spread(tree: PyTree, batched: PyTree[bool], size: int) -> PyTree:
    """Give every leaf the batch axis, as `custom_vmap` rules need."""

    def one(leaf: Any, has_axis: bool) -> Any:
        return leaf if has_axis else jnp.broadcast_to(leaf, (size, *jnp.shape(leaf)))

    return jax.tree.map(one, tree, batched)


def in_parts_on_cpu(function: Callable, lanes: int = 1) -> Callable:
    """Let `vmap` of an iterative function run a few lanes at a time on a CPU.

    Under a plain `vmap` every lane works until the slowest is done, and all data pass through
    memory at every step. A GPU wants it so; on a CPU a lane should stop when it has its answer, and
    work in the cache.
    """
    mapped = jax.custom_batching.custom_vmap(function)

    @mapped.def_vmap
    def _(axis_size: int, in_batched: Any, *args: PyTree) -> tuple[PyTree, PyTree[bool]]:
        args = spread(args, tuple(in_batched), axis_size)
        together = jax.vmap(function)

        def in_parts(*args: PyTree) -> PyTree:
            if lanes == 1:
                return lax.map(lambda lane: function(*lane), args)
            width = _width(axis_size, lanes)
            parts = -(-axis_size // width)
            missing = parts * width - axis_size

            def cut(leaf: Any) -> Array:
                # The last part is filled up with copies of the last lane.
                leaf = jnp.concatenate([leaf, *[leaf[-1:]] * missing]) if missing else leaf
                return leaf.reshape(parts, width, *leaf.shape[1:])

            out = lax.map(lambda part: together(*part), jax.tree.map(cut, args))
            return jax.tree.map(
                lambda leaf: leaf.reshape(parts * width, *leaf.shape[2:])[:axis_size], out
            )

        out = lax.platform_dependent(*args, cpu=in_parts, default=together)
        return out, jax.tree.map(lambda _: True, out)

    return mapped


def _width(size: int, lanes: int) -> int:
    """Lanes of a part: a divisor of the batch, if one is near, so that nothing is copied."""
    divisors = [d for d in range(lanes, lanes // 2, -1) if size % d == 0]
    return divisors[0] if divisors else min(lanes, size)
