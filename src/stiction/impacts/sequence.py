"""Several contacts in sequence: one at a time, the fastest approaching first, until none does.

The other limit of stiffness than the simultaneous laws: each collision is over before it is felt
elsewhere, as along a row of hard balls. A sequence that does not end in its bounded number of
collisions is ended by a plastic simultaneous one.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp

from stiction._base.arrays import Array, Tolerance
from stiction.impacts.problem import ImpactProblem, ImpactSolution

_COLLISIONS = 200  # at most, for each contact
_APPROACH = Tolerance(1e-12, 1e-6)  # approaching slower than this part of the fastest is rounding
_STUCK = Tolerance(1e-10, 1e-5)  # slipping slower than this part of the fastest is none


def in_sequence(
    law: Callable[[ImpactProblem], ImpactSolution],
    at_last: Callable[[ImpactProblem], ImpactSolution],
) -> Callable[[ImpactProblem], ImpactSolution]:
    """A law that meets its contacts one after the other.

    Args:
        law: For one contact.
        at_last: For all contacts at once, asked without restitution if the sequence has no end.
    """

    def resolve(problem: ImpactProblem) -> ImpactSolution:
        n = problem.velocity.shape[0]
        if n == 1:
            return law(problem)
        fastest = jnp.max(jnp.abs(problem.velocity))
        least = _APPROACH.of(fastest) * fastest

        def approach(impulse: Array) -> Array:
            u_n = problem.velocity_after(impulse)[:, -1]
            return jnp.where(problem.active, -u_n, -jnp.inf)

        def unfinished(state: tuple[Array, Array, Array]) -> Array:
            impulse, count, _ = state
            return (jnp.max(approach(impulse)) > least) & (count < n * _COLLISIONS)

        def collide(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            impulse, count, possible = state
            i = jnp.argmax(approach(impulse))
            s = law(_only(problem, impulse, i))
            return impulse.at[i].add(s.impulse[0]), count + 1, possible & s.feasible

        start = (jnp.zeros_like(problem.velocity), jnp.asarray(0), jnp.asarray(True))
        state = jax.lax.while_loop(unfinished, collide, start)
        impulse, _, possible = state

        def finish() -> Array:
            left = eqx.tree_at(
                lambda p: (p.velocity, p.restitution, p.active),
                problem,
                (
                    problem.velocity_after(impulse),
                    jnp.zeros_like(problem.restitution),
                    problem.active & (approach(impulse) >= -least),
                ),
            )
            return impulse + at_last(left).impulse

        approaches = jnp.max(approach(impulse)) > least
        impulse = jax.lax.cond(approaches, finish, lambda: impulse)
        u_t = problem.velocity_after(impulse)[:, :-1]
        slip = jnp.sqrt(jnp.sum(u_t * u_t, axis=1))
        stuck = slip <= _STUCK.of(fastest) * fastest
        return ImpactSolution.of(impulse, problem.active & (impulse[:, -1] > 0) & stuck, possible)

    return resolve


def _only(problem: ImpactProblem, impulse: Array, i: Array) -> ImpactProblem:
    """The problem of one contact, after the impulses so far.

    The bound on energy stays that of the whole: e* T⁻ is the most that any collision may leave.
    """
    T = problem.kinetic + jnp.sum(problem.work(impulse))
    so_far = eqx.tree_at(
        lambda p: (p.velocity, p.kinetic, p.energetic),
        problem,
        (
            problem.velocity_after(impulse),
            T,
            problem.energetic * problem.kinetic / jnp.where(T > 0, T, 1.0),
        ),
    )
    return so_far.part(i[None])
