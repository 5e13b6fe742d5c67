"""Columns of one file, with their units, and the words for complaints about a column or a row."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from stiction._base.arrays import Float
from stiction._base.errors import InputError, unknown
from stiction.tables.units import SI, Units, quantity_of, split_label

_TIME = ("time", "t", "time_s", "timestamp")
# What stands in cells instead of numbers.
_WORDS = dict.fromkeys(("", "na", "n/a", "#n/a", "<na>", "null", "none", "nan"), np.nan) | {
    "true": 1.0,
    "false": 0.0,
}


@dataclass(frozen=True)
class Table:
    """Columns of one file.

    As read, columns bear the labels of the file, may hold words, and may differ in length: streams
    with clocks of their own. `by_time` makes of it a recording: numbers in SI units, all columns
    as long as their common time. `time`, `names` and `values` are of recordings.

    Attributes:
        path: The file, or what stands for it in messages.
        columns: Values by label, in the order of the file.
        units: Units of the columns, where a setup says them.
        degrees: Whether angles are in degrees; none if the file does not say.
        notes: What was found odd, and what was done about it.
        header_lines: Lines before the first row of a text file, to find a row in an editor.
        first_row: Rows before the first one, where the table is a part of a stream.
        repeated: Labels that occur more than once in the file.
        time_label: The column that is the time.
    """

    path: Path
    columns: dict[str, np.ndarray]
    units: Units = field(default_factory=Units)
    degrees: bool | None = None
    notes: tuple[str, ...] = ()
    header_lines: int = 0
    first_row: int = 0
    repeated: frozenset[str] = frozenset()
    time_label: str = "time"

    @classmethod
    def recording(
        cls,
        source: str | Path,
        time: Float[np.ndarray, " n"],
        names: Sequence[str],
        values: Float[np.ndarray, "n k"],
        *,
        degrees: bool | None = None,
        notes: tuple[str, ...] = (),
    ) -> "Table":
        """A table from a matrix with one row a time [s] and one column a name."""
        columns = {"time": time, **dict(zip(names, values.T, strict=True))}
        return cls(Path(source), columns, degrees=degrees, notes=notes)

    @property
    def source(self) -> str:
        """The file's name."""
        return self.path.name

    @property
    def rows(self) -> int:
        """Rows of the longest column."""
        return max((len(c) for c in self.columns.values()), default=0)

    def row(self, index: int) -> str:
        """How to speak of a row, counted from 1, header not included."""
        row = index + 1 + self.first_row
        where = f"row {row} of '{self.source}'"
        return f"{where} (line {row + self.header_lines})" if self.header_lines else where

    def column(self, name: str) -> Float[np.ndarray, " n"]:
        """One column of numbers; an error that names the row if any is not a number.

        `a + b` is the sum of two columns, as of the two plates under two feet.
        """
        if name not in self.columns and len(parts := summands(name)) > 1:
            added = [self.column(part) for part in parts]
            if len({len(x) for x in added}) > 1:
                raise InputError(f"columns of `{name}` in '{self.source}' must be equally long")
            return np.sum(added, axis=0)
        if name not in self.columns:
            raise unknown(f"column in '{self.source}'", name, self.columns)
        if name in self.repeated:
            raise InputError(f"column '{name}' occurs twice in `{self.source}`; rename one")
        values = self.columns[name]
        try:
            numbers = np.asarray(values, dtype=float)
        except (TypeError, ValueError, OverflowError):
            numbers = np.array([to_number(v) for v in values], dtype=object)
            if None in numbers:
                row = list(numbers).index(None)
                raise InputError(
                    f"column `{name}` must hold numbers, got {values[row]!r} in {self.row(row)}"
                ) from None
            numbers = numbers.astype(float)
        if numbers.ndim != 1:
            raise InputError(f"column `{name}` of '{self.source}' must have one dimension")
        return numbers

    def words(self, name: str) -> list[str]:
        """One column as words, empty where nothing stands."""
        values = self.columns[name]
        if values.dtype == float:
            return ["" if np.isnan(v) else f"{v:g}" for v in values]
        return [str(v).strip() for v in values]

    def plain(self, names: Iterable[str]) -> Float[np.ndarray, "n k"]:
        """Several columns side by side, all finite, rows after the last filled one dropped."""
        stacked = [self.column(n) for n in names]
        end = max(_filled(c) for c in stacked)
        for name, c in zip(names, stacked, strict=True):
            bad = ~np.isfinite(c[:end])
            if len(c) < end or np.any(bad):
                row = int(np.flatnonzero(bad)[0]) if np.any(bad) else len(c)
                got = f"{c[row]}" if row < len(c) else "nothing"
                raise InputError(
                    f"column `{name}` must be finite, got {got} in {self.row(row)};"
                    " cut the row out or fill it"
                )
        return np.stack([c[:end] for c in stacked], axis=-1)

    def vectors(self, names: Iterable[str], quantity: str) -> Float[np.ndarray, "n k"]:
        """Several columns in SI units. A unit in a label must be the setup's."""
        names = list(names)
        unit = getattr(self.units, quantity)
        for name in (part for whole in names for part in summands(whole)):
            said = split_label(name)[1]
            if said in SI[quantity] and said != unit:
                raise InputError(
                    f"column `{name}` of '{self.source}' says {said}, but the setup says"
                    f" units.{quantity} = '{unit}'; correct one of them (row 1 on)"
                )
        return self.plain(names) * SI[quantity][unit]

    def clock(self, name: str) -> Float[np.ndarray, " n"]:
        """A column of times [s] that must rise."""
        t = self.vectors([name], "time")[:, 0]
        if len(t) < 2:
            raise InputError(
                f"column `{name}` of '{self.source}' must have at least 2 rows, got {len(t)}"
            )
        back = np.flatnonzero(np.diff(t) <= 0)
        if len(back):
            row = int(back[0]) + 1
            word = "repeats" if t[row] == t[row - 1] else "goes backwards"
            raise InputError(
                f"column `{name}` must rise, but time {word} from {t[row - 1]:.9g} s to"
                f" {t[row]:.9g} s at {self.row(row)}; sort the log or cut it there"
            )
        return t

    def by_time(self) -> "Table":
        """The table as a recording: SI units as the labels say, nan where a cell is no number."""
        columns, angles = {}, False
        for label, values in self.columns.items():
            # Where the header itself speaks of angles, labels have no say.
            name, unit = split_label(label) if self.degrees is None else (label, None)
            if name in columns or label in self.repeated:
                raise InputError(f"column '{name}' occurs twice in `{self.path}`; rename one")
            quantity, size = quantity_of(unit) if unit else ("", 1.0)
            columns[name] = size * as_numbers(values)
            angles |= quantity == "angle"
        time = next((name for name in columns if name.lower() in _TIME), None)
        if time is None:
            shown = ", ".join(f"'{label}'" for label in list(columns)[:6])
            raise InputError(
                f"`{self.path}` must have a column 'time' [s], its columns are {shown} …"
            )
        if uneven := [n for n, c in columns.items() if c.shape != columns[time].shape]:
            raise InputError(
                f"column '{uneven[0]}' of `{self.path}` must be as long as '{time}'"
                f" ({len(columns[time])} rows), has {len(columns[uneven[0]])}"
            )
        degrees = False if angles else self.degrees
        return replace(self, columns=columns, degrees=degrees, time_label=time)

    @property
    def time(self) -> np.ndarray:
        """Time of each row of a recording [s]."""
        return self.columns[self.time_label]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of a recording's columns, the time not among them."""
        return tuple(name for name in self.columns if name != self.time_label)

    @cached_property
    def values(self) -> np.ndarray:
        """A recording's columns side by side, one row a time."""
        columns = [self.columns[name] for name in self.names]
        return np.stack(columns, axis=1) if columns else np.zeros((len(self), 0))

    def __len__(self) -> int:
        return len(self.time)

    def changed(self, *notes: str, time: np.ndarray, values: np.ndarray | None = None) -> "Table":
        """The recording with other times and values, and notes about them."""
        values = self.values if values is None else values
        columns = {self.time_label: time, **dict(zip(self.names, values.T, strict=True))}
        return replace(self, columns=columns, notes=(*self.notes, *notes))

    def between(self, start: float | None, end: float | None) -> "Table":
        """The rows of a recording from `start` to `end` [s]."""
        first = -np.inf if start is None else start
        last = np.inf if end is None else end
        keep = (self.time >= first) & (self.time <= last)
        return self.changed(time=self.time[keep], values=self.values[keep])


def summands(name: str) -> list[str]:
    """The columns that a name adds up."""
    return [part.strip() for part in name.split(" + ")]


def to_number(cell: object) -> float | None:
    """The number in a cell: nan where nothing stands, none for any other word."""
    try:
        return float(cell)  # type: ignore[arg-type]
    except OverflowError:
        return np.inf
    except (TypeError, ValueError):
        return _WORDS.get(str(cell).strip().lower())


def as_numbers(values: np.ndarray) -> np.ndarray:
    """A column as numbers, nan where a cell holds something else."""
    if values.dtype.kind in "biuf":
        return values
    return np.array([np.nan if (x := to_number(v)) is None else x for v in values])


def is_number(cell: object) -> bool:
    """Whether a cell holds a number, infinity and nan among them."""
    try:
        float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True


def _filled(column: np.ndarray) -> int:
    """Rows up to the last number: what follows is padding of a shorter stream."""
    filled = np.flatnonzero(~np.isnan(column))
    return int(filled[-1]) + 1 if len(filled) else 0
