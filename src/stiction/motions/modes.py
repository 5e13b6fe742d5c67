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

    def modes(self, i: int) -> list[ContactMode]:
        """Everything that contact i can do, as conditions that exclude each other."""
        mine = np.flatnonzero(self.owner == i)
        gap = (self.normals[i], self.h[i])
        slides = list(zip(self.tangents[i], self.g[i], strict=True))
        modes = [ContactMode((), above=(gap,))]
        if len(mine) == 1:
            return [*modes, ContactMode((int(mine[0]),), equal=(gap,))]
        modes.append(ContactMode(tuple(mine.tolist()), equal=(gap, *slides)))
        T, g = self.tangents[i], self.g[i]
        for at, j in enumerate(mine):
            # Edge j opposes the sliding best: σ·d_j < σ·d for the edges beside it.
            beside = {int(mine[at - 1]), int(mine[(at + 1) % len(mine)])}
            apart = [(self.pull[other] - self.pull[j]) / self.mu[i] for other in sorted(beside)]
            modes.append(
                ContactMode(
                    (int(j),), equal=(gap,), above=tuple((d @ T, float(d @ g)) for d in apart)
                )
            )
            if len(mine) == 2:
                continue
            # Between two edges both may press.
            other = int(mine[(at + 1) % len(mine)])
            tie = (self.pull[other] - self.pull[j]) / self.mu[i]
            both = -(self.pull[other] + self.pull[j]) / self.mu[i]
            modes.append(
                ContactMode(
                    (int(j), other),
                    equal=(gap, (tie @ T, float(tie @ g))),
                    above=((both @ T, float(both @ g)),),
                )
            )
        return modes

    def undecided(self, i: int) -> ContactMode:
        """What any mode of contact i implies."""
        mine = tuple(np.flatnonzero(self.owner == i).tolist())
        return ContactMode(mine, above=((self.normals[i], self.h[i]),))

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
