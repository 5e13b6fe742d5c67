"""All solutions of a small linear complementarity problem."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from scipy.optimize import linprog

from stiction._arrays import ArrayLike, Bool, Float
from stiction._errors import InputError

LARGEST = 16
# Bases solved at a time: a few megabytes.
BASES_TOGETHER = 4096


@dataclass(frozen=True)
class Face:
    """A set of solutions that is more than a point: the polyhedron of one singular basis.

    Attributes:
        positive: Which variables may be positive.
        point: One of the solutions.
        low, high: The least and the greatest value of each variable over the set (inf: unbounded).
    """

    positive: Bool[np.ndarray, " n"]
    point: Float[np.ndarray, " n"]
    low: Float[np.ndarray, " n"]
    high: Float[np.ndarray, " n"]


@dataclass(frozen=True)
class LcpSolutions:
    """The whole solution set: isolated points of the regular bases, and faces of the singular ones.

    Attributes:
        points: Distinct solutions z that are not in a face, (n_points, n).
        faces: Continua of solutions. Empty if every solution is isolated.
        n_singular: Bases whose block of M is singular; each was decided by linear programs.
    """

    points: Float[np.ndarray, "n_points n"]
    faces: tuple[Face, ...]
    n_singular: int

    def __len__(self) -> int:
        return len(self.points) + len(self.faces)


def enumerate_lcp(
    M: Float[ArrayLike, "n n"], q: Float[ArrayLike, " n"], *, tolerance: float = 1e-9
) -> LcpSolutions:
    r"""Find every solution of w = M z + q, z ≥ 0, w ≥ 0, zᵀ w = 0 by trying all $2^n$ bases.

    For each set α of variables that may be positive, $M_{\alpha\alpha} z_\alpha = -q_\alpha$; the
    basis holds a solution if $z_\alpha \ge 0$ and the other w are. Where $M_{\alpha\alpha}$ is
    singular the solutions of the basis are a polyhedron, which linear programs bound in each
    variable.

    Args:
        M: The matrix, n ≤ 16.
        q: The vector.
        tolerance: Signs, ranks and equality of points, relative to the data.
    """
    M, q = np.asarray(M, float), np.asarray(q, float)
    n = len(q)
    if n > LARGEST:
        raise InputError(f"`M` has {n} rows; all 2^n bases can be tried up to n = {LARGEST}.")
    size = np.abs(q).max(initial=0) or 1.0
    bases = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(bool)
    z, w, singular = (np.asarray(a) for a in _solve_bases(M, q, bases, tolerance))
    scale = np.abs(M).max(initial=0) or 1.0
    small = tolerance * size
    holds = ~singular & (scale * z >= -small).all(axis=1) & (w >= -small).all(axis=1)
    points = list(np.maximum(z[holds], 0))

    faces = []
    for positive in bases[singular]:
        face = _face(M, q, positive, small)
        if face is None:
            continue
        if np.all(scale * (face.high - face.low) <= 10 * small):
            points.append(face.point)
        elif not any(
            np.all(face.positive <= other.positive) and _within(face, other) for other in faces
        ):
            faces.append(face)
    near = 10 * small / scale
    distinct: list[np.ndarray] = []
    for point in points:
        known = any(np.all(np.abs(point - other) <= near) for other in distinct)
        in_face = any(
            np.all(point[~f.positive] <= near)
            and np.all(point >= f.low - near)
            and np.all(point <= f.high + near)
            for f in faces
        )
        if not known and not in_face:
            distinct.append(point)
    return LcpSolutions(
        points=np.array(distinct).reshape(-1, n), faces=tuple(faces), n_singular=int(singular.sum())
    )


def _within(face: Face, other: Face) -> bool:
    return bool(np.all(face.low >= other.low) and np.all(face.high <= other.high))


@jax.jit
def _solve_bases(M, q, bases, tolerance):
    """z, w and whether the block is singular, for every basis."""

    def one(positive):
        block = jnp.where(positive[:, None] & positive[None, :], M, jnp.diag(~positive * 1.0))
        # Rows in proportion, so that the rank does not depend on units.
        largest = jnp.max(jnp.abs(block), axis=1)
        block = block / jnp.where(largest > 0, largest, 1)[:, None]
        values = jnp.linalg.svd(block, compute_uv=False)
        right = -jnp.where(positive, q, 0.0) / jnp.where(largest > 0, largest, 1)
        z = jnp.linalg.solve(block, right)
        return z, M @ z + q, ~(values[-1] > tolerance * values[0])

    return lax.map(one, bases, batch_size=min(BASES_TOGETHER, bases.shape[0]))


def _face(M, q, positive, small) -> Face | None:
    """The solutions with zero outside `positive`, if there are any."""
    n = len(q)
    inside = M[:, positive]
    program = {
        "A_eq": inside[positive],
        "b_eq": -q[positive],
        "A_ub": -inside[~positive],
        "b_ub": q[~positive] + small,
        "bounds": (0, None),
        "method": "highs",
    }
    count = int(positive.sum())
    found = linprog(np.zeros(count), **program)
    if not found.success:
        return None
    low, high, point = np.zeros(n), np.zeros(n), np.zeros(n)
    where = np.flatnonzero(positive)
    corners = [found.x]
    for i in range(count):
        unit = np.eye(count)[i]
        least, greatest = linprog(unit, **program), linprog(-unit, **program)
        low[where[i]] = least.fun
        high[where[i]] = -greatest.fun if greatest.success else np.inf
        corners += [r.x for r in (least, greatest) if r.success]
    # The mean of the corners seen: a point away from the edges.
    point[positive] = np.mean(corners, axis=0)
    return Face(positive, point, low, high)
