"""The cases of a study: every combination of the axes, with every sample and replicate.

Cases are numbered in the order of the dimensions, the last fastest. What a case is depends on its
number and the seed alone, never on which cases were done before, or where.
"""

import functools
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from stiction._base.errors import InputError, unknown
from stiction.studies.variations import Axis, Draw, JointDraw, parse_variation, short_name, vary

SAMPLERS = ("sobol", "lhs", "random", "saltelli")
SAMPLE, REPLICATE, MATRIX = "sample", "replicate", "matrix"
_DRAWS = 1  # the branch of the seed's tree that draws come from; 0 is that of the cases
_MOST_CASES = 10**9


@dataclass(frozen=True, eq=False)
class StudyDesign:
    """What varies, and how many cases that makes.

    Attributes:
        axes: On a grid.
        draws: Drawn anew for each sample; the same in every cell of the grid.
        table: Given samples: their values by field.
        samples: How many there are; 0 without draws and table.
        sampler: How samples are spread: `sobol`, `lhs` (Latin hypercube), `random`, or `saltelli`:
            the d + 2 matrices of samples from which Sobol indices are found.
        replicates: How often each case is done, each time with another seed.
        seed: Of all random numbers.
    """

    axes: tuple[Axis, ...] = ()
    draws: tuple[Draw | JointDraw, ...] = ()
    table: Mapping[str, np.ndarray] = field(default_factory=dict)
    samples: int = 0
    sampler: str = "sobol"
    replicates: int = 1
    seed: int = 0

    def __post_init__(self):
        for name, value, least in (("replicates", self.replicates, 1), ("seed", self.seed, 0)):
            if value < least:
                raise InputError(f"`{name}` must be at least {least}, got {value}")
        if self.sampler not in SAMPLERS:
            raise unknown("`sampler`", self.sampler, SAMPLERS)
        if self.draws and self.samples < 1:
            raise InputError(f"`cases` must be at least 1, got {self.samples}")
        if self.sampler == "saltelli" and (self.axes or self.table or self.replicates > 1):
            raise InputError("`sampler` saltelli takes only drawn numbers: leave the others out")
        names, paths = self._all()
        for listed, what in ((paths, "varied"), (names, "named")):
            twice = [x for x in listed if listed.count(x) > 1]
            if twice:
                raise InputError(f"`{twice[0]}` must be {what} once; it is more often")
        if self.count > _MOST_CASES:
            raise InputError(f"a study has at most {_MOST_CASES} cases, and this one {self.count}")

    def _all(self) -> tuple[list[str], list[str]]:
        """Every name and every field that varies, as often as it does."""
        groups = [{axis.name: axis.paths} for axis in self.axes]
        groups += [draw.targets for draw in self.draws]
        groups += [{_short(path): (path,)} for path in self.table]
        pairs = [pair for group in groups for pair in group.items()]
        return [name for name, _ in pairs], [path for _, paths in pairs for path in paths]

    @functools.cached_property
    def targets(self) -> dict[str, tuple[str, ...]]:
        """The fields that each varied name stands for."""
        found = {axis.name: axis.paths for axis in self.axes}
        for draw in self.draws:
            found |= draw.targets
        return found | {_short(path): (path,) for path in self.table}

    @functools.cached_property
    def dims(self) -> dict[str, int]:
        """The dimensions of the results and their lengths, the slowest first."""
        dims = {axis.name: len(axis.values) for axis in self.axes}
        if self.sampler == "saltelli":
            dims[MATRIX] = self.width + 2
        if self.samples:
            dims[SAMPLE] = self.samples
        if self.replicates > 1:
            dims[REPLICATE] = self.replicates
        return dims or {SAMPLE: 1}

    @property
    def count(self) -> int:
        """How many cases there are."""
        return int(np.prod(list(self.dims.values()), dtype=object))

    @property
    def width(self) -> int:
        """How many numbers are drawn for a sample."""
        return sum(len(draw.targets) for draw in self.draws)

    def values(self, first: int, last: int) -> dict[str, np.ndarray]:
        """What varies, for the cases numbered from `first` to before `last`."""
        dims = self.dims
        places = dict(
            zip(dims, np.unravel_index(np.arange(first, last), tuple(dims.values())), strict=True)
        )
        found = {axis.name: np.asarray(axis.values)[places[axis.name]] for axis in self.axes}
        if not (self.draws or self.table):
            return found
        here = places[SAMPLE]
        low, high = int(here.min()), int(here.max()) + 1
        if self.table:
            found |= {_short(path): np.asarray(v)[here] for path, v in self.table.items()}
        if self.sampler == "saltelli":
            return found | self._drawn(self._exchanged(places[MATRIX], here, low, high))
        drawn = self._drawn(self._unit(low, high)) if self.draws else {}
        return found | {name: values[here - low] for name, values in drawn.items()}

    def _drawn(self, unit: np.ndarray) -> dict[str, np.ndarray]:
        found, column = {}, 0
        for draw in self.draws:
            width = len(draw.targets)
            found |= draw.at(unit[:, column : column + width])
            column += width
        return found

    def _unit(self, low: int, high: int, width: int = 0) -> np.ndarray:
        """Numbers of the samples from `low` to before `high`, equally likely in [0, 1)."""
        from scipy.stats import qmc

        width = width or self.width
        if self.sampler == "random":
            rows = [self._generator(i).random(width) for i in range(low, high)]
            return np.array(rows).reshape(-1, width)
        if self.sampler == "lhs":
            return _hypercube(self.seed, width, self.samples)[low:high]
        sequence = qmc.Sobol(width, scramble=True, rng=self._generator())
        if low:
            sequence.fast_forward(low)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that only powers of 2 are balanced
            return sequence.random(high - low)

    def _generator(self, *key: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(_DRAWS, *key)))

    def _exchanged(self, matrix: np.ndarray, sample: np.ndarray, low: int, high: int) -> np.ndarray:
        """Rows of the matrices A, B and AB_i: A with its column i from B [Saltelli2010]."""
        d = self.width
        both = self._unit(low, high, 2 * d)[sample - low]
        A, B = both[:, :d], both[:, d:]
        from_B = (matrix[:, None] == 1) | (matrix[:, None] == 2 + np.arange(d))
        return np.where(from_B, B, A)

    def case(self, number: int) -> dict[str, Any]:
        """What varies, in one case."""
        if not 0 <= number < self.count:
            raise InputError(f"`case` must be 0 to {self.count - 1}, got {number}")
        return {name: plain(v[0]) for name, v in self.values(number, number + 1).items()}

    def to_json(self) -> dict[str, Any]:
        """As plain data: two designs are the same if these are."""
        import hashlib

        table = {p: hashlib.sha256(repr(v.tolist()).encode()).hexdigest()
                 for p, v in self.table.items()}  # fmt: skip
        return {
            "axes": {axis.name: axis.to_json() for axis in self.axes},
            "draws": [draw.to_json() for draw in self.draws],
            "table": table,
            "dims": self.dims,
            "sampler": self.sampler,
            "seed": self.seed,
        }


