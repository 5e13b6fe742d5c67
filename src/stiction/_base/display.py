"""Results that show themselves in a notebook. What draws them is imported when it is first used."""

import importlib
from typing import Any, TypeVar

T = TypeVar("T")
_DRAWN_BY = "stiction.report.notebook"


def displayed(kind: type[T]) -> type[T]:
    """Give a class `_repr_html_`, `show` and `plot`, which `stiction.report.notebook` carries out.

    Layers above the report know nothing of it; this is the one way from them to it.
    """

    def _repr_html_(self) -> str:
        """What a notebook shows of it."""
        return importlib.import_module(_DRAWN_BY).table_of(self)

    def show(self) -> Any:
        """The page of it, in the notebook: it plays, needs no server, and stays in the file."""
        return importlib.import_module(_DRAWN_BY).show(self)

    def plot(self, what: str = "") -> Any:
        """One of its charts by matplotlib; returns the axes. A wrong name tells which there are."""
        return importlib.import_module(_DRAWN_BY).plot(self, what)

    for method in (_repr_html_, show, plot):
        setattr(kind, method.__name__, method)
    return kind
