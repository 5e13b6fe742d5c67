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
from stiction.complementarity import cone_projection_derivative, project_to_cone

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
        f = project_to_cone(J @ y / price, mu)
        return y @ y / 2 - g @ y + price * jnp.sum(f * f) / 2

    def step(carry):
        y, n, _ = carry
        x = J @ y / price
        f, slope = project_to_cone(x, mu), cone_projection_derivative(x, mu)
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
    return project_to_cone(J @ y / price, mu)
