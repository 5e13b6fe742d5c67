"""Figures: one look for all of them, saved as PNG (to see) and SVG (to print)."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
from cycler import cycler

if "matplotlib.pyplot" not in sys.modules and "MPLBACKEND" not in os.environ:
    matplotlib.use("Agg")  # never needs a screen; a notebook has its own way to show figures
import matplotlib.pyplot as plt

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from stiction.report.charts import Chart
    from stiction.report.output import OutputDirectory
    from stiction.report.page import Report

# Colours that stay apart for colour-blind readers (Okabe and Ito), dark first.
COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442"]

STYLE: dict[Any, Any] = {
    "axes.prop_cycle": cycler(color=COLORS),
    "axes.grid": True,
    "grid.alpha": 0.25,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": "medium",
    "figure.figsize": (6.4, 4.0),
    "figure.dpi": 110,
    "savefig.dpi": 150,
    "figure.constrained_layout.use": True,
    "font.size": 10,
    "legend.frameon": False,
    "legend.fontsize": "small",
    "lines.linewidth": 1.6,
    "svg.fonttype": "none",
    "svg.hashsalt": "stiction",  # the same figure gives the same file
}


def new_figure(rows: int = 1, columns: int = 1, **options) -> tuple["Figure", Any]:
    """A figure and its axes in the project's style (options as for `plt.subplots`)."""
    with plt.rc_context(STYLE):
        return plt.subplots(rows, columns, **options)


def legend_above(axis, columns: int = 4) -> None:
    """A legend above the axes, where it covers nothing."""
    axis.legend(ncols=columns, loc="lower right", bbox_to_anchor=(1, 1))


def legend_beside(axis) -> None:
    """A legend to the right of the axes, for long lists of names."""
    axis.legend(loc="center left", bbox_to_anchor=(1, 0.5))


def save_figure(figure: "Figure", directory: "OutputDirectory", name: str) -> list[Path]:
    """Write `name`.svg and `name`.png, the last, into a directory; close the figure."""
    for axis in figure.axes:  # legends are made outside the style
        if legend := axis.get_legend():
            legend.set_frame_on(False)
    try:
        with plt.rc_context(STYLE):
            for suffix, metadata in ((".svg", {"Date": None}), (".png", {"Software": None})):
                with directory.file(name + suffix) as path:
                    figure.savefig(path, metadata=metadata)
                with plt.rc_context({"figure.constrained_layout.use": False}):
                    figure.set_layout_engine(None)  # laid out once, the same in both files
    finally:
        plt.close(figure)
    return [directory.path / f"{name}{suffix}" for suffix in (".svg", ".png")]


def add_figures(
    report: "Report",
    directory: "OutputDirectory",
    figures: Mapping[str, tuple["Figure | Chart", str]],
) -> None:
    """Save figures and charts under their names and add them, with their captions, to a page."""
    from stiction.report.charts import Chart
    from stiction.report.charts.draw import draw

    for name, (figure, caption) in figures.items():
        if isinstance(figure, Chart):
            save_figure(draw(figure), directory, name)
            report.chart(figure, caption)
        else:
            report.figure(save_figure(figure, directory, name)[-1], caption)
