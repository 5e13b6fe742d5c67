r"""A vertex on a vertex, which erdmann sets aside as ambiguous (footnote 1).

Two corners touch in a point; the obstacle fills a cone O, the body a cone B. A displacement of the
body's vertex goes into the obstacle if it lies inside $K = O - B$. If both corners are convex and
together less than half a turn, K has two edges $g_1, g_2$ with normals $n_1, n_2$ out of it, and
what is free is not convex: the vertex may go wherever **either** $n_1 \cdot \delta \ge 0$ **or**
$n_2 \cdot \delta \ge 0$. So there are three ways in which the contact may be kept:

- along $g_1$, as a generic contact with $n_1$: the body's vertex on an edge of the obstacle if
  $g_1$ is that edge, an edge of the body on the obstacle's vertex if it is that edge turned round;
- along $g_2$ likewise;
- at rest on the tip, where the normal may be any between $n_1$ and $n_2$: both contacts at once.

Every way is a generic problem; all motions are those of all ways, each once. Sliding the other
way, off the tip, is no contact any more and is left out: parting there is found among the free
motions.
"""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from stiction._base.errors import InputError
from stiction.motions._tolerance import PARALLEL, SAME
from stiction.motions.result import BREAK, SLIP_LEFT, SLIP_RIGHT, STICK, Motions, PossibleMotion


class TipWay(NamedTuple):
    """One edge of K: a generic contact."""

    normal: Float[np.ndarray, "2"]
    along: Float[np.ndarray, "2"]  # g, the way in which it can slide and stay in contact
    on_obstacle_edge: bool  # or an edge of the body on the obstacle's vertex


def ways_of_vertices(
    body_edges: Float[np.ndarray, "2 2"], obstacle_edges: Float[np.ndarray, "2 2"]
) -> tuple[TipWay, TipWay]:
    """The two generic contacts beside a vertex on a vertex.

    Edges are directions from the vertex.

    Raises:
        InputError: If the corners overlap or together leave no room to turn: K is no cone then.
    """
    given = np.concatenate([obstacle_edges, -np.asarray(body_edges)]).astype(float)
    if np.any(np.linalg.norm(given, axis=1) == 0):
        raise InputError("`body_edges` and `obstacle_edges` must not be zero: give directions")
    unit = given / np.linalg.norm(given, axis=1, keepdims=True)
    angle = np.sort(np.arctan2(unit[:, 1], unit[:, 0]))
    order = np.argsort(np.arctan2(unit[:, 1], unit[:, 0]))
    gaps = np.diff(np.append(angle, angle[0] + 2 * np.pi))
    widest = int(np.argmax(gaps))
    if gaps[widest] <= np.pi + PARALLEL:
        raise InputError(
            "`body_edges` and `obstacle_edges` must be of corners that are convex, do not overlap"
            " and leave more than half a turn between them; describe edges that touch along a line"
            " by the vertices at their ends"
        )
    # K lies between the ends of the widest gap, counter-clockwise from `first` to `last`.
    first, last = order[(widest + 1) % 4], order[widest]
    g1, g2 = unit[first], unit[last]
    return (
        TipWay(np.array([g1[1], -g1[0]]), g1, bool(first < 2)),
        TipWay(np.array([-g2[1], g2[0]]), g2, bool(last < 2)),
    )


def middle_normal(ways: tuple[TipWay, TipWay]) -> Float[np.ndarray, "2"]:
    """The direction between both normals, to which forces are referred."""
    middle = ways[0].normal + ways[1].normal
    return middle / np.linalg.norm(middle)


def choices(pairs: Sequence[tuple[TipWay, TipWay] | None]) -> list[list[tuple[TipWay, ...]]]:
    """All combinations of ways: for each contact none (it is generic), one, or both."""
    options = [[()] if pair is None else [pair[:1], pair[1:], pair] for pair in pairs]
    return [list(choice) for choice in itertools.product(*options)]


def merged(answers: list[tuple[list[tuple[TipWay, ...]], Motions]]) -> Motions:
    """All motions of all choices, each once, with one entry for each contact.

    Args:
        answers: Each choice with what it allows; a contact kept both ways has two entries there.
    """
    possible = [(choice, a) for choice, a in answers if not a.collisions]
    if not possible:
        # Nowhere to go: the least inward speed of each contact over its ways.
        return answers[0][1]
    found: list[PossibleMotion] = []
    for choice, answer in possible:
        for motion in answer.motions:
            told = _told(choice, motion)
            if told is not None and not any(_same(told, other) for other in found):
                found.append(told)
    return Motions.of(
        tuple(found),
        zero_reaction=any(a.zero_reaction for _, a in possible),
        zero_net_force=any(a.zero_net_force for _, a in possible),
    )


def _told(choice: list[tuple[TipWay, ...]], motion: PossibleMotion) -> PossibleMotion | None:
    """A motion of one choice with an entry for each contact; None if the choice is not for it."""
    modes, forces, at = [], [], 0
    for ways in choice:
        rows = slice(at, at + max(len(ways), 1))
        words, pushes = motion.modes[rows], motion.forces[rows]
        at = rows.stop
        if not ways:
            modes.append(words[0])
            forces.append(pushes[0])
            continue
        if len(ways) == 2 and BREAK in words:
            return None  # the same as one way alone
        word = words[0] if len(ways) == 1 else STICK
        if word in (SLIP_LEFT, SLIP_RIGHT) and not _stays(ways[0], word):
            return None
        modes.append(word)
        forces.append(sum(_in_space(w.normal, f) for w, f in zip(ways, pushes, strict=True)))
    return PossibleMotion(
        motion.acceleration, tuple(modes), np.array(forces), motion.forces_unique, motion.family
    )


def _stays(way: TipWay, word: str) -> bool:
    """Whether a slip goes along the edge, not off the tip."""
    right = np.array([way.normal[1], -way.normal[0]])
    return bool((right if word == SLIP_RIGHT else -right) @ way.along > 0)


def _in_space(normal: np.ndarray, force: np.ndarray) -> np.ndarray:
    """(tangential, normal) as a vector."""
    return force[0] * np.array([normal[1], -normal[0]]) + force[1] * normal


def referred(motions: Motions, normals: Sequence[np.ndarray | None]) -> Motions:
    """Forces given as vectors in space, referred to a normal: tangential, then normal."""

    def turn(motion: PossibleMotion) -> PossibleMotion:
        forces = [
            f if n is None else np.array([f @ [n[1], -n[0]], f @ n])
            for f, n in zip(motion.forces, normals, strict=True)
        ]
        return replace(motion, forces=np.array(forces).reshape(motion.forces.shape))

    return replace(motions, motions=tuple(turn(m) for m in motions.motions))


def _same(a: PossibleMotion, b: PossibleMotion) -> bool:
    size = 1 + np.abs(a.acceleration).max()
    return a.modes == b.modes and bool(
        np.abs(a.acceleration - b.acceleration).max() <= 100 * SAME * size
    )
