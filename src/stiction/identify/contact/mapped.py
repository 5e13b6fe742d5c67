"""Functions of many samples, compiled for logs of any length.

XLA compiles a program for every shape. Samples are therefore padded to a multiple of `STEP`, so
that logs of similar length, and a log that some rows were left out of, share a program.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from stiction._base.compile import quick_jit

STEP = 64  # samples


def sample_jit(common: int) -> Callable[[Callable], Callable]:
    """`quick_jit` for a function whose arguments after the first `common` are samples.

    Their leading axis is that of the samples, and so is that of all results, each of which must
    depend on its own sample or on earlier ones alone.
    """

    def of(f: Callable) -> Callable:
        compiled = quick_jit(f)

        @functools.wraps(f)
        def call(*args: Any) -> Any:
            samples = args[common:]
            leaves = jax.tree.leaves(samples)
            if not leaves or any(isinstance(leaf, Tracer) for leaf in leaves):
                return compiled(*args)
            n = len(leaves[0])
            if n % STEP == 0:
                return compiled(*args)

            out = compiled(*args[:common], *jax.tree.map(_longer, samples))
            return jax.tree.map(lambda x: jnp.asarray(np.asarray(x)[:n]), out)

        return call

    return of


def _longer(x: Any) -> np.ndarray:
    """Samples with the last one repeated, up to a multiple of `STEP`."""
    x = np.asarray(x)
    return np.concatenate([x, np.repeat(x[-1:], -len(x) % STEP, axis=0)])
