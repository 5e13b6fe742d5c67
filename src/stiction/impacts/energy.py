r"""Energetic restitution: no impact leaves more than e* of the kinetic energy.

flickinger (5.2)-(5.4): if $T^+ > e^* T^-$ all velocities are multiplied by ẽ with
$\tilde e^2 T^+ = e^* T^-$. That leaves sticking and slipping as they were.
"""

from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp

from stiction.impacts.problem import ImpactProblem, ImpactSolution


def scaled(law: Callable[[ImpactProblem], ImpactSolution]) -> Callable:
    """An impact law with energetic scaling after it."""

    def resolve(problem: ImpactProblem) -> ImpactSolution:
        s = law(problem)
        T = problem.kinetic + jnp.sum(problem.work(s.impulse))
        most = problem.energetic * problem.kinetic
        gains = most < T
        ratio = jnp.where(gains, most / jnp.where(gains, T, 1.0), 1.0)
        return eqx.tree_at(lambda s: s.scale, s, jnp.sqrt(ratio))

    return resolve
