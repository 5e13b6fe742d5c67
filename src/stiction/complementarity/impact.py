"""An impact at many points, on arrays: velocities before, impulses and velocities after.

The document stops at the end of compression (rodic, assumption (ii)): e = 0 here. Restitution is
added by either of the two classical laws.
"""

from typing import Literal, get_args

import equinox as eqx
import jax.numpy as jnp

from stiction._arrays import Array, ArrayLike, Float
from stiction._errors import unknown
from stiction.complementarity._solution import RESULTS
from stiction.complementarity.cone import solve_cone
from stiction.complementarity.friction_lcp import pyramid_lcp, square_lcp
from stiction.complementarity.lcp import solve_lcp

FrictionShape = Literal["cone", "pyramid", "square"]
RestitutionLaw = Literal["newton", "poisson"]


class Impact(eqx.Module):
    """Impulses of an impact and the velocities that it leaves, rows as in the problem."""

    impulse: Float[Array, " n"]
    """Total impulses γ [N·s]."""
    compression: Float[Array, " n"]
    """The part until the end of compression [N·s]; all of it under Newton's law."""
    velocity: Float[Array, " n"]
    """Relative velocities after the impact [m/s]."""
    result: RESULTS
    residual: Float[Array, ""]
    """The largest residual of the problems solved [m/s]."""


def solve_impact(
    W: Float[ArrayLike, "n n"],
    velocity: Float[ArrayLike, " n"],
    mu: Float[ArrayLike, " n_contacts"],
    *,
    restitution: Float[ArrayLike, " n_contacts"] | float = 0.0,
    law: RestitutionLaw = "newton",
    friction: FrictionShape = "cone",
    n_sides: int = 8,
    guess: Float[ArrayLike, " n"] | None = None,
    throw: bool = True,
) -> Impact:
    r"""Solve a multi-point impact, rodic (35) with (39) and Coulomb's law on impulses,

    $$ u^+ = W \gamma + u^- , \qquad 0 \le \gamma_n \perp u_n^+ + e\, u_n^- \ge 0 . $$

    That is Newton's law; a point that separates already ($u_n^- > 0$) counts as e = 0. Poisson's
    law has two phases: compression, solved with e = 0, gives $\gamma^C$; expansion transfers at
    least $\pi = e\,\gamma_n^C$ and more where bodies would still approach,

    $$ u^+ = W \gamma^E + u^C , \qquad 0 \le \gamma_n^E - \pi \perp u_n^+ \ge 0 , $$

    with friction in each phase [PfeifferGlocker1996]. Newton's law with friction can raise the
    kinetic energy when e differs between points or tangential impulses are large; look at
    $\tfrac12 \gamma \cdot (u^+ + u^-)$, the energy gained.

    Args:
        W: Delassus matrix, rows tangential then normal of each contact [1/kg].
        velocity: Relative velocities u⁻ before the impact [m/s].
        mu: Friction coefficients [-].
        restitution: Coefficients e, between 0 and 1.
        law: `"newton"` or `"poisson"`.
        friction: `"cone"` (exact), `"pyramid"`, or `"square"` (the document's).
        n_sides: Sides of the pyramid.
        guess: Impulses near which the cone's solution is wanted, if there are several [N·s].
        throw: Raise `RunError` on failure.
    """
    if friction not in get_args(FrictionShape):
        raise unknown("friction", friction, get_args(FrictionShape))
    W, before, mu = jnp.asarray(W), jnp.asarray(velocity), jnp.asarray(mu)
    count, dim = mu.shape[0], before.shape[0] // mu.shape[0]
    e = jnp.broadcast_to(jnp.asarray(restitution, before.dtype), (count,))

    def solve(b, preload):
        if friction == "cone":
            solution = solve_cone(W, b, mu, guess=guess, preload=preload, throw=throw)
            return solution.value, solution
        if friction == "square":
            problem = square_lcp(W, b, mu, preload=preload)
        else:
            problem = pyramid_lcp(W, b, mu, n_sides=n_sides, preload=preload)
        solution = solve_lcp(problem.M, problem.q, throw=throw)
        return problem.impulse(solution.value), solution

    if law == "newton":
        approach = jnp.minimum(before.reshape(count, dim)[:, -1], 0)
        shifted = before.reshape(count, dim).at[:, -1].add(e * approach)
        total, solution = solve(shifted.reshape(-1), None)
        return Impact(total, total, W @ total + before, solution.result, solution.residual)
    if law == "poisson":
        compression, first = solve(before, None)
        stored = e * compression.reshape(count, dim)[:, -1]
        expansion, second = solve(W @ compression + before, stored)
        total = compression + expansion
        failed = first.result != RESULTS.successful
        return Impact(
            impulse=total,
            compression=compression,
            velocity=W @ total + before,
            result=RESULTS.where(failed, first.result, second.result),
            residual=jnp.maximum(first.residual, second.residual),
        )
    raise unknown("law", law, get_args(RestitutionLaw))
