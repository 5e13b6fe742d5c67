"""A chart as a matplotlib figure, to be saved beside the page."""

from typing import Any

import numpy as np
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from stiction.report.charts.chart import INK, SOFT, Chart, Map, Panel, Timeline, colors_of
from stiction.report.figures import COLORS, legend_beside, new_figure

_STYLES = {
    "line": {},
    "dashed": {"ls": "--", "lw": 1.2},
    "dotted": {"ls": ":", "lw": 1.2},
    "dots": {"ls": "", "marker": ".", "ms": 4, "alpha": 0.7},
    "steps": {"drawstyle": "steps-post"},
}
_LETTER = 0.078  # [in], of the widest usual one
_MOST_SHAPES = 5000  # points or cells in an SVG; more are a picture in it
_MOST_POINTS = 100_000  # of a map: more fill its plane, and take a minute to draw


def draw(chart: Chart) -> Figure:
    """All panels, one above the other."""
    heights = [panel.height for panel in chart.panels]
    size = (6.8, max(3.4, 0.9 + 1.9 * sum(heights)))
    room = _room(chart, *size)
    figure, axes = new_figure(
        len(heights),
        sharex=True,
        squeeze=False,
        figsize=size,
        height_ratios=heights,
        gridspec_kw=room,
        layout="constrained" if room is None else "none",
    )
    for axis, panel in zip(axes[:, 0], chart.panels, strict=True):
        draw_panel(axis, panel, chart)
    axes[-1, 0].set_xlabel(chart.x_label)
    if chart.until is not None and len(chart.x):
        axes[-1, 0].set_xlim(float(chart.x[0]), chart.until)
    return figure


def _room(chart: Chart, width: float, height: float) -> dict[str, Any] | None:
    """Where the panels of a figure of that size [in] lie: names and numbers get room by their
    letters, since to measure a chart takes as long as to draw it. None for maps, whose keys lie
    below or beside them.
    """
    keys, rows = [""], [""]
    for panel in chart.panels:
        if isinstance(panel, Map):
            return None
        if isinstance(panel, Timeline):
            rows += panel.rows
            keys += [name for name, _ in panel.states.values()]
        else:
            keys += [line.name for line in panel.lines]
    left = max(0.95, 0.45 + _LETTER * max(map(len, rows)))
    right = 0.6 + _LETTER * max(map(len, keys)) if any(keys) else 0.15
    shrunk = min(1.0, 0.7 * width / (left + right))  # curves get three tenths at least
    below, above = 0.55, 0.32 if chart.panels[0].title else 0.2
    count = len(chart.panels)
    gap = 0.34 if any(panel.title for panel in chart.panels[1:]) else 0.2
    return {
        "left": shrunk * left / width,
        "right": 1 - shrunk * right / width,
        "bottom": below / height,
        "top": 1 - above / height,
        "hspace": gap * count / (height - below - above - gap * (count - 1)),
    }


def draw_panel(axis, panel: Panel | Timeline | Map, chart: Chart) -> None:
    """One panel on given axes."""
    axis.set_ylabel(panel.label)
    axis.set_title(panel.title, loc="left")
    if isinstance(panel, Timeline):
        _draw_rows(axis, panel)
    elif isinstance(panel, Map):
        _draw_map(axis, panel, chart)
    else:
        _draw_lines(axis, panel, chart)


def _draw_lines(axis, panel: Panel, chart: Chart) -> None:
    for start, end in panel.spans:
        axis.axvspan(start, end, color="0.93", lw=0)
    for x in panel.marks:
        axis.axvline(x, color=COLORS[1], lw=0.8, ls=":")
    for name, y in panel.levels.items():
        axis.axhline(y, color="0.4", lw=1, ls="--")
        axis.annotate(name, (1, y), xycoords=("axes fraction", "data"), fontsize=8,
                      ha="right", va="bottom", color="0.4")  # fmt: skip
    colors = [_color(c) for c in colors_of(panel.lines)]
    if panel.stacked:
        axis.stackplot(
            chart.x,
            [line.y for line in panel.lines],
            labels=[line.name for line in panel.lines],
            colors=colors,
            alpha=0.6,
            lw=0,
        )
    else:
        for line, color in zip(panel.lines, colors, strict=True):
            x = chart.x if line.x is None else line.x
            many = line.style == "dots" and np.size(x) > _MOST_SHAPES
            look = {"color": color, "label": line.name, "rasterized": many}
            axis.plot(x, line.y, **look, **_STYLES[line.style])
            if line.style == "steps":
                axis.fill_between(x, np.asarray(line.y, float), step="post", color=color, alpha=0.3)
    if (limits := panel.range()) is not None:
        axis.set_ylim(*limits)
    if any(line.name for line in panel.lines):
        legend_beside(axis)


def _draw_rows(axis, panel: Timeline) -> None:
    for i, (starts, ends, states) in enumerate(panel.rows.values()):
        for state, (_, color) in panel.states.items():
            here = states == state
            bars = list(zip(starts[here], (ends - starts)[here], strict=True))
            moments = bool(bars) and not (ends - starts)[here].any()  # which have no width
            axis.broken_barh(bars, (i - 0.35, 0.7), color=_color(color), lw=float(moments))
    axis.set_yticks(range(len(panel.rows)), list(panel.rows))
    axis.invert_yaxis()
    axis.grid(False)
    axis.legend(handles=_patches(panel), loc="center left", bbox_to_anchor=(1, 0.5))


def _draw_map(axis, panel: Map, chart: Chart) -> None:
    look: dict[str, Any] = {"rasterized": np.size(panel.values) > _MOST_SHAPES}
    if panel.states:
        colors = ListedColormap([_color(color) for _, color in panel.states.values()])
        norm = BoundaryNorm([*panel.states, max(panel.states) + 1], colors.N)
        look |= {"cmap": colors, "norm": norm}
    if panel.points:
        x, panel = panel.thinned(chart.x, _MOST_POINTS)
        size = float(np.clip(2e4 / max(len(panel.values), 1), 1, 20))
        drawn = axis.scatter(x, panel.y, c=panel.values, s=size, **look)
    else:
        drawn = axis.pcolormesh(chart.x, panel.y, panel.values, shading="nearest", **look)
    axis.grid(False)
    if panel.states:
        axis.legend(
            handles=_patches(panel), ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.14)
        )
    else:
        axis.figure.colorbar(drawn, ax=axis, label=panel.name)


def _patches(panel: Timeline | Map) -> list[Patch]:
    """What the colours of states mean."""
    return [Patch(color=_color(color), label=name) for name, color in panel.states.values()]


def _color(number: int) -> str:
    return {INK: "0.2", SOFT: "0.85"}.get(number) or COLORS[number % len(COLORS)]
