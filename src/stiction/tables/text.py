"""Tables that are text: CSV and its kin, OpenSim's storage files (.mot, .sto), markers (.trc).

CSV has a line of labels, which may carry units: `knee_angle_r [deg]`. Cells are separated by
commas, semicolons, tabs or spaces; lines that start with # are comments. A storage file has a
header up to the line `endheader`, then a line of labels; its header says whether angles are in
degrees (`inDegrees=yes`, or the sentence "Angles are in degrees."). A .trc file names each marker
over its three columns.

A program that is killed leaves its last row unfinished, without the end of the line. Such a row is
left out, with a note.
"""

import csv
import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from stiction._base.errors import InputError
from stiction._base.files import read_text
from stiction.tables.table import Table, as_numbers, is_number, to_number
from stiction.tables.units import size_of

_TRC_HEADER = 3  # lines: what file, keys, values

Lines = list[tuple[int, str]]  # with their numbers, counted from 1


def read_lines(path: Path) -> tuple[Lines, bool]:
    """The lines of a text file that are not empty, and whether the last one lacks its end."""
    text = read_text(path)
    lines = [(i, line) for i, line in enumerate(text.split("\n"), 1) if line.strip()]
    return lines, not text.endswith("\n")


def read_delimited(path: Path) -> Table:
    """A table of labels and rows below them: .csv, .tsv, .txt, .dat."""
    lines, unfinished = read_lines(path)
    body = [(i, line) for i, line in lines if not line.lstrip().startswith("#")]
    if len(body) < 2:
        raise InputError(f"`{path}` must have a line of labels and rows below it, found none")
    (first, head), *rows = body
    head = head.lstrip(" %")  # MATLAB's comment sign
    unquoted = re.sub('"[^"]*"', "", head)
    delimiter = max(",;\t", key=unquoted.count)
    delimiter = delimiter if delimiter in unquoted else None
    labels = _split(head, delimiter)
    if all(is_number(label) for label in labels):  # NumPy writes labels as a comment
        comments = [line.lstrip("# ") for i, line in lines if i < first]
        labels, rows = _split(comments[-1] if comments else "", delimiter), body
        if len(labels) != len(_split(head, delimiter)):
            raise InputError(f"`{path}` must begin with a line of column labels, got numbers")
    labels = [label.strip().strip('"') for label in labels]
    return _table(path, labels, rows, delimiter, unfinished)


def read_storage(path: Path) -> Table:
    """A storage file of OpenSim: .mot, .sto."""
    lines, unfinished = read_lines(path)
    end = next((k for k, (_, s) in enumerate(lines) if s.strip().lower() == "endheader"), None)
    if end is None:
        raise InputError(
            f"`{path}` must have a line 'endheader', found none; is it a storage file of OpenSim?"
        )
    header, body = [line for _, line in lines[:end]], lines[end + 1 :]
    if not body:
        raise InputError(f"`{path}` has no column labels after 'endheader'")
    head = body[0][1]
    labels = [s.strip() for s in head.split("\t" if "\t" in head else None) if s.strip()]
    table = _table(path, labels, body[1:], None, unfinished)
    notes, rows = table.notes, to_number(_header_value(header, "nrows", "datarows"))
    if rows is not None and rows != table.rows and not np.isnan(rows):
        notes = (f"the header of '{path.name}' says {rows:g} rows, there are {table.rows}", *notes)
    return replace(table, degrees=_degrees(header), notes=notes)


def read_trc(path: Path) -> Table:
    """Positions of markers [m] from a .trc file: of each marker the columns NAME.x, .y and .z."""
    lines = list(enumerate(read_text(path).split("\n"), 1))
    if len(lines) < _TRC_HEADER + 2:
        raise InputError(f"`{path}` must have five header lines, got {len(lines)} lines in all")
    header = dict(zip(lines[1][1].split(), lines[2][1].split(), strict=False))
    if "Units" not in header:
        raise InputError(f"`Units` is missing in the header of `{path}`; is it a .trc file?")
    scale = size_of(header["Units"], ("mm", "cm", "m"), f"markers in `{path}`")
    # Frame number, time, then each marker's name over its three columns.
    names = [name for cell in lines[_TRC_HEADER][1].split("\t")[2:] if (name := cell.strip())]
    if not names:
        raise InputError(f"line {_TRC_HEADER + 1} of `{path}` must name the markers, found none")
    width = 2 + 3 * len(names)
    rows = []
    for i, line in lines[_TRC_HEADER + 2 :]:
        if line.strip():
            # Trailing markers that were not seen are left out by some programs.
            cells = (line.split("\t") + [""] * width)[:width]
            rows.append((i, "\t".join(cell.strip() or "nan" for cell in cells)))
    if not rows:
        raise InputError(f"`{path}` has no frames")
    columns = [as_numbers(column) for column in _columns(path, rows, width, "\t")]
    position = scale * np.stack(columns[2:], axis=1).reshape(len(rows), -1, 3)
    # Some programs write a marker that was not seen as the origin itself.
    position[(position == 0).all(axis=-1)] = np.nan
    return markers_table(path, columns[1], names, position)


