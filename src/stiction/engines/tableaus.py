"""Runge-Kutta methods whose last stage is the new state: their numbers, as the papers print them.

`tsit5` [Tsitouras2011], `dopri5` [DormandPrince1980], `dopri8` [PrinceDormand1981] are explicit,
`kvaerno5` [Kvaerno2004] is implicit in each stage. diffrax has the same ones; a test compares.
"""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np


class Tableau(NamedTuple):
    """A method. The rate of a stage i is that at y + h Σ a[i, j] k[j], at t + nodes[i] h."""

    a: np.ndarray
    b_error: np.ndarray  # what the step is wrong by, over h
    nodes: np.ndarray
    guess: np.ndarray  # of the rate of an implicit stage, from those before it
    order: int


def _square(rows: list[list[float]], size: int) -> np.ndarray:
    """Rows of a matrix; zeros at their ends are left out."""
    matrix = np.zeros((size, size))
    for i, row in enumerate(rows):
        matrix[i, : len(row)] = row
    return matrix


def _read() -> dict[str, Tableau]:
    made = {}
    text = Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
    for name, t in json.loads(text).items():
        size = len(t["b_error"])
        a, guess = _square(t["a"], size), _square(t["guess"], size)
        made[name] = Tableau(a, np.array(t["b_error"]), np.array(t["nodes"]), guess, t["order"])
    return made


TABLEAUS = _read()


def methods_of(method: str, soft: bool) -> tuple[str, ...]:
    """The methods that a run may choose from, step by step: explicit, then implicit."""
    if method == "auto":
        return ("tsit5", "kvaerno5") if soft else ("tsit5",)
    return (method,)


def stages_of(method: str, soft: bool) -> int:
    """How many stages those have."""
    return len(TABLEAUS[methods_of(method, soft)[0]].b_error)
