"""Units that suit a matrix."""

import jax.numpy as jnp

from stiction._arrays import Array, Float


def equilibrate(M: Float[Array, "n n"]) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
    """Row and column factors, powers of two, that bring the entries of M near one [Ruiz2001].

    Positive factors do not change a complementarity problem; tolerances then mean the same for
    light and heavy bodies, for impulses and for slacks. Powers of two keep equal numbers equal.
    """
    rows = columns = jnp.ones(M.shape[0], M.dtype)
    size = jnp.abs(M)
    for _ in range(2):
        rows = rows * _inverse_root(jnp.max(size * columns[None, :], axis=1) * rows)
        columns = columns * _inverse_root(jnp.max(size * rows[:, None], axis=0) * columns)
    return rows, columns


def _inverse_root(x):
    """The power of two nearest to 1/sqrt(x); 1 for a row of zeros."""
    return jnp.where(x > 0, jnp.exp2(-jnp.round(jnp.log2(jnp.where(x > 0, x, 1)) / 2)), 1)
