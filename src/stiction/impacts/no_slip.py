r"""The no-slip law: every contact sticks, and rebounds with its coefficient of restitution.

flickinger (3.14), (3.15) with tangential ratios 0: $u_t^+ = 0$, $u_n^+ = -e u_n^-$, and
$p = W^{-1} (u^+ - u^-)$. The document needs J of full rank with no more rows than freedoms; here
redundant contacts get the least impulses that do it. A contact that would have to be pulled
($p_n < 0$) is released: it parts by itself, as the corner of a rocking block does.
"""

import jax
import jax.numpy as jnp

from stiction._arrays import Array, Bool, Float
from stiction.impacts.problem import ImpactProblem, ImpactSolution, friction_used
from stiction.mechanism.linear import solve_redundant

_PULL = 1e-12  # pulling impulses smaller than this part of the largest are rounding


def no_slip(problem: ImpactProblem) -> ImpactSolution:
    """Impulses of the no-slip law (3.15)."""
    n = problem.velocity.shape[0]

    def release(state):
        kept, p, _ = state
        normal = jnp.where(kept, p[:, -1], 0.0)
        worst = jnp.argmin(normal)
        pulled = normal[worst] < -_PULL * jnp.max(jnp.abs(p))
        kept = jnp.where(pulled, kept.at[worst].set(False), kept)
        return kept, stick_impulse(problem, kept), pulled

    start = (problem.active, stick_impulse(problem, problem.active), jnp.asarray(True))
    kept, p, _ = start
    if n > 1:
        kept, p, _ = jax.lax.while_loop(lambda s: s[2] & jnp.any(s[0]), release, start)
    return ImpactSolution(
        impulse=p,
        mu=friction_used(p),
        sticks=kept,
        scale=jnp.ones((), p.dtype),
        feasible=jnp.all(p[:, -1] >= -_PULL * jnp.max(jnp.abs(p))),
    )


def stick_impulse(problem: ImpactProblem, kept: Bool[Array, "n"]) -> Float[Array, "n dim"]:
    """p = W⁻¹ (E - I) u⁻ on the kept contacts (3.14)."""
    u = problem.velocity
    n, dim = u.shape
    e = problem.restitution[:, None]
    wanted = jnp.concatenate([-u[:, :-1], -(1 + e) * u[:, -1:]], axis=1).reshape(-1)
    rows = jnp.repeat(kept, dim).astype(u.dtype)
    K = rows[:, None] * problem.W * rows[None, :] + jnp.diag(1 - rows)
    p = solve_redundant(K, rows * wanted, jnp.max(jnp.diag(problem.W)))
    return (rows * p).reshape(n, dim)
