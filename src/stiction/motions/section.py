r"""Where the accelerations of one cell meet the reactions that friction allows there.

A cell is a convex piece of acceleration space on which the set of usable friction-cone edges does
not change (erdmann 5.5.3: an interval between two sorted $c_i$, or an endpoint). For an applied
force $F_A$ its motions are

$$ \{a : a = a_0 + B y,\; G a \ge \gamma,\; m a - F_A \in K\}, $$

a point, a segment, a ray or a polygon. Only $F_A$ changes from one question to the next: all
matrices are made once, and many forces are answered by the same products.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float

from stiction.motions._tolerance import ZERO
from stiction.motions.cone import PolyhedralCone


@dataclass(frozen=True)
class Section:
    """The answer of one cell to `n` applied forces: corners, and directions without end."""

    corners: Float[np.ndarray, "n m 3"]
    valid: Bool[np.ndarray, "n m"]  # which of the corners exist
    rays: Float[np.ndarray, "r 3"]  # unit; they belong to every force that has a corner


@dataclass(frozen=True)
class Cell:
    """A convex piece of acceleration space and the cone of reactions that is usable on it.

    Accelerations and forces are per unit mass and in configuration space.
    """

    point: Float[np.ndarray, "3"]  # a_0
    basis: Float[np.ndarray, "3 d"]  # B, orthonormal
    rows: Float[np.ndarray, "g 3"]  # G, unit
    bounds: Float[np.ndarray, " g"]  # γ
    cone: PolyhedralCone  # K
    name: str = ""  # "zero reaction", "zero net force" (erdmann 5.4.3)

    def section(self, forces: Float[np.ndarray, "n 3"], scale: Float[np.ndarray, " n"]) -> Section:
        """The motions of this cell under each applied force (per unit mass).

        Args:
            forces: $F_A/m$ [m/s²].
            scale: The acceleration against which rounding is judged, one for each force [m/s²].
        """
        particular, free, lineality, A, rows = self._maps
        start = self.point + (forces - self.point) @ particular.T
        offsets = np.concatenate(
            [self.bounds - start @ self.rows.T, (forces - start) @ self.cone.facets.T], axis=1
        )
        corners = start[:, None, :] + _corners(A, offsets[:, rows]) @ free.T
        # Judged where they were stated, not in w: short rows of A would magnify rounding.
        slack = ZERO * (scale[:, None, None] + np.linalg.norm(corners, axis=-1, keepdims=True))
        reaction = corners - forces[:, None, :]
        valid = (
            np.all(corners @ self.rows.T >= self.bounds - slack, axis=-1)
            & np.all(reaction @ self.cone.facets.T >= -slack, axis=-1)
            & np.all(abs(reaction @ self.cone.equalities.T) <= slack, axis=-1)
        )
        rays = np.concatenate([_rays(A) @ free.T, lineality.T, -lineality.T])
        return Section(corners, valid, rays)

    @cached_property
    def _maps(self):
        """Everything that does not depend on the applied force.

        The equations $Z(a_0 + By - F_A/m) = 0$ are solved for part of y; what stays free, less the
        directions along which nothing is bounded, is w, with $A w \\ge b$.
        """
        Z, B = self.cone.equalities, self.basis
        U, singular, V = np.linalg.svd(Z @ B)
        rank = int(np.sum(singular > ZERO))
        particular = B @ (V[:rank].T / singular[:rank]) @ U[:, :rank].T @ Z
        free = B @ V[rank:].T
        A = np.concatenate([self.rows, self.cone.facets]) @ free
        rows = np.flatnonzero(np.linalg.norm(A, axis=1) > ZERO)
        _, singular, V = np.linalg.svd(A[rows])
        rank = int(np.sum(singular > ZERO))
        bounded, lineality = V[:rank], V[rank:]
        return particular, free @ bounded.T, free @ lineality.T, A[rows] @ bounded.T, rows


def _corners(
    A: Float[np.ndarray, "r d"], b: Float[np.ndarray, "n r"]
) -> Float[np.ndarray, "n m d"]:
    """Where d of the rows $A w = b$ meet, in 0, 1 or 2 dimensions, for many b."""
    d = A.shape[1]
    if d == 0:
        return np.zeros((len(b), 1, 0))
    if d == 1:
        return (b / A[:, 0])[:, :, None]
    # Three free dimensions do not occur: without kept contacts the reaction is zero.
    i, j = np.triu_indices(len(A), 1)
    det = A[i, 0] * A[j, 1] - A[i, 1] * A[j, 0]
    i, j, det = i[abs(det) > ZERO], j[abs(det) > ZERO], det[abs(det) > ZERO]
    first = (b[:, i] * A[j, 1] - b[:, j] * A[i, 1]) / det
    second = (b[:, j] * A[i, 0] - b[:, i] * A[j, 0]) / det
    return np.stack([first, second], axis=-1)


def _rays(A: Float[np.ndarray, "r d"]) -> Float[np.ndarray, "m d"]:
    """Unit extreme directions of $\\{w : A w \\ge 0\\}$, A of full column rank."""
    d = A.shape[1]
    if d == 0:
        return np.zeros((0, 0))
    A = A / np.linalg.norm(A, axis=1, keepdims=True)
    one_way = np.ones((1, 1)) if d == 1 else np.stack([-A[:, 1], A[:, 0]], axis=1)
    candidates = np.concatenate([one_way, -one_way])
    return candidates[np.all(candidates @ A.T >= -ZERO, axis=1)]
