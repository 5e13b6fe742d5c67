r"""Impacts at many points at once, as one complementarity problem.

rodic (35) with (39), (41), (42): $u^+ = W \gamma + u^-$, normal impulses complementary to normal
velocities, and Coulomb's law on impulses. As printed, the two tangents have laws of their own, so
that friction fills a square, (44)-(52); a pyramid and the exact cone are the other shapes. The
document stops at the end of compression (assumption (ii)): e = 0. Restitution is added here by
either of the two classical laws, Newton's on velocities or Poisson's on impulses.
"""

from typing import Literal, get_args

import equinox as eqx
import jax.numpy as jnp

from stiction._base.arrays import Array, ArrayLike, Float, Scalar, Tolerance
from stiction._base.errors import unknown
from stiction.complementarity import (
    SOLVE_RESULTS,
    Solution,
    pyramid_lcp,
    solve_cone,
    solve_lcp,
    square_lcp,
)
from stiction.impacts.problem import ImpactProblem, ImpactSolution
from stiction.impacts.two_phases import RestitutionLaw, two_phases

FrictionShape = Literal["cone", "pyramid", "square"]
_STILL = Tolerance(1e-9, 1e-5)  # a contact that slides slower sticks [m/s]


class ImpactImpulses(eqx.Module):
    """Impulses of an impact and the velocities that it leaves, rows as in the problem."""

    impulse: Float[Array, " n"]
    """Total impulses γ [N·s]."""
    compression: Float[Array, " n"]
    """The part until the end of compression [N·s]; all of it under Newton's law."""
    velocity: Float[Array, " n"]
    """Relative velocities after the impact [m/s]."""
    result: SOLVE_RESULTS
    residual: Scalar
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
) -> ImpactImpulses:
    r"""Solve a multi-point impact, rodic (35) with (39) and Coulomb's law on impulses,

    $$ u^+ = W \gamma + u^- , \qquad 0 \le \gamma_n \perp u_n^+ + e\, u_n^- \ge 0 . $$

    That is Newton's law; a point that separates already ($u_n^- > 0$) counts as e = 0. Poisson's
    law has two phases, see `two_phases`. Newton's law with friction can raise the kinetic energy
    when e differs between points or tangential impulses are large; look at
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
    if law not in get_args(RestitutionLaw):
        raise unknown("law", law, get_args(RestitutionLaw))
    W, before, mu = jnp.asarray(W), jnp.asarray(velocity), jnp.asarray(mu)
    count, dim = mu.shape[0], before.shape[0] // mu.shape[0]
    e = jnp.broadcast_to(jnp.asarray(restitution, before.dtype), (count,))

    def solve(b: Array, preload: Array | None) -> tuple[Array, Solution]:
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
        compression, result, residual = total, solution.result, solution.residual
    else:
        compression, total, first, second = two_phases(solve, W, before, e)
        failed = first.result != SOLVE_RESULTS.successful
        result = SOLVE_RESULTS.where(failed, first.result, second.result)
        residual = jnp.maximum(first.residual, second.residual)
    return ImpactImpulses(total, compression, W @ total + before, result, residual)


def lcp(
    problem: ImpactProblem,
    *,
    friction: FrictionShape = "square",
    restitution_law: RestitutionLaw = "newton",
) -> ImpactSolution:
    """`solve_impact` as a law: impulses of all contacts together, with the dynamic friction alone.

    Args:
        problem: The impact.
        friction: "square" (rodic), "pyramid" (eight sides) or "cone" (exact).
        restitution_law: "newton" or "poisson".
    """
    u = problem.velocity
    n, dim = u.shape
    if dim == 2 and friction == "square":
        friction = "pyramid"  # one tangent: the same
    # Contacts that take no part: apart from the others, and parting.
    rows = problem.mask
    W = rows[:, None] * problem.W * rows[None, :] + jnp.diag(1 - rows)
    parting = jnp.zeros_like(u).at[:, -1].set(1.0)
    before = jnp.where(problem.active[:, None], u, parting)
    solved = solve_impact(
        W,
        before.reshape(-1),
        problem.mu_dynamic,
        restitution=problem.restitution,
        law=restitution_law,
        friction=friction,
        throw=False,
    )
    p = (rows * solved.impulse).reshape(n, dim)
    after = problem.velocity_after(p)
    slip = jnp.sqrt(jnp.sum(after[:, :-1] ** 2, axis=1))
    sticks = problem.active & (p[:, -1] > 0) & (slip <= _STILL.of(slip))
    return ImpactSolution.of(p, sticks, feasible=solved.result == SOLVE_RESULTS.successful)
