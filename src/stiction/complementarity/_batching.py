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


def in_turn_on_cpu(function: Callable) -> Callable:
    """Let `vmap` of an iterative function run lanes one after the other on a CPU.

    Under a plain `vmap` every lane works until the slowest is done. A GPU has nothing better to do;
    on a CPU, where lanes share the cores anyway, each lane should stop when it has its answer.
    """
    mapped = jax.custom_batching.custom_vmap(function)

    @mapped.def_vmap
    def _(axis_size, in_batched, *args):
        args = spread(args, tuple(in_batched), axis_size)
        out = lax.platform_dependent(
            *args,
            cpu=lambda *args: lax.map(lambda lane: mapped(*lane), args),
            default=lambda *args: jax.vmap(function)(*args),
        )
        return out, jax.tree.map(lambda _: True, out)

    return mapped