def make_design(
    variations: Sequence[str | Axis | Draw | JointDraw] | Mapping[str, Any] = (),
    *,
    cases: int | None = None,
    sampler: str | None = None,
    table: Path | Mapping[str, Any] | None = None,
    replicates: int = 1,
    seed: int = 0,
) -> StudyDesign:
    """The cases of a study.

    Args:
        variations: What varies: texts as `--vary` takes them, or a mapping from fields to such
            text, to lists of values or to distributions.
        cases: How many samples are drawn; of `saltelli` the length of each of its matrices.
        sampler: How they are spread, by default `sobol`; see `StudyDesign`.
        table: Samples that are given: a CSV file, or columns by field.
        replicates: How often each case is done, each time with another seed.
        seed: Of all random numbers.
    """
    if isinstance(variations, Mapping):
        varied: list[Any] = [vary(path, how) for path, how in variations.items()]
    else:
        varied = [parse_variation(v) if isinstance(v, str) else v for v in variations]
    axes = tuple(v for v in varied if isinstance(v, Axis))
    draws = tuple(v for v in varied if not isinstance(v, Axis))
    columns = _columns(table)
    rows = len(next(iter(columns.values()))) if columns else 0
    if cases is not None and not draws:
        raise InputError("`cases` is how many samples are drawn, and no field is: use a..b or ~")
    if columns and draws and cases not in (None, rows):
        raise InputError(f"`cases` must be the {rows} rows of the table, got {cases}")
    if draws and cases is None and not columns:
        raise InputError("`cases` is needed: how many samples to draw")
    samples = rows or (cases or 0)
    return StudyDesign(axes, draws, columns, samples, sampler or "sobol", replicates, seed)


def case_seed(seed: int, number: int) -> np.random.SeedSequence:
    """The seed of one case: that of `SeedSequence(seed).spawn`'s child of this number."""
    return np.random.SeedSequence(seed, spawn_key=(0, number))


def _columns(table: Path | Mapping[str, Any] | None) -> dict[str, np.ndarray]:
    if table is None:
        return {}
    if not isinstance(table, Mapping):
        import pandas as pd

        from stiction._base.files import check_file

        try:
            frame = pd.read_csv(check_file(Path(table)))
        except (ValueError, pd.errors.ParserError) as error:
            raise InputError(f"`{table}` cannot be read as CSV: {error}") from None
        table = {str(name): frame[name].to_numpy() for name in frame.columns}
    columns = {name: np.asarray(values) for name, values in table.items()}
    lengths = {len(v) for v in columns.values()}
    if len(lengths) != 1 or lengths == {0}:
        raise InputError(f"`table` must have columns of one length, at least 1, got {lengths}")
    for name, values in columns.items():
        numeric = np.issubdtype(values.dtype, np.number)
        if numeric and not np.isfinite(values).all():
            row = int(np.flatnonzero(~np.isfinite(values))[0])
            raise InputError(f"`{name}` must be finite in every row of the table, not in row {row}")
        columns[name] = values.astype(float if numeric else str)
    return columns


@functools.lru_cache(maxsize=1)
def _hypercube(seed: int, width: int, samples: int) -> np.ndarray:
    """All samples at once: each of a Latin hypercube depends on all others."""
    from scipy.stats import qmc

    source = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_DRAWS,)))
    return qmc.LatinHypercube(width, rng=source).random(samples)


def _short(path: str) -> str:
    return short_name((path,))


def plain(value: Any) -> Any:
    """A NumPy scalar as Python has it."""
    return value.item() if isinstance(value, np.generic) else value
