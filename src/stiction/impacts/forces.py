r"""Forces that could have made an impact: where it happened, and about how hard it was.

flickinger (3.22)-(3.26): an impact takes no time, so it has no forces, but the least ones that
would do its work in a short time ε show where it happened,

$$ \min_F F^T W F \quad\text{subject to}\quad T^+ - T^- = \epsilon \, \bar u \cdot F, \quad
   f_n \ge 0. $$

The document's balance (3.24) has the coordinates q where the displacement belongs, so that its
forces depend on where the origin is. Decided here: the displacement of a contact is ε ū, with
ū = ½ (u⁻ + u⁺), which is what (3.22) gives for a constant force. The impulses of the impact law
meet this balance too; the least forces are at most as large.
"""

import jax
import jax.numpy as jnp

from stiction._base.arrays import Array, Float, ScalarLike
from stiction.impacts.problem import ImpactProblem, solve_in_rows

_SLACK = 1e-10


def impact_forces(
    problem: ImpactProblem,
    velocity_after: Float[Array, "n dim"],
    energy_change: ScalarLike,
    duration: ScalarLike = 1e-3,
) -> Float[Array, "n dim"]:
    """Least forces that do the work of an impact (3.25) [N].

    Args:
        problem: The impact.
        velocity_after: u⁺, energy control included [m/s].
        energy_change: T⁺ - T⁻ [J].
        duration: ε [s].
    """
    n, dim = problem.velocity.shape
    mean = problem.mask * (problem.velocity + velocity_after).reshape(-1) / 2
    change = jnp.asarray(energy_change, mean.dtype)
    # The cone f_n >= 0 has no size: solve min ½ GᵀWG ∓ ū·G in it, then scale to the balance.
    wanted = jnp.where(change < 0, -mean, mean)
    normal = jnp.arange(n) * dim + dim - 1

    def solve(kept: Array) -> Array:
        rows = problem.mask.reshape(n, dim).at[:, -1].multiply(kept.astype(mean.dtype)).reshape(-1)
        return solve_in_rows(problem.W, rows, wanted, problem.scale)

    def wrong(kept: Array) -> Array:
        """Kept contacts that pull, and others that ought to push."""
        G = solve(kept)
        rest = (problem.W @ G - wanted)[normal]
        pulls = G[normal] < -_SLACK * jnp.max(jnp.abs(G))
        pushes = rest < -_SLACK * jnp.max(jnp.abs(wanted))
        return problem.active & jnp.where(kept, pulls, pushes)

    # Murty's method: turn the first that is wrong. It ends for certain, as W is positive.
    def turn(state: tuple[Array, Array]) -> tuple[Array, Array]:
        kept, count = state
        first = jnp.argmax(wrong(kept))
        return kept.at[first].set(~kept[first]), count + 1

    kept, _ = jax.lax.while_loop(
        lambda s: jnp.any(wrong(s[0])) & (s[1] < 2 ** min(n + 1, 10)),
        turn,
        (problem.active, jnp.asarray(0)),
    )
    G = solve(kept)
    power = mean @ G
    possible = jnp.abs(power) > 1e-300
    F = G * jnp.where(possible, change / (jnp.asarray(duration) * jnp.where(possible, power, 1)), 0)
    return F.reshape(n, dim)
