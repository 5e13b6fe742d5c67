r"""The least slip inside friction cones: a small convex program, by an interior-point method.

$$ \min_{p_t} \tfrac12 \sum_i w_i |u_{t,i}^+|^2 \quad\text{subject to}\quad
   |p_{t,i}| \le \mu_i p_{n,i}, \quad T^+ \le T_{max}. $$

Everything is affine or a convex quadratic in p_t, and friction-free impulses lie inside the cones,
so a barrier method from there converges for certain. The number of steps is fixed: no branch, no
loop that waits.
"""

import jax
import jax.numpy as jnp

from stiction._base.arrays import Array, Float, Scalar
from stiction.impacts.tangential import TangentialProblem

_OUTER = 22  # times the barrier is made steeper
_STEEPER = 6.0
_INNER = 3  # Newton steps for each


def least_slip(
    maps: TangentialProblem,
    mu: Float[Array, "n"],
    weight: Float[Array, "n"],
    energy_room: Scalar | None,
    start: Float[Array, "s"],
) -> Float[Array, "s"]:
    """Tangential impulses with the least weighted slip.

    `energy_room` is the largest T⁺ - T⁻ allowed [J], None for no bound; `start` lies strictly
    inside.
    """
    n, s = maps.B.shape
    k = s // n
    active = maps.active.astype(maps.a.dtype)
    w = jnp.repeat(weight * active, k)
    # Each cone as z = M p + m with z = (p_t, μ p_n): inside where zᵀ J z > 0, last entry > 0.
    picks = jnp.eye(s, dtype=maps.a.dtype).reshape(n, k, s) * active[:, None, None]
    M = jnp.concatenate([picks, (active * mu)[:, None, None] * maps.B[:, None, :]], axis=1)
    m = jnp.zeros((n, k + 1), maps.a.dtype)
    m = m.at[:, -1].set(jnp.where(maps.active, mu * maps.a, 1.0))
    J = jnp.ones(k + 1, maps.a.dtype).at[:-1].set(-1)
    objective = jnp.sum(w * maps.c**2) + 1e-300
    hessian = (maps.D * w[None, :]) @ maps.D / objective

    def newton(p: Array, steep: Scalar) -> Array:
        gradient = maps.D @ (w * maps.slip(p)) / objective * steep
        z = jnp.einsum("nij,j->ni", M, p) + m
        g = J[None] * z
        inside = jnp.sum(g * z, axis=1)
        Mg = jnp.einsum("nij,ni->nj", M, g)
        gradient = gradient - 2 * jnp.sum(Mg / inside[:, None], axis=0)
        H = hessian * steep - 2 * jnp.einsum("nij,i,nik,n->jk", M, J, M, 1 / inside)
        H = H + 4 * jnp.einsum("nj,nk,n->jk", Mg, Mg, 1 / inside**2)
        if energy_room is not None:  # one more barrier
            slack = energy_room - maps.energy_change(p)
            de = maps.e1 + maps.E @ p
            gradient = gradient + de / slack
            H = H + maps.E / slack + de[:, None] * de[None, :] / slack**2
        # Scaled to a unit diagonal, for weights and barriers differ by many orders. Directions that
        # nothing depends on (redundant contacts) stay where they are.
        diagonal = jnp.diag(H)
        unit = jnp.where(diagonal > 0, 1 / jnp.sqrt(jnp.where(diagonal > 0, diagonal, 1.0)), 1.0)
        H = unit[:, None] * H * unit[None, :] + 1e-12 * jnp.eye(s, dtype=p.dtype)
        step = -unit * jnp.linalg.solve(H, unit * gradient)
        new = p + _longest(maps, M, J, z, p, step, energy_room) * step
        return jnp.where(jnp.all(jnp.isfinite(new)), new, p)

    def steeper(i: Array, p: Array) -> Array:
        return newton(p, _STEEPER ** (i // _INNER).astype(p.dtype))

    return jax.lax.fori_loop(0, _OUTER * _INNER, steeper, start)


def _longest(
    maps: TangentialProblem,
    M: Float[Array, "n dim s"],
    J: Float[Array, "dim"],
    z: Float[Array, "n dim"],
    p: Float[Array, "s"],
    step: Float[Array, "s"],
    room: Scalar | None,
) -> Scalar:
    """The largest part of a step, up to 1, that stays well inside all cones and the energy."""
    dz = jnp.einsum("nij,j->ni", M, step)
    # (z + α dz)ᵀ J (z + α dz) = q0 + 2 q1 α + q2 α² stays positive up to its first root.
    q0, q1, q2 = (jnp.sum(J[None] * x * y, axis=1) for x, y in ((z, z), (z, dz), (dz, dz)))
    reach = jnp.min(_first_root(q0, q1, q2))
    if room is not None:
        slack = room - maps.energy_change(p)
        slope = (maps.e1 + maps.E @ p) @ step
        bend = step @ (maps.E @ step)
        energy = _first_root(slack[None], -slope[None] / 2, -bend[None] / 2)[0]
        reach = jnp.minimum(reach, energy)
    return jnp.minimum(1.0, 0.95 * reach)


def _first_root(q0: Array, q1: Array, q2: Array) -> Array:
    """The least positive α with q0 + 2 q1 α + q2 α² = 0, or inf; q0 > 0."""
    disc = q1 * q1 - q0 * q2
    root = jnp.sqrt(jnp.maximum(disc, 0.0))
    # q0 / (-q1 + root) is the stable form of the smaller positive root.
    below = -q1 + root
    hits = (disc >= 0) & (below > 0)
    return jnp.where(hits, q0 / jnp.where(hits, below, 1.0), jnp.inf)
