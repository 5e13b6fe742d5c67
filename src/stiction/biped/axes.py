"""Axes: the directions that people speak of, and recordings whose axes are not the model's."""

from dataclasses import dataclass

import numpy as np

from stiction._base.errors import InputError


@dataclass(frozen=True)
class Axes:
    """Forward, left and up, as unit vectors of the world."""

    forward: np.ndarray
    left: np.ndarray
    up: np.ndarray

    @property
    def matrix(self) -> np.ndarray:
        """Rows forward, left, up: takes world vectors to (tangents, normal)."""
        return np.stack([self.forward, self.left, self.up])


def axes_of_travel(up: np.ndarray, velocity: np.ndarray) -> Axes:
    """Axes whose forward is the horizontal axis of the world nearest to a velocity [m/s]."""
    level = np.eye(3) - np.outer(up, up)
    along = level @ velocity
    if np.linalg.norm(along) < 0.1:  # m/s: who stands faces x
        along = level @ np.array([1.0, 0.0, 0.0])
    candidates = np.concatenate([np.eye(3), -np.eye(3)]) @ level
    forward = candidates[np.argmax(candidates @ along)]
    forward = forward / np.linalg.norm(forward)
    return Axes(forward, np.cross(up, forward), up)


def axes_matrix(axes: str) -> np.ndarray:
    """The matrix of "x,z,-y": its rows are the new axes in the old ones."""
    rows = []
    for word in axes.lower().split(","):
        letter = word.strip().lstrip("+-")
        if letter in ("x", "y", "z") and len(word.strip()) <= 2:
            rows.append((-1.0 if "-" in word else 1.0) * np.eye(3)["xyz".index(letter)])
    if len(rows) != 3 or axes.count(",") != 2 or abs(np.linalg.det(np.array(rows))) != 1:
        raise InputError(
            f"axes must be three different letters with signs, such as 'x,z,-y', got '{axes}'"
        )
    return np.array(rows)


def axes_that_turn(up: np.ndarray, theirs: np.ndarray) -> tuple[str, str, str]:
    """How to turn a recording in which up is another axis than in the model.

    Returns:
        The recording's axis that is up, the model's, and axes such as "x,z,-y".
    """
    letters, axes = "xyz", list("xyz")
    vertical, other = int(np.argmax(np.abs(up))), int(np.argmax(np.abs(theirs)))
    sign = "-" if theirs[other] * up[vertical] < 0 else ""
    axes[vertical] = f"{sign}{letters[other]}"
    if other != vertical:  # turn about the third axis, which stays
        axes[other] = f"{'' if sign else '-'}{letters[vertical]}"
    elif sign:  # upside down: half a turn about a level axis
        level = 1 if vertical == 0 else 0
        axes[3 - vertical - level] = f"-{letters[3 - vertical - level]}"
    return f"{sign}{letters[other]}", letters[vertical], ",".join(axes)
