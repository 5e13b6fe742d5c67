"""Rollouts as arrays: the measured configurations, sample by sample."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from stiction._base.arrays import Bool, Float, Int
from stiction._base.errors import InputError
from stiction.identify.columns import even_rate, number, pieces, unit_quaternions
from stiction.identify.kinds.rollouts.markers import by_markers
from stiction.identify.kinds.rollouts.setup import RolloutSetup
from stiction.mechanism import BALL, FREE, HINGE, SLIDE, Mechanism
from stiction.tables import Table

_UNEQUAL = 0.01  # of the rate: more than this is another rate


@dataclass(frozen=True)
class Rollouts:
    """Recorded motions of one mechanism, at one rate."""

    q: Float[np.ndarray, "n rows nq"]  # configurations; after a rollout's end its last one
    seen: Bool[np.ndarray, "n rows"]  # whether a row was recorded
    rate: float  # [Hz]
    names: tuple[str, ...]  # of the rollouts

    def __len__(self) -> int:
        return len(self.q)

    def part(self, which: np.ndarray) -> "Rollouts":
        """Some of the rollouts."""
        chosen = np.arange(len(self))[which]
        return Rollouts(
            self.q[chosen], self.seen[chosen], self.rate, tuple(self.names[i] for i in chosen)
        )

    def later(self, rows: Int[np.ndarray, " n"]) -> "Rollouts":
        """The rollouts without the first rows of each."""
        count = self.seen.sum(axis=1) - rows
        at = np.minimum(np.arange(self.q.shape[1]) + rows[:, None], self.q.shape[1] - 1)
        q = np.take_along_axis(self.q, at[..., None], axis=1)
        return replace(self, q=q, seen=np.arange(self.q.shape[1]) < count[:, None])


def record(tables: Sequence[Table], setup: RolloutSetup, mechanism: Mechanism) -> Rollouts:
    """The rollouts of all tables: one a table, or those that `start` and `length` cut out."""
    parts, names, rates = [], [], []
    for table in tables:
        rates.append(_rate(table, setup))
        q = configurations(table, setup, mechanism, rates[-1])
        cuts = _cuts(table, setup, len(q))
        hinges = angles_of(mechanism)
        for a, n in cuts:
            part = q[a + setup.skip : a + n]
            part[:, hinges] = np.unwrap(part[:, hinges], axis=0)  # sensors wrap at a turn
            parts.append(part)
        stem = table.path.stem
        names += [stem] if setup.start is None else [f"{stem}[{i}]" for i in range(len(cuts))]
    rate = rates[0]
    for table, other in zip(tables, rates, strict=True):
        if abs(other - rate) > _UNEQUAL * rate:
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


def angles_of(mechanism: Mechanism) -> Bool[np.ndarray, " nq"]:
    """Which coordinates are angles of hinges."""
    angles = ~lengths_of(mechanism)
    angles[_quaternions_of(mechanism).ravel()] = False
    return angles


def unobserved_turns(setup: RolloutSetup, mechanism: Mechanism) -> Int[np.ndarray, " u"]:
    """Velocities of the turns that were not seen: neither columns, nor markers, nor a gyro."""
    if setup.markers or setup.gyro or len(setup.coordinates) != mechanism.nq:
        return np.zeros(0, dtype=int)
    tree, out = mechanism.tree, []
    for joint, kind in enumerate(tree.joint_types):
        first = tree.q_address[joint] + (3 if kind == FREE else 0)
        if kind in (FREE, BALL) and not setup.coordinates[first]:
            start = tree.v_address[joint] + (3 if kind == FREE else 0)
            out += [start, start + 1, start + 2]
        elif kind == HINGE and not setup.coordinates[first]:
            out.append(tree.v_address[joint])
    return np.array(out, dtype=int)


def configurations(
    table: Table, setup: RolloutSetup, mechanism: Mechanism, rate: float
) -> Float[np.ndarray, "n nq"]:
    """The measured q in SI units; coordinates that were not seen stand at the model's own."""
    if setup.markers:
        return by_markers(table, setup.markers, mechanism)
    seen = np.array([bool(c) for c in setup.coordinates])
    if len(seen) != mechanism.nq or seen.all():
        return _columns(table, setup, mechanism)
    if np.any(~seen & lengths_of(mechanism)):
        place = int(np.flatnonzero(~seen & lengths_of(mechanism))[0])
        raise InputError(
            f"`coordinates` must name a column for every length, got '' for"
            f" {mechanism.tree.coordinate_names[place]}; where a body is cannot be left open"
        )
    q = np.tile(np.asarray(mechanism.q_reference, dtype=float), (table.rows, 1))
    lengths = np.flatnonzero(lengths_of(mechanism))
    q = q[: len(table.column(setup.coordinates[lengths[0]]))]
    q[:, lengths] = table.vectors([setup.coordinates[i] for i in lengths], "length")
    for i in np.flatnonzero(seen & angles_of(mechanism)):
        q[:, i] = table.vectors([setup.coordinates[i]], "angle")[:, 0]
    if setup.gyro is not None:
        quaternions = _quaternions_of(mechanism)
        if len(quaternions) != 1:
            raise InputError(f"`gyro` needs one body that turns freely, got {len(quaternions)}")
        rates = table.vectors(setup.gyro, "angle")
        for a, n in _cuts(table, setup, len(q)):
            part = slice(a, a + n)
            q[part, quaternions[0]] = _turned(setup.orientation, rates[part], rate)
    return q


