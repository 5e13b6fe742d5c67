r"""Impacts too slow to matter: what touches is brought to rest in its normal direction, and stays.

A bouncing ball and a rocking block both hit the ground infinitely often before they rest. Below a
small speed the sequence is cut short: no contact rebounds and none is thrown off, whatever the
impact law. Contacts that do not slide do not begin to. That is a projection in the metric of the
kinetic energy, $u^+ = 0$ in the rows that are held, so it never adds energy; the impulses that it
leaves out (friction of the slow normal impulses) are smaller still.
"""

import jax.numpy as jnp

from stiction._arrays import Array, Bool
from stiction.impacts.problem import ImpactProblem, ImpactSolution, friction_used
from stiction.mechanism.linear import solve_redundant


def bring_to_rest(problem: ImpactProblem, still: Bool[Array, "n"]) -> ImpactSolution:
    """Impulses that stop the normal motion of all that touches, and all motion of `still` ones."""
    u = problem.velocity
    n, dim = u.shape
    tangents = jnp.repeat((problem.active & still)[:, None], dim - 1, axis=1)
    rows = jnp.concatenate([tangents, problem.active[:, None]], axis=1).reshape(-1).astype(u.dtype)
    K = rows[:, None] * problem.W * rows[None, :] + jnp.diag(1 - rows)
    p = rows * solve_redundant(K, -rows * u.reshape(-1), jnp.max(jnp.diag(problem.W)))
    impulse = p.reshape(n, dim)
    return ImpactSolution(
        impulse=impulse,
        mu=friction_used(impulse),
        sticks=problem.active & still,
        scale=jnp.ones((), u.dtype),
        feasible=jnp.asarray(True),
    )
