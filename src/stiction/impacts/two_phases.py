r"""Poisson's restitution at many points: compression, then expansion.

Compression, solved with e = 0, gives $\gamma^C$ and the velocities $u^C$; expansion transfers at
least $\pi = e\,\gamma_n^C$, and more where bodies would still approach,

$$ u^+ = W \gamma^E + u^C , \qquad 0 \le \gamma_n^E - \pi \perp u_n^+ \ge 0 , $$

with friction in each phase [PfeifferGlocker1996].
"""

from collections.abc import Callable
from typing import Literal, TypeVar

from stiction._base.arrays import Array, Float

RestitutionLaw = Literal["newton", "poisson"]
Outcome = TypeVar("Outcome")  # what a solver says of a phase beside its impulses


def two_phases(
    solve: Callable[[Array, Array | None], tuple[Array, Outcome]],
    W: Float[Array, "n n"],
    velocity: Float[Array, " n"],
    restitution: Float[Array, " n_contacts"],
) -> tuple[Float[Array, " n"], Float[Array, " n"], Outcome, Outcome]:
    """Impulses of compression, of the whole impact, and how the two phases were solved.

    Args:
        solve: Impulses (and an outcome) for velocities b and a preload π of each normal; the
            preload is None in compression.
        W: Delassus matrix, rows tangential then normal of each contact [1/kg].
        velocity: Velocities before the impact [m/s].
        restitution: Coefficients e of the contacts; 0 for those that give nothing back.
    """
    compression, first = solve(velocity, None)
    stored = restitution * compression.reshape(restitution.shape[0], -1)[:, -1]
    expansion, second = solve(W @ compression + velocity, stored)
    return compression, compression + expansion, first, second
