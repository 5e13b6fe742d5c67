r"""Smooth constrained optimisation by a primal-dual interior-point method, for batches of starts.

$$ \min f(x) \quad\text{such that}\quad c(x) = 0,\quad g(x) \ge 0 . $$

No library that runs under `jax.vmap` has one. Exact first derivatives; the curvature of the
Lagrangian by damped BFGS updates (its exact second derivatives take ten times as long to compile
and lead to the same points); an l1 merit function; after [NocedalWright2006], chapters 18 and 19.
Each lane is one start; lanes that do not converge say so by their residual.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float, Int, Scalar
from stiction._base.linear import cholesky, solve_factored, solve_lower, solve_upper

_TO_BOUNDARY = 0.995
_LEAST_BARRIER = 1e-11
_SHORTER = 0.5 ** np.arange(8.0)  # steps tried
_REDUNDANT = 1e-13
_FIRST_SLACK = 1e-2

Program = Callable[[Array], tuple[Array, Array, Array]]


class Minimum(NamedTuple):
    """Where a start has led to."""

    x: Float[Array, " n"]
    residual: Scalar  # of the KKT conditions, in the units of the program
    steps: Int[Array, ""]
    y: Array  # multipliers of the equations
    z: Array  # multipliers of the inequalities


class _State(NamedTuple):
    x: Array
    t: Array  # slacks of the inequalities
    y: Array
    z: Array
    B: Array  # curvature of the Lagrangian
    x_before: Array
    slopes_before: tuple[Array, Array, Array]  # of f, c and g
    barrier: Array
    penalty: Array
    residual: Array
    steps: Array


def minimize(
    program: Program, x0: Float[Array, " n"], *, tolerance: float, max_steps: int | Int[Array, ""]
) -> Minimum:
    """A local minimum near x0. `program(x)` gives f, c and g, all of size about one."""

    def merit(x: Array, t: Array, barrier: Array, penalty: Array) -> Array:
        f, c, g = program(x)
        inside = jnp.all(t > 0)
        log = jnp.sum(jnp.log(jnp.where(t > 0, t, 1.0)))
        value = f - barrier * log + penalty * (jnp.sum(jnp.abs(c)) + jnp.sum(jnp.abs(g - t)))
        return jnp.where(inside & jnp.isfinite(value), value, jnp.inf)

    def step(s: _State) -> _State:
        (df, Jc, Jg), (_, c, g) = jax.jacfwd(_twice(program), has_aux=True)(s.x)
        first = s.steps == 0
        t = jnp.where(first, jnp.maximum(g, _FIRST_SLACK), s.t)
        z = jnp.where(first, s.barrier / t, s.z)
        slope = df + Jc.T @ s.y - Jg.T @ z
        df0, Jc0, Jg0 = s.slopes_before
        change = slope - (df0 + Jc0.T @ s.y - Jg0.T @ z)
        B = jnp.where(first, s.B, _damped_bfgs(s.B, s.x - s.x_before, change))
        missed = g - t
        flat, off = _largest(slope), jnp.maximum(_largest(c), _largest(missed))
        wrong = jnp.maximum(flat, off)
        residual = jnp.maximum(wrong, _largest(t * z))
        centred = jnp.maximum(wrong, _largest(t * z - s.barrier))
        lower = jnp.maximum(_LEAST_BARRIER, jnp.minimum(0.2 * s.barrier, s.barrier**1.5))
        barrier = jnp.where(centred <= 10 * s.barrier, lower, s.barrier)

        sigma = z / t
        K = B + (Jg.T * sigma[None, :]) @ Jg
        right = -df + Jg.T @ (barrier / t - sigma * missed)
        # [K Jcᵀ; Jc 0] by the complement of K; a little is added where equations are redundant.
        L = cholesky(K)
        half = solve_lower(L, jnp.concatenate([Jc.T, right[:, None]], axis=1))
        Y, r = half[:, :-1], half[:, -1]
        S = Y.T @ Y
        S = S + _REDUNDANT * jnp.max(jnp.diag(S)) * jnp.eye(c.size, dtype=c.dtype)
        y = solve_factored(cholesky(S), Y.T @ r + c)
        dx = solve_upper(L, r - Y @ y)
        dt = Jg @ dx + missed
        dz = barrier / t - z - sigma * dt
        length, length_z = _longest(t, dt), _longest(z, dz)
        # Down the merit function.
        needed = 1.2 * jnp.maximum(_largest(y), _largest(z + dz)) + 0.1
        # It may fall again: large multipliers on the way must not shorten all later steps.
        penalty = jnp.maximum(0.7 * s.penalty, needed)
        violation = jnp.sum(jnp.abs(c)) + jnp.sum(jnp.abs(missed))
        descent = df @ dx - barrier * jnp.sum(dt / t) - penalty * violation
        tried = jnp.concatenate([jnp.zeros(1, t.dtype), length * jnp.asarray(_SHORTER, t.dtype)])
        values = jax.vmap(lambda a: merit(s.x + a * dx, t + a * dt, barrier, penalty))(tried)
        here, values, tried = values[0], values[1:], tried[1:]
        enough = values <= here + 1e-4 * tried * jnp.minimum(descent, 0.0) + 1e-13 * jnp.abs(here)
        a = tried[jnp.where(jnp.any(enough), jnp.argmax(enough), jnp.argmin(values))]
        t_next = t + a * dt
        # Multipliers stay near the central path, so that a poor step does not spoil the next.
        z_next = jnp.clip(z + length_z * dz, barrier / (1e10 * t_next), 1e10 * barrier / t_next)
        moved = _State(
            x=s.x + a * dx,
            t=t_next,
            y=s.y + a * (y - s.y),
            z=z_next,
            B=B,
            x_before=s.x,
            slopes_before=(df, Jc, Jg),
            barrier=barrier,
            penalty=penalty,
            residual=residual,
            steps=s.steps + 1,
        )
        fine = jnp.all(jnp.isfinite(moved.x)) & jnp.isfinite(residual)
        done = residual <= tolerance
        end = s._replace(residual=jnp.where(fine, residual, jnp.inf),
                         steps=jnp.where(done, s.steps, max_steps))  # fmt: skip
        return jax.tree.map(lambda a, b: jnp.where(fine & ~done, a, b), moved, end)

    def unfinished(s: _State) -> Array:
        return (s.residual > tolerance) & (s.steps < max_steps)

    n = x0.size
    _, c, g = jax.eval_shape(program, x0)
    one, dtype = jnp.ones((), x0.dtype), x0.dtype
    nothing = jnp.zeros(n, dtype), jnp.zeros((c.size, n), dtype), jnp.zeros((g.size, n), dtype)
    start = _State(
        x0, jnp.ones(g.size, dtype), jnp.zeros(c.size, dtype), jnp.ones(g.size, dtype),
        jnp.eye(n, dtype=dtype), x0, nothing, 0.1 * one, one, jnp.inf * one, jnp.asarray(0),
    )  # fmt: skip
    end = jax.lax.while_loop(unfinished, step, start)
    return Minimum(end.x, end.residual, end.steps, end.y, end.z)


def _twice(program: Program) -> Callable:
    """What a program gives, once to be differentiated and once as it is."""

    def both(x: Array):
        values = program(x)
        return values, values

    return both


def _damped_bfgs(B: Array, dx: Array, change: Array) -> Array:
    """Powell's update [NocedalWright2006, 18.3]: B stays positive definite, whatever the change."""
    Bdx = B @ dx
    bend = dx @ Bdx
    some = bend > 1e-30
    safe = jnp.where(some, bend, 1.0)
    seen = dx @ change
    keep = jnp.where(seen >= 0.2 * bend, 1.0, 0.8 * bend / jnp.where(some, bend - seen, 1.0))
    r = keep * change + (1 - keep) * Bdx
    along = jnp.where(some, dx @ r, 1.0)
    new = B - Bdx[:, None] * Bdx[None, :] / safe + r[:, None] * r[None, :] / along
    return jnp.where(some & jnp.all(jnp.isfinite(new)), new, B)


def _largest(x: Array) -> Scalar:
    return jnp.max(jnp.abs(x), initial=0.0)


def _longest(x: Array, dx: Array) -> Scalar:
    """The longest step, up to 1, that keeps x positive."""
    ratio = jnp.where(dx < 0, -x / jnp.where(dx < 0, dx, 1.0), jnp.inf)
    return jnp.minimum(1.0, _TO_BOUNDARY * jnp.min(ratio, initial=jnp.inf))
