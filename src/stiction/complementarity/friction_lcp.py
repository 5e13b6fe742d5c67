"""Friction with flat sides, so that an impact is a linear complementarity problem.

Two forms of u = W γ + b with Coulomb's law (symbols as in `friction_cone`):

- `square_lcp`: the document's own, rodic (44) to (53). Each tangent direction has its own Coulomb
  law (41, 42), which bounds γ_t by a square; nine unknowns a contact.
- `pyramid_lcp`: a pyramid of k sides with maximal dissipation, after [StewartTrinkle1996] and
  [AnitescuPotra1997]; k + 2 unknowns a contact. In the plane (k = 2) it is Coulomb's law itself.
"""

import equinox as eqx
import jax.numpy as jnp

from stiction._base.arrays import Array, ArrayLike, Float
from stiction._base.errors import InputError


class FrictionLcp(eqx.Module):
    """A friction problem as w = M z + q, and the way from z back to impulses."""

    M: Float[Array, "m m"]
    q: Float[Array, " m"]
    to_impulse: Float[Array, "n m"]
    """γ = to_impulse @ z + preload."""
    preload: Float[Array, " n"]

    def impulse(self, z: Float[Array, " m"]) -> Float[Array, " n"]:
        """Contact impulses [N·s], rows tangential then normal, of a solution z."""
        return self.to_impulse @ z + self.preload


def square_lcp(
    W: Float[ArrayLike, "n n"],
    b: Float[ArrayLike, " n"],
    mu: Float[ArrayLike, " n_contacts"],
    *,
    preload: Float[ArrayLike, " n_contacts"] | None = None,
) -> FrictionLcp:
    r"""The impact problem of rodic (52), as printed,

    $$ \begin{bmatrix} \dot g_C \\ \Lambda_{T0C} \end{bmatrix} =
       \begin{bmatrix} W_S^\mathsf{T} H^{-1} W_S & I_S^\mathsf{T} \\ N_S - I_S & 0 \end{bmatrix}
       \begin{bmatrix} \Lambda_C \\ z_C \end{bmatrix} +
       \begin{bmatrix} \dot g_A \\ 0 \end{bmatrix}, $$

    in the order $\Lambda_C = (\Lambda_N, \Lambda_{Tl}^{(+)}, \Lambda_{Tt}^{(+)},
    \Lambda_{Tl}^{(-)}, \Lambda_{Tt}^{(-)})$ and $z_C = (z_{Tl}^-, z_{Tt}^-, z_{Tl}^+, z_{Tt}^+)$,
    each with one entry a contact. Its complements are $\dot g_C = (\dot g_N, \dot g_{Tl}^+,
    \dot g_{Tt}^+, \dot g_{Tl}^-, \dot g_{Tt}^-)$ and the friction saturations of (49),
    $\mu \Lambda_N - \Lambda^{(\pm)}$.

    Where the print leaves a choice: $\dot g_A$ holds ± the velocities before the impact; and (53)
    says 5 n unknowns where (52) has 9 n.

    Args:
        W: Delassus matrix $W H^{-1} W^\mathsf{T}$ of (35), rows (t1, t2, n) of each contact [1/kg].
        b: Velocities $\dot g$ before the impact (33), in the same order [m/s].
        mu: Friction coefficients [-].
        preload: Normal impulses that act in any case (the expansion phase of Poisson's law) [N·s].
    """
    W, b, mu, preload = _arrays(W, b, mu, preload)
    count = mu.shape[0]
    if b.shape[0] != 3 * count:
        raise InputError(
            f"`b` must hold 3 rows a contact, got {b.shape[0]} for {count} contacts: "
            "the document's square is for space; in the plane use `pyramid_lcp`."
        )
    one = jnp.eye(count, dtype=b.dtype)
    zero = jnp.zeros_like(one)
    # W_S of (52): columns +N, +Tl, +Tt, -Tl, -Tt as rows (t1, t2, n) of the contacts.
    unit = jnp.eye(3, dtype=b.dtype)
    signs = jnp.stack([unit[2], unit[0], unit[1], -unit[0], -unit[1]])
    W_S = jnp.einsum("kr,ij->irkj", signs, one).reshape(3 * count, 5 * count)
    friction = jnp.diag(mu)
    I_S = jnp.block([[zero] + [one if j == i else zero for j in range(4)] for i in range(4)])
    N_S = jnp.block([[friction, zero, zero, zero, zero]] * 4)
    M = jnp.block([[W_S.T @ W @ W_S, I_S.T], [N_S - I_S, jnp.zeros((4 * count,) * 2, b.dtype)]])
    loaded = _loaded(preload, 3)
    q = jnp.concatenate([W_S.T @ (b + W @ loaded), jnp.tile(mu * preload, 4)])
    to_impulse = jnp.concatenate([W_S, jnp.zeros((3 * count, 4 * count), b.dtype)], axis=1)
    return FrictionLcp(M, q, to_impulse, loaded)


