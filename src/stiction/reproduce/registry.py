"""The registry: every figure and table of a document is one decorated function.

    @reproduces("marhefka", "Figure 3", title="Restitution against impact speed")
    def figure_3() -> Reproduction:
        ...
        return Reproduction(figure=fig, checks=[check_close("e(0.1, 1)", e, 0.909016, 1e-6)])

A module `stiction.reproduce.DOCUMENT` is imported when its document is asked for.
"""

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from stiction._errors import unknown

DOCUMENTS = {
    "marhefka": "Marhefka and Orin 1996: contact with nonlinear damping",
    "flickinger": "Flickinger 2011: hybrid dynamic simulation of legged mechanisms",
    "erdmann": "Erdmann 1994: multiple-point contact with friction",
    "ma": "Ma, Kim, Martinez 2007: identifying contact parameters",
    "rodic": "Rodic, Addi, Dalleau 2008: impact of bipeds",
}


@dataclass(frozen=True)
class Check:
    """One statement that a figure or table must show, and whether it does."""

    claim: str
    passed: bool
    value: Any = None
    expected: Any = None
    tolerance: float | None = None


def check_close(claim: str, value: float, expected: float, tolerance: float) -> Check:
    """The claim that `value` equals `expected` within an absolute `tolerance`."""
    passed = bool(abs(value - expected) <= tolerance)
    return Check(claim, passed, float(value), float(expected), tolerance)


def check_below(claim: str, value: float, bound: float) -> Check:
    """The claim that an error is at most `bound`."""
    return Check(claim, bool(value <= bound), float(value), f"at most {bound:g}", bound)


@dataclass
class Reproduction:
    """What one figure or table came out as: a picture, a table (rows of named values), checks."""

    figure: Any = None  # a matplotlib Figure
    table: list[dict[str, Any]] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    note: str = ""


@dataclass(frozen=True)
class Entry:
    """A registered figure or table."""

    document: str
    item: str  # as the document calls it: "Figure 3", "Table 1"
    title: str
    make: Callable[[], Reproduction]
    chapter: int | None = None

    @property
    def slug(self) -> str:
        """A file name: 'figure-3'."""
        return self.item.lower().replace(" ", "-").replace(".", "-")


_ENTRIES: dict[str, list[Entry]] = {name: [] for name in DOCUMENTS}


def reproduces(document: str, item: str, *, title: str, chapter: int | None = None):
    """Register a function as the maker of one figure or table of a document."""

    def register(make: Callable[[], Reproduction]) -> Callable[[], Reproduction]:
        _ENTRIES[document].append(Entry(document, item, title, make, chapter))
        return make

    return register


def entries(document: str) -> list[Entry]:
    """The registered items of a document, in the order in which they were written down."""
    if document not in DOCUMENTS:
        raise unknown("document", document, DOCUMENTS)
    module = f"stiction.reproduce.{document}"
    if importlib.util.find_spec(module) is not None:
        importlib.import_module(module)
    return list(_ENTRIES[document])
