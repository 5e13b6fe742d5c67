r"""Impacts at many points at once, as one complementarity problem.

rodic (35) with (39), (41), (42): $u^+ = W p + u^-$, normal impulses complementary to normal
velocities, and Coulomb's law on impulses. As printed, the two tangents have laws of their own, so
that friction fills a square, (44)-(52); a pyramid and the exact cone are the other shapes. The
document ends with compression (e = 0); here restitution follows Newton's law on velocities or
Poisson's on impulses, in a second phase (see `stiction.complementarity.solve_impact`).

There is one coefficient of friction: the dynamic one.
"""

import jax.numpy as jnp

from stiction._arrays import Tolerance
from stiction.complementarity import RESULTS, solve_impact
from stiction.complementarity.impact import FrictionShape, RestitutionLaw
from stiction.impacts.problem import ImpactProblem, ImpactSolution, friction_used

_STILL = Tolerance(1e-9, 1e-5)  # a contact that slides slower sticks [m/s]


def lcp(
    problem: ImpactProblem,
    *,
    friction: FrictionShape = "square",
    restitution_law: RestitutionLaw = "newton",
) -> ImpactSolution:
    """Impulses of all contacts together.

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
    return ImpactSolution(
        impulse=p,
        mu=friction_used(p),
        sticks=problem.active & (p[:, -1] > 0) & (slip <= _STILL.of(slip)),
        scale=jnp.ones((), p.dtype),
        feasible=solved.result == RESULTS.successful,
    )