def _turned(start: list[float], rates: Float[np.ndarray, "n 3"], rate: float) -> np.ndarray:
    """Quaternions from turn rates in the body's axes, by the mean of neighbouring rows."""
    turn = Rotation.from_quat(start, scalar_first=True)
    out = [turn]
    for mean in (rates[1:] + rates[:-1]) / 2 / rate:
        turn = turn * Rotation.from_rotvec(mean)
        out.append(turn)
    q = Rotation.concatenate(out).as_quat(scalar_first=True)
    flips = np.cumprod(np.append(1.0, np.sign(np.sum(q[1:] * q[:-1], axis=1))))
    return q * flips[:, None]


def _columns(table: Table, setup: RolloutSetup, mechanism: Mechanism) -> Float[np.ndarray, "n nq"]:
    """All of q from its columns."""
    columns, names = setup.coordinates, mechanism.tree.coordinate_names
    if len(columns) != mechanism.nq:
        raise InputError(
            f"`coordinates` must name {mechanism.nq} columns, one for each of"
            f" {', '.join(names)}, got {len(columns)}"
        )
    quaternions = _quaternions_of(mechanism)
    q = table.plain(columns)
    kinds = {"length": lengths_of(mechanism), "angle": angles_of(mechanism)}
    for quantity, chosen in kinds.items():
        if chosen.any():
            q[:, chosen] = table.vectors(np.array(columns)[chosen].tolist(), quantity)
    for one in quaternions:
        names = [columns[i] for i in one]
        hint = "; its columns are w, x, y, z"
        q[:, one] = unit_quaternions(table, names, f"coordinates.{names[0]}", hint)
    return q


def _rate(table: Table, setup: RolloutSetup) -> float:
    if setup.time is not None:
        return even_rate(table, setup.time)
    assert setup.rate is not None
    return number(table, setup.rate)


def _cuts(table: Table, setup: RolloutSetup, rows: int) -> list[tuple[int, int]]:
    """First row and number of rows of each rollout in a table."""
    if setup.start is None or setup.length is None:
        return [(0, rows)]
    cuts = pieces(table, setup.start, setup.length, rows, "rollout")
    for i, (_, n) in enumerate(cuts):
        if n <= setup.skip:
            raise InputError(
                f"rollout {i + 1} of '{table.path.name}' must have more than the {setup.skip} rows"
                f" that `skip` leaves out, got {n}"
            )
    return cuts
