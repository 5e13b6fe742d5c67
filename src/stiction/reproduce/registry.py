"""The registry: every figure and table of a document is one item, made by one function.

    item = Document("marhefka").item

    @item("Figure 3")
    def figure_3() -> Reproduction:
        ...
        return Reproduction(figure, checks=[Check.close("e(0.1, 1)", e, 0.909016, 1e-6)])

Several items often show one subject, such as a run. Then `of` makes the subject, `draw` its figure,
`table` its rows, and the function says only what must hold:

    @item("Figure 5.8", of=partial(bicycle, 1.0), draw=motion_figure)
    def figure_5_8(run: Outcome) -> list[Check]:
        return [run.check_ledger()]

What there is, in which order, its titles, its notes, why it differs and why it is absent stand in
`items.toml`. Modules `DOCUMENT` and `DOCUMENT_…` are imported when their document is asked for.

Every item ends as one of three: it **agrees** (all its checks hold), it **differs** (one does not;
the checks say by how much, `items.toml` why) or it is **not reproduced** (nothing could be made).
"""

import importlib
import pkgutil
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from stiction._base.errors import unknown

_LIST = tomllib.loads((Path(__file__).parent / "items.toml").read_text(encoding="utf-8"))
DOCUMENTS: dict[str, str] = {name: content["document"] for name, content in _LIST.items()}
Agreement = Literal["agrees", "differs", "not reproduced"]
Real = float | int | np.integer | np.floating  # a count is as good as a measure


@dataclass(frozen=True)
class Check:
    """One statement about a figure or table, and whether it holds.

    `source` says whose statement it is: the document's, in words or in a number that it prints, or
    mechanics', which any run must obey whatever the document says.
    """

    claim: str
    passed: bool
    value: Any = None
    expected: Any = None
    tolerance: float | None = None
    source: Literal["document", "mechanics"] = "mechanics"

    @classmethod
    def close(cls, claim: str, value: Real, expected: Real, tolerance: float) -> "Check":
        """`value` equals `expected` within an absolute `tolerance`."""
        passed = bool(abs(value - expected) <= tolerance)
        return cls(claim, passed, float(value), float(expected), tolerance)

    @classmethod
    def below(cls, claim: str, value: Real, bound: Real) -> "Check":
        """`value`, such as an error, is at most `bound`."""
        return cls(claim, bool(value <= bound), float(value), f"at most {bound:g}", float(bound))

    @classmethod
    def more(cls, claim: str, value: Real, bound: Real) -> "Check":
        """`value` is more than `bound`."""
        return cls(claim, bool(value > bound), np.asarray(value).item(), f"> {bound:g}")

    @classmethod
    def less(cls, claim: str, value: Real, bound: Real, unit: str = "") -> "Check":
        """`value` is less than `bound`."""
        return cls(claim, bool(value < bound), float(value), f"< {bound:g} {unit}".rstrip())


def stated(*checks: Check) -> list[Check]:
    """The same checks as statements of the document."""
    return [replace(check, source="document") for check in checks]


class Curve(NamedTuple):
    """One line of a figure as numbers."""

    panel: str  # title of its panel, or its number
    name: str
    axes: tuple[str, ...]  # labels, with units
    # (n, 2); (n, 3) in space, or where colour shows a third number; of arrows their starts and ways
    points: np.ndarray


@dataclass
class Reproduction:
    """What one figure or table came out as: a picture, a table (rows of named values), checks.

    Without checks nothing was made, and `note` says why.
    """

    figure: Any = None  # a matplotlib Figure
    table: list[dict[str, Any]] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    note: str = ""
    arrays: dict[str, np.ndarray] = field(default_factory=dict)  # what no line of the figure shows
    why: str = ""  # of what differs, as far as it is known

    @property
    def verdict(self) -> Agreement:
        """Whether the item agrees with the document."""
        if not self.checks:
            return "not reproduced"
        return "agrees" if all(check.passed for check in self.checks) else "differs"

    @property
    def text(self) -> str:
        """What is said of the item: where it differs and why, and what was decided."""
        why = self.why or "The reason is not known."
        return f"{why} {self.note}".strip() if self.verdict == "differs" else self.note

    @property
    def data(self) -> list[Curve]:
        """The lines, dots, contours, areas, arrows, bars and fields of the figure as arrays."""
        panels = () if self.figure is None else self.figure.axes
        return [curve for i, axes in enumerate(panels) for curve in _curves(axes, str(i + 1))]


def _curves(axes: Any, number: str) -> list[Curve]:
    """The lines of one panel of a matplotlib figure."""
    title = axes.get_title(loc="left") or axes.get_title() or number
    labels = [axes.get_xlabel(), axes.get_ylabel()]
    labels += [axes.get_zlabel()] if hasattr(axes, "get_zlabel") else []
    curves = []
    for i, line in enumerate(axes.lines):
        name = str(line.get_label())
        name = f"line {i + 1}" if name.startswith("_") else name  # matplotlib's own names
        values = line.get_data_3d() if hasattr(line, "get_data_3d") else line.get_data()
        points = np.stack([np.asarray(v, float) for v in values], axis=1)
        curves.append(Curve(title, name, tuple(labels), points))
    for i, dots in enumerate(c for c in axes.collections if type(c).__name__ == "PathCollection"):
        points, values = np.asarray(dots.get_offsets(), float), dots.get_array()
        if values is not None:  # shown by colour
            points = np.concatenate([points, np.asarray(values, float)[:, None]], axis=1)
        curves.append(Curve(title, f"dots {i + 1}", tuple(labels), points))
    for contours in (c for c in axes.collections if hasattr(c, "allsegs")):
        for level, segments in zip(contours.levels, contours.allsegs, strict=True):
            name = f"contour at {level:g}"
            curves += [Curve(title, name, tuple(labels), np.asarray(s)) for s in segments]
    curves += [Curve(title, name, tuple(labels), points) for name, points in _shapes(axes)]
    return curves


