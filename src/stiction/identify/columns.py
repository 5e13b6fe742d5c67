"""What kinds of setups read from a table beyond its columns: rates, pieces, quaternions."""

import numpy as np

from stiction._base.arrays import Float
from stiction._base.errors import InputError
from stiction.tables import Table

_UNEVEN = 0.01  # of the step: more than this is not an even sampling
_NOT_UNIT = 0.02  # how far a quaternion's length may be from 1


def even_rate(table: Table, column: str) -> float:
    """Samples a second [Hz] of a column of evenly spaced times."""
    steps = np.diff(table.clock(column))
    step = float(np.median(steps))
    uneven = np.flatnonzero(np.abs(steps - step) > _UNEVEN * step)
    if len(uneven):
        row = int(uneven[0])
        raise InputError(
            f"column `{column}` must be evenly spaced ({step:.4g} s), got {steps[row]:.4g} s at"
            f" {table.row(row + 1)}; resample the log"
        )
    return 1 / step


def number(table: Table, given: float | str) -> float:
    """A number as the setup gives it, or from the first row of the column that it names."""
    return float(table.column(given)[0]) if isinstance(given, str) else given


def unit_quaternions(
    table: Table, columns: list[str], field: str, hint: str = ""
) -> Float[np.ndarray, "n 4"]:
    """Four columns as quaternions of length 1; `field` of the setup names them."""
    q = table.plain(columns)
    length = np.linalg.norm(q, axis=1)
    off = np.flatnonzero(np.abs(length - 1) > _NOT_UNIT)
    if len(off):
        row = int(off[0])
        raise InputError(
            f"`{field}` must have length 1, got {length[row]:.4g} in {table.row(row)}{hint}"
        )
    return q / length[:, None]


def pieces(table: Table, start: str, length: str, rows: int, what: str) -> list[tuple[int, int]]:
    """First row (from 0) and number of rows of each `what` in a table of many."""
    first, count = (table.plain([c])[:, 0].astype(int).tolist() for c in (start, length))
    cuts = list(zip(first, count, strict=True))
    for number, (a, n) in enumerate(cuts):
        if a < 0 or n < 0 or a + n > rows:
            raise InputError(
                f"{what} {number + 1} must lie within the {rows} rows of '{table.path.name}', got"
                f" rows {a + 1} to {a + n}"
            )
    return cuts
