"""Results on disk: a Zarr group that xarray opens, filled block by block, never torn.

The cases are cut into blocks, each a chunk of every array and a contiguous range of cases. Whoever
did a block writes it. Zarr writes every chunk aside and renames it; the chunk of `status` comes
last and says that the block is whole. The group itself is made aside and renamed with all its
metadata, which never change afterwards. So a process may be killed, or a disk be full, at any
instant: what is there is right, and what is not is done again.
"""

import contextlib
import itertools
import json
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stiction._base.errors import InputError
from stiction.studies.design import MATRIX, REPLICATE, SAMPLE, StudyDesign

if TYPE_CHECKING:
    import xarray as xr

RESULTS_NAME = "results.zarr"
PENDING, DONE, FAILED = 0, 1, 2
STATUS, MESSAGE = "status", "message"
_ASIDE = ".stiction-"
_PARTIAL = "*.partial"  # what Zarr leaves of a file when it is killed while writing it
_COORDINATES = 65_536  # drawn values that are written at a time


@dataclass(frozen=True)
class Variable:
    """A quantity that is kept of every case: its own dimensions, besides those of the cases."""

    dims: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()
    dtype: str = "float64"
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def missing(self) -> Any:
        """What stands where there is no value."""
        kind = np.dtype(self.dtype).kind
        return np.nan if kind == "f" else False if kind == "b" else -1