def markers_table(path: Path, time: np.ndarray, names: list[str], position: np.ndarray) -> Table:
    """Positions of markers [m], shape (n, n_markers, 3), as columns NAME.x, NAME.y, NAME.z."""
    kept = [k for k, name in enumerate(names) if name not in names[:k]]  # the first of equal names
    labels = [f"{names[k]}.{axis}" for k in kept for axis in "xyz"]
    return Table.recording(path, time, labels, position[:, kept].reshape(len(time), -1))


def _table(
    path: Path, labels: list[str], lines: Lines, delimiter: str | None, unfinished: bool
) -> Table:
    width, notes = len(labels), ()
    if unfinished and lines and (fault := _fault_of_last(lines, width, delimiter)):
        notes = (f"the last row of '{path.name}' (line {lines[-1][0]}) {fault}: it was left out",)
        lines = lines[:-1]
    columns = _columns(path, lines, width, delimiter) if lines else [np.zeros(0)] * width
    named: dict[str, np.ndarray] = {}
    for label, column in zip(labels, columns, strict=True):
        named.setdefault(label, column)
    return Table(
        path,
        named,
        notes=notes,
        header_lines=lines[0][0] - 1 if lines else 0,
        repeated=frozenset(label for label in labels if labels.count(label) > 1),
    )


def _columns(path: Path, lines: Lines, width: int, delimiter: str | None) -> list[np.ndarray]:
    """Columns of numbers, or of words where some cells are words."""
    try:
        rows = [_without_gaps(line, delimiter) for _, line in lines]
        values = np.loadtxt(rows, delimiter=delimiter, ndmin=2, comments=None)
        if values.shape[1] == width:
            return list(values.T)
    except ValueError:
        pass  # words or ragged rows: read again, cell by cell
    rows = []
    for i, line in lines:
        cells = _split(line, delimiter)
        if len(cells) == width + 1 and not cells[-1].strip():
            cells.pop()  # a separator at the end of the row
        if len(cells) != width:
            raise InputError(
                f"line {i} of `{path}` must have {width} values as its labels do, got {len(cells)}"
            )
        rows.append(cells)
    columns = []
    for cells in zip(*rows, strict=True):
        numbers = [to_number(cell) for cell in cells]
        words = np.array([cell.strip() for cell in cells], dtype=object)
        columns.append(words if None in numbers else np.array(numbers))
    return columns


def _without_gaps(line: str, delimiter: str | None) -> str:
    """The row with nan in its empty cells."""
    if delimiter is None or not (2 * delimiter in line or delimiter in (line[0], line[-1])):
        return line
    return delimiter.join(cell or "nan" for cell in line.split(delimiter))


def _split(line: str, delimiter: str | None) -> list[str]:
    if delimiter is None or '"' not in line:
        return line.split(delimiter)
    return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))


def _fault_of_last(lines: Lines, width: int, delimiter: str | None) -> str:
    """What tells that the last row, which has no line end, was cut off; empty if nothing does."""
    *before, last = (_split(line, delimiter) for _, line in lines[-50:])
    if len(last) < width:
        return f"has {len(last)} of {width} values"
    others = [row[-1].strip() for row in before if len(row) == width]
    cell = last[-1].strip()
    if others and is_number(others[-1]) and not is_number(cell):
        return f"ends in '{cell[:20]}', which is no number"
    written = [other for other in others if other]
    if cell and written and all("." in c for c in written) and len(cell) < min(map(len, written)):
        return f"ends in '{cell}', shorter than the rows before it"
    return ""


def _degrees(header: list[str]) -> bool | None:
    said = _header_value(header, "indegrees")
    if said:
        return said.lower() in ("yes", "true", "1")
    text = " ".join(header).lower()
    if "angles are in degrees" in text:
        return True
    return False if "angles are in radians" in text else None


def _header_value(header: list[str], *keys: str) -> str:
    """The value of `key=value` or `key value`; empty if there is none."""
    for line in header:
        key, _, value = line.strip().replace("=", " ").partition(" ")
        if key.lower() in keys:
            return value.strip()
    return ""
