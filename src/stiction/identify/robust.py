"""Loss functions of whitened residuals, and the weights by which they are minimised.

Both are quadratic near zero. A bad sample weighs at most linearly (Huber) or not at all (Tukey).
The tuning constants give 95 % efficiency on normal residuals [HollandWelsch1977].
"""

from typing import Literal

import jax.numpy as jnp

from stiction._arrays import Array, ArrayLike, Float

Loss = Literal["squares", "huber", "tukey"]
HUBER, TUKEY = 1.345, 4.685


def cost(residual: Float[ArrayLike, "*n"], loss: Loss) -> Float[Array, "*n"]:
    r"""$\rho(r)$, normalised to $r^2$ near zero."""
    if loss == "squares":
        return jnp.square(residual)
    size = jnp.abs(residual)
    if loss == "huber":
        return jnp.where(size <= HUBER, jnp.square(residual), HUBER * (2 * size - HUBER))
    inside = jnp.minimum(jnp.square(size / TUKEY), 1.0)
    return TUKEY**2 / 3 * (1 - (1 - inside) ** 3)


def weight(residual: Float[ArrayLike, "*n"], loss: Loss) -> Float[Array, "*n"]:
    r"""$\rho'(r) / 2r$: the weight of $r^2$ in iteratively reweighted least squares."""
    if loss == "squares":
        return jnp.ones_like(residual)
    size = jnp.abs(residual)
    if loss == "huber":
        return jnp.where(size <= HUBER, 1.0, HUBER / jnp.maximum(size, HUBER))
    return jnp.square(jnp.maximum(1 - jnp.square(size / TUKEY), 0.0))
