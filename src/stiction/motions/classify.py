r"""Which applied forces jam, slide or tip a body: the motions of many forces at once."""

import enum
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from stiction._base.checks import Values
from stiction.motions.planar import usable_edges
from stiction.motions.state import ContactState


class Response(enum.IntFlag):
    """What a body can do under a force. Several at once are an ambiguity, none an inconsistency."""

    JAM = 1  # the contacts balance the force: no motion starts
    SLIDE = 2  # all contacts are kept and all slip
    TIP = 4  # it turns about a contact that sticks, or over one while others break
    LIFT = 8  # all contacts break

    @property
    def words(self) -> list[str]:
        """The responses as words: jam, slide, tip, lift."""
        return [r.name.lower() for r in type(self) if r in self and r.name]


@dataclass(frozen=True)
class DirectionRange:
    """A range of directions with one response, counterclockwise from `start` to `end` [rad]."""

    start: float
    end: float
    response: Response


def classify_forces(state: ContactState, forces: Values, torques: Values) -> Int[np.ndarray, " n"]:
    """What the body can do under each of many applied forces.

    Args:
        state: The body and its contacts. None may be colliding.
        forces: Applied forces, (n, 2) [N].
        torques: Applied torques about the center of mass, (n,) [N·m].

    Returns:
        A `Response` for each force, as its integer value.
    """
    applied = state.generalized_force(forces, torques) / state.mass
    rows = state.active_rows
    scale = np.maximum(np.linalg.norm(applied, axis=1), rows.scale)
    scale = np.where(scale > 0, scale, 1.0)
    flags = np.zeros(len(applied), int)
    for cell in state.cells:
        section = cell.section(applied, scale)
        some = section.valid.any(axis=1)
        if not some.any():
            continue
        weight = section.valid[some] / section.valid[some].sum(axis=1, keepdims=True)
        inside = np.einsum("nm,nmx->nx", weight, section.corners[some])
        inside = inside + scale[some, None] * section.rays.sum(axis=0)
        flags[some] |= _responses(state, inside, scale[some])
    return flags


def _responses(
    state: ContactState, a: Float[np.ndarray, "n 3"], scale: Float[np.ndarray, " n"]
) -> Int[np.ndarray, " n"]:
    kept, plus, minus = usable_edges(state.active_rows, a, scale)
    sticks = plus & minus
    moving = np.any(state.velocity != 0)
    jams = ~moving & (np.linalg.norm(a, axis=1) <= 1e-9 * scale)
    lifts = ~kept.any(axis=1)
    tips = ~kept.all(axis=1) | sticks.any(axis=1)
    return np.select(
        [jams, lifts, tips], [Response.JAM, Response.LIFT, Response.TIP], Response.SLIDE
    ).astype(int)


def direction_ranges(
    state: ContactState,
    *,
    magnitude: float,
    torque: float = 0.0,
    load: Values = (0.0, 0.0),
    samples: int = 1440,
) -> list[DirectionRange]:
    """Cut the circle of directions of a push through the center of mass by what it does.

    Ranges narrower than a sample can be missed; the ends of those found are right to rounding.

    Args:
        state: The body and its contacts.
        magnitude: Size of the push [N].
        torque: Torque about the center of mass that acts beside the push [N·m].
        load: Force that acts beside the push, such as the weight [N].
        samples: Number of directions tried before the ends of the ranges are refined.
    """

    def respond(angle: Float[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
        push = magnitude * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return classify_forces(state, np.asarray(load) + push, np.full(len(angle), float(torque)))

    # Started off the axes, where pushes often lie exactly between two responses.
    angles = 2 * np.pi * (np.arange(samples) + 1 / np.sqrt(7)) / samples
    flags = respond(angles)
    last = np.flatnonzero(flags != np.roll(flags, -1))
    if not len(last):
        return [DirectionRange(0.0, 2 * np.pi, Response(int(flags[0])))]
    low, high = angles[last], angles[last] + 2 * np.pi / samples
    for _ in range(48):  # halves the step to less than rounding
        middle = (low + high) / 2
        stays = respond(middle) == flags[last]
        low, high = np.where(stays, middle, low), np.where(stays, high, middle)
    ends = (low + high) / 2
    starts = np.roll(ends, 1)
    starts[0] -= 2 * np.pi
    return [
        DirectionRange(float(s), float(e), Response(int(f)))
        for s, e, f in zip(starts, ends, flags[last], strict=True)
    ]
