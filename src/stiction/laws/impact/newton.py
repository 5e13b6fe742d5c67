"""The root of a scalar function by a fixed number of Newton steps.

optimistix iterates until a tolerance is met, so that under `vmap` all lanes wait for the slowest;
here the guesses are good enough for a number of steps that is known beforehand.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from stiction._base.arrays import Scalar


def newton_root(function: Callable[[Scalar], Scalar], guess: Scalar, *, steps: int) -> Scalar:
    """The root near a guess. Differentiates by the implicit function theorem, to any order."""

    def solve(f: Callable[[Scalar], Scalar], x: Scalar) -> Scalar:
        def step(_: Any, x: Scalar) -> Scalar:
            value, slope = jax.jvp(f, (x,), (jnp.ones_like(x),))
            return x - value / slope

        return jax.lax.fori_loop(0, steps, step, x)

    return jax.lax.custom_root(function, guess, solve, lambda g, y: y / g(jnp.ones_like(y)))
