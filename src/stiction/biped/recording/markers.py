"""Marker positions: the .trc files of motion capture."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from stiction._errors import InputError
from stiction.biped.recording.table import Table
from stiction.biped.recording.text import numbers_in, read_lines

_UNITS = {"mm": 1e-3, "cm": 1e-2, "m": 1.0}
_HEADER = 3  # lines: what file, keys, values


@dataclass(frozen=True)
class Markers:
    """Positions of markers against time.

    Attributes:
        source: The file's name.
        time: Of each frame [s].
        names: Of the markers.
        position: In the laboratory [m], nan where a marker was not seen. Shape (n, n_markers, 3).
    """

    source: str
    time: np.ndarray
    names: tuple[str, ...]
    position: np.ndarray

    def as_table(self) -> Table:
        """One column a coordinate."""
        names = tuple(f"{name}.{axis}" for name in self.names for axis in "xyz")
        return Table(self.source, self.time, names, self.position.reshape(len(self.time), -1))


def scale_of(unit: str, source: object) -> float:
    """Metres in a unit of length."""
    key = unit.strip().lower()
    if key not in _UNITS:
        raise InputError(f"`{source}` must give markers in mm, cm or m, got '{unit}'")
    return _UNITS[key]


def read_trc(path: str | Path) -> Markers:
    """Markers from a .trc file."""
    path = Path(path)
    lines = read_lines(path)
    if len(lines) < _HEADER + 2:
        raise InputError(f"`{path}` must have five header lines, got {len(lines)} lines in all")
    keys, values = lines[1].split(), lines[2].split()
    header = dict(zip(keys, values, strict=False))
    if "Units" not in header:
        raise InputError(f"`Units` is missing in the header of `{path}`; is it a .trc file?")
    scale = scale_of(header["Units"], path)
    # Frame number, time, then each marker's name over its three columns.
    cells = [cell.strip() for cell in lines[_HEADER].split("\t")]
    names = tuple(cell for cell in cells[2:] if cell)
    if not names:
        raise InputError(f"line {_HEADER + 1} of `{path}` must name the markers, found none")
    width = 2 + 3 * len(names)
    rows = []
    for i, line in enumerate(lines[_HEADER + 2 :], _HEADER + 2):
        if line.strip():
            row = line.rstrip("\n").split("\t")
            # Trailing markers that were not seen are left out by some programs.
            row = (row + [""] * width)[:width]
            rows.append((i, "\t".join(cell.strip() or "nan" for cell in row)))
    numbers = numbers_in(path, rows, width, "\t")
    if not len(numbers):
        raise InputError(f"`{path}` has no frames")
    position = scale * numbers[:, 2:].reshape(len(numbers), -1, 3)
    # Some programs write a marker that was not seen as the origin itself.
    position[(position == 0).all(axis=-1)] = np.nan
    return Markers(path.name, numbers[:, 1], names, position)
