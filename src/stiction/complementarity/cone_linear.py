r"""A linear objective over boxes and friction cones: a second-order cone program, for small sizes.

$$ \max c^T x \quad\text{such that}\quad A x = b,\quad |x_i| \le 1 \ (1 \le i \le n_{box}),\quad
   |x_{t,j}| \le \mu_j x_{n,j} , $$

with x = (one free variable, the boxed ones, the forces of the contacts). The equations may be
redundant: their solutions are taken from a singular value decomposition, and what is left is a
program over cones alone,

$$ \min c^T w \quad\text{such that}\quad h - G w \in K , $$

solved on its homogeneous self-dual embedding (which has a solution even if the program has none)
with Nesterov-Todd steps [NesterovTodd1998].
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from stiction._base.arrays import Array, Bool, Float, Int, Scalar, Tolerance
from stiction.complementarity.cone_interior import cone_inverse, scaling, to_boundary

_MAX_STEPS = 60
_TARGET = Tolerance(1e-10, 1e-5)  # of the residuals, relative
_GOOD_ENOUGH = Tolerance(1e-8, 1e-3)
_RANK = Tolerance(1e-11, 1e-5)  # singular values below this share of the largest are zero
_TO_BOUNDARY = 0.99


class Maximum(NamedTuple):
    """The answer of a program."""

    value: Scalar
    x: Float[Array, " nx"]
    feasible: Bool[Array, ""]
    steps: Int[Array, ""]


class _Point(NamedTuple):
    w: Float[Array, " nx"]
    s: Float[Array, "cones dim"]  # the part left to each cone's boundary
    z: Float[Array, "cones dim"]  # multipliers
    tau: Scalar
    kappa: Scalar
    steps: Int[Array, ""]
    error: Scalar


def maximize_over_cones(
    c: Float[Array, " nx"],
    A: Float[Array, "p nx"],
    b: Float[Array, " p"],
    mu: Float[Array, " n"],
    n_box: int,
    dim: int,
) -> Maximum:
    """The largest cᵀx; see the head of the file. Differentiable in c, A and b where it is smooth.

    Args:
        c: Objective.
        A: Equations.
        b: Their right-hand side.
        mu: Coefficient of friction of each contact.
        n_box: How many entries of x, from the second, lie in [-1, 1].
        dim: Entries of a force: tangents, then normal.
    """
    n, nx = mu.size, c.size
    free = 1 + n_box
    # Boxes as pairs of half lines, cones by their axes: all of it h - G x in a product of cones of
    # one size, half lines being cones whose other entries are nothing.
    box = jnp.eye(nx, dtype=c.dtype)[1:free]
    G_box = jnp.concatenate([box, -box])
    G_rows = jnp.zeros((2 * n_box, dim, nx), c.dtype).at[:, -1].set(G_box)
    h_rows = jnp.zeros((2 * n_box, dim), c.dtype).at[:, -1].set(1.0)
    picks = -jnp.eye(nx, dtype=c.dtype)[free:].reshape(n, dim, nx)
    picks = picks.at[:, -1].multiply(mu[:, None])
    G = jnp.concatenate([G_rows, picks])
    h = jnp.concatenate([h_rows, jnp.zeros((n, dim), c.dtype)])

    data = jax.lax.stop_gradient((c, A, b))
    x, y, z, feasible, steps = _solve(*data, lax.stop_gradient(G), h, 2 * n_box)
    # By the envelope theorem only the data vary: the Lagrangian at the solution.
    slack = h - jnp.einsum("kij,j->ki", G, x)
    value = c @ x - y @ (A @ x - b) + jnp.sum(z * slack)
    return Maximum(value, x, feasible, steps)


def _solve(
    c: Float[Array, " nx"],
    A: Float[Array, "p nx"],
    b: Float[Array, " p"],
    G: Float[Array, "cones dim nx"],
    h: Float[Array, "cones dim"],
    lines: int,
) -> tuple[
    Float[Array, " nx"],
    Float[Array, " p"],
    Float[Array, "cones dim"],
    Bool[Array, ""],
    Int[Array, ""],
]:
    """x, the multipliers of equations and cones, whether there is a solution, and the steps."""
    nx = c.size
    # Equations in units of their rows.
    row = jnp.max(jnp.abs(A), axis=1)
    row = jnp.where(row > 0, row, 1.0)
    A_unit, b_unit = A / row[:, None], b / row
    U, sigma, Vt = jnp.linalg.svd(A_unit, full_matrices=True)
    rank = sigma > _RANK.of(c) * sigma[0]
    inverse = jnp.where(rank, 1 / jnp.where(rank, sigma, 1.0), 0.0)
    p = sigma.size
    x0 = Vt[:p].T @ (inverse * (U[:, :p].T @ b_unit))
    met = jnp.max(jnp.abs(A_unit @ x0 - b_unit)) <= 1e-9 * (1 + jnp.max(jnp.abs(b_unit)))
    # Columns of V that the equations settle are left out, without changing the shape.
    loose = jnp.concatenate([~rank, jnp.ones(nx - p, bool)]).astype(c.dtype)
    N = Vt.T * loose[None, :]
    point = _embedding(-(N.T @ c), jnp.einsum("kij,jl->kil", G, N),
                       h - jnp.einsum("kij,j->ki", G, x0), 1 - loose, lines)  # fmt: skip
    good = point.tau > 1e-6 * point.kappa
    tau = jnp.where(good, point.tau, 1.0)
    x = x0 + N @ (point.w / tau)
    z = point.z / tau
    # c = Aᵀ y + Gᵀ z at the maximum.
    rest = c - jnp.einsum("kij,ki->j", G, z)
    y = (U[:, :p] * inverse[None, :]) @ (Vt[:p] @ rest) / row
    feasible = good & met & (point.error <= _GOOD_ENOUGH.of(c))
    return x, y, z, feasible, point.steps


def _embedding(
    c: Float[Array, " nx"],
    G: Float[Array, "cones dim nx"],
    h: Float[Array, "cones dim"],
    settled: Float[Array, " nx"],
    lines: int,
) -> _Point:
    """The self-dual embedding of min cᵀw, h - G w in K, the first cones being half lines."""
    dim = h.shape[1]
    tip = jnp.zeros(dim, h.dtype).at[-1].set(1.0)
    degree = h.shape[0] + 1.0
    scale_c = jnp.maximum(jnp.max(jnp.abs(c)), 1.0)
    scale_h = jnp.maximum(jnp.max(jnp.abs(h)), 1.0)

    def times(w: Array) -> Array:
        return jnp.einsum("kij,j->ki", G, w)

    def transposed(z: Array) -> Array:
        return jnp.einsum("kij,ki->j", G, z)

    def step(p: _Point) -> _Point:
        r_w = transposed(p.z) + c * p.tau
        r_z = p.s + times(p.w) - h * p.tau
        r_t = p.kappa + c @ p.w + jnp.sum(h * p.z)
        gap = (jnp.sum(p.s * p.z) + p.tau * p.kappa) / degree
        H = scaling(p.s, p.z)
        HG = jnp.einsum("kij,kjl->kil", H, G)
        K = jnp.einsum("kij,kil->jl", G, HG) + jnp.diag(settled)
        factors = jax.scipy.linalg.cho_factor(K + 1e-15 * jnp.trace(K) * jnp.eye(c.size))

        def solve(right: Array) -> Array:
            x = jax.scipy.linalg.cho_solve(factors, right)
            return x + jax.scipy.linalg.cho_solve(factors, right - K @ x)

        x1 = solve(-c + jnp.einsum("kil,ki->l", HG, h))

        def direction(center: Scalar) -> tuple[tuple[Array, ...], Scalar]:
            keep = 1 - center
            goal = center * gap * cone_inverse(p.s) - p.z
            Hr = jnp.einsum("kij,kj->ki", H, r_z)
            x2 = solve(-keep * r_w - transposed(goal + keep * Hr))
            d_kappa = center * gap - p.kappa * p.tau

            def multipliers(dw: Array, dt: Scalar) -> tuple[Array, Array]:
                ds = -keep * r_z - times(dw) + h * dt
                return ds, goal - jnp.einsum("kij,kj->ki", H, ds)

            # Δκ + cᵀΔw + hᵀΔz = -(1-σ) r_t is linear in Δτ.
            _, z2 = multipliers(x2, jnp.zeros_like(gap))
            z1 = jnp.einsum("kij,kj->ki", H, times(x1) - h)
            slope = -p.kappa / p.tau + c @ x1 + jnp.sum(h * z1)
            dt = (-keep * r_t - d_kappa / p.tau - c @ x2 - jnp.sum(h * z2)) / slope
            dw = x2 + dt * x1
            ds, dz = multipliers(dw, dt)
            dk = (d_kappa - p.kappa * dt) / p.tau
            # Along a half line the boundary is a double root, which rounding would lose.
            reach = jnp.minimum(
                to_boundary(p.s[lines:], ds[lines:]), to_boundary(p.z[lines:], dz[lines:])
            )
            ends = (p.s[:lines, -1], p.z[:lines, -1], p.tau[None], p.kappa[None])
            moves = (ds[:lines, -1], dz[:lines, -1], dt[None], dk[None])
            x, dx = jnp.concatenate(ends), jnp.concatenate(moves)
            line = jnp.where(dx < 0, -x / jnp.where(dx < 0, dx, 1.0), jnp.inf)
            reach = jnp.minimum(reach, jnp.min(line))
            return (dw, ds, dz, dt, dk), jnp.minimum(_TO_BOUNDARY * reach, 1.0)

        _, length = direction(jnp.zeros_like(gap))
        center = jnp.clip((1 - length) ** 2, 1e-3, 0.9)
        (dw, ds, dz, dt, dk), length = direction(center)
        new = (p.w + length * dw, p.s + length * ds, p.z + length * dz, p.tau + length * dt,
               p.kappa + length * dk)  # fmt: skip
        size = new[3] + new[4]  # the embedding is homogeneous: keep its numbers of size one
        new = tuple(x / size for x in new)
        error = jnp.maximum(
            jnp.maximum(
                jnp.max(jnp.abs(transposed(new[2]) + c * new[3])) / scale_c,
                jnp.max(jnp.abs(new[1] + times(new[0]) - h * new[3])) / scale_h,
            ),
            jnp.abs(jnp.sum(new[1] * new[2])) / (scale_h * scale_c),
        )
        # Residuals of the program itself, not of its embedding, where it has a solution.
        error = error / jnp.where(new[3] > 1e-6 * new[4], new[3], 1.0)
        fine = jnp.all(jnp.isfinite(new[0])) & jnp.isfinite(new[3]) & (length > 1e-9)
        moved = _Point(*new, steps=p.steps + 1, error=error)
        stay = p._replace(steps=jnp.full_like(p.steps, _MAX_STEPS))
        return jax.tree.map(lambda a, b: jnp.where(fine, a, b), moved, stay)

    def unfinished(p: _Point) -> Bool[Array, ""]:
        hopeless = p.tau < 1e-9 * p.kappa
        return (p.steps < _MAX_STEPS) & (p.error > _TARGET.of(c)) & ~hopeless

    one, cone = jnp.ones((), h.dtype), jnp.broadcast_to(tip, h.shape)
    start = _Point(jnp.zeros_like(c), cone, cone, one, one, jnp.asarray(0), one * jnp.inf)
    return lax.while_loop(unfinished, step, start)
