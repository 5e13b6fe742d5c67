"""Arrays with names, axes and units: what becomes an xarray dataset, or a NetCDF file without one.

xarray brings pandas, and takes longer to import than most runs to compute.
"""

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

# As xarray has them: the names of the axes, the values and, where there are any, attributes.
Variables = Mapping[str, tuple]


class Described(NamedTuple):
    """What makes a dataset.

    Attributes:
        variables: The data, by name.
        coordinates: What its axes mean, by name.
        attributes: Of the whole.
    """

    variables: Variables
    coordinates: Variables
    attributes: Mapping[str, Any]

    def to_xarray(self) -> "xr.Dataset":
        """The same as an xarray dataset."""
        import xarray as xr

        return xr.Dataset(self.variables, self.coordinates, self.attributes)

    def to_netcdf(self) -> bytes:
        """The content of a NetCDF file, as xarray would write and reads it.

        The file is made in memory: where a disk is full, HDF5 ends the whole process.
        """
        import h5netcdf

        content = io.BytesIO()
        with h5netcdf.File(content, "w") as file:
            loose = {n: _axes(c) for n, c in self.coordinates.items() if _axes(c) != (n,)}
            for name, variable in {**self.coordinates, **self.variables}.items():
                made = _write(file, name, *variable)
                axes = set(_axes(variable))
                beside = [n for n, of in loose.items() if axes.issuperset(of)]
                if name in self.variables and beside:
                    made.attrs["coordinates"] = " ".join(beside)
            file.attrs.update({key: _plain(value) for key, value in self.attributes.items()})
        return content.getvalue()


def described(dataset: "xr.Dataset") -> Described:
    """An xarray dataset, taken apart."""
    variables, coordinates = (
        {str(name): (x.dims, x.values, x.attrs) for name, x in group.items()}
        for group in (dataset.data_vars, dataset.coords)
    )
    attributes = {str(name): value for name, value in dataset.attrs.items()}
    return Described(variables, coordinates, attributes)


def _axes(variable: tuple) -> tuple[str, ...]:
    return (variable[0],) if isinstance(variable[0], str) else tuple(variable[0])


def _write(file: Any, name: str, axes: Any, values: Any, attributes: Any = None) -> Any:
    """One variable, with axes of its length where the file does not have them yet."""
    import h5py

    array, attributes, fill = np.asarray(values), dict(attributes or {}), None
    kind: Any = array.dtype
    if kind.kind in "UO":
        array, kind = array.astype(object), h5py.string_dtype()
    elif kind.kind == "b":
        array, kind, attributes["dtype"] = array.astype(np.int8), np.int8, "bool"
    elif kind.kind == "f":
        fill = kind.type(np.nan)
    axes = _axes((axes,))
    for axis, length in zip(axes, array.shape, strict=True):
        if axis not in file.dimensions:
            file.dimensions[axis] = length
    made = file.create_variable(name, axes, kind, fillvalue=fill)
    if array.size:
        made[...] = array
    made.attrs.update({key: _plain(value) for key, value in attributes.items()})
    return made


def _plain(value: Any) -> Any:
    return value if isinstance(value, str) else np.asarray(value)
