r"""What the ground should give: forces within friction cones that come nearest to a wanted push.

symbol  meaning                                                             shape
J       velocity of contacts, as the base moves them                        (k, dim, n)
g       push that the base needs                                            (n,)
ρ       price of forces: of those that do it, the least are taken           1

$$ \min_{f \in K} \tfrac12 |J^T f - g|^2 + \tfrac{ρ}{2} |f|^2 , $$

K being Coulomb's cones. With y what is missing of the push, f = P(J y / ρ), the nearest point of
the cones; y is the minimum of a smooth convex function of n unknowns [Castro2022],

$$ \min_y \tfrac12 y^T y - g^T y + \tfrac{ρ}{2} |P(J y / ρ)|^2 , $$

found by Newton's method with a look along the line.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from stiction._base.arrays import TINY, Array, Float, Scalar, Tolerance
from stiction._base.linear import cholesky, solve_factored

_STEPS = 30
_PRICE = Tolerance(1e-4, 1e-2)
_SOLVED = Tolerance(1e-9, 1e-5)  # of the gradient, a share of the push
_LENGTHS = 0.5 ** np.arange(12)


def push_of(
    J: Float[Array, "k dim n"], g: Float[Array, "n"], mu: Float[Array, "k"]
) -> Float[Array, "k dim"]:
    """The force of each contact: tangents, then normal."""
    price = _PRICE.of(g)

    def cost(y: Array) -> Scalar:
        f = _in_cone(J @ y / price, mu)
        return y @ y / 2 - g @ y + price * jnp.sum(f * f) / 2

    def step(carry):
        y, n, _ = carry
        f, slope = jax.vmap(_projected)(J @ y / price, mu)
        gradient = y - g + jnp.einsum("kdn,kd->n", J, f)
        H = jnp.eye(len(y), dtype=y.dtype) + jnp.einsum("kdi,kde,kej->ij", J, slope, J) / price
        move = -solve_factored(cholesky(H), gradient)
        trials = y[None] + jnp.asarray(_LENGTHS, y.dtype)[:, None] * move[None]
        best = jnp.argmin(jax.vmap(cost)(trials))
        size = jnp.max(jnp.abs(gradient)) / (jnp.max(jnp.abs(g)) + TINY.of(y))
        return trials[best], n + 1, size

    def unfinished(carry):
        return (carry[2] > _SOLVED.of(g)) & (carry[1] < _STEPS)

    start = (jnp.zeros_like(g), jnp.zeros((), jnp.int32), jnp.full((), jnp.inf, g.dtype))
    y, _, _ = lax.while_loop(unfinished, step, start)
    return _in_cone(J @ y / price, mu)


def _in_cone(y: Float[Array, "k dim"], mu: Float[Array, "k"]) -> Float[Array, "k dim"]:
    """The nearest point of |f_t| ≤ μ f_n."""
    y_t, y_n = y[:, :-1], y[:, -1]
    size = jnp.sqrt(jnp.sum(y_t**2, axis=1) + TINY.of(y) ** 2)
    slides = jnp.maximum(y_n + mu * size, 0.0) / (1 + mu**2)
    sticks = size <= mu * y_n
    normal = jnp.where(sticks, y_n, slides)
    part = jnp.where(sticks, 1.0, mu * slides / size)
    return jnp.concatenate([part[:, None] * y_t, normal[:, None]], axis=1)


def _projected(y: Float[Array, "dim"], mu: Scalar) -> tuple[Array, Array]:
    """That point for one contact, and its derivative, which is symmetric."""
    f = _in_cone(y[None], mu[None])[0]
    y_t, y_n, dim = y[:-1], y[-1], len(y)
    size = jnp.sqrt(jnp.sum(y_t**2) + TINY.of(y) ** 2)
    t = y_t / size
    along = jnp.concatenate([mu * t, jnp.ones(1, y.dtype)])  # the ray of the cone
    across = jnp.eye(dim - 1, dtype=y.dtype) - jnp.outer(t, t)
    turn = jnp.zeros((dim, dim), y.dtype).at[:-1, :-1].set(across)
    slope = jnp.outer(along, along) / (1 + mu**2) + mu * f[-1] / size * turn
    slope = jnp.where(f[-1] > 0, slope, 0.0)
    return f, jnp.where(size <= mu * y_n, jnp.eye(dim, dtype=y.dtype), slope)
