"""One explicit Runge-Kutta step whose last stage is kept.

diffrax owns the coefficients. Its own `step` hides the last stage, which here carries what the
event functions need (contact forces at the end of the step), so the stages are written out.
"""

from collections.abc import Callable
from typing import Any

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

from stiction._arrays import Array, Scalar

# Explicit methods whose last stage is the first of the next step.
TABLEAUS = {"tsit5": diffrax.Tsit5.tableau, "dopri5": diffrax.Dopri5.tableau}

_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 5.0


def explicit_step(
    tableau: diffrax.ButcherTableau,
    field: Callable[[Scalar, Any], tuple[Any, Any]],
    t: Scalar,
    y: Any,
    k1: Any,
    dt: Scalar,
) -> tuple[Any, Any, Any, Any]:
    """A step from (t, y) over dt, given the derivative k1 there.

    Args:
        tableau: The method; its last stage is at the new state.
        field: (t, y) to (dy/dt, whatever else is known there).
        t: Time.
        y: State, a pytree.
        k1: dy/dt at (t, y).
        dt: Length of the step.

    Returns:
        The new state, its error estimate, dy/dt at the new state, and whatever else is known there.
    """
    stages = [k1]
    y_next, k, seen = y, k1, None
    for c, row in zip(tableau.c, tableau.a_lower, strict=True):
        y_next = _combine(y, stages, row, dt)
        k, seen = field(t + float(c) * dt, y_next)
        stages.append(k)
    error = _combine(None, stages, tableau.b_error, dt)
    return y_next, error, k, seen


def _combine(y: Any, stages: list[Any], weights: np.ndarray, dt: Scalar) -> Any:
    """y + dt Σ weight · stage, leaf by leaf; zero weights cost nothing."""

    def combine(*leaves: Array) -> Array:
        terms = [float(w) * k for w, k in zip(weights, leaves, strict=False) if w != 0]
        return dt * sum(terms[1:], terms[0])

    change = jax.tree.map(combine, *stages[: len(weights)])
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
