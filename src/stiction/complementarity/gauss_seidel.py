"""Projected Gauss-Seidel for linear complementarity problems."""

import jax.numpy as jnp
from jax import lax

from stiction._base.arrays import Array, Bool, Float, Int, Scalar

_Carry = tuple[Float[Array, " n"], Int[Array, ""], Scalar]  # z, sweeps, residual


def projected_gauss_seidel(
    M: Float[Array, "n n"],
    q: Float[Array, " n"],
    z: Float[Array, " n"],
    target: Scalar,
    max_sweeps: Int[Array, ""],
) -> tuple[Float[Array, " n"], Int[Array, ""], Bool[Array, ""]]:
    r"""Solve each row in turn for its own variable, keeping it non-negative [Cryer1971],

    $$ z_i \leftarrow \max\!\left(0,\; z_i - \frac{(M z + q)_i}{M_{ii}}\right) . $$

    Converges for symmetric positive definite M and for H-matrices with a positive diagonal. Rows
    without a positive diagonal, such as the slack rows of friction problems, are passed over: such
    problems are not for this method, and the residual says so.
    """
    n = q.shape[0]
    diagonal = jnp.diagonal(M)
    inverse = jnp.where(diagonal > 0, 1 / jnp.where(diagonal > 0, diagonal, 1), 0)
    scale = jnp.max(jnp.abs(M))

    def row(i: Int[Array, ""], z: Float[Array, " n"]) -> Float[Array, " n"]:
        w_i = M[i] @ z + q[i]
        return z.at[i].set(jnp.maximum(z[i] - w_i * inverse[i], 0))

    def sweep(carry: _Carry) -> _Carry:
        z, sweeps, _ = carry
        z = lax.fori_loop(0, n, row, z)
        residual = jnp.max(jnp.abs(jnp.minimum(scale * z, M @ z + q)))
        return z, sweeps + 1, residual

    def unfinished(carry: _Carry) -> Bool[Array, ""]:
        _, sweeps, residual = carry
        # `>`: stops on nan, which no further sweep can mend.
        return (residual > target) & (sweeps < max_sweeps)

    start = (jnp.maximum(z, 0), jnp.zeros((), jnp.int32), jnp.array(jnp.inf, q.dtype))
    z, sweeps, _ = lax.while_loop(unfinished, sweep, start)
    return z, sweeps, sweeps >= max_sweeps
