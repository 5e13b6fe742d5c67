"""What `stiction reproduce` leaves behind: a page that grows item by item, and the data."""

import html
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stiction.report.figures import save_figure
from stiction.report.output import OutputDirectory
from stiction.report.page import Report, cell

if TYPE_CHECKING:
    import xarray as xr


def add_item(report: Report, directory: OutputDirectory, entry: Any, made: Any) -> list[Path]:
    """Write one item's figure and data and add the item to the page; return the files.

    Args:
        report: The page so far; it is written after each item, so that nothing made is ever lost.
        directory: Where files go.
        entry: The item, as `stiction.reproduce` registers it.
        made: Its figure, table, note, checks and verdict.
    """
    report.heading(f"{entry.item}: {entry.title}")
    tone = "holds" if made.verdict == "agrees" else "fails"
    text = html.escape(f": {made.text}" if made.text else "")
    report.raw(f'<p><span class="{tone}">{made.verdict}</span>{text}</p>')
    files = []
    if made.figure is not None:
        files = save_figure(made.figure, directory, entry.slug)
        report.figure(files[-1], caption=entry.title)
    if made.table:
        report.table(made.table)
        files.append(directory.csv(f"{entry.slug}.csv", made.table))
    if made.data or made.arrays:
        files.append(directory.netcdf(f"{entry.slug}.nc", _dataset(entry, made)))
    if made.checks:
        report.raw(_checks(made.checks))
    directory.page(report)
    return files


def _dataset(entry: Any, made: Any) -> "xr.Dataset":
    """The curves of a figure, each with its own points, and the arrays that no line shows."""
    import xarray as xr

    variables: dict[str, Any] = {
        f"curve_{i + 1}": (
            (f"point_{i + 1}", f"axis_{curve.points.shape[1]}"),
            curve.points,
            {"panel": curve.panel, "name": curve.name, "axes": "; ".join(curve.axes)},
        )
        for i, curve in enumerate(made.data)
    }
    for i, (name, values) in enumerate(made.arrays.items()):
        values = np.asarray(values)
        axes = tuple(f"array_{i + 1}_{axis}" for axis in range(values.ndim))
        variables[f"array_{i + 1}"] = (axes, values, {"name": name})
    return xr.Dataset(variables, attrs={"item": entry.item, "title": entry.title})


def _checks(checks: list[Any]) -> str:
    """A table of the checks, each with whose statement it is and its outcome."""
    rows = "".join(
        f"<tr><td>{html.escape(c.claim)}</td><td>{c.source}</td>"
        f"<td>{html.escape(cell(c.value))}</td><td>{html.escape(cell(c.expected))}</td>"
        + (f'<td class="{"holds" if c.passed else "fails"}">{"holds" if c.passed else "differs"}')
        + "</td></tr>"
        for c in checks
    )
    heads = ("check", "says", "value", "expected", "")
    return f"<table><tr>{''.join(f'<th>{h}</th>' for h in heads)}</tr>{rows}</table>"
