"""Units that suit a matrix."""

import jax.numpy as jnp

from stiction._base.arrays import Array, Float


def equilibrate(M: Float[Array, "n n"]) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
    """Row and column factors, powers of two, that bring the entries of M near one.

    Half of each row's size is taken by its row factor; then each column's largest entry is made
    one. Positive factors do not change a complementarity problem; tolerances then mean the same for
    light and heavy bodies, for impulses and for slacks. Powers of two keep equal numbers equal.
    """
    size = jnp.abs(M)
    rows = _power_of_two(jnp.max(size, axis=1, initial=0), -0.5)
    columns = _power_of_two(jnp.max(size * rows[:, None], axis=0, initial=0), -1.0)
    return rows, columns


def _power_of_two(x: Float[Array, " n"], exponent: float) -> Float[Array, " n"]:
    """The power of two nearest to x**exponent; 1 for zero."""
    return jnp.where(x > 0, jnp.exp2(jnp.round(jnp.log2(jnp.where(x > 0, x, 1)) * exponent)), 1)