def _shapes(axes: Any) -> Iterator[tuple[str, np.ndarray]]:
    """Names and numbers of what is neither line nor dot nor contour."""
    for i, shape in enumerate(axes.collections):
        name = str(shape.get_label())
        kind = type(shape).__name__
        if kind == "QuadMesh":
            corners = np.asarray(shape.get_coordinates())
            middle = (corners[:-1, :-1] + corners[1:, 1:]) / 2
            values = np.ma.filled(np.ma.asarray(shape.get_array(), float), np.nan)
            yield f"field {i + 1}", np.column_stack([middle.reshape(-1, 2), values.ravel()])
        elif kind == "Quiver":
            yield f"arrows {i + 1}", np.column_stack([shape.get_offsets(), shape.U, shape.V])
        elif kind.endswith("PolyCollection") and kind != "Poly3DCollection":
            name = f"area {i + 1}" if name.startswith("_") else name
            yield from ((name, path.vertices) for path in shape.get_paths())
    for bars in axes.containers:
        ends = [(bar.get_x() + bar.get_width() / 2, bar.get_height()) for bar in bars]
        yield str(bars.get_label()), np.array(ends)


def _said(document: str, item: str, *parts: str) -> str:
    """What the first of these parts of the list that knows an item says of it."""
    return next((t for part in parts if (t := _LIST[document].get(part, {}).get(item))), "")


@dataclass(frozen=True)
class Entry:
    """A registered figure or table."""

    document: str
    item: str  # as the document calls it: "Figure 3", "Table 6.2"
    make: Callable[..., Reproduction]  # of its own subject, or of another one that is given

    @property
    def title(self) -> str:
        """What it shows."""
        return _LIST[self.document]["titles"][self.item]

    @property
    def says(self) -> str:
        """Why it differs or is absent, as the list has it; empty if it agrees."""
        return _said(self.document, self.item, "differs", "absent")

    @property
    def listed(self) -> Agreement:
        """The verdict that the list expects, without making the item."""
        if _said(self.document, self.item, "absent"):
            return "not reproduced"
        return "differs" if self.says else "agrees"

    @property
    def silent(self) -> bool:
        """Whether the document says nothing of it that could be checked."""
        return self.item in _LIST[self.document].get("mechanics", ())

    @property
    def chapter(self) -> str:
        """The chapter, where items are numbered by it: '6' of 'Table 6.2'."""
        number = self.item.split()[-1]
        return number.split(".")[0] if "." in number else ""

    @property
    def slug(self) -> str:
        """A file name: 'figure-3'."""
        return self.item.lower().replace(" ", "-").replace(".", "-")


_MAKERS: dict[str, dict[str, Callable[..., Reproduction]]] = {name: {} for name in DOCUMENTS}


@dataclass(frozen=True)
class Document:
    """A document, to which items are added."""

    name: str

    def item(
        self,
        name: str,
        *,
        of: Callable[[], Any] | None = None,
        draw: Callable[[Any], Any] | None = None,
        table: Callable[[Any], list[dict[str, Any]]] | None = None,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register a function as the maker of one figure or table.

        Args:
            name: As the document calls it: "Figure 3".
            of: Makes the subject that the function is called with; without it there is none.
            draw: Makes the figure of the subject.
            table: Makes the rows of a table from the subject.

        The function returns the checks, or (with neither `draw` nor `table`) a `Reproduction`.
        """

        def register(show: Callable[..., Any]) -> Callable[..., Any]:
            def make(*subject: Any) -> Reproduction:
                if of is not None and not subject:
                    subject = (of(),)
                made = show(*subject)
                if not isinstance(made, Reproduction):
                    figure = None if draw is None else draw(*subject)
                    made = Reproduction(figure, [] if table is None else table(*subject), made)
                made.note = made.note or _said(self.name, name, "notes", "absent")
                made.why = _said(self.name, name, "differs")
                return made

            _MAKERS[self.name][name] = make
            return show

        return register


def entries(
    document: str, *, only: str | None = None, chapter: str | int | None = None
) -> list[Entry]:
    """The items of a document, in their order.

    Args:
        document: One of `DOCUMENTS`.
        only: One item, by its name or its slug.
        chapter: Only the items of a chapter, such as "3" or "A".
    """
    if document not in DOCUMENTS:
        raise unknown("document", document, DOCUMENTS)
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if module.name == document or module.name.startswith(f"{document}_"):
            importlib.import_module(f"stiction.reproduce.{module.name}")
    absent = _LIST[document].get("absent", {})
    makers = {item: partial(Reproduction, note=why) for item, why in absent.items()}
    makers |= _MAKERS[document]  # what cannot be compared may still be shown
    found = [Entry(document, item, makers[item]) for item in _LIST[document]["titles"]]
    if only is not None:
        names = [e.item for e in found]
        found = [e for e in found if only.lower() in (e.item.lower(), e.slug)]
        if not found:
            raise unknown(f"item of '{document}'", only, names)
    if chapter is not None:
        chapters = {e.chapter for e in found if e.chapter}
        found = [e for e in found if e.chapter.lower() == str(chapter).lower()]
        if not found:
            raise unknown(f"chapter of '{document}'", chapter, chapters)
    return found