@dataclass(frozen=True)
class Schema:
    """What is kept of every case.

    Attributes:
        variables: By name.
        labels: What the entries along the variables' own dimensions are called, by dimension.
    """

    variables: Mapping[str, Variable]
    labels: Mapping[str, Sequence[Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Block:
    """A range of cases that is done at once: from `first` to before `last`, at `place`."""

    number: int
    first: int
    last: int
    place: tuple[slice, ...]


def block_shape(shape: Sequence[int], size: int) -> tuple[int, ...]:
    """The largest block of at most `size` cases whose numbers are contiguous."""
    chunk, room = [1] * len(shape), max(size, 1)
    for j in reversed(range(len(shape))):
        chunk[j] = min(shape[j], room)
        room //= chunk[j]
        if chunk[j] < shape[j]:
            break
    return tuple(chunk)


@dataclass(frozen=True)
class Store:
    """The results of a study on disk.

    Attributes:
        path: Of the Zarr group.
    """

    path: Path

    @cached_property
    def group(self) -> Any:
        """The Zarr group."""
        return zarr().open_group(self.path, mode="r+")

    @cached_property
    def attributes(self) -> dict[str, Any]:
        """What the study is: its design, subject and seed."""
        return dict(self.group.attrs)

    @cached_property
    def _arrays(self) -> dict[str, Any]:
        return dict(self.group.arrays())

    @property
    def dims(self) -> dict[str, int]:
        """The dimensions of the cases."""
        status = self._arrays[STATUS]
        return dict(zip(status.metadata.dimension_names, status.shape, strict=True))

    def blocks(self) -> Iterator[Block]:
        """All blocks, in the order of their cases."""
        shape, chunk = self._arrays[STATUS].shape, self._arrays[STATUS].chunks
        corners = (range(0, n, c) for n, c in zip(shape, chunk, strict=True))
        first = 0
        for number, corner in enumerate(itertools.product(*corners)):
            ends = [min(a + c, n) for a, c, n in zip(corner, chunk, shape, strict=True)]
            place = tuple(map(slice, corner, ends))
            count = int(np.prod([s.stop - s.start for s in place]))
            yield Block(number, first, first + count, place)
            first += count

    def status(self, block: Block) -> np.ndarray:
        """Of each case of a block, in their order."""
        return np.asarray(self._arrays[STATUS][block.place]).ravel()

    def write(
        self, block: Block, values: Mapping[str, np.ndarray], messages: Sequence[str]
    ) -> None:
        """Write a block: each value with a leading axis of cases; failed cases have messages."""
        shape = tuple(s.stop - s.start for s in block.place)
        for name, value in values.items():
            array = self._arrays[name]
            array[block.place] = np.asarray(value, array.dtype).reshape(*shape, *value.shape[1:])
        failed = np.array([bool(m) for m in messages])
        if failed.any():
            self._arrays[MESSAGE][block.place] = np.array(messages, object).reshape(shape)
        status = np.where(failed, FAILED, DONE).astype(np.int8)
        self._arrays[STATUS][block.place] = status.reshape(shape)

    def read(self, block: Block, names: Sequence[str]) -> dict[str, np.ndarray]:
        """Some values of a block, with a leading axis of cases."""
        count = block.last - block.first
        found = {}
        for name in names:
            values = np.asarray(self._arrays[name][block.place])
            found[name] = values.reshape(count, *values.shape[len(block.place) :])
        return found

    def dataset(self) -> "xr.Dataset":
        """All of it, lazily; cases that are not done have `status` 0."""
        import xarray as xr

        found = xr.open_dataset(self.path, engine="zarr", chunks=None, consolidated=True)
        return found.set_coords([n for n in self.attributes["coordinates"] if n in found])

    def sweep(self) -> None:
        """Remove what a process left that was killed while it wrote."""
        for file in self.path.rglob(_PARTIAL):
            file.unlink(missing_ok=True)


def require_names(design: StudyDesign, schema: Schema) -> None:
    """Refuse outcomes under names that are taken."""
    taken = {STATUS, MESSAGE, *design.dims, *design.targets}
    own = {dim for variable in schema.variables.values() for dim in variable.dims}
    if clash := sorted(taken & {*schema.variables, *own}):
        raise InputError(
            f"`{clash[0]}` is the name of something else in the results; call the outcome otherwise"
        )


def create_store(
    folder: Path, design: StudyDesign, schema: Schema, size: int, about: Mapping[str, Any]
) -> Store:
    """Make the group of a study that is not begun, in a folder, with blocks of at most `size`."""
    folder.mkdir(parents=True, exist_ok=True)
    final = folder / RESULTS_NAME
    aside = Path(tempfile.mkdtemp(prefix=_ASIDE, dir=folder))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Zarr's, that consolidated metadata are not standard
            _make(aside / RESULTS_NAME, design, schema, size, about)
            zarr().consolidate_metadata(aside / RESULTS_NAME)
        os.rename(aside / RESULTS_NAME, final)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return Store(final)


def _make(
    path: Path, design: StudyDesign, schema: Schema, size: int, about: Mapping[str, Any]
) -> None:
    group = zarr().open_group(path, mode="w", zarr_format=3)
    dims, shape = tuple(design.dims), tuple(design.dims.values())
    chunk = block_shape(shape, size)

    def array(name: str, dtype: Any, missing: Any, variable: Variable = Variable()) -> None:
        group.create_array(
            name,
            shape=(*shape, *variable.shape),
            chunks=(*chunk, *variable.shape),
            dtype=dtype,
            fill_value=missing,
            dimension_names=(*dims, *variable.dims),
            attributes=dict(variable.attributes),
            chunk_key_encoding={"name": "default", "separator": "."},  # no folder for each row
        )

    for name, variable in schema.variables.items():
        array(name, variable.dtype, variable.missing, variable)
    flags = {"flag_values": [PENDING, DONE, FAILED], "flag_meanings": "pending done failed"}
    array(STATUS, "int8", PENDING, Variable(attributes=flags))
    array(MESSAGE, str, "", Variable(attributes={"long_name": "why a case failed"}))
    coordinates = _write_coordinates(group, design)
    for dim, names in schema.labels.items():
        values = np.asarray(names)
        kind = str if values.dtype.kind == "U" else values.dtype
        label = group.create_array(dim, shape=values.shape, dtype=kind, dimension_names=(dim,))
        label[:] = values.astype(object) if kind is str else values
    group.attrs.update({**about, "coordinates": coordinates})


def _write_coordinates(group: Any, design: StudyDesign) -> list[str]:
    """The varied numbers: those of an axis along it, drawn ones along the samples."""
    dims = design.dims
    axes = {axis.name: np.asarray(axis.values) for axis in design.axes}
    if MATRIX in dims:
        axes[MATRIX] = np.array(["A", "B", *(f"AB {name}" for name in design.targets)])
    for name in (SAMPLE, REPLICATE):
        if name in dims:
            axes[name] = np.arange(dims[name])

    def array(name: str, like: np.ndarray, along: tuple[str, ...]) -> Any:
        words = like.dtype.kind in "UO"
        return group.create_array(
            name,
            shape=tuple(dims[d] for d in along),
            chunks=tuple(1 if d == MATRIX else min(dims[d], _COORDINATES) for d in along),
            dtype=str if words else like.dtype,
            fill_value="" if words else 0,
            dimension_names=along,
            attributes={"field": ", ".join(design.targets.get(name, ()))},
        )

    for name, values in axes.items():
        array(name, values, (name,))[:] = (
            values.astype(object) if values.dtype.kind == "U" else values
        )
    drawn = [name for name in design.targets if name not in axes]
    along = tuple(d for d in (MATRIX, SAMPLE) if d in dims)
    made: dict[str, Any] = {}
    per_sample = dims.get(REPLICATE, 1)
    for row in range(dims.get(MATRIX, 1) if drawn else 0):
        for low in range(0, dims[SAMPLE], _COORDINATES):
            high = min(low + _COORDINATES, dims[SAMPLE])
            start = row * dims[SAMPLE] * per_sample
            values = design.values(start + low * per_sample, start + high * per_sample)
            for name in drawn:
                one = values[name][::per_sample]
                if name not in made:
                    made[name] = array(name, one, along)
                place = (row, slice(low, high)) if len(along) == 2 else slice(low, high)
                made[name][place] = one.astype(object) if one.dtype.kind in "UO" else one
    return drawn


def open_store(folder: Path) -> Store | None:
    """The store of a folder, if there is one."""
    path = Path(folder) / RESULTS_NAME
    if not path.exists():
        return None
    try:
        store = Store(path)
        known = "design" in store.attributes
    except (OSError, ValueError, KeyError, json.JSONDecodeError):
        known = False
    if not known:
        raise InputError(f"`--out` holds '{path}', which is no study's; choose another directory")
    return store


def clean(folder: Path) -> None:
    """Remove what was being made aside when a study was killed."""
    with contextlib.suppress(OSError):
        for left in Path(folder).glob(f"{_ASIDE}*"):
            if left.is_dir() and not left.is_symlink():
                shutil.rmtree(left, ignore_errors=True)


def zarr() -> Any:
    """Zarr, which is an extra."""
    try:
        import zarr
    except ImportError:
        raise InputError(
            "studies need Zarr; install it by: pip install 'stiction[studies]'"
        ) from None
    return zarr
