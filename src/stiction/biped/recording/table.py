"""A recording: columns against time, with what the file says of its units."""

from dataclasses import dataclass, replace

import numpy as np

from stiction._errors import unknown


@dataclass(frozen=True)
class Table:
    """Columns against time.

    Attributes:
        source: The file's name, for messages.
        time: Of each row [s].
        names: Of the columns, the time not among them.
        values: One row a time.
        degrees: Whether angles are in degrees; none if the file does not say.
        notes: What was found odd, and what was done about it.
    """

    source: str
    time: np.ndarray
    names: tuple[str, ...]
    values: np.ndarray
    degrees: bool | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.time)

    def column(self, name: str) -> np.ndarray:
        """The values of one column."""
        if name not in self.names:
            raise unknown(f"column in '{self.source}'", name, self.names)
        return self.values[:, self.names.index(name)]

    def noted(self, *notes: str, **changes) -> "Table":
        """The same with changes, and notes about them."""
        return replace(self, notes=(*self.notes, *notes), **changes)

    def between(self, start: float | None, end: float | None) -> "Table":
        """The rows from `start` to `end` [s]."""
        keep = np.ones(len(self), bool)
        keep &= self.time >= (-np.inf if start is None else start)
        keep &= self.time <= (np.inf if end is None else end)
        return replace(self, time=self.time[keep], values=self.values[keep])
