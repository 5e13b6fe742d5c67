r"""Acceleration space cut into cells with one set of usable friction-cone edges each.

The second variation constraints $a\cdot n_i \ge -h_i$ (5) bound a polyhedron. Its faces are the
sets of accelerations that keep given contacts, sorted by the dimension of the span of the kept
normals (erdmann 5.4.2): the inside (none kept), planes (5.4.5), lines (5.4.7, 5.5) and points
(5.4.6). On each face the sliding directions of the kept contacts cut further. Differences from the
document:

- it tries every subset of contacts. Here each face is taken once, with all contacts whose
  constraint holds with equality on it, because a kept contact may carry no force. Three dimensions
  hold O(k) faces, not 2^k subsets;
- it leaves out planes kept by several contacts (parallel normals, 5.4.5). Here the lines on which
  one of them begins to slide cut the plane into polygons, and each is a cell;
- it uses one friction coefficient; here each contact has its own.

Accelerations are per unit mass and in configuration space, with rows of unit length.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from jaxtyping import Bool, Float, Int

from stiction.motions._tolerance import PARALLEL, ZERO
from stiction.motions.cone import PolyhedralCone, friction_edges
from stiction.motions.section import Cell
from stiction.motions.validity import validity_intervals


@dataclass(frozen=True)
class ContactRows:
    """Contacts as constraints on the acceleration of a body with three degrees of freedom."""

    tangents: Float[np.ndarray, "k 3"]  # v_f
    normals: Float[np.ndarray, "k 3"]  # Δ_n n
    g: Float[np.ndarray, " k"]
    h: Float[np.ndarray, " k"]
    slip: Float[np.ndarray, " k"]  # sign of the sliding velocity, exactly 0 at rest
    mu: Float[np.ndarray, " k"]
    scale: float  # the size of the terms that h and g were summed from: rounding is relative to it

    def edges(
        self, plus: Bool[np.ndarray, " k"], minus: Bool[np.ndarray, " k"]
    ) -> Float[np.ndarray, "n 3"]:
        """The friction-cone edges named by the two masks."""
        both = friction_edges(self.tangents, self.normals, self.mu)
        return np.concatenate([both[plus, 0], both[minus, 1]])


def cells(contacts: ContactRows) -> list[Cell]:
    """All cells. Together their sections are every possible motion, some more than once."""
    return list(_Cutter(contacts).cells())


class _Cutter:
    """The contacts with rows of unit length, and the steps of the case analysis (5.4.2)."""

    def __init__(self, contacts: ContactRows):
        self.contacts = contacts
        n_length = np.linalg.norm(contacts.normals, axis=1)
        t_length = np.linalg.norm(contacts.tangents, axis=1)
        self.n = contacts.normals / n_length[:, None]
        self.h = contacts.h / n_length
        self.t = contacts.tangents / t_length[:, None]
        self.g = contacts.g / t_length
        self.slack = ZERO * contacts.scale

    def cells(self) -> Iterator[Cell]:
        nothing = np.zeros(len(self.n), bool)
        free = self._cell(np.zeros(3), np.eye(3), nothing, nothing, nothing)
        yield replace(free, name="zero reaction")
        if np.all(self.h >= -self.slack):  # a = 0 violates nothing (5.4.3)
            still = self._point(np.zeros(3), np.abs(self.h) <= self.slack)
            yield replace(still, name="zero net force")
        seen = set()
        for point, basis, kept in (*self._planes(), *self._lines(), *self._points()):
            if (key := kept.tobytes()) in seen:
                continue
            seen.add(key)
            if basis.shape[1] == 2:
                yield from self._plane(point, basis, kept)
            elif basis.shape[1] == 1:
                yield from self._line(point, basis[:, 0], kept)
            else:
                yield self._point(point, kept)

    # The faces of the polyhedron: a point, directions, and the contacts kept.

    def _planes(self):
        for n, h in zip(self.n, self.h, strict=True):
            _, _, frame = np.linalg.svd(n[None])
            same = np.linalg.norm(self.n @ frame[1:].T, axis=1) <= PARALLEL
            kept = same & (np.abs(self.h - h * (self.n @ n)) <= self.slack)
            yield -h * n, frame[1:].T, kept

    def _lines(self):
        i, j = np.triu_indices(len(self.n), 1)
        across = np.cross(self.n[i], self.n[j])
        sine = np.linalg.norm(across, axis=1)
        i, j, across, sine = (x[sine > PARALLEL] for x in (i, j, across, sine))
        toward = across / sine[:, None]
        start = (
            self.h[i, None] * np.cross(toward, self.n[j])
            + self.h[j, None] * np.cross(self.n[i], toward)
        ) / sine[:, None]
        rate = toward @ self.n.T
        gap = start @ self.n.T + self.h
        slack = self.slack + ZERO * np.linalg.norm(start, axis=1, keepdims=True)
        parallel = np.abs(rate) <= PARALLEL
        kept = parallel & (np.abs(gap) <= slack)
        # Keep a line if some c satisfies every constraint gap + c rate >= 0.
        with np.errstate(divide="ignore", invalid="ignore"):
            c = -gap / rate
        lower = np.max(np.where(~parallel & (rate > 0), c, -np.inf), axis=1, initial=-np.inf)
        upper = np.min(np.where(~parallel & (rate < 0), c, np.inf), axis=1, initial=np.inf)
        possible = lower <= upper + slack[:, 0] + ZERO * np.where(
            np.isfinite(lower), np.abs(lower), 0.0
        )
        possible &= np.all(~parallel | (gap >= -slack), axis=1)
        for line in np.flatnonzero(possible):
            yield start[line], toward[line][:, None], kept[line]

    def _points(self):
        triples = np.array(list(combinations(range(len(self.n)), 3)), int).reshape(-1, 3)
        matrices = self.n[triples]
        regular = np.abs(np.linalg.det(matrices)) > PARALLEL
        triples, matrices = triples[regular], matrices[regular]
        points = -np.linalg.solve(matrices, self.h[triples][..., None])[..., 0]
        gap = points @ self.n.T + self.h
        slack = self.slack + ZERO * np.linalg.norm(points, axis=1, keepdims=True)
        for p in np.flatnonzero(np.all(gap >= -slack, axis=1)):
            yield points[p], np.zeros((3, 0)), np.abs(gap[p]) <= slack[p]

    # The cells of one face.

    def _point(self, point: Float[np.ndarray, "3"], kept: Bool[np.ndarray, " k"]) -> Cell:
        along = np.zeros(len(self.n))
        plus, minus = self._edges_at(self._validity(point, along, kept), 0.0, 0.0)
        return self._cell(point, np.zeros((3, 0)), kept, plus, minus)

    def _line(
        self,
        point: Float[np.ndarray, "3"],
        toward: Float[np.ndarray, "3"],
        kept: Bool[np.ndarray, " k"],
    ) -> Iterator[Cell]:
        """Sort the c_i; a cell for each and for each interval between them (5.5.3)."""
        along = np.where(kept, self.t @ toward, 0.0)
        validity = self._validity(point, along, kept)
        for low, high in _pieces(np.concatenate(validity)[np.tile(kept, 2)], self.slack):
            plus, minus = self._edges_at(validity, low, high)
            ends = ((toward, low), (-toward, -high))
            rows = [(row, c + row @ point) for row, c in ends if np.isfinite(c)]
            basis = toward[:, None] if low < high else np.zeros((3, 0))
            start = point if low < high else point + low * toward
            yield self._cell(start, basis, kept, plus, minus, rows if low < high else ())

    def _plane(
        self,
        point: Float[np.ndarray, "3"],
        basis: Float[np.ndarray, "3 2"],
        kept: Bool[np.ndarray, " k"],
    ) -> Iterator[Cell]:
        """The lines on which a kept contact at rest begins to slide, and the polygons between."""
        slope = self.t @ basis
        at_rest = np.flatnonzero(kept & (self.contacts.slip == 0))
        level = self.t @ point + self.g
        lines = _distinct_lines(at_rest, slope, level, self.slack)
        # v_f is never parallel to n, so that each contact at rest has a line.
        signs = set() if lines else {tuple(np.where(kept, self.contacts.slip, 0.0))}
        for i in lines:
            u, length = slope[i], np.linalg.norm(slope[i])
            start = point - basis @ (u * level[i] / length**2)
            toward = basis @ np.array([-u[1], u[0]]) / length
            yield from self._line(start, toward, kept)
            # The polygons on both sides of each piece of this line.
            across = basis @ u / length
            for middle in self._middles(start, toward, at_rest):
                side = self.t @ middle + self.g
                own = np.abs(side) <= self.slack + ZERO * np.linalg.norm(middle)
                for way in (1.0, -1.0):
                    sign = np.sign(np.where(own, way * (self.t @ across), side))
                    slip = np.where(self.contacts.slip != 0, self.contacts.slip, sign)
                    signs.add(tuple(np.where(kept, slip, 0.0)))
        for sign in signs:
            s = np.array(sign)
            rows = [(s[i] * self.t[i], -s[i] * self.g[i]) for i in at_rest]
            yield self._cell(point, basis, kept, kept & (s <= 0), kept & (s >= 0), rows)

    def _middles(self, start, toward, at_rest: Int[np.ndarray, " m"]):
        """A point inside each piece into which the sliding lines cut this one."""
        rate = self.t[at_rest] @ toward
        level = self.t[at_rest] @ start + self.g[at_rest]
        crossing = np.abs(rate) > PARALLEL
        c = np.unique(-level[crossing] / rate[crossing])
        step = max(self.contacts.scale, 1.0)
        if not len(c):
            return [start]
        inner = [x for x, y in zip((c[:-1] + c[1:]) / 2, np.diff(c), strict=True) if y > self.slack]
        return [start + x * toward for x in (c[0] - step, *inner, c[-1] + step)]

    def _validity(self, point, along, kept: Bool[np.ndarray, " k"]):
        """Table 1 for the kept contacts on the line point + c t_c; never for the others."""
        force = self.t @ point + self.g
        slack = self.slack + ZERO * np.linalg.norm(point)
        plus, minus = validity_intervals(
            self.contacts.slip,
            np.where(np.abs(along) <= PARALLEL, 0.0, along),
            np.where(np.abs(force) <= slack, 0.0, force),
        )
        never = np.array([np.inf, -np.inf])
        return np.where(kept[:, None], plus, never), np.where(kept[:, None], minus, never)

    def _edges_at(self, validity, low: float, high: float):
        """Masks of the edges whose validity interval contains [low, high]."""
        slack = self.slack + ZERO * max(
            (abs(c) for c in (low, high) if np.isfinite(c)), default=0.0
        )
        plus, minus = ((v[:, 0] <= low + slack) & (high <= v[:, 1] + slack) for v in validity)
        return plus, minus

    def _cell(self, point, basis, kept, plus, minus, rows=()) -> Cell:
        """A cell: the unkept contacts bound it, and `rows` of (direction, least value)."""
        extra = np.array([row for row, _ in rows]).reshape(-1, 3)
        least = np.array([bound for _, bound in rows])
        return Cell(
            point=point,
            basis=basis,
            rows=np.concatenate([self.n[~kept], extra]),
            bounds=np.concatenate([-self.h[~kept], least]),
            cone=PolyhedralCone.from_edges(self.contacts.edges(plus, minus)),
        )


def _pieces(intervals: Float[np.ndarray, "n 2"], slack: float) -> list[tuple[float, float]]:
    """The distinct finite ends as points, and the intervals between them (5.5.3)."""
    ends = np.unique(intervals[np.isfinite(intervals)])
    if len(ends):
        apart = np.diff(ends) > slack + ZERO * np.abs(ends[1:])
        ends = ends[np.concatenate([[True], apart])]
    bounds = np.concatenate([[-np.inf], ends, [np.inf]])
    points = [(float(c), float(c)) for c in ends]
    return points + list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))


def _distinct_lines(
    at_rest: Int[np.ndarray, " m"],
    slope: Float[np.ndarray, "k 2"],
    level: Float[np.ndarray, " k"],
    slack: float,
) -> list[int]:
    """The first contact of each distinct line slope·y + level = 0."""
    length = np.linalg.norm(slope[at_rest], axis=1)
    u, c = slope[at_rest] / length[:, None], level[at_rest] / length
    turn = u[:, None, 0] * u[None, :, 1] - u[:, None, 1] * u[None, :, 0]
    shift = c[:, None] - c[None, :] * (u @ u.T)
    same = (np.abs(turn) <= PARALLEL) & (np.abs(shift) <= slack + ZERO * np.abs(c))
    return at_rest[~np.any(np.tril(same, -1), axis=1)].tolist()
