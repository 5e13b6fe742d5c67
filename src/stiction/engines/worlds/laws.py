"""Numbers of the law in a world, whose pairs come and go."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stiction.engines.blueprint import Blueprint

NOTHING_SAID = -1.0


def law_table(design: Blueprint, usual: Sequence[float], points: np.ndarray | None = None) -> Any:
    """One row for each pair: the usual numbers, and of chosen points their own.

    The load of dry friction is its normal force: its coefficient is 1.
    """
    pairs, kinds = design.machine.pairs, design.core.coordinates
    table = np.tile(np.asarray(usual, float), (1, pairs.count, 1))
    if points is not None:
        table[0, : len(points)] = points
    dry = [int(kinds.FREEDOM_FRICTION), int(kinds.TENDON_FRICTION)]
    table[:, np.isin(pairs.kind.numpy(), dry), 1:3] = 1.0
    return design.arrays.real(table)


def give_laws(
    design: Blueprint,
    usual: Sequence[float],
    by_geom: Mapping[int, Mapping[int, float]],
    *,
    own_friction: bool,
) -> None:
    """Tell the machine what pairs are to have that are found on the way.

    Args:
        design: Of the world.
        usual: The numbers, in the order of `core.layout`.
        by_geom: Numbers that differ, by geom and by their place in the list.
        own_friction: Whether friction is the model's.
    """
    shapes, a = design.machine.shapes, design.arrays
    table = np.full((max(int(shapes.count), 1), len(usual)), NOTHING_SAID)
    for geom, numbers in by_geom.items():
        for number, value in numbers.items():
            table[geom, number] = value
    shapes.own_friction = int(own_friction)
    shapes.usual, shapes.law = a.real(usual), a.real(table)
