"""Newton's method on the Alart-Curnier equations of Coulomb friction.

Works on a `UnitProblem` (μ = 1); x is the impulse, u = W x + b the velocity of each contact.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from stiction._base.arrays import Array, Bool, Float, Int, Scalar
from stiction.complementarity.friction_cone import (
    Blocks,
    PerContact,
    UnitProblem,
    Vectors,
    norm,
)

# Trial step lengths 1, 1/2, …, all evaluated in one product.
BACKTRACKS = 10
SUFFICIENT_DECREASE = 1e-4
# Regularization of W relative to the residual: keeps hyperstatic contacts (singular W) solvable
# without slowing the last steps [Yamashita2001].
REGULARIZATION = 1e-3
MOST_REGULARIZATION = 1e-4


class Equations(NamedTuple):
    """F(x) = 0 and its derivative dF = A dx + B du, contact by contact."""

    F: Vectors
    A: Blocks
    B: Blocks


def alart_curnier(problem: UnitProblem, x: Vectors, u: Vectors) -> Equations:
    r"""The equations of [AlartCurnier1991],

    $$ F_n = x_n - (x_n - \rho_n u_n)_+ , \qquad
       F_t = x_t - P_{|\cdot| \le r} (x_t - \rho_t u_t) , \quad r = \pi + (x_n - \rho_n u_n)_+ , $$

    which vanish iff every contact obeys Coulomb's law (unit friction, preload π).
    """
    rho_n, rho_t = _steps(problem)
    normal = x[:, -1] - rho_n * u[:, -1]
    pressed = (normal > 0).astype(x.dtype)
    radius = problem.preload + pressed * normal
    trial = x[:, :-1] - rho_t[:, None] * u[:, :-1]
    size = norm(trial)
    slides = size > radius
    direction = trial / jnp.where(slides, size, 1)[:, None]

    F_n = x[:, -1] - pressed * normal
    F_t = jnp.where(
        slides[:, None], x[:, :-1] - radius[:, None] * direction, rho_t[:, None] * u[:, :-1]
    )

    # dP = P_t d(trial) + p_r dr
    identity = jnp.eye(x.shape[1] - 1, dtype=x.dtype)[None]
    shrink = (radius / jnp.where(slides, size, 1))[:, None, None]
    across = identity - direction[:, :, None] * direction[:, None, :]
    P_t = jnp.where(slides[:, None, None], shrink * across, identity)
    p_r = jnp.where(slides[:, None], direction, 0) * pressed[:, None]

    A = _blocks(identity - P_t, -p_r, 1 - pressed)
    B = _blocks(P_t * rho_t[:, None, None], p_r * rho_n[:, None], pressed * rho_n)
    return Equations(jnp.concatenate([F_t, F_n[:, None]], axis=1), A, B)


def _steps(problem: UnitProblem) -> tuple[PerContact, PerContact]:
    """ρ: the inverse of each contact's own normal and tangential stiffness."""
    diagonal = jnp.diagonal(problem.W).reshape(problem.b.shape)

    def inverse(d: PerContact) -> PerContact:
        return jnp.where(d > 0, 1 / jnp.where(d > 0, d, 1), 1)

    return inverse(diagonal[:, -1]), inverse(jnp.mean(diagonal[:, :-1], axis=1))


def _blocks(
    tangential: Float[Array, "n_contacts k k"],
    mixed: Float[Array, "n_contacts k"],
    normal: PerContact,
) -> Float[Array, "n_contacts dim dim"]:
    """[[tangential, mixed], [0, normal]] for every contact."""
    bottom = jnp.concatenate([jnp.zeros_like(mixed), normal[:, None]], axis=1)
    top = jnp.concatenate([tangential, mixed[:, :, None]], axis=2)
    return jnp.concatenate([top, bottom[:, None, :]], axis=1)


def block_diagonal(blocks: Blocks) -> Float[Array, "n n"]:
    """A block-diagonal matrix from its blocks."""
    count, dim, _ = blocks.shape
    same = jnp.eye(count, dtype=blocks.dtype)
    return (same[:, None, :, None] * blocks[:, :, None, :]).reshape(count * dim, count * dim)


def jacobian(
    problem: UnitProblem, equations: Equations, regularization: Scalar
) -> Float[Array, "n n"]:
    """dF/dx = A + B (W + δ I)."""
    n = problem.W.shape[0]
    count, dim = problem.b.shape
    W = problem.W + regularization * jnp.eye(n, dtype=problem.W.dtype)
    B_W = jnp.einsum("ijk,ikl->ijl", equations.B, W.reshape(count, dim, n)).reshape(n, n)
    return block_diagonal(equations.A) + B_W


class NewtonState(NamedTuple):
    x: Vectors
    best: Vectors
    residual: Scalar
    """Of the best point seen."""
    steps: Int[Array, ""]
    stuck: Bool[Array, ""]


def newton(
    problem: UnitProblem, x: Vectors, target: Scalar, max_steps: Int[Array, ""] | int
) -> NewtonState:
    """Newton's method with backtracking on |F|²; keeps the best point it has seen."""
    lengths = 0.5 ** jnp.arange(BACKTRACKS, dtype=x.dtype)
    floor = 100 * float(jnp.finfo(x.dtype).eps)

    def merit(x: Vectors) -> Scalar:
        F = alart_curnier(problem, x, problem.velocity(x)).F
        return jnp.sum(F**2)

    def step(state: NewtonState) -> NewtonState:
        x = state.x
        equations = alart_curnier(problem, x, problem.velocity(x))
        old = jnp.sum(equations.F**2)
        delta = jnp.clip(REGULARIZATION * jnp.sqrt(old), floor, MOST_REGULARIZATION)
        K = jacobian(problem, equations, delta)
        move = -jnp.linalg.solve(K, equations.F.reshape(-1)).reshape(x.shape)
        trials = x[None] + lengths[:, None, None] * move[None]
        values = jax.vmap(merit)(trials)
        values = jnp.where(jnp.isnan(values), jnp.inf, values)
        enough = values <= (1 - SUFFICIENT_DECREASE * lengths) * old
        # Where nothing decreases, the least bad step: pieces change and the next may be right.
        chosen = jnp.where(jnp.any(enough), jnp.argmax(enough), jnp.argmin(values))
        x = trials[chosen]
        residual = problem.residual(x, problem.velocity(x))
        better = residual < state.residual
        return NewtonState(
            x=x,
            best=jnp.where(better, x, state.best),
            residual=jnp.where(better, residual, state.residual),
            steps=state.steps + 1,
            stuck=~jnp.isfinite(values[chosen]),
        )

    def unfinished(state: NewtonState) -> Bool[Array, ""]:
        return (state.residual > target) & (state.steps < max_steps) & ~state.stuck

    residual = problem.residual(x, problem.velocity(x))
    start = NewtonState(x, x, residual, jnp.zeros((), jnp.int32), jnp.array(False))
    return lax.while_loop(unfinished, step, start)
