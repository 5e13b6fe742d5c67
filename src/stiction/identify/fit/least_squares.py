"""Tall least squares by orthogonalisation, at the speed of a matrix product (ma 13-15, 18-21).

ma (15, 21) invert BᵀB, which squares the condition number. Householder's QR does not, but on a
million rows and three columns it takes ten times as long as a matrix product. Here the QR of a few
rows, R₀, makes the columns of Y = B R₀⁻¹ nearly orthonormal; the Cholesky factor L of YᵀY is then
exact to rounding, and R = Lᵀ R₀ is the triangular factor of B as Householder would give it
[Balabanov2022]. If the few rows did not represent the rest, Y takes the place of B once more.
"""

from dataclasses import dataclass, replace

import numpy as np

from stiction._base.arrays import Bool, Float
from stiction.identify.fit import robust

_BLOCK = 4096  # rows at a time, so that Y stays in the cache
_SAMPLED = 64  # rows of the first QR, for each column
_ORTHONORMAL = 1e2  # condition number of YᵀY that costs no digits worth naming
_ROUNDS = 3
_IRLS_ROUNDS = 50
# Singular values below this part of the largest, columns scaled alike, are noise of rounding.
RANK = 1e-11


@dataclass(frozen=True)
class LeastSquaresFit:
    """A least-squares fit of rows that are in units of their noise."""

    x: Float[np.ndarray, " n"]  # estimate
    root: Float[np.ndarray, "n n"]  # upper triangular R, with Rᵀ R the information
    rhs: Float[np.ndarray, " n"]  # Qᵀ b, so that R x = rhs where x is not bounded
    squares: float  # sum of the squared residuals (of their losses, if robust)
    rows: int  # how many
    blind: Float[np.ndarray, "n j"]  # directions in which the rows say nothing, one a column


def solve(
    A: Float[np.ndarray, "m n"],
    b: Float[np.ndarray, " m"],
    *,
    loss: robust.Loss = "squares",
    positive: Bool[np.ndarray, " n"] | None = None,
) -> LeastSquaresFit:
    """Minimise the loss of A x - b.

    Args:
        A: Rows, divided by the standard deviation of their noise.
        b: Measurements, divided by the same.
        loss: "squares", or "huber" or "tukey" against outliers.
        positive: Which entries of x must not be negative.
    """
    A, b = np.ascontiguousarray(A, dtype=float), np.asarray(b, dtype=float)
    found = _solve(A, b, positive)
    # Tukey's loss has many minima, Huber's has one: start Tukey's from Huber's.
    stages = {"squares": (), "huber": ("huber",), "tukey": ("huber", "tukey")}[loss]
    for stage in stages:
        for _ in range(_IRLS_ROUNDS):
            w = np.sqrt(robust.weight(A @ found.x - b, stage))
            before, found = found.x, _solve(A * w[:, None], b * w, positive)
            if np.linalg.norm(found.root @ (found.x - before)) < 1e-6:
                break
    r = A @ found.x - b
    squares = r @ r if loss == "squares" else np.sum(robust.cost(r, loss))
    return replace(found, squares=float(squares))


def _solve(A: np.ndarray, b: np.ndarray, positive: np.ndarray | None) -> LeastSquaresFit:
    R, z = orthogonal_factor(A, b)
    x, blind = _triangular_solve(R, z)
    if positive is not None and np.any(x[positive] < 0):
        x = _nonnegative(R, z, positive)
    return LeastSquaresFit(x, R, z, np.nan, len(b), blind)


