r"""Impacts with known normal velocities afterwards: the tangential impulses are free.

With $u_n^+ = -e u_n^-$ prescribed, the normal impulses and the tangential velocities afterwards are
affine in the tangential impulses p_t:

$$ p_n = a + B p_t, \quad u_t^+ = c + D p_t, \quad D = W_{tt} - W_{tn} W_{nn}^{-1} W_{nt} \ge 0. $$

Written in impulses rather than in velocities (flickinger (4.8) inverts W), this also serves
redundant contacts. A contact that would have to be pulled even without friction is released: it
parts by itself.
"""

import equinox as eqx
import jax.numpy as jnp

from stiction._base.arrays import Array, Bool, Float, Scalar, Tolerance
from stiction.impacts.problem import ImpactProblem, release_pulled, solve_in_rows

_NOTHING = Tolerance(1e-12, 1e-5)  # part of the largest impulse that is rounding


class TangentialProblem(eqx.Module):
    """The affine maps, with s = n k tangential components."""

    a: Float[Array, "n"]
    B: Float[Array, "n s"]
    c: Float[Array, "s"]
    D: Float[Array, "s s"]
    active: Bool[Array, "n"]  # contacts that are neither apart nor released
    # Kinetic energy afterwards: T⁺ = T⁻ + e₀ + e₁ · p_t + ½ p_tᵀ E p_t
    e0: Scalar
    e1: Float[Array, "s"]
    E: Float[Array, "s s"]

    def normal(self, p_t: Float[Array, "s"]) -> Float[Array, "n"]:
        """p_n."""
        return self.a + self.B @ p_t

    def slip(self, p_t: Float[Array, "s"]) -> Float[Array, "s"]:
        """u_t⁺."""
        return self.c + self.D @ p_t

    def energy_change(self, p_t: Float[Array, "s"]) -> Scalar:
        """T⁺ - T⁻."""
        return self.e0 + self.e1 @ p_t + p_t @ (self.E @ p_t) / 2

    def impulse(self, p_t: Float[Array, "s"]) -> Float[Array, "n dim"]:
        """Tangential and normal impulses together."""
        n = self.a.size
        tangential = p_t.reshape(n, -1)
        return jnp.concatenate([tangential, self.normal(p_t)[:, None]], axis=1)


def tangential_problem(problem: ImpactProblem) -> TangentialProblem:
    """The affine maps of an impact."""
    u = problem.velocity
    n, dim = u.shape
    k = dim - 1
    blocks = problem.W.reshape(n, dim, n, dim)
    W_tt = blocks[:, :-1, :, :-1].reshape(n * k, n * k)
    W_tn = blocks[:, :-1, :, -1].reshape(n * k, n)
    W_nn = blocks[:, -1, :, -1]
    wanted = -(1 + problem.restitution) * u[:, -1]

    def solve_normal(kept: Array, b: Array) -> Array:
        """p_n with (W_nn p_n) = b in the kept rows, 0 in the others."""
        return solve_in_rows(W_nn, kept.astype(u.dtype), b, problem.scale)

    def solve(kept: Array) -> tuple[Array, Array]:
        p_n = solve_normal(kept, wanted)
        return p_n, p_n

    kept, a = release_pulled(problem.active, solve)
    # A contact without an impulse of its own (a body that rests elsewhere) gets one that is
    # rounding: its cone would else have no inside, from which programs over cones begin.
    a = jnp.where(kept, jnp.maximum(a, _NOTHING.of(u) * jnp.max(jnp.abs(a))), a)
    t = jnp.repeat(kept, k).astype(u.dtype)
    W_tt, W_tn = t[:, None] * W_tt * t[None, :], t[:, None] * W_tn
    B = -solve_normal(kept, W_tn.T)
    c = t * (u[:, :-1].reshape(-1) + W_tn @ a)
    D = W_tt + W_tn @ B
    # T⁺ - T⁻ = Σ p · u⁻ + ½ p · W p with p = (p_t, a + B p_t).
    u_t, u_n = t * u[:, :-1].reshape(-1), u[:, -1]
    e0 = a @ u_n + a @ (W_nn @ a) / 2
    e1 = u_t + B.T @ u_n + W_tn @ a + B.T @ (W_nn @ a)
    E = W_tt + W_tn @ B + (W_tn @ B).T + B.T @ W_nn @ B
    return TangentialProblem(a, B, c, D, kept, e0, e1, E)
