"""Read tables that are text: OpenSim's storage files (.mot, .sto) and CSV.

A storage file has a header up to the line `endheader`, then a line of column labels. Its header
says whether angles are in degrees (`inDegrees=yes`, or the sentence "Angles are in degrees."). A
CSV file has a line of labels, which may carry a unit: `knee_angle_r [deg]`.
"""

import re
from pathlib import Path

import numpy as np

from stiction._errors import InputError
from stiction.biped.recording.table import Table

STORAGE = (".mot", ".sto")
_TIME = ("time", "t", "time_s", "timestamp")
# unit -> the factor that makes it SI, and whether it is one of an angle.
_UNITS = {
    "deg": (np.pi / 180, True),
    "degree": (np.pi / 180, True),
    "degrees": (np.pi / 180, True),
    "°": (np.pi / 180, True),
    "rad": (1.0, True),
    "m": (1.0, False),
    "cm": (1e-2, False),
    "mm": (1e-3, False),
    "s": (1.0, False),
    "ms": (1e-3, False),
    "n": (1.0, False),
    "kn": (1e3, False),
    "nm": (1.0, False),
    "n m": (1.0, False),
    "n·m": (1.0, False),
    "nmm": (1e-3, False),
}
_LABEL = re.compile(r"^(.*?)\s*[\[(]([^\])]+)[\])]$")


def read_text_table(path: str | Path) -> Table:
    """A table from a .mot, .sto, .csv or .txt file with labelled columns."""
    path = Path(path)
    lines = read_lines(path)
    if path.suffix.lower() in STORAGE:
        return _read_storage(path, lines)
    return _read_csv(path, lines)


def read_lines(path: Path) -> list[str]:
    """The lines of a text file."""
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        raise InputError(f"no file '{path}'; check the path") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"`{path}` cannot be read as text: {error}") from None


def _read_storage(path: Path, lines: list[str]) -> Table:
    ends = [i for i, line in enumerate(lines) if line.strip().lower() == "endheader"]
    if not ends:
        raise InputError(
            f"`{path}` must have a line 'endheader', found none; is it a storage file of OpenSim?"
        )
    header = lines[: ends[0]]
    body = [(i, line) for i, line in enumerate(lines) if i > ends[0] and line.strip()]
    if not body:
        raise InputError(f"`{path}` has no column labels after 'endheader'")
    labels = body[0][1].split("\t") if "\t" in body[0][1] else body[0][1].split()
    labels = [label.strip() for label in labels if label.strip()]
    values = numbers_in(path, body[1:], len(labels), delimiter=None)
    notes = []
    rows = _header_value(header, "nrows", "datarows")
    if rows is not None and rows.isdigit() and int(rows) != len(values):
        notes.append(f"the header of '{path.name}' says {rows} rows, there are {len(values)}")
    return _table(path, labels, values, _degrees(header), notes)


def _degrees(header: list[str]) -> bool | None:
    said = _header_value(header, "indegrees")
    if said is not None:
        return said.lower() in ("yes", "true", "1")
    text = " ".join(header).lower()
    if "angles are in degrees" in text:
        return True
    return False if "angles are in radians" in text else None


def _header_value(header: list[str], *keys: str) -> str | None:
    """The value of `key=value` or `key value`."""
    for line in header:
        key, _, value = line.strip().replace("=", " ").partition(" ")
        if key.lower() in keys:
            return value.strip()
    return None


def read_text_cells(path: str | Path) -> tuple[list[str], list[list[str]]]:
    """The labels and the cells of a CSV file, as words."""
    labels, body, delimiter = _labelled(Path(path), read_lines(Path(path)))
    rows = [[cell.strip() for cell in line.split(delimiter)] for _, line in body]
    for (i, _), row in zip(body, rows, strict=True):
        if len(row) != len(labels):
            raise InputError(
                f"line {i + 1} of `{path}` must have {len(labels)} values as its labels do,"
                f" got {len(row)}"
            )
    return labels, rows


def _labelled(path: Path, lines: list[str]) -> tuple[list[str], list[tuple[int, str]], str | None]:
    """Labels, the numbered lines after them, and what separates the cells."""
    body = [
        (i, line)
        for i, line in enumerate(lines)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if len(body) < 2:
        raise InputError(f"`{path}` must have a line of labels and rows below it, found none")
    head = body[0][1].lstrip(" %")  # MATLAB's comment sign
    delimiter = next((d for d in (",", ";", "\t") if d in head), None)
    return [label.strip().strip('"') for label in head.split(delimiter)], body[1:], delimiter


def _read_csv(path: Path, lines: list[str]) -> Table:
    labels, body, delimiter = _labelled(path, lines)
    if all(_is_number(label) for label in labels):
        raise InputError(f"`{path}` must begin with a line of column labels, got numbers")
    values = numbers_in(path, body, len(labels), delimiter)
    angles = []
    for k, label in enumerate(labels):
        if (match := _LABEL.match(label)) and match[2].strip().lower() in _UNITS:
            factor, is_angle = _UNITS[match[2].strip().lower()]
            labels[k] = match[1].strip()
            values[:, k] *= factor
            angles.append(is_angle)
    return _table(path, labels, values, False if any(angles) else None, [])


def numbers_in(
    path: Path, lines: list[tuple[int, str]], width: int, delimiter: str | None
) -> np.ndarray:
    """Rows of `width` numbers; what is not a number is nan."""
    rows = [line for _, line in lines]
    try:
        values = np.loadtxt(rows, delimiter=delimiter, ndmin=2, comments=None)
        if values.shape[1] == width:
            return values
    except ValueError:
        pass  # empty cells or words: read again, cell by cell
    cells = [row.split(delimiter) for row in rows]  # spaces around a number do no harm
    for (i, _), row in zip(lines, cells, strict=True):
        if len(row) != width:
            raise InputError(
                f"line {i + 1} of `{path}` must have {width} values as its labels do,"
                f" got {len(row)}"
            )
    return np.array([[_number(c) for c in row] for row in cells]).reshape(-1, width)


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return float("nan")


def _is_number(cell: str) -> bool:
    return not np.isnan(_number(cell)) or cell.strip().lower() == "nan"


def _table(
    path: Path, labels: list[str], values: np.ndarray, degrees: bool | None, notes: list[str]
) -> Table:
    at = [k for k, label in enumerate(labels) if label.lower() in _TIME]
    if not at:
        shown = ", ".join(f"'{label}'" for label in labels[:6])
        raise InputError(f"`{path}` must have a column 'time' [s], its columns are {shown} …")
    names = [label for k, label in enumerate(labels) if k != at[0]]
    if twice := sorted({n for n in names if names.count(n) > 1}):
        raise InputError(f"column '{twice[0]}' occurs twice in `{path}`; labels must differ")
    others = [k for k in range(len(labels)) if k != at[0]]
    return Table(
        source=path.name,
        time=values[:, at[0]],
        names=tuple(names),
        values=values[:, others],
        degrees=degrees,
        notes=tuple(notes),
    )
