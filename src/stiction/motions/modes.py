r"""Contacts of a mechanism in coordinates of unit mass, and what each can do.

A contact breaks, sticks, or slips with one friction-cone edge against it. In space a contact at
rest has a pyramid of edges, and slipping exactly between two of them lets both press. Without
friction a contact is kept or broken; which way it slides makes no difference to the search.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from stiction.motions._tolerance import SAME
from stiction.motions.forces import least_norm_forces
from stiction.motions.pieces import Explanation
from stiction.motions.result import BREAK, SLIP, SLIP_LEFT, SLIP_RIGHT, STICK


@dataclass(frozen=True)
class ContactMode:
    """What one contact does: rows·b + constants is zero, or not negative, and some edges press."""

    edges: tuple[int, ...]
    equal: tuple[tuple[np.ndarray, float], ...] = ()
    above: tuple[tuple[np.ndarray, float], ...] = ()


@dataclass(frozen=True)
class Branch:
    """What a contact may do, and the ways to say it more exactly; a leaf is one mode."""

    mode: ContactMode
    below: tuple["Branch", ...] = ()


@dataclass(frozen=True)
class MechanismContacts:
    """The problem in coordinates b = Lᵀ v̇ with M = L Lᵀ, where the mass matrix is the identity."""

    L: np.ndarray
    free: np.ndarray  # acceleration without contact forces
    tangents: np.ndarray  # (k, nt, nv)
    normals: np.ndarray  # (k, nv)
    g: np.ndarray  # (k, nt)
    h: np.ndarray  # (k,)
    slip: np.ndarray  # (k, nt), zero at rest
    mu: np.ndarray
    edges: np.ndarray  # (e, nv): what a unit normal force along each friction-cone edge does
    owner: np.ndarray  # (e,): the contact of each edge
    pull: np.ndarray  # (e, nt): the friction of each edge for a unit normal force
    scale: float

    @classmethod
    def of(cls, M, applied, J, bias, slip, mu, directions: int) -> "MechanismContacts":
        """From the arguments of `possible_accelerations`, with slip exactly zero at rest."""
        L = np.linalg.cholesky(M)
        k, d, nv = J.shape
        rows = solve_triangular(L, J.reshape(k * d, nv).T, lower=True).T.reshape(k, d, nv)
        tangents, normals = rows[:, :-1], rows[:, -1]
        g, h = bias[:, :-1], bias[:, -1]
        free = solve_triangular(L, applied, lower=True)
        star = np.array([[1.0], [-1.0]])
        if d == 3:
            angle = 2 * np.pi * np.arange(directions) / directions
            star = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        speed = np.linalg.norm(slip, axis=1, keepdims=True)
        against = -slip / np.where(speed > 0, speed, 1.0)
        # One edge where the contact slides or has no friction, the whole star where it may do both.
        single = (speed[:, 0] > 0) | (mu == 0)
        count = np.where(single, 1, len(star))
        owner = np.repeat(np.arange(k), count)
        which = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
        way = np.where(single[owner, None], against[owner], star[which])
        pull = mu[owner, None] * way
        edges = normals[owner] + np.einsum("et,etv->ev", pull, tangents[owner])
        size = np.linalg.norm(normals, axis=1)
        side = np.linalg.norm(tangents, axis=2)
        scale = max(np.linalg.norm(free), np.max(abs(h) / size, initial=0.0))
        scale = max(scale, np.max(abs(g) / np.where(side > 0, side, 1.0), initial=0.0)) or 1.0
        return cls(L, free, tangents, normals, g, h, slip, mu, edges, owner, pull, float(scale))

    def branches(self, i: int) -> "Branch":
        """Everything that contact i can do: broken or kept, stuck or sliding, and whither."""
        mine = tuple(np.flatnonzero(self.owner == i).tolist())
        gap = (self.normals[i], self.h[i])
        broken = Branch(ContactMode((), above=(gap,)))
        kept = ContactMode(mine, equal=(gap,))
        below: tuple[Branch, ...] = ()
        if len(mine) > 1:
            slides = list(zip(self.tangents[i], self.g[i], strict=True))
            stuck = Branch(ContactMode(mine, equal=(gap, *slides)))
            below = (stuck, *self._split(i, self._slips(i)))
        return Branch(ContactMode(mine, above=(gap,)), (broken, Branch(kept, below)))

    def _slips(self, i: int) -> list[tuple[int, ...]]:
        """The ways to slip in the order of their directions: against an edge, or between two."""
        mine = np.flatnonzero(self.owner == i).tolist()
        if len(mine) == 2:
            return [(j,) for j in mine]
        return [w for j, after in zip(mine, [*mine[1:], mine[0]], strict=True)
                for w in ((j,), (j, after))]  # fmt: skip

    def _split(self, i: int, ways: list[tuple[int, ...]]) -> list["Branch"]:
        """Sectors of directions, each with its halves below it."""
        if len(ways) == 1:
            return [Branch(self._slip(i, ways[0]))]
        half = len(ways) // 2
        return [
            Branch(self._sector(i, part), tuple(self._split(i, part)))
            if len(part) > 1
            else Branch(self._slip(i, part[0]))
            for part in (ways[:half], ways[half:])
        ]

    def _slip(self, i: int, way: tuple[int, ...]) -> ContactMode:
        """Slip that edge j opposes best, σ·d_j < σ·d for the edges beside it; or two alike."""
        gap = (self.normals[i], self.h[i])
        if len(way) == 1:
            mine = np.flatnonzero(self.owner == i).tolist()
            at = mine.index(way[0])
            beside = sorted({mine[at - 1], mine[(at + 1) % len(mine)]})
            return ContactMode(
                way, equal=(gap,), above=tuple(self._worse(i, k, way[0]) for k in beside)
            )
        j, other = way  # between two edges both may press
        both = -(self.pull[other] + self.pull[j]) / self.mu[i]
        opposed = (both @ self.tangents[i], float(both @ self.g[i]))
        return ContactMode(way, equal=(gap, self._worse(i, other, j)), above=(opposed,))

    def _sector(self, i: int, ways: list[tuple[int, ...]]) -> ContactMode:
        """What some neighbouring ways to slip have in common: edges, and bounds of the sector."""
        gap = (self.normals[i], self.h[i])
        mine = np.flatnonzero(self.owner == i).tolist()
        edges = tuple(sorted({j for way in ways for j in way}))
        alone = [way[0] for way in ways if len(way) == 1]
        above: tuple[tuple[np.ndarray, float], ...] = ()
        if 2 * len(alone) <= len(mine):  # up to half of the circle: its two borders bound it
            first, last = mine.index(alone[0]), mine.index(alone[-1])
            above = (
                self._worse(i, mine[first - 1], alone[0]),
                self._worse(i, mine[(last + 1) % len(mine)], alone[-1]),
            )
        return ContactMode(edges, equal=(gap,), above=above)

    def _worse(self, i: int, other: int, j: int) -> tuple[np.ndarray, float]:
        """How much less the sliding is opposed by one edge than by another, as row and constant."""
        apart = (self.pull[other] - self.pull[j]) / self.mu[i]
        return apart @ self.tangents[i], float(apart @ self.g[i])

    def usable(self, b: np.ndarray) -> tuple[tuple[str, ...], np.ndarray]:
        """At an acceleration: the modes in words, and which edges may press."""
        slack = SAME * (self.scale + np.linalg.norm(b))
        kept = self.normals @ b + self.h <= slack * np.linalg.norm(self.normals, axis=1)
        sliding = self.tangents @ b + self.g
        length = np.linalg.norm(self.tangents, axis=2)
        still = np.all(np.abs(sliding) <= slack * np.where(length > 0, length, 1.0), axis=1)
        at_rest = ~np.any(self.slip, axis=1)
        direction = np.where(at_rest[:, None], np.where(still[:, None], 0.0, sliding), self.slip)
        opposed = np.einsum("et,et->e", self.pull, direction[self.owner])
        best = np.full(len(self.mu), np.inf)
        np.minimum.at(best, self.owner, opposed)
        reach = slack * self.mu * length.max(axis=1, initial=0.0)
        usable = kept[self.owner] & (opposed <= (best + reach)[self.owner])
        slips = np.any(direction, axis=1)
        if direction.shape[1] == 1:
            word = np.where(direction[:, 0] > 0, SLIP_RIGHT, SLIP_LEFT)
        else:
            word = np.full(len(kept), SLIP)
        words = np.select([~kept, slips], [np.full(len(kept), BREAK), word], STICK)
        return tuple(words.tolist()), np.flatnonzero(usable)

    def explain(self, b: np.ndarray) -> Explanation:
        """At an acceleration: the modes, the smallest forces, whether there are no others."""
        words, usable = self.usable(b)
        forces, unique = least_norm_forces(
            self.edges[usable], self.pull[usable], self.owner[usable], len(self.mu), b - self.free
        )
        return words, forces, unique

    def physical(self, b: Float[np.ndarray, "*n nv"]) -> Float[np.ndarray, "*n nv"]:
        """From b back to v̇."""
        return solve_triangular(self.L.T, b.T).T

    def allows(self, b: np.ndarray) -> bool:
        """Whether one given acceleration is possible."""
        gap = (self.normals @ b + self.h) / np.linalg.norm(self.normals, axis=1)
        if np.any(gap < -SAME * self.scale):
            return False
        _, usable = self.usable(b)
        return reachable(self.edges[usable].T, (b - self.free) / self.scale, SAME)


def reachable(columns: np.ndarray, target: np.ndarray, slack: float) -> bool:
    """Whether the target is a combination of the columns with weights >= 0."""
    if columns.shape[1] == 0:
        return bool(np.linalg.norm(target) <= slack)
    return bool(nnls(columns / np.linalg.norm(columns, axis=0), target)[1] <= slack)
