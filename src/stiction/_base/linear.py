"""Small linear systems, written out; and singular ones, solved for the least solution.

A call into LAPACK (or cuSOLVER) costs more than the arithmetic when a matrix has a handful of rows;
written out, the factorisation fuses into the program around it. Larger ones go to the library.
"""

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl

from stiction._base.arrays import Array, Float, Tolerance
from stiction._base.spatial import cross

_WRITTEN_OUT = 6  # up to this size; beyond it the program grows faster than the call costs
# Up to this size a column at a time. It is as fast as the library, and a batch cannot wait for
# itself: XLA on a processor runs calls into LAPACK side by side, each of which shares its batch out
# among the same few threads and waits for them (seen with jaxlib 0.10 on two cores).
_BY_COLUMNS = 16
_REGULARIZATION = Tolerance(1e-9, 1e-5)  # of singular systems, relative to their scale
_REFINEMENTS = 3  # the error falls by about the regularisation over the least eigenvalue each time


def cholesky(M: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """L with L Lᵀ = M, from the lower triangle of M."""
    n = M.shape[0]
    if n > _BY_COLUMNS:
        return _library_cholesky(M)
    if n > _WRITTEN_OUT:
        return _cholesky_by_columns(M)
    L = [[jnp.zeros((), M.dtype)] * n for _ in range(n)]
    for j in range(n):
        L[j][j] = jnp.sqrt(M[j, j] - sum(L[j][k] * L[j][k] for k in range(j)))
        for i in range(j + 1, n):
            L[i][j] = (M[i, j] - sum(L[i][k] * L[j][k] for k in range(j))) / L[j][j]
    return jnp.stack([jnp.stack(row) for row in L])


def _cholesky_by_columns(M: Float[Array, "n n"]) -> Float[Array, "n n"]:
    columns = []
    rest = M
    for j in range(M.shape[0]):
        column = rest[:, 0] / jnp.sqrt(rest[0, 0])
        columns.append(jnp.concatenate([jnp.zeros(j, M.dtype), column]))
        rest = rest[1:, 1:] - column[1:, None] * column[None, 1:]
    return jnp.stack(columns, axis=1)


@jax.custom_jvp
def _library_cholesky(M: Float[Array, "n n"]) -> Float[Array, "n n"]:
    return jnp.linalg.cholesky(M, symmetrize_input=False)


@_library_cholesky.defjvp
def _library_cholesky_jvp(primals, tangents):
    # The library's rule for derivatives reads the upper triangle too, which here means nothing.
    (M,), (M_dot,) = primals, tangents
    symmetric = jnp.tril(M_dot) + jnp.tril(M_dot, -1).T
    return jax.jvp(lambda A: jnp.linalg.cholesky(A, symmetrize_input=False), (M,), (symmetric,))


def solve_lower(L: Float[Array, "n n"], b: Float[Array, "n *k"]) -> Float[Array, "n *k"]:
    """L⁻¹ b."""
    n = L.shape[0]
    if n > _BY_COLUMNS:
        return jsl.solve_triangular(L, b, lower=True)
    if n > _WRITTEN_OUT:
        return _solve_by_columns(L, b)
    x: list[Array] = []
    for i in range(n):
        x.append((b[i] - sum(L[i, k] * x[k] for k in range(i))) / L[i, i])
    return jnp.stack(x)


def _solve_by_columns(L: Float[Array, "n n"], b: Float[Array, "n *k"]) -> Float[Array, "n *k"]:
    """L⁻¹ b: each entry of the answer is taken out of all later rows at once."""
    x = []
    for j in range(L.shape[0]):
        x.append(b[0] / L[j, j])
        column = L[j + 1 :, j].reshape(-1, *[1] * (b.ndim - 1))
        b = b[1:] - column * x[-1][None]
    return jnp.stack(x)


def solve_upper(L: Float[Array, "n n"], b: Float[Array, "n *k"]) -> Float[Array, "n *k"]:
    """L⁻ᵀ b."""
    n = L.shape[0]
    if n > _BY_COLUMNS:
        return jsl.solve_triangular(L, b, lower=True, trans=1)
    if n > _WRITTEN_OUT:
        return _solve_by_columns(L.T[::-1, ::-1], b[::-1])[::-1]
    x: list[Array] = [jnp.zeros((), b.dtype)] * n
    for i in reversed(range(n)):
        x[i] = (b[i] - sum(L[k, i] * x[k] for k in range(i + 1, n))) / L[i, i]
    return jnp.stack(x)


def solve_factored(L: Float[Array, "n n"], b: Float[Array, "n *k"]) -> Float[Array, "n *k"]:
    """M⁻¹ b with M = L Lᵀ."""
    return solve_upper(L, solve_lower(L, b))


def inverse(A: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """A⁻¹, for any matrix: from its adjugate up to three rows, by the library beyond."""
    n = A.shape[0]
    if n == 1:
        return 1 / A
    if n == 2:
        adjugate = jnp.stack([jnp.stack([A[1, 1], -A[0, 1]]), jnp.stack([-A[1, 0], A[0, 0]])])
        return adjugate / (A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0])
    if n == 3:
        # Columns of the adjugate are cross products of rows.
        adjugate = jnp.stack([cross(A[1], A[2]), cross(A[2], A[0]), cross(A[0], A[1])], axis=1)
        return adjugate / (A[0] @ adjugate[:, 0])
    return jnp.linalg.inv(A)


def solve_redundant(
    K: Float[Array, "m m"], b: Float[Array, "m *k"], scale: Float[Array, ""]
) -> Float[Array, "m *k"]:
    """A solution of K x = b: the only one, or the least where K is singular but solvable.

    Proximal iterations x ← x + (K + ε)⁻¹ (b - K x) from zero stay in the range of K. They mend what
    an inverse loses, too, so that one serves them all: products are cheaper than solutions.
    """
    shift = _REGULARIZATION.of(K) * scale
    nearly = inverse(K + shift * jnp.eye(K.shape[0], dtype=K.dtype))
    x = nearly @ b
    for _ in range(_REFINEMENTS):
        x = x + nearly @ (b - K @ x)
    return x
