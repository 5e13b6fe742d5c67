r"""Friction cones in generalized force space (erdmann 4.3, 5.2).

One contact gives a planar sheet between the edges $\Delta_n n \pm \mu v_f$; several give the vector
sum of their sheets, a convex polyhedral cone in $(F_x, F_y, \tau/\rho)$. A cone is kept both as its
edges and as its facets, so that membership and sections by a line are products.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from stiction.motions._tolerance import PARALLEL, ZERO


def friction_edges(
    tangents: Float[np.ndarray, "k 3"],
    normals: Float[np.ndarray, "k 3"],
    mu: Float[np.ndarray, " k"],
) -> Float[np.ndarray, "k 2 3"]:
    r"""The two edges $\Delta_n n \pm \mu v_f$ of each contact's sheet (4.3), positive one first.

    Args:
        tangents: $v_f$ of each contact.
        normals: $\Delta_n n$ of each contact.
        mu: Friction coefficient of each contact [-].
    """
    sign = np.array([1.0, -1.0])
    return normals[:, None, :] + (mu[:, None] * sign)[:, :, None] * tangents[:, None, :]


@dataclass(frozen=True)
class PolyhedralCone:
    r"""A convex polyhedral cone in three dimensions.

    $$ K = \{\textstyle\sum_j f_j e_j : f_j \ge 0\} = \{F : Z F = 0,\; Y F \ge 0\}. $$
    """

    edges: Float[np.ndarray, "n 3"]  # unit generators e_j, no two alike
    equalities: Float[np.ndarray, "nz 3"]  # Z: an orthonormal basis of what the cone cannot reach
    facets: Float[np.ndarray, "ny 3"]  # Y: unit inward normals

    @classmethod
    def from_edges(cls, edges: Float[np.ndarray, "n 3"]) -> "PolyhedralCone":
        """The cone spanned by `edges` (of any length; zeros and repetitions are dropped)."""
        edges = _distinct(edges)
        if not len(edges):
            return cls(edges, np.eye(3), np.zeros((0, 3)))
        _, singular, basis = np.linalg.svd(edges)
        rank = int(np.sum(singular > PARALLEL))
        inside, outside = basis[:rank], basis[rank:]
        return cls(edges, outside, _facet_normals(edges @ inside.T) @ inside)

    @property
    def dimension(self) -> int:
        """Dimension of the space that the cone spans: 2 for one contact's sheet."""
        return 3 - len(self.equalities)

    @property
    def everything(self) -> bool:
        """Whether the cone is the whole space: friction can balance any force (force closure)."""
        return not len(self.equalities) and not len(self.facets)

    def contains(self, forces: Float[np.ndarray, "*batch 3"]) -> Bool[np.ndarray, "*batch"]:
        """Whether each generalized force lies in the cone (boundary included)."""
        slack = ZERO * np.linalg.norm(forces, axis=-1, keepdims=True)
        in_span = np.all(np.abs(forces @ self.equalities.T) <= slack, axis=-1)
        return in_span & np.all(forces @ self.facets.T >= -slack, axis=-1)

    def extreme_edges(self) -> Float[np.ndarray, "n 3"]:
        """The edges that the others cannot make, in order around the cone.

        A cone that contains a straight line has no such edges; then all are returned.
        """
        pointed = len(self.facets) and np.linalg.matrix_rank(self.facets, tol=PARALLEL) == 3
        if not pointed:
            return self.edges
        on_facet = np.abs(self.edges @ self.facets.T) <= 10 * ZERO
        ranks = [np.linalg.matrix_rank(self.facets[on], tol=PARALLEL) for on in on_facet]
        extreme = self.edges[np.array(ranks) >= 2]
        axis = extreme.sum(axis=0)
        _, _, frame = np.linalg.svd(axis[None])
        around = extreme @ frame[1:].T
        return extreme[np.argsort(np.arctan2(around[:, 1], around[:, 0]))]


def _distinct(vectors: Float[np.ndarray, "n r"]) -> Float[np.ndarray, "m r"]:
    """Unit vectors along `vectors`, without zeros and repetitions, in their order."""
    lengths = np.linalg.norm(vectors, axis=1)
    units = vectors[lengths > 0] / lengths[lengths > 0, None]
    distance = np.linalg.norm(units[:, None] - units[None], axis=-1)
    repeats = np.any(np.tril(distance <= PARALLEL, -1), axis=1)
    return units[~repeats]


def _facet_normals(edges: Float[np.ndarray, "n r"]) -> Float[np.ndarray, "ny r"]:
    """Inward facet normals of a full-dimensional cone in 1, 2 or 3 dimensions.

    Every facet holds r - 1 independent edges: each such choice proposes a plane, and it is a facet
    if all edges lie on one side. (A hull library would need the cone to be pointed and in general
    position; friction cones are often neither.)
    """
    rank = edges.shape[1]
    if rank == 1:
        candidates = np.ones((1, 1))
    elif rank == 2:
        candidates = np.stack([-edges[:, 1], edges[:, 0]], axis=1)
    else:
        i, j = np.triu_indices(len(edges), 1)
        candidates = np.cross(edges[i], edges[j])
    lengths = np.linalg.norm(candidates, axis=1)
    candidates = candidates[lengths > PARALLEL] / lengths[lengths > PARALLEL, None]
    side = candidates @ edges.T
    above = np.all(side >= -ZERO, axis=1)
    below = np.all(side <= ZERO, axis=1)
    return _distinct(np.concatenate([candidates[above], -candidates[below]]))
