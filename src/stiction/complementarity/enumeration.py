"""All solutions of a small linear complementarity problem."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import ArrayLike, Bool, Float
from stiction._base.errors import InputError
from stiction.complementarity._scaling import equilibrate

# 2^n matrices of n rows: 130 MB for n = 16.
LARGEST = 16

_Vector = Float[np.ndarray, " n"]
_Matrix = Float[np.ndarray, "n n"]


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
        tolerance: Signs, ranks and equality of points, for entries of about one.
    """
    A, b = np.asarray(M, float), np.asarray(q, float)
    n = len(b)
    if n > LARGEST:
        raise InputError(f"`M` has {n} rows; all 2^n bases can be tried up to n = {LARGEST}.")
    # In units that bring the entries near one, one tolerance serves all.
    rows, columns = (np.asarray(f) for f in equilibrate(jnp.asarray(A)))
    A, b = rows[:, None] * A * columns, rows * b
    size = np.abs(b).max(initial=0) or 1.0
    b = b / size
    bases = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(bool)
    z, w, singular = _solve_bases(A, b, bases, tolerance)
    holds = ~singular & (z >= -tolerance).all(axis=1) & (w >= -tolerance).all(axis=1)
    candidates = list(np.maximum(z[holds], 0))

    faces: list[Face] = []
    for positive in bases[singular]:
        face = _face(A, b, positive, tolerance)
        if face is not None and np.all(face.high - face.low <= 10 * tolerance):
            candidates.append(face.point)
        elif face is not None and not any(_within(face, other) for other in faces):
            faces.append(face)
    points: list[np.ndarray] = []
    for point in candidates:
        known = any(np.all(np.abs(point - other) <= 10 * tolerance) for other in points)
        if not known and not any(_holds(face, point, tolerance) for face in faces):
            points.append(point)
    back = columns * size
    faces = [Face(f.positive, f.point * back, f.low * back, f.high * back) for f in faces]
    return LcpSolutions(
        points=np.array(points).reshape(-1, n) * back,
        faces=tuple(faces),
        n_singular=int(singular.sum()),
    )


def _within(face: Face, other: Face) -> bool:
    subset = np.all(face.positive <= other.positive)
    return bool(subset and np.all(face.low >= other.low) and np.all(face.high <= other.high))


def _holds(face: Face, point: _Vector, near: float) -> bool:
    """Whether a solution lies in the box of a face, which for its basis means in the face."""
    inside = np.all(point >= face.low - near) and np.all(point <= face.high + near)
    return bool(inside and np.all(point[~face.positive] <= near))


def _solve_bases(
    M: _Matrix, q: _Vector, bases: Bool[np.ndarray, "n_bases n"], tolerance: float
) -> tuple[
    Float[np.ndarray, "n_bases n"], Float[np.ndarray, "n_bases n"], Bool[np.ndarray, " n_bases"]
]:
    """z, w and whether the block is singular, for every basis."""
    both = bases[:, :, None] & bases[:, None, :]
    identity = np.eye(len(q))
    blocks = np.where(both, M, identity * ~bases[:, None, :])
    values = np.linalg.svd(blocks, compute_uv=False)
    singular = ~(values[:, -1] > tolerance * values[:, 0])
    blocks[singular] = identity
    z = np.linalg.solve(blocks, -np.where(bases, q, 0.0)[:, :, None])[:, :, 0]
    return z, z @ M.T + q, singular


def _face(M: _Matrix, q: _Vector, positive: Bool[np.ndarray, " n"], small: float) -> Face | None:
    """The solutions with zero outside `positive`, if there are any."""
    from scipy.optimize import linprog  # to import it takes longer than many a run

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
