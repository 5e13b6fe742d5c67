"""Convex sets of accelerations, and what they mean: contact modes, forces, ends of continua.

The planar method and the search over contact modes both end with such pieces. They differ in how
an acceleration is explained (`at`) and in their coordinates (`physical`), which are handed in.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from stiction.motions.result import End, Family, PossibleMotion

# An acceleration's modes in words, its smallest contact forces, whether they are the only ones.
Explanation = tuple[tuple[str, ...], Float[np.ndarray, "k d"], bool]


@dataclass(frozen=True)
class Piece:
    """A convex set of accelerations, in the coordinates of the method that found it."""

    corners: Float[np.ndarray, "n nv"]
    rays: Float[np.ndarray, "r nv"]  # unit directions in which it has no end
    dimension: int

    def inside(self, scale: float) -> Float[np.ndarray, " nv"]:
        """An acceleration in the relative interior."""
        return self.corners.mean(axis=0) + scale * self.rays.sum(axis=0)


def maximal(pieces: Iterable[Any], contains: Callable[[Any, Any], bool]) -> list[Any]:
    """The pieces that are not part of another, given `contains(whole, part)`."""
    found: list[Any] = []
    for piece in pieces:
        if any(contains(other, piece) for other in found):
            continue
        found = [other for other in found if not contains(piece, other)] + [piece]
    return found


def motion_of(
    piece: Piece,
    scale: float,
    *,
    at: Callable[[np.ndarray], Explanation],
    physical: Callable[[np.ndarray], np.ndarray],
    forward: Callable[[np.ndarray], np.ndarray] = lambda t: t,
    mass: float = 1.0,
) -> PossibleMotion:
    """What a piece means.

    Args:
        piece: The accelerations.
        scale: The size of accelerations in this problem.
        at: Explains one acceleration.
        physical: From the method's coordinates to those of the answer.
        forward: Chooses the sense of the direction along which a continuum extends.
        mass: The c of a continuum is `mass` times the distance along it.
    """
    inside = piece.inside(scale)
    modes, forces, unique = at(inside)
    family = None
    if piece.dimension:
        line = _line(piece, at, physical, forward, mass) if piece.dimension == 1 else {}
        family = Family(piece.dimension, physical(piece.corners), physical(piece.rays), **line)
    return PossibleMotion(physical(inside), modes, forces, unique, family)


def _line(piece: Piece, at, physical, forward, mass: float) -> dict[str, Any]:
    """A one-dimensional continuum: base + (c / mass) tangent for c in an interval (erdmann 7)."""
    span = piece.rays[0] if len(piece.rays) else piece.corners[-1] - piece.corners[0]
    t = forward(span / np.linalg.norm(span))
    base = piece.corners[0] - (piece.corners[0] @ t) * t
    c = piece.corners @ t
    low = -np.inf if np.any(piece.rays @ t < 0) else float(c.min())
    high = np.inf if np.any(piece.rays @ t > 0) else float(c.max())

    def end(c: float) -> End | None:
        if not np.isfinite(c):
            return None
        modes, forces, _ = at(base + c * t)
        return End(mass * c, physical(base + c * t), modes, forces)

    return {
        "interval": (mass * low, mass * high),
        "tangent": physical(t),
        "base": physical(base),
        "ends": (end(low), end(high)),
    }
