"""Logs as tables of columns: CSV and other text, Parquet, NetCDF, MATLAB, ROS bags.

A table knows which file it came from and in which units its columns are, so that every complaint
can name the column, the row and the remedy.
"""

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from stiction._arrays import Float
from stiction._errors import InputError, unknown
from stiction.identify.setup import Units

TEXT = (".csv", ".tsv", ".txt", ".dat")
SUFFIXES = (*TEXT, ".parquet", ".nc", ".mat", ".npz", ".bag", ".db3", ".mcap")

SI = {
    "time": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9},
    "length": {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "in": 0.0254},
    "angle": {"rad": 1.0, "mrad": 1e-3, "deg": np.pi / 180},
    "force": {"N": 1.0, "mN": 1e-3, "uN": 1e-6, "kN": 1e3, "lbf": 4.4482216152605},
    "moment": {"N*m": 1.0, "N*mm": 1e-3, "mN*m": 1e-3, "lbf*in": 0.1129848290276167},
}
_SPELLINGS = {"µ": "u", "μ": "u", "·": "*", ".": "*", " ": "", "Nm": "N*m", "Nmm": "N*mm"}


@dataclass
class Table:
    """Columns of one file."""

    path: Path
    columns: dict[str, np.ndarray]
    units: Units = field(default_factory=Units)
    header_lines: int = 0  # of a text file, so that a row can be found in an editor
    first_row: int = 0  # of a part of a stream, so that its rows are counted from the beginning

    @property
    def rows(self) -> int:
        """Rows of the longest column."""
        return max((len(c) for c in self.columns.values()), default=0)

    def row(self, index: int) -> str:
        """How to speak of a row, counted from 1, header not included."""
        row = index + 1 + self.first_row
        where = f"row {row} of '{self.path.name}'"
        return f"{where} (line {row + self.header_lines})" if self.header_lines else where

    def column(self, name: str) -> Float[np.ndarray, " n"]:
        """One column of numbers; an error that names the row if any is not a number."""
        if name not in self.columns:
            raise unknown(f"column in '{self.path.name}'", name, self.columns)
        values = self.columns[name]
        try:
            numbers = np.asarray(values, dtype=float)
        except (TypeError, ValueError):
            row = next(i for i, v in enumerate(values) if not is_number(v))
            raise InputError(
                f"column `{name}` must hold numbers, got {values[row]!r} in {self.row(row)}"
            ) from None
        if numbers.ndim != 1:
            raise InputError(f"column `{name}` of '{self.path.name}' must have one dimension")
        return numbers

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
        """Several columns in SI units. A unit in the header must be the setup's."""
        names = list(names)
        unit = getattr(self.units, quantity)
        for name in names:
            said = _unit_in(name)
            if said in SI[quantity] and said != unit:
                raise InputError(
                    f"column `{name}` of '{self.path.name}' says {said}, but the setup says"
                    f" units.{quantity} = '{unit}'; correct one of them (row 1 on)"
                )
        return self.plain(names) * SI[quantity][unit]

    def time(self, name: str) -> Float[np.ndarray, " n"]:
        """A column of times [s] that must rise."""
        t = self.vectors([name], "time")[:, 0]
        if len(t) < 2:
            raise InputError(
                f"column `{name}` of '{self.path.name}' must have at least 2 rows, got {len(t)}"
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


def _filled(column: np.ndarray) -> int:
    """Rows up to the last number: what follows is padding of a shorter stream."""
    filled = np.flatnonzero(~np.isnan(column))
    return int(filled[-1]) + 1 if len(filled) else 0


def is_number(value) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _unit_in(name: str) -> str:
    """The unit that a header carries in brackets: 'x [mm]', 'F (N)'."""
    found = re.search(r"[\[(]\s*([^\])]+?)\s*[\])]\s*$", name)
    text = found.group(1) if found else ""
    for old, new in _SPELLINGS.items():
        text = text.replace(old, new)
    return text


def read_table(path: Path, units: Units, wanted: Iterable[str] = ()) -> Table:
    """Read a log file of any kind.

    Args:
        path: The file; its suffix says what it is.
        units: Of its columns.
        wanted: Columns that will be asked for (a ROS bag is read only where needed).
    """
    path = Path(path)
    if not path.exists():
        raise InputError(f"no log '{path}'; check the path")
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES and not path.is_dir():
        raise InputError(f"`{path}` must end in one of {', '.join(SUFFIXES)}, got '{suffix}'")
    header = 0
    try:
        if suffix in TEXT:
            columns, header = _read_text(path)
        elif suffix == ".parquet":
            columns = _read_parquet(path)
        elif suffix == ".nc":
            columns = _read_netcdf(path)
        elif suffix in (".mat", ".npz"):
            columns = _read_arrays(path)
        else:
            from stiction.identify.rosbag import read_bag

            columns = read_bag(path, list(wanted))
    except (InputError, ImportError):
        raise
    except Exception as error:  # whatever the reader of a broken file may raise
        first = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"`{path}` cannot be read as {suffix or 'a bag'}: {first}") from None
    return Table(path, columns, units, header)


def _read_text(path: Path) -> tuple[dict[str, np.ndarray], int]:
    import pandas as pd

    with path.open(encoding="utf-8-sig") as file:
        first = file.readline()
    if not first.strip():
        raise InputError(f"`{path}` must start with a line of column names, got an empty line")
    try:
        separator = csv.Sniffer().sniff(first, delimiters=",;\t").delimiter
    except csv.Error:
        separator = "," if "," in first else r"\s+"
    frame = pd.read_csv(path, sep=separator, encoding="utf-8-sig", skipinitialspace=True)
    names = [str(c).strip() for c in frame.columns]
    if all(is_number(n) for n in names):
        raise InputError(f"`{path}` must start with a line of column names, got numbers")
    return {n: frame[c].to_numpy() for n, c in zip(names, frame.columns, strict=True)}, 1


def _read_parquet(path: Path) -> dict[str, np.ndarray]:
    import pandas as pd

    try:
        frame = pd.read_parquet(path)
    except ImportError:
        raise InputError("Parquet logs need pyarrow: pip install 'stiction[logs]'") from None
    return {str(c): frame[c].to_numpy() for c in frame.columns}


def _read_netcdf(path: Path) -> dict[str, np.ndarray]:
    import xarray as xr

    with xr.open_dataset(path, engine="h5netcdf", decode_times=False) as data:
        columns = {}
        for name, variable in data.variables.items():
            values = variable.values
            if values.ndim == 1:
                columns[str(name)] = values
            elif values.ndim == 2:  # a vector a row: name[0], name[1], …
                columns |= {f"{name}[{i}]": values[:, i] for i in range(values.shape[1])}
    return columns


def _read_arrays(path: Path) -> dict[str, np.ndarray]:
    """MATLAB and NumPy archives: vectors become columns, matrices one column for each of theirs."""
    if path.suffix.lower() == ".mat":
        from scipy.io import loadmat

        found = {k: v for k, v in loadmat(path).items() if not k.startswith("__")}
    else:
        with np.load(path, allow_pickle=False) as archive:
            found = {k: archive[k] for k in archive.files}
    columns = {}
    for name, values in found.items():
        values = np.asarray(values)
        if values.ndim == 2 and 1 in values.shape:
            values = values.ravel()
        if values.ndim <= 1:
            columns[name] = np.atleast_1d(values)
        elif values.ndim == 2:
            columns |= {f"{name}[{i}]": column for i, column in enumerate(values.T)}
    return columns
