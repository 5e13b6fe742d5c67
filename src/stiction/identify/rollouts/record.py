"""Rollouts as arrays: the measured configurations, sample by sample."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stiction._arrays import Bool, Float
from stiction._errors import InputError
from stiction.identify.rollouts.setup import RolloutSetup
from stiction.identify.tables import Table
from stiction.mechanism import Mechanism
from stiction.mechanism.tree import BALL, FREE, SLIDE

_UNEVEN = 0.01  # of the step: more than this is not an even sampling
_NOT_UNIT = 0.02  # of a quaternion's length


@dataclass(frozen=True)
class Rollouts:
    """Recorded motions of one mechanism, at one rate.

    Attributes:
        q: Configurations; after a rollout's end its last one.
        seen: Whether a row was recorded.
        rate: [Hz].
        names: Of the rollouts.
    """

    q: Float[np.ndarray, "n rows nq"]
    seen: Bool[np.ndarray, "n rows"]
    rate: float
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.q)

    def part(self, which: np.ndarray) -> "Rollouts":
        """Some of the rollouts."""
        chosen = np.arange(len(self))[which]
        return Rollouts(
            self.q[chosen], self.seen[chosen], self.rate, tuple(self.names[i] for i in chosen)
        )


def record(tables: Sequence[Table], setup: RolloutSetup, mechanism: Mechanism) -> Rollouts:
    """The rollouts of all tables: one a table, or those that `start` and `length` cut out."""
    parts, names, rates = [], [], []
    for table in tables:
        q = _configurations(table, setup, mechanism)
        rates.append(_rate(table, setup))
        cuts = _cuts(table, setup, len(q))
        parts += [q[a + setup.skip : a + n] for a, n in cuts]
        stem = table.path.stem
        names += [stem] if setup.start is None else [f"{stem}[{i}]" for i in range(len(cuts))]
    rate = rates[0]
    for table, other in zip(tables, rates, strict=True):
        if abs(other - rate) > _UNEVEN * rate:
            raise InputError(
                f"all logs must have one rate, got {rate:.6g} Hz in '{tables[0].path.name}' and"
                f" {other:.6g} Hz in '{table.path.name}'; resample one of them"
            )
    rows = max(map(len, parts))
    q = np.stack([p[np.minimum(np.arange(rows), len(p) - 1)] for p in parts])
    seen = np.arange(rows) < np.array([[len(p)] for p in parts])
    return Rollouts(q, seen, rate, tuple(names))


def lengths_of(mechanism: Mechanism) -> Bool[np.ndarray, " nq"]:
    """Which coordinates are lengths."""
    tree = mechanism.tree
    lengths = np.zeros(tree.nq, dtype=bool)
    for joint, kind in enumerate(tree.joint_types):
        if kind in (FREE, SLIDE):
            address = tree.q_address[joint]
            lengths[address : address + (3 if kind == FREE else 1)] = True
    return lengths


def _quaternions_of(mechanism: Mechanism) -> np.ndarray:
    """The four coordinates of each quaternion, one a row."""
    tree = mechanism.tree
    first = [
        tree.q_address[joint] + (3 if kind == FREE else 0)
        for joint, kind in enumerate(tree.joint_types)
        if kind in (FREE, BALL)
    ]
    return np.array(first, int).reshape(-1, 1) + np.arange(4)


def _configurations(
    table: Table, setup: RolloutSetup, mechanism: Mechanism
) -> Float[np.ndarray, "n nq"]:
    """The measured q in SI units."""
    columns, names = setup.coordinates, mechanism.tree.coordinate_names
    if len(columns) != mechanism.nq:
        raise InputError(
            f"`coordinates` must name {mechanism.nq} columns, one for each of"
            f" {', '.join(names)}, got {len(columns)}"
        )
    quaternions = _quaternions_of(mechanism)
    q = table.plain(columns)
    kinds = {"length": lengths_of(mechanism)}
    kinds["angle"] = ~kinds["length"]
    kinds["angle"][quaternions.ravel()] = False
    for quantity, chosen in kinds.items():
        if chosen.any():
            q[:, chosen] = table.vectors(np.array(columns)[chosen].tolist(), quantity)
    for of_one in quaternions:
        size = np.linalg.norm(q[:, of_one], axis=1)
        off = np.flatnonzero(np.abs(size - 1) > _NOT_UNIT)
        if len(off):
            raise InputError(
                f"columns {', '.join(f'`{columns[i]}`' for i in of_one)} must be a unit quaternion"
                f" (wxyz), got one of length {size[off[0]]:.4g} in {table.row(int(off[0]))}"
            )
        q[:, of_one] /= size[:, None]
    return q


def _rate(table: Table, setup: RolloutSetup) -> float:
    if setup.time is None:
        if isinstance(setup.rate, str):
            return float(table.column(setup.rate)[0])
        assert setup.rate is not None
        return setup.rate
    steps = np.diff(table.time(setup.time))
    step = float(np.median(steps))
    uneven = np.flatnonzero(np.abs(steps - step) > _UNEVEN * step)
    if len(uneven):
        row = int(uneven[0])
        raise InputError(
            f"column `{setup.time}` must be evenly spaced ({step:.4g} s), got {steps[row]:.4g} s at"
            f" {table.row(row + 1)}; resample the log"
        )
    return 1 / step


def _cuts(table: Table, setup: RolloutSetup, rows: int) -> list[tuple[int, int]]:
    """First row and number of rows of each rollout in a table."""
    if setup.start is None or setup.length is None:
        return [(0, rows)]
    first = table.plain([setup.start])[:, 0].astype(int)
    count = table.plain([setup.length])[:, 0].astype(int)
    cuts = list(zip(first.tolist(), count.tolist(), strict=True))
    for number, (a, n) in enumerate(cuts):
        if a < 0 or a + n > rows or n <= setup.skip:
            raise InputError(
                f"rollout {number + 1} must lie within the {rows} rows of '{table.path.name}' and"
                f" have more than {setup.skip}, got rows {a + 1} to {a + n}"
            )
    return cuts
