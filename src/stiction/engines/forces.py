r"""Contact forces in kept contact, when it is known which contacts stick, slip or are open.

flickinger (3.17)-(3.21): known accelerations (stick: all zero; slip: normal zero) and known
directions of force (slip: $f_t = -\mu f_n d$ with d the direction of slip) leave a linear system.
With λ the unknown part of each force (all of it where a contact sticks, the normal part where it
slips) and f = B λ,

$$ \dot u = W B \lambda + a_0, \qquad \dot u_k = 0 \text{ in the rows that are known to vanish.} $$

Where contacts are redundant the system is singular but solvable: accelerations are unique, forces
are not. A small regularisation with a few steps of refinement then gives the least forces. (3.19)
solves by normal equations instead, which needs full rank and squares the condition number. But the
least friction forces may leave their cones where others would not: the upper corners of a box that
rests on a slope press less, and cannot hold as much. So friction is shared as contacts press: least
is the sum of |f_t|² / (μ f_n), which makes friction proportional to pressure where it can be.
"""

import jax
import jax.numpy as jnp

from stiction._base.arrays import Array, Bool, Float, Int
from stiction._base.linear import solve_redundant

OPEN, STICK, SLIP = range(3)
MODE_NAMES = ("open", "stick", "slip")

_LEAST_SHARE = 1e-4  # of friction: of a contact that hardly presses, so that it is not forgotten


def known_rows(modes: Int[Array, "n"], dim: int) -> Bool[Array, "m"]:
    """The rows whose contact acceleration is known to vanish."""
    stick, slip = modes == STICK, modes == SLIP
    tangents = jnp.repeat(stick[:, None], dim - 1, axis=1)
    return jnp.concatenate([tangents, (stick | slip)[:, None]], axis=1).reshape(-1)


def force_basis(
    modes: Int[Array, "n"], direction: Float[Array, "n k"], mu: Float[Array, "n"]
) -> Float[Array, "m m"]:
    """B with f = B λ: the identity for sticking contacts, (-μ d, 1) times λₙ for slipping ones."""
    n, k = direction.shape
    dim = k + 1
    stick = (modes == STICK).astype(mu.dtype)
    slip = (modes == SLIP).astype(mu.dtype)
    ray = jnp.concatenate([-mu[:, None] * direction, jnp.ones_like(mu)[:, None]], axis=1)
    last = jnp.asarray([*[0.0] * k, 1.0], mu.dtype)
    blocks = stick[:, None, None] * jnp.eye(dim, dtype=mu.dtype)[None]
    blocks = blocks + (slip[:, None] * ray)[:, :, None] * last[None, None]
    # Blocks on the diagonal of an m × m matrix.
    eye = jnp.eye(n, dtype=mu.dtype)
    return (eye[:, None, :, None] * blocks[:, :, None, :]).reshape(n * dim, n * dim)


def contact_forces(
    W: Float[Array, "m m"],
    a0: Float[Array, "m"],
    modes: Int[Array, "n"],
    direction: Float[Array, "n k"],
    mu: Float[Array, "n"],
) -> Float[Array, "m"]:
    """Forces [N] that keep sticking contacts from moving and slipping ones from leaving or sinking.

    Args:
        W: Delassus matrix.
        a0: Contact acceleration without forces [m/s²].
        modes: `OPEN`, `STICK` or `SLIP` for each contact.
        direction: Unit vector of slip of each slipping contact.
        mu: Coefficient of friction of each slipping contact.
    """
    n, k = direction.shape
    B = force_basis(modes, direction, mu)
    known = known_rows(modes, k + 1).astype(W.dtype)
    K = known[:, None] * (W @ B) + jnp.diag(1 - known)
    scale = jnp.max(jnp.diag(W))
    least = solve_redundant(K, -known * a0, scale)
    sticks = modes == STICK

    def shared() -> Float[Array, "m"]:
        holds = jnp.where(sticks, mu * least.reshape(n, k + 1)[:, -1], 0.0)
        strongest = jnp.max(holds)
        share = jnp.maximum(holds / jnp.where(strongest > 0, strongest, 1.0), _LEAST_SHARE)
        share = jnp.sqrt(jnp.where(sticks, share, 1.0))[:, None]
        S = jnp.concatenate([jnp.broadcast_to(share, (n, k)), jnp.ones_like(share)], axis=1)
        S = S.reshape(-1)
        return S * solve_redundant(S[:, None] * K * S[None, :], -S * known * a0, scale)

    if n == 1:
        return B @ least
    # Friction of one contact is not shared with others.
    return B @ jax.lax.cond(jnp.sum(sticks) > 1, shared, lambda: least)
