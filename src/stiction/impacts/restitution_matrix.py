r"""Impacts with a given restitution of every contact velocity, normal and tangential.

flickinger (3.7), (3.14), (3.15): $u^+ = E u^-$ and $p = W^{-1} (E - I) u^-$. E is a matrix in
general: its diagonal holds -e of the normals and the ratios e_t of the tangents, what stands beside
it couples contacts, or tangents and normals. The no-slip law is E with e_t = 0. The other way
round, (4.11): whatever law found u⁺, its tangential ratios are $e_t = u_t^+ / u_t^-$.

The document needs J of full rank; of redundant contacts the least impulses are taken, and
`feasible` tells whether they do what E asks.
"""

import jax.numpy as jnp

from stiction._base.arrays import TINY, Array, Float
from stiction.impacts.problem import PULL, ImpactProblem, ImpactSolution, solve_in_rows

_MET = 1e-9  # of the largest velocity: what E asks for is met


def restitution_matrix(
    normal: Float[Array, "n"], tangential: Float[Array, "n k"]
) -> Float[Array, "m m"]:
    """The diagonal E of (3.7): tangents, then normal of each contact.

    Args:
        normal: e of each contact, 0 to 1; E has -e.
        tangential: e_t of each tangent: 0 sticks, 1 keeps its slip, -1 turns it round.
    """
    rows = jnp.concatenate([tangential, -jnp.asarray(normal)[:, None]], axis=1)
    return jnp.diag(rows.reshape(-1))


def given_restitution(problem: ImpactProblem, E: Float[Array, "m m"]) -> ImpactSolution:
    """Impulses of (3.14) for any E, on all that touches; see `feasible` for whether they push."""
    u = problem.velocity.reshape(-1)
    rows = problem.mask
    wanted = rows * (E @ (rows * u) - u)
    p = solve_in_rows(problem.W, rows, wanted, problem.scale).reshape(problem.velocity.shape)
    after = problem.velocity_after(p)
    missed = jnp.max(jnp.abs(rows * (problem.W @ p.reshape(-1)) - wanted))
    slip = jnp.sqrt(jnp.sum(after[:, :-1] ** 2, axis=1))
    met = missed <= _MET * jnp.max(jnp.abs(u))
    pushes = jnp.all(p[:, -1] >= -PULL * jnp.max(jnp.abs(p)))
    sticks = problem.active & (slip <= _MET * jnp.max(jnp.abs(u)))
    return ImpactSolution.of(p, sticks, met & pushes)


def tangential_ratios(
    before: Float[Array, "n dim"], after: Float[Array, "n dim"]
) -> Float[Array, "n k"]:
    """e_t of every tangent (4.11); 1 where a contact at rest is set in motion, as the document has
    it, and 0 where it stays at rest."""
    u, w = before[:, :-1], after[:, :-1]
    still = jnp.abs(u) <= TINY.of(u)
    moved = jnp.abs(w) > TINY.of(u)
    return jnp.where(still, jnp.where(moved, 1.0, 0.0), w / jnp.where(still, 1.0, u))
