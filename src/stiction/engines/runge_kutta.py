"""Explicit Runge-Kutta steps whose last stage, at the new state, is looked at more closely.

diffrax owns the coefficients. Its own `step` hides the last stage, which here carries what the
event functions need (contact forces at the end of the step) and belongs to the corrected state.
"""

import functools
from collections.abc import Callable
from typing import Any

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

from stiction._arrays import Array, ArrayLike, Scalar

# Explicit methods whose last stage is the first of the next step.
_TABLEAUS = {
    "auto": diffrax.Tsit5.tableau,
    "tsit5": diffrax.Tsit5.tableau,
    "dopri5": diffrax.Dopri5.tableau,
}

_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 5.0


def explicit_step(
    tableau: diffrax.ButcherTableau,
    look: Callable[[Scalar, Any], tuple[Any, Any]],
    finish: Callable[[Any], Any],
    t: Scalar,
    y: Any,
    k1: Any,
    dt: Scalar,
) -> tuple[Any, Any, Any, Any]:
    """A step from (t, y) over dt.

    A loop over the stages, the last one included, so that `look` is compiled once.

    Args:
        tableau: The method; its last stage is at the new state.
        look: (t, y) to dy/dt and whatever else there is to know.
        finish: What is done to the new state before it is looked at.
        t: Time.
        y: State, a pytree.
        k1: dy/dt at (t, y).
        dt: Length of the step.

    Returns:
        The new state, dy/dt there, what else there is to know there, and the error estimate.
    """
    rows = tableau.a_lower
    count = len(rows) + 1
    weights = np.zeros((count - 1, count))
    for i, row in enumerate(rows):
        weights[i, : len(row)] = row
    a, c = jnp.asarray(weights), jnp.asarray(tableau.c)
    stages = jax.tree.map(lambda k: jnp.zeros((count, *k.shape), k.dtype).at[0].set(k), k1)

    # What can be had from the stages afterwards is not carried along: each array of the loop costs.
    def stage(i: Array, carry: tuple) -> tuple:
        stages, _ = carry
        new = combine(y, stages, a[i], dt)
        new = jax.tree.map(lambda x, z: jnp.where(i == count - 2, x, z), finish(new), new)
        k, more = look(t + c[i].astype(dt.dtype) * dt, new)
        return jax.tree.map(lambda s, x: s.at[i + 1].set(x), stages, k), more

    shapes = jax.eval_shape(look, t, y)[1]
    nothing = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)
    stages, more = jax.lax.fori_loop(0, count - 1, stage, (stages, nothing))
    new = finish(combine(y, stages, a[-1], dt))
    k = jax.tree.map(lambda s: s[-1], stages)
    return new, k, more, combine(None, stages, tableau.b_error, dt)


EXPLICIT = {name: functools.partial(explicit_step, tableau) for name, tableau in _TABLEAUS.items()}


def combine(y: Any, stages: Any, weights: ArrayLike, dt: Scalar) -> Any:
    """y + dt Σ weight · stage; without y, the sum alone."""

    def total(k: Array) -> Array:
        return dt * jnp.tensordot(jnp.asarray(weights, k.dtype), k, axes=1)

    change = jax.tree.map(total, stages)
    return change if y is None else jax.tree.map(jnp.add, y, change)


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
