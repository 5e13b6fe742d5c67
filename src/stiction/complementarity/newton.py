"""A semismooth Newton method for linear complementarity problems."""

import jax
import jax.numpy as jnp
from jax import lax

from stiction._base.arrays import Array, Bool, Float, Int, Scalar

# Trial step lengths 1, 1/2, 1/4, …: evaluated together, since each costs only a product.
BACKTRACKS = 20
SUFFICIENT_DECREASE = 1e-4

_Carry = tuple[Float[Array, " n"], Int[Array, ""], Scalar, Bool[Array, ""]]  # …, residual, stuck


def fischer_burmeister_newton(
    M: Float[Array, "n n"],
    q: Float[Array, " n"],
    z: Float[Array, " n"],
    target: Scalar,
    max_steps: Int[Array, ""],
) -> tuple[Float[Array, " n"], Int[Array, ""], Bool[Array, ""]]:
    r"""Find the root of $\Phi_i = \sqrt{z_i^2 + w_i^2} - z_i - w_i$, $w = M z + q$ [Fischer1992].

    Levenberg-Marquardt steps on $\tfrac12 |\Phi|^2$ with backtracking [DeLuca1996]. The
    regularization goes to zero with the residual, so that convergence near a regular solution is
    quadratic. Every stationary point is a solution when M is a P0-matrix; elsewhere the method may
    stall, and says so.
    """
    lengths = 0.5 ** jnp.arange(BACKTRACKS, dtype=q.dtype)
    identity = jnp.eye(q.shape[0], dtype=q.dtype)

    def merit(z: Float[Array, " n"]) -> Scalar:
        phi = _fischer_burmeister(z, M @ z + q)
        return phi @ phi

    def step(carry: _Carry) -> _Carry:
        z, steps, _, _ = carry
        w = M @ z + q
        phi = _fischer_burmeister(z, w)
        r = jnp.sqrt(z**2 + w**2)
        # At a corner z = w = 0 any point of the unit disc is a valid derivative direction.
        dz, dw = (jnp.where(r > 0, x / jnp.where(r > 0, r, 1), 0.5) - 1 for x in (z, w))
        J = jnp.diag(dz) + dw[:, None] * M
        gradient = J.T @ phi
        old = phi @ phi
        regularization = jnp.minimum(1e-2, old)
        move = -jnp.linalg.solve(J.T @ J + regularization * identity, gradient)
        trials = z[None, :] + lengths[:, None] * move[None, :]
        values = jax.vmap(merit)(trials)
        slope = 2 * gradient @ move
        enough = values <= old + SUFFICIENT_DECREASE * lengths * slope
        z = jnp.where(jnp.any(enough), trials[jnp.argmax(enough)], z)
        residual = jnp.max(jnp.abs(jnp.minimum(z, M @ z + q)))
        return z, steps + 1, residual, ~jnp.any(enough)

    def unfinished(carry: _Carry) -> Bool[Array, ""]:
        _, steps, residual, stuck = carry
        return (residual > target) & (steps < max_steps) & ~stuck

    big = jnp.array(jnp.inf, q.dtype)
    start = (z, jnp.zeros((), jnp.int32), big, jnp.array(False))
    z, steps, _, _ = lax.while_loop(unfinished, step, start)
    return jnp.maximum(z, 0), steps, steps >= max_steps


def _fischer_burmeister(a: Float[Array, " n"], b: Float[Array, " n"]) -> Float[Array, " n"]:
    return jnp.sqrt(a**2 + b**2) - a - b
