r"""Feasible friction: what coefficient each slip after an impact would need.

flickinger (4.2), (4.3), Figures 4.1 to 4.5. With $u_n^+ = -e u_n^-$ and the tangential velocities
afterwards on a line $u_t^+ = s\,d$, the impulses (4.8) are affine in s,

$$ p(s) = W^{-1} (u^+(s) - u^-) = p_0 + s p_1, \qquad \mu_i(s) = |p_{t,i}| / |p_{n,i}|. $$

A slip with $p_{n,i} < 0$ cannot be had. At s = 0 the curve is at μ_f, what sticking needs; far away
it tends to a limit where tangent and normal are coupled, and grows without bound where not.
"""

import equinox as eqx
import jax
import jax.numpy as jnp

from stiction._base.arrays import Array, Float, Scalar
from stiction.impacts.problem import ImpactProblem, solve_in_rows

_UNCOUPLED = 1e-12  # a normal impulse smaller than this part of the whole is rounding


class FrictionMap(eqx.Module):
    """Curves over the slip after an impact, one for each of n contacts."""

    slip: Float[Array, "m"]  # s [m/s]
    mu: Float[Array, "m n"]  # |p_t| / |p_n| (4.2)
    normal: Float[Array, "m n"]  # p_n [N·s]; where it is negative, the slip cannot be had (4.3)
    energy: Float[Array, "m"]  # T⁺ - T⁻ [J]
    mu_stick: Float[Array, "n"]  # μ_f, at s = 0; inf where sticking would have to pull
    mu_limit: Float[Array, "n"]  # for ever faster slip; inf where μ grows without bound
    pole: Float[Array, "n"]  # s at which p_n = 0 [m/s]; inf where it never is


def friction_map(
    problem: ImpactProblem, slip: Float[Array, "m"], direction: Float[Array, "n k"]
) -> FrictionMap:
    """The friction coefficient that each slip after an impact needs (4.2).

    Args:
        problem: The impact. Contacts that are not active have zero impulse and a coefficient of 0.
        slip: s, where the curves are wanted [m/s].
        direction: d, the tangential velocities of all contacts for s = 1, such as the bodies can
            have: 1 at one contact and 0 at the others (which then stick), or 1 at all of them.
    """
    u = problem.velocity
    n, dim = u.shape
    normal_after = -problem.restitution[:, None] * u[:, -1:]
    at_rest = jnp.concatenate([jnp.zeros_like(direction), normal_after], axis=1) - u
    along = jnp.concatenate([direction, jnp.zeros_like(normal_after)], axis=1)
    changes = jnp.stack([at_rest.reshape(-1), along.reshape(-1)], axis=1)
    p = solve_in_rows(problem.W, problem.mask, changes, problem.scale)
    p0, p1 = p[:, 0].reshape(n, dim), p[:, 1].reshape(n, dim)

    def at(s: Scalar) -> tuple[Array, Array, Array]:
        impulse, after = p0 + s * p1, u + at_rest + s * along
        return _ratio(impulse), impulse[:, -1], jnp.sum(impulse * (u + after)) / 2

    mu, normal, energy = jax.vmap(at)(slip)
    coupled = jnp.abs(p1[:, -1]) > _UNCOUPLED * jnp.sqrt(jnp.sum(p1**2, axis=1))
    return FrictionMap(
        slip=slip,
        mu=mu,
        normal=normal,
        energy=energy,
        mu_stick=jnp.where(p0[:, -1] >= 0, _ratio(p0), jnp.inf),
        mu_limit=jnp.where(coupled | ~problem.active, _ratio(p1), jnp.inf),
        pole=jnp.where(coupled, -p0[:, -1] / jnp.where(coupled, p1[:, -1], 1.0), jnp.inf),
    )


def _ratio(impulse: Float[Array, "n dim"]) -> Float[Array, "n"]:
    """|p_t| / |p_n|: 0 for no impulse at all, inf for one without a normal part."""
    tangential = jnp.sqrt(jnp.sum(impulse[:, :-1] ** 2, axis=1))
    normal = jnp.abs(impulse[:, -1])
    ratio = tangential / jnp.where(normal > 0, normal, 1.0)
    return jnp.where(normal > 0, ratio, jnp.where(tangential > 0, jnp.inf, 0.0))
