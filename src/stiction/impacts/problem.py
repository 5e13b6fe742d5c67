r"""The impact problem, with no bodies in it: contact velocities before, their law, impulses.

$$ u^+ = u^- + W p, \qquad T^+ - T^- = \tfrac12 p^T (u^- + u^+). $$

flickinger (3.13): impulses and changes of contact velocity are related by the Delassus matrix
W = J A⁻¹ Jᵀ. Contacts that take no part have no impulse.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp

from stiction._base.arrays import Array, Bool, Float, Int, Scalar
from stiction._base.linear import solve_redundant

_BY_CONTACT = (
    "velocity", "active", "restitution", "mu_static", "mu_dynamic", "stribeck_speed",
    "stribeck_exponent",
)  # fmt: skip
PULL = 1e-12  # pulling impulses smaller than this part of the largest are rounding


class ImpactProblem(eqx.Module):
    """One impact: what is known before it is resolved."""

    W: Float[Array, "m m"]  # Delassus matrix [1/kg]
    velocity: Float[Array, "n dim"]  # u⁻: tangents, then normal [m/s]
    active: Bool[Array, "n"]  # contacts that touch
    restitution: Float[Array, "n"]
    mu_static: Float[Array, "n"]
    mu_dynamic: Float[Array, "n"]
    stribeck_speed: Float[Array, "n"]  # [m/s]
    stribeck_exponent: Float[Array, "n"]
    kinetic: Float[Array, ""]  # T⁻ [J]
    energetic: Float[Array, ""]  # e*: the most of T⁻ that may be left; inf for no bound

    @property
    def mask(self) -> Float[Array, "m"]:
        """1 in the rows of contacts that take part."""
        dim = self.velocity.shape[1]
        return jnp.repeat(self.active, dim).astype(self.W.dtype)

    @property
    def scale(self) -> Scalar:
        """The largest inverse mass of any contact [1/kg]."""
        return jnp.max(jnp.diag(self.W))

    def part(self, which: Int[Array, "k"]) -> "ImpactProblem":
        """The problem of some contacts, the others being apart."""
        n, dim = self.velocity.shape
        blocks = self.W.reshape(n, dim, n, dim)[which][:, :, which]
        fields = {name: getattr(self, name)[which] for name in _BY_CONTACT}
        m = which.shape[0] * dim
        return ImpactProblem(
            W=blocks.reshape(m, m), **fields, kinetic=self.kinetic, energetic=self.energetic
        )

    def velocity_after(self, impulse: Float[Array, "n dim"]) -> Float[Array, "n dim"]:
        """u⁺ of an impulse."""
        change = self.W @ impulse.reshape(-1)
        return self.velocity + change.reshape(self.velocity.shape)

    def work(self, impulse: Float[Array, "n dim"]) -> Float[Array, "n dim"]:
        """Work of each component of the impulse [J]; their sum is the change of kinetic energy."""
        return impulse * (self.velocity + self.velocity_after(impulse)) / 2


class ImpactSolution(eqx.Module):
    """The impulses that a law gives, and what it assumed."""

    impulse: Float[Array, "n dim"]  # [N·s]
    mu: Float[Array, "n"]  # coefficient of friction that was used, |p_t| / p_n
    sticks: Bool[Array, "n"]  # u_t⁺ = 0
    scale: Float[Array, ""]  # ẽ of (5.2): all velocities are multiplied by it afterwards
    feasible: Bool[Array, ""]  # whether the law could be met

    @classmethod
    def of(
        cls, impulse: Float[Array, "n dim"], sticks: Bool[Array, "n"], feasible: Bool[Array, ""]
    ) -> "ImpactSolution":
        """What a law found, before its energy is scaled."""
        unscaled = jnp.ones((), impulse.dtype)
        return cls(impulse, friction_used(impulse), sticks, unscaled, feasible)


def friction_used(impulse: Float[Array, "n dim"]) -> Float[Array, "n"]:
    """|p_t| / p_n of each contact, 0 where there is no impulse."""
    tangential = jnp.sqrt(jnp.sum(impulse[:, :-1] ** 2, axis=1))
    normal = impulse[:, -1]
    return jnp.where(normal > 0, tangential / jnp.where(normal > 0, normal, 1.0), 0.0)


def solve_in_rows(
    K: Float[Array, "m m"], rows: Float[Array, "m"], b: Float[Array, "m *k"], scale: Scalar
) -> Float[Array, "m *k"]:
    """x with K x = b in the rows marked 1, and x = 0 in those marked 0; the least if several."""
    held = rows[:, None] * K * rows[None, :] + jnp.diag(1 - rows)
    rows = rows if b.ndim == 1 else rows[:, None]
    return rows * solve_redundant(held, rows * b, scale)


def release_pulled(
    active: Bool[Array, "n"], solve: Callable[[Array], tuple[Array, Array]]
) -> tuple[Bool[Array, "n"], Array]:
    """The contacts that are kept when those are released, worst first, that would have to pull.

    Args:
        active: The contacts to begin with.
        solve: Impulses of the contacts that are kept, and of them the normal ones.

    Returns:
        The kept contacts and their impulses.
    """

    def release(state: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        kept, p, normal, _ = state
        worst = jnp.argmin(normal)
        pulled = normal[worst] < -PULL * jnp.max(jnp.abs(p))
        kept = jnp.where(pulled, kept.at[worst].set(False), kept)
        return kept, *solve(kept), pulled

    start = (active, *solve(active), jnp.asarray(True))
    if active.size > 1:
        start = jax.lax.while_loop(lambda s: s[3] & jnp.any(s[0]), release, start)
    return start[0], start[1]
