"""How a solver's loops are run for a batch."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax


def spread(tree, batched, size: int):
    """Give every leaf the batch axis, as `custom_vmap` rules need."""

    def one(leaf, has_axis):
        return leaf if has_axis else jnp.broadcast_to(leaf, (size, *jnp.shape(leaf)))

    return jax.tree.map(one, tree, batched)


def in_parts_on_cpu(function: Callable, lanes: int = 1) -> Callable:
    """Let `vmap` of an iterative function run a few lanes at a time on a CPU.

    Under a plain `vmap` every lane works until the slowest is done, and all data pass through memory
    at every step. A GPU wants it so; on a CPU a lane should stop when it has its answer, and work in
    the cache.

    Args:
        function: Of arrays, to arrays.
        lanes: How many lanes go together.
    """
    mapped = jax.custom_batching.custom_vmap(function)

    @mapped.def_vmap
    def _(axis_size, in_batched, *args):
        args = spread(args, tuple(in_batched), axis_size)
        together = jax.vmap(function)

        def in_parts(*args):
            if axis_size <= lanes:
                return together(*args)
            part = None if lanes == 1 else lanes
            return lax.map(lambda lane: mapped(*lane), args, batch_size=part)

        out = lax.platform_dependent(*args, cpu=in_parts, default=together)
        return out, jax.tree.map(lambda _: True, out)

    return mapped
