"""Read a table of any kind: the suffix of the file says what it is."""

import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from stiction._base.errors import IgnoredWarning, InputError
from stiction._base.files import check_file
from stiction.tables.arrays import read_archive, read_netcdf, read_parquet
from stiction.tables.c3d import read_c3d
from stiction.tables.rosbag import read_bag
from stiction.tables.table import Table, summands
from stiction.tables.text import read_delimited, read_storage, read_trc
from stiction.tables.units import Units

MARKERS = (".trc", ".c3d")
_BAGS = (".bag", ".db3", ".mcap")
_READERS = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".dat"), read_delimited),
    **dict.fromkeys((".mot", ".sto"), read_storage),
    ".trc": read_trc,
    ".c3d": read_c3d,
    ".parquet": read_parquet,
    ".nc": read_netcdf,
    **dict.fromkeys((".mat", ".npz"), read_archive),
}
SUFFIXES = (*_READERS, *_BAGS)


def read_table(path: str | Path, units: Units | None = None, wanted: Iterable[str] = ()) -> Table:
    """The columns of a file.

    Args:
        path: Text (.csv, .tsv, .txt, .dat), OpenSim's storage (.mot, .sto), markers (.trc, .c3d),
            arrays (.parquet, .nc, .mat, .npz) or a ROS bag (.bag, .db3, .mcap or its directory).
        units: Units of the columns of a log, as its setup says them. What is odd about a log is
            also told as a warning; of other tables it is in the notes alone.
        wanted: Columns that will be asked for (a ROS bag is read only where needed).
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if not path.exists():
        what = "file" if units is None else "log"  # setups speak of logs
        raise InputError(f"no {what} '{path}'; check the path")
    if suffix not in SUFFIXES and not path.is_dir():
        raise InputError(f"`{path}` must end in one of {', '.join(SUFFIXES)}, got '{suffix}'")
    if not path.is_dir():
        check_file(path, most=float("inf"))  # text has a bound of its own
    try:
        if path.is_dir() or suffix in _BAGS:
            table = read_bag(path, [part for name in wanted for part in summands(name)])
        else:
            table = _READERS[suffix](path)
    except (InputError, ImportError):
        raise
    except Exception as error:  # whatever the reader of a broken file may raise
        first = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"`{path}` cannot be read as {suffix or 'a bag'}: {first}") from None
    if units is None:
        return table
    for note in table.notes:  # nobody else tells them of a log
        warnings.warn(note, IgnoredWarning, stacklevel=2)
    return replace(table, units=units)
