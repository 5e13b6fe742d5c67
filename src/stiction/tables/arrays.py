"""Tables of arrays: Parquet, NetCDF, MATLAB (.mat), NumPy (.npz).

Vectors become columns; a matrix becomes a column for each of its own: `name[0]`, `name[1]`, …
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from stiction._base.errors import InputError
from stiction.tables.table import Table


def read_parquet(path: Path) -> Table:
    """The columns of a Parquet file."""
    import pandas as pd

    try:
        frame = pd.read_parquet(path)
    except ImportError:
        raise InputError("Parquet logs need pyarrow: pip install 'stiction[logs]'") from None
    return Table(path, {str(c): frame[c].to_numpy() for c in frame.columns})


def read_netcdf(path: Path) -> Table:
    """The variables of one or two dimensions in a NetCDF file."""
    import xarray as xr

    with xr.open_dataset(path, engine="h5netcdf", decode_times=False) as data:
        return Table(path, _columns((str(n), v.values) for n, v in data.variables.items()))


def read_archive(path: Path) -> Table:
    """The arrays of a MATLAB or NumPy archive; matrices of one row or one column are vectors."""
    if path.suffix.lower() == ".mat":
        from scipy.io import loadmat

        found = {k: np.asarray(v) for k, v in loadmat(path).items() if not k.startswith("__")}
    else:
        with np.load(path, allow_pickle=False) as archive:
            found = {k: archive[k] for k in archive.files}
    for name, values in found.items():
        if values.ndim == 0 or (values.ndim == 2 and 1 in values.shape):
            found[name] = values.ravel()
    return Table(path, _columns(found.items()))


def _columns(arrays: Iterable[tuple[str, np.ndarray]]) -> dict[str, np.ndarray]:
    columns = {}
    for name, values in arrays:
        if values.ndim == 1:
            columns[name] = values
        elif values.ndim == 2:
            columns |= {f"{name}[{i}]": column for i, column in enumerate(values.T)}
    return columns