def pyramid_lcp(
    W: Float[ArrayLike, "n n"],
    b: Float[ArrayLike, " n"],
    mu: Float[ArrayLike, " n_contacts"],
    *,
    n_sides: int = 8,
    angle: Float[ArrayLike, " n_contacts"] | None = None,
    preload: Float[ArrayLike, " n_contacts"] | None = None,
) -> FrictionLcp:
    r"""The same problem with a friction pyramid of k sides inscribed in the cone,

    $$ \gamma_t = \sum_j \beta_j d_j, \qquad
       0 \le \beta_j \perp d_j^\mathsf{T} u_t + \lambda \ge 0, \quad
       0 \le \gamma_n \perp u_n \ge 0, \quad
       0 \le \lambda \perp \mu \gamma_n - \textstyle\sum_j \beta_j \ge 0 . $$

    λ is the sliding speed. Unknowns of each contact are (β_1 … β_k, γ_n, λ). M is copositive, and
    Lemke's method finds a solution whenever b is a velocity that the mechanism can have
    [StewartTrinkle1996].

    Args:
        W: Delassus matrix, rows tangential then normal of each contact [1/kg].
        b: Velocities before the impact, in the same order [m/s].
        mu: Friction coefficients [-].
        n_sides: Sides k of the pyramid, even; ignored in the plane, which has two.
        angle: Direction of the first edge in each contact's tangent plane [rad].
        preload: Normal impulses that act in any case [N·s].
    """
    W, b, mu, preload = _arrays(W, b, mu, preload)
    count = mu.shape[0]
    dim = b.shape[0] // count
    if dim == 2:
        edges = jnp.broadcast_to(jnp.array([[1], [-1]], b.dtype), (count, 2, 1))
    elif n_sides < 4 or n_sides % 2:
        # Without the opposite of each direction, opposed sliding could not be braked.
        raise InputError(f"`n_sides` must be even and at least 4, got {n_sides}.")
    else:
        first = jnp.zeros_like(mu) if angle is None else jnp.asarray(angle, b.dtype)
        turn = 2 * jnp.pi / n_sides * jnp.arange(n_sides, dtype=b.dtype)
        around = first[:, None] + turn[None, :]
        edges = jnp.stack([jnp.cos(around), jnp.sin(around)], axis=-1)
    sides = edges.shape[1]
    size = sides + 2

    # One contact: γ = G z with columns (β, γ_n, λ).
    G = jnp.zeros((count, dim, size), b.dtype)
    G = G.at[:, :-1, :sides].set(jnp.swapaxes(edges, 1, 2)).at[:, -1, sides].set(1)
    same = jnp.eye(count, dtype=b.dtype)
    to_impulse = jnp.einsum("irk,ij->irjk", G, same).reshape(count * dim, count * size)
    # One contact: β answers to λ; λ to μ γ_n - Σ β.
    slack = jnp.zeros((count, size, size), b.dtype)
    slack = slack.at[:, :sides, -1].set(1).at[:, -1, :sides].set(-1).at[:, -1, sides].set(mu)
    # Block by block: to_impulse.T @ W @ to_impulse without its zeros.
    M = jnp.einsum("irk,irjs,jsl->ikjl", G, W.reshape(count, dim, count, dim), G)
    M = M + jnp.einsum("ikl,ij->ikjl", slack, same)
    loaded = _loaded(preload, dim)
    limit = jnp.zeros((count, size), b.dtype).at[:, -1].set(mu * preload)
    return FrictionLcp(
        M=M.reshape(count * size, count * size),
        q=to_impulse.T @ (b + W @ loaded) + limit.reshape(-1),
        to_impulse=to_impulse,
        preload=loaded,
    )


def _arrays(
    W: ArrayLike, b: ArrayLike, mu: ArrayLike, preload: ArrayLike | None
) -> tuple[Array, Array, Array, Array]:
    W, b, mu = jnp.asarray(W), jnp.asarray(b), jnp.asarray(mu)
    preload = jnp.zeros_like(mu) if preload is None else jnp.asarray(preload)
    return W, b, mu, preload


def _loaded(preload: Float[Array, " n_contacts"], dim: int) -> Float[Array, " n"]:
    """The preload as impulses of all rows."""
    zero = jnp.zeros((preload.shape[0], dim - 1), preload.dtype)
    return jnp.concatenate([zero, preload[:, None]], axis=1).reshape(-1)