def orthogonal_factor(
    A: Float[np.ndarray, "m n"], b: Float[np.ndarray, " m"]
) -> tuple[np.ndarray, np.ndarray]:
    """R and Qᵀ b of A = Q R, with Q never formed."""
    m, n = A.shape
    if m < 4 * _SAMPLED * n:
        return _householder(A, b)
    R = triangle(A[:: m // (_SAMPLED * n)])
    for _ in range(_ROUNDS):
        if scaled_condition(R) > 1 / RANK:
            break
        inverse = np.linalg.solve(R, np.eye(n))
        gram, product = np.zeros((n, n)), np.zeros(n)
        for i in range(0, m, _BLOCK):
            Y = A[i : i + _BLOCK] @ inverse
            gram += Y.T @ Y
            product += b[i : i + _BLOCK] @ Y
        values = np.linalg.eigvalsh(gram) if np.all(np.isfinite(gram)) else np.zeros(n)
        if values[0] <= values[-1] * np.finfo(float).eps ** 0.5:
            break
        L = np.linalg.cholesky(gram)
        R = L.T @ R
        if values[-1] < _ORTHONORMAL * values[0]:
            return R, np.linalg.solve(L, product)
    return _householder(A, b)


def _householder(A: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R and Qᵀ b by reflections, block by block: slower, for few rows and for lack of rank."""
    n = A.shape[1]
    R = np.zeros((n + 1, n + 1))
    for i in range(0, len(A), _BLOCK):
        rows = np.column_stack([A[i : i + _BLOCK], b[i : i + _BLOCK]])
        R = triangle(np.concatenate([R, rows]))
    return R[:n, :n], R[:n, n]


def scaled_condition(R: Float[np.ndarray, "m n"]) -> float:
    """Condition number once the columns have equal length; infinite if one is zero."""
    size = np.linalg.norm(R, axis=0)
    return float(np.linalg.cond(R / size)) if np.all(size > 0) else np.inf


def column_sizes(R: Float[np.ndarray, "m n"]) -> Float[np.ndarray, " n"]:
    """Lengths of the columns, 1 for those that are zero: to divide by."""
    size = np.linalg.norm(R, axis=0)
    return np.where(size > 0, size, 1.0)


def blind_directions(R: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n j"]:
    """Directions of the parameters in which R says nothing, in units of the columns' sizes."""
    _, values, vt = np.linalg.svd(R / column_sizes(R))
    return vt[values <= RANK * max(values[0], np.finfo(float).tiny)].T


def _triangular_solve(R: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x with R x = z, the shortest (columns of equal length) where R lacks rank."""
    blind = blind_directions(R)
    if blind.shape[1] == 0:
        return np.linalg.solve(R, z), blind
    size = column_sizes(R)
    return np.linalg.pinv(R / size, rcond=RANK) @ z / size, blind


def _nonnegative(R: np.ndarray, z: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Minimise |R x - z| with some entries of x not negative; free ones as a difference of two."""
    from scipy.optimize import nnls

    size = column_sizes(R)
    free = ~positive
    y, _ = nnls(np.column_stack([R / size, -(R / size)[:, free]]), z)
    x = y[: len(size)].copy()
    x[free] -= y[len(size) :]
    return x / size


def covariance(root: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n n"]:
    """(Rᵀ R)⁻¹, infinite on the diagonal of what R does not determine."""
    n = len(root)
    blind = blind_directions(root)
    lost = np.any(np.abs(blind) > 1e-6, axis=1)
    out = np.zeros((n, n))
    out[np.diag_indices(n)] = np.where(lost, np.inf, 0.0)
    keep = np.flatnonzero(~lost)
    if len(keep):
        # What the kept columns say beyond the lost ones, which can stand in for parts of them.
        spanned, values, _ = np.linalg.svd(root[:, lost], full_matrices=False)
        spanned = spanned[:, values > RANK * max(values[0], 1e-300)] if len(values) else spanned
        rest = root[:, keep] - spanned @ (spanned.T @ root[:, keep])
        inverse = np.linalg.solve(triangle(rest), np.eye(len(keep)))
        out[np.ix_(keep, keep)] = inverse @ inverse.T
    return out


def triangle(A: Float[np.ndarray, "*b m n"]) -> np.ndarray:
    """R of A = Q R."""
    return np.asarray(np.linalg.qr(A, mode="r"))
