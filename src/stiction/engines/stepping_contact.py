r"""The contact problem of one time step, and the methods that solve it.

Over a step of length h a contact moves by h û, with û its velocity in the middle of the step. With
the gap g and the impulse p of the step,

$$ \hat u = W p + \hat u_0 , \qquad 0 \le p_n \perp \hat u_n - \beta \ge 0 , $$

and Coulomb's law between p_t and û_t. The bound β says what the normal may do:

- a contact that comes (or stays) within reach slowly: β = -g/h. It may close its gap in this step
  and no more [StewartTrinkle1996]; so rigid contact is kept in positions, without any drift.
- a contact that collides: β is its rebound by Newton's law, with the acceleration a before and
  after the instant of impact, as if nothing else touched,
  $\beta = -e (\hat u^- + a s) + a (h/2 - \tau) \ge 0$, where the impact comes s after û⁻ and τ
  after the beginning of the step.
- a contact that has sunk in: it may rise, but no faster than the forces that press it take away
  again within a step. So it does not hop, and no kinetic energy comes from the correction.
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp

from stiction._arrays import TINY, Array, Bool, Float, Scalar
from stiction.complementarity import pyramid_lcp, solve_cone, solve_lcp

# An open contact is told to be at most this many times farther than anything moves in a step:
# impulses are then computed to a tolerance that means something.
_REACH = 10.0


class StepContacts(eqx.Module):
    """What the contacts of a step are like before impulses are known."""

    W: Float[Array, "m m"]  # Delassus matrix [1/kg]
    gap: Float[Array, "n"]  # at the beginning [m]
    before: Float[Array, "n dim"]  # û⁻: velocity in the middle of the last step [m/s]
    free: Float[Array, "n dim"]  # û₀: in the middle of this one, without impulses [m/s]
    acceleration: Float[Array, "n"]  # of the normal, without contact forces [m/s²]


class Ahead(eqx.Module):
    """What the contacts will do in the next step if nothing happens."""

    gap: Float[Array, "n"]  # at its beginning [m]
    velocity: Float[Array, "n"]  # of the normal, in the middle of the last step [m/s]
    acceleration: Float[Array, "n"]  # of the normal, without contact forces [m/s²]

    def collisions(
        self, h: Scalar, since: Scalar, rest_speed: Float[Array, "n"]
    ) -> tuple[Bool[Array, "n"], Scalar]:
        """Which contacts will collide within h, and when the first does [s]; 0 if none.

        Args:
            h: Length of the step [s].
            since: Time between the velocity and the beginning of the step [s].
            rest_speed: Slower approaches are no collisions [m/s].
        """
        a = self.acceleration
        u = self.velocity + since * a
        # What the forces of a step or two give is no collision either, but contact that is kept.
        fast = -u > jnp.maximum(rest_speed, 2 * h * jnp.abs(a))
        due = fast & (self.gap + h * (u + h / 2 * a) < 0)
        approach = jnp.where(due, -u, 1.0)
        when = jnp.clip(self.gap / approach, 0.0, h)
        # Fast is faster than twice what a changes, so one correction is enough.
        when = jnp.clip(self.gap / (approach - jnp.where(due, a, 0.0) * when / 2), 0.0, h)
        first = jnp.min(jnp.where(due, when, h))
        return due, jnp.where(jnp.any(due), first, 0.0)


def lower_bounds(
    c: StepContacts,
    collides: Bool[Array, "n"],
    h: Scalar,
    since: Scalar,
    tau: Scalar,
    restitution: Float[Array, "n"],
) -> Float[Array, "n"]:
    """β of every contact [m/s].

    Args:
        c: The contacts, at the instant of the first collision.
        collides: Those that collide.
        h: Length of the step [s].
        since: Time from û⁻ to that instant [s].
        tau: Time from the beginning of the step to that instant [s].
        restitution: e.
    """
    a = c.acceleration
    rebound = -restitution * (c.before[:, -1] + a * since) + a * (h / 2 - tau)
    rise = jnp.minimum(-c.gap / h, h * jnp.maximum(-a, 0.0))
    keep = jnp.where(c.gap >= 0, -c.gap / h, rise)
    return jnp.where(collides, jnp.maximum(rebound, 0.0), keep)


def solve_step(
    c: StepContacts,
    low: Float[Array, "n"],
    collides: Bool[Array, "n"],
    mu: Float[Array, "n"],
    restitution: Float[Array, "n"],
    guess: Float[Array, "n dim"],
    law: Any,
) -> tuple[Float[Array, "n dim"], Scalar]:
    """Impulses [N·s] of a step and the residual of the problem [m/s].

    Under Poisson's law colliding normals stop first; then at least e times the impulse of that
    compression is given back.
    """
    n, dim = c.free.shape
    poisson = law.restitution_law == "poisson"
    if poisson:
        low = jnp.where(collides, 0.0, low)
    reach = _REACH * jnp.max(jnp.abs(c.free)) + TINY.of(c.W)
    normal = jnp.minimum(c.free[:, -1] - low, reach)
    b = jnp.concatenate([c.free[:, :-1], normal[:, None]], axis=1).reshape(-1)
    p, residual = _solve(c.W, b, mu, None, guess.reshape(-1), law)
    if poisson:
        stored = jnp.where(collides, restitution * p.reshape(n, dim)[:, -1], 0.0)
        more, second = _solve(c.W, c.W @ p + b, mu, stored, jnp.zeros_like(p), law)
        p, residual = p + more, jnp.maximum(residual, second)
    return p.reshape(n, dim), residual


def _solve(W, b, mu, preload, guess, law) -> tuple[Array, Scalar]:
    if law.solver == "lcp":
        problem = pyramid_lcp(W, b, mu, n_sides=law.sides, preload=preload)
        solution = solve_lcp(problem.M, problem.q, throw=False)
        return problem.impulse(solution.value), solution.residual
    fixed = {"tolerance": None, "max_iterations": law.iterations}
    options = fixed if law.solver == "admm" else {"tolerance": law.tolerance}
    solution = solve_cone(
        W, b, mu, method=law.solver, guess=guess, preload=preload, throw=False, **options
    )
    return solution.value, solution.residual
