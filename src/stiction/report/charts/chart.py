"""What a chart is: panels of lines, of rows that change their state, or maps, over one axis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from stiction._base.errors import InputError

INK, SOFT = -1, -2  # colours beside the palette: as the text, and paler
MOST_ON_MAP = 40_000  # cells or points that a page carries
Span = tuple[float, float]


@dataclass
class Line:
    """A curve."""

    name: str  # in the legend
    y: ArrayLike  # values; nan makes a gap. Shape (n,)
    style: Literal["line", "dashed", "dotted", "dots", "steps"] = "line"  # how it is drawn
    color: int | None = None  # index into the palette, `INK` or `SOFT`; none takes the next one
    # of a curve with an axis of its own; none is the chart's. Never decreasing
    x: ArrayLike | None = None


@dataclass
class Panel:
    """Lines that share a vertical axis."""

    label: str  # of the vertical axis, with its unit in brackets
    lines: Sequence[Line]  # the curves
    title: str = ""  # above it
    spans: Sequence[Span] = ()  # shaded parts of the horizontal axis
    marks: Sequence[float] = ()  # places on the horizontal axis with a dotted line
    # names and heights of horizontal lines
    levels: Mapping[str, float] = field(default_factory=dict)
    stacked: bool = False  # whether each line stands on the one before: parts of a whole
    bulk: bool = False  # whether rare peaks are left out of the vertical range
    least: float = 0.0  # the vertical range is never smaller than this: rounding is no mountain
    height: float = 1.0  # relative to other panels

    def range(self) -> tuple[float, float] | None:
        """The vertical range where it is not that of the data."""
        y = np.concatenate([np.asarray(line.y, float).ravel() for line in self.lines] or [[]])
        y = y[np.isfinite(y)]
        if y.size == 0:
            return (-1.0, 1.0)
        low, high = float(y.min()), float(y.max())
        if self.bulk and (seen := np.abs(y[y != 0])).size:
            top = 3 * float(np.percentile(seen, 98))
            if seen.max() > top:
                return (-top if low < 0 else -0.05 * top, top)
        least = self.least or (1.0 if high == low else 0.0)
        if high - low < least:
            middle = 0.5 * (low + high)
            return (middle - 0.5 * least, middle + 0.5 * least)
        return None


@dataclass
class Timeline:
    """Rows that are in one of a few states at each time: which contact sticks, slips, is open."""

    # for each name the beginnings, ends and states. Shapes (n,)
    rows: Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray]]
    # names of the states by their number, and their colours as `Line` has them
    states: Mapping[int, tuple[str, int]]
    label: str = ""  # of the vertical axis
    title: str = ""

    @property
    def height(self) -> float:
        """Relative to other panels."""
        return 0.3 + 0.14 * len(self.rows)


@dataclass
class Map:
    """Values over a plane, told by their colour: in cells, or at points."""

    label: str  # of the vertical axis
    y: np.ndarray  # heights of the rows of cells, or of the points
    # of cells, a row for each y and a column for each x of the chart; of points, one for each. nan
    # is left blank
    values: np.ndarray
    name: str = ""  # what the values are, with their unit
    # where values number something else: names and colours, as `Timeline` has them
    states: Mapping[int, tuple[str, int]] = field(default_factory=dict)
    title: str = ""
    height: float = 2.0

    @property
    def points(self) -> bool:
        """Whether the values are at points."""
        return np.ndim(self.values) == 1

    def thinned(self, x: np.ndarray, most: int = MOST_ON_MAP) -> tuple[np.ndarray, "Map"]:
        """At most so many cells, or points; every other, or fewer still."""
        y, values = np.asarray(self.y, float), np.asarray(self.values, float)
        step = int(np.ceil((values.size / most) ** (1 if self.points else 0.5)))
        every = slice(None, None, max(step, 1))
        less = values[every] if self.points else values[every, every]
        return np.asarray(x)[every], replace(self, y=y[every], values=less)


@dataclass
class Chart:
    """Panels over one horizontal axis."""

    # of all lines without their own. Never decreasing: a jump has two values at one place
    x: np.ndarray
    panels: Sequence[Panel | Timeline | Map]  # from the top down
    x_label: str = "time [s]"  # with its unit; an axis of time is tied to the page's clock
    until: float | None = None  # what is shown at first ends here; none shows all

    def __post_init__(self):
        self.x = np.asarray(self.x, float)
        for panel in self.panels:
            for line in panel.lines if isinstance(panel, Panel) else ():
                x = self.x if line.x is None else np.asarray(line.x, float)
                if np.shape(line.y) != x.shape:
                    raise InputError(
                        f"line '{line.name}' must have {x.size} values, got shape"
                        f" {np.shape(line.y)}"
                    )
                if np.any(np.diff(x) < 0):
                    raise InputError(f"the axis of line '{line.name}' must never decrease")


def colors_of(lines: Sequence[Line]) -> list[int]:
    """The colour of each line: its own, or the next of the palette."""
    taken, found = 0, []
    for line in lines:
        found.append(taken if line.color is None else line.color)
        taken += line.color is None
    return found


def spans_of(time: np.ndarray, states: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Beginnings, ends and states of the stretches in which a sampled state stays the same."""
    if len(states) == 0:
        return np.empty(0), np.empty(0), np.empty(0, int)
    first = np.concatenate([[0], np.flatnonzero(np.diff(states)) + 1])
    last = np.concatenate([first[1:], [len(states) - 1]])
    return np.asarray(time)[first], np.asarray(time)[last], np.asarray(states)[first]


def spans_where(time: np.ndarray, inside: ArrayLike) -> list[Span]:
    """Beginnings and ends of the stretches in which something holds."""
    starts, ends, holds = spans_of(time, np.asarray(inside, bool))
    return [(float(a), float(b)) for a, b, on in zip(starts, ends, holds, strict=True) if on]
