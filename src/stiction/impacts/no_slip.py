r"""The no-slip law: every contact sticks, and rebounds with its coefficient of restitution.

flickinger (3.14), (3.15) with tangential ratios 0: $u_t^+ = 0$, $u_n^+ = -e u_n^-$, and
$p = W^{-1} (u^+ - u^-)$. The document needs J of full rank with no more rows than freedoms; here
redundant contacts get the least impulses that do it. A contact that would have to be pulled
($p_n < 0$) is released: it parts by itself, as the corner of a rocking block does.
"""

import jax.numpy as jnp

from stiction._base.arrays import Array, Bool, Float
from stiction.impacts.problem import (
    PULL,
    ImpactProblem,
    ImpactSolution,
    release_pulled,
    solve_in_rows,
)


def no_slip(problem: ImpactProblem) -> ImpactSolution:
    """Impulses of the no-slip law (3.15)."""

    def solve(kept: Array) -> tuple[Array, Array]:
        p = stick_impulse(problem, kept)
        return p, jnp.where(kept, p[:, -1], 0.0)

    kept, p = release_pulled(problem.active, solve)
    return ImpactSolution.of(p, kept, jnp.all(p[:, -1] >= -PULL * jnp.max(jnp.abs(p))))


def stick_impulse(problem: ImpactProblem, kept: Bool[Array, "n"]) -> Float[Array, "n dim"]:
    """p = W⁻¹ (E - I) u⁻ on the kept contacts (3.14)."""
    u = problem.velocity
    e = problem.restitution[:, None]
    wanted = jnp.concatenate([-u[:, :-1], -(1 + e) * u[:, -1:]], axis=1).reshape(-1)
    rows = jnp.repeat(kept, u.shape[1]).astype(u.dtype)
    return solve_in_rows(problem.W, rows, wanted, problem.scale).reshape(u.shape)


def bring_to_rest(problem: ImpactProblem, still: Bool[Array, "n"]) -> ImpactSolution:
    r"""Impulses that stop the normal motion of what touches, and all motion of `still` ones.

    For impacts too slow to matter. A bouncing ball and a rocking block both hit the ground
    infinitely often before they rest. Below a small speed the sequence is cut short: no contact
    rebounds, whatever the impact law. Contacts that do not slide do not begin to. That is a
    projection in the metric of the kinetic energy, $u^+ = 0$ in the rows that are held, so it never
    adds energy; the impulses that it leaves out (friction of the slow normal impulses) are smaller
    still. A contact that would have to be pulled is released, and thrown off: see `fall_back`.
    """

    def solve(kept: Array) -> tuple[Array, Array]:
        p = _stop(problem, problem.velocity, kept, still)
        return p, jnp.where(kept, p[:, -1], 0.0)

    kept, p = release_pulled(problem.active, solve)
    return ImpactSolution.of(p, kept & still, jnp.asarray(True))


def fall_back(
    problem: ImpactProblem,
    impulse: Float[Array, "n dim"],
    still: Bool[Array, "n"],
    rest_speed: Float[Array, "n"],
) -> Float[Array, "n dim"]:
    """What closes the contacts of a sequence that is cut short, so that they stay so.

    What a slow impact throws off no faster than `rest_speed`, as a rocking block does with its
    other corner, comes back by its load, strikes and throws off the first, and so on. The rows
    returned change velocities as the load does until then [N·s]; none of it is the contacts'.
    """
    u = problem.velocity_after(impulse)
    return _stop(problem, u, problem.active & (u[:, -1] <= rest_speed), still)


def _stop(
    problem: ImpactProblem, u: Float[Array, "n dim"], kept: Array, still: Array
) -> Float[Array, "n dim"]:
    """The least impulses of the kept contacts that take u away, of `still` ones whole."""
    tangents = jnp.repeat((kept & still)[:, None], u.shape[1] - 1, axis=1)
    rows = jnp.concatenate([tangents, kept[:, None]], axis=1).reshape(-1).astype(u.dtype)
    return solve_in_rows(problem.W, rows, -u.reshape(-1), problem.scale).reshape(u.shape)
