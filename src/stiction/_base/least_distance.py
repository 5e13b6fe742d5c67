"""The shortest way that fulfils linear inequalities, and equations.

Least distance programming [LawsonHanson1974] (chapter 23): the shortest y with J y ≥ h comes from
the u ≥ 0 that minimizes |E u - f|, with E = (Jᵀ; hᵀ) and f = (0, …, 0, 1).
"""

import numpy as np

_NONE = 1e-9  # residual below which there is no such way


def shortest_way(J: np.ndarray, h: np.ndarray) -> np.ndarray | None:
    """The shortest y with J y >= h; None if there is none."""
    from scipy.optimize import nnls  # not before it is needed: it takes 0.3 s to import

    if not J.size:
        return None
    size = np.abs(h).max()
    if size == 0:
        return np.zeros(J.shape[1])
    E = np.concatenate([J.T, h[None] / size])
    u, rest = nnls(E, np.eye(len(E))[-1])
    if rest < _NONE:
        return None
    r = E @ u
    r[-1] -= 1
    return -size * r[:-1] / r[-1]


def shortest_way_with(
    A: np.ndarray, b: np.ndarray, J: np.ndarray, h: np.ndarray
) -> np.ndarray | None:
    """The shortest y with A y = b (in the least squares) and J y >= h; None if there is none."""
    if not len(A):
        return shortest_way(J, h)
    U, s, Vt = np.linalg.svd(A)
    rank = int(np.sum(s > 1e-9 * s[0])) if s.size and s[0] > 0 else 0
    y = Vt[:rank].T @ ((U.T @ b)[:rank] / s[:rank])
    if not len(J) or np.all(J @ y >= h):
        return y
    N = Vt[rank:].T
    z = shortest_way(J @ N, h - J @ y)
    return None if z is None else y + N @ z
