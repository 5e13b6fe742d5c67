"""A chart as HTML: its data, and the program that draws it, with the page's clock."""

import functools
import html
import itertools
import json
from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np

from stiction.report.charts.chart import Chart, Line, Map, Panel, Timeline, colors_of
from stiction.report.player.payload import packed

BUCKETS = 600  # along the axis: in each, every line keeps its least and its largest value
FEWEST = 50  # of them, before extremes are given up
MOST_NUMBERS = 120_000  # of all lines of a chart: some 0.6 MB of a page


def fragment(chart: Chart, caption: str = "") -> str:
    """A figure with the chart's data, and the call that draws it."""
    data = json.dumps(payload(chart), separators=(",", ":"), allow_nan=False)
    return (
        f'<figure class="stiction-chart">{_caption(caption)}'
        f'<script type="application/json">{data.replace("<", chr(92) + "u003c")}</script>'
        "<noscript>This chart needs JavaScript.</noscript></figure>"
        "<script>stictionCharts.mount(document.currentScript.previousElementSibling)</script>"
    )


def _caption(text: str) -> str:
    """What the chart shows, above it: the first sentence is its heading."""
    head, _, more = html.escape(text).partition(". ")
    stop = "." if more else ""
    return f"<figcaption><b>{head}{stop}</b> <span>{more}</span></figcaption>" if text else ""


@functools.cache
def program() -> str:
    """The style and the program of charts, and uPlot with its licence."""
    folder = resources.files("stiction.report.charts")
    read = lambda path: folder.joinpath(path).read_text("utf-8")  # noqa: E731
    style = read("vendor/uPlot.min.css") + read("js/charts.css")
    code = read("js/clock.js") + read("js/maps.js") + read("js/charts.js")
    return (
        f"<style>{style}</style><script>\n/* uPlot\n{read('vendor/LICENSE')}*/\n"
        f"{read('vendor/uPlot.iife.min.js')}</script>"
        f'<script>if (!window.stictionCharts) (() => {{\n"use strict";\n{code}}})();</script>'
    )


def payload(chart: Chart) -> dict[str, Any]:
    """Everything the program needs, ready for JSON."""
    if maps := [p for p in chart.panels if isinstance(p, Map)]:
        x, found = maps[0].thinned(chart.x)  # a map has a chart of its own
        return {"x": packed(x), "label": chart.x_label, "clock": False, "until": None,
                "panels": [_cells(found, x)]}  # fmt: skip
    kept = thin(chart)
    return {
        "x": packed(chart.x[kept]),
        "label": chart.x_label,
        "clock": chart.x_label.startswith("time"),
        "until": chart.until,
        "panels": [
            _rows(p) if isinstance(p, Timeline) else _lines(p, kept, chart)
            for p in chart.panels
            if not isinstance(p, Map)
        ],
    }


def thin(chart: Chart) -> np.ndarray:
    """Which samples to keep: all, or the extremes of each line in each of many short stretches.

    Of very many lines, whose extremes together are nearly all samples: some, evenly.
    """
    lines = [li for p in chart.panels if isinstance(p, Panel) for li in p.lines if li.x is None]
    n, most = len(chart.x), max(MOST_NUMBERS // max(len(lines), 1), 2 * FEWEST)
    buckets = BUCKETS
    kept = np.arange(n) if n <= 4 * buckets else _extremes(lines, n, buckets)
    while len(kept) > most and buckets > FEWEST:
        buckets //= 2
        kept = _extremes(lines, n, buckets)
    return kept if len(kept) <= most else np.unique(np.linspace(0, n - 1, most).astype(int))


def _extremes(lines: Sequence[Line], n: int, buckets: int) -> np.ndarray:
    edges = np.unique(np.linspace(0, n, buckets + 1).astype(int))
    kept = {0, n - 1, *edges[:-1].tolist()}
    for line in lines:
        y = np.asarray(line.y, float)
        low, high = np.nan_to_num(y, nan=np.inf), np.nan_to_num(y, nan=-np.inf)
        for a, b in itertools.pairwise(edges):
            kept |= {int(a + np.argmin(low[a:b])), int(a + np.argmax(high[a:b]))}
    return np.array(sorted(kept))


def _lines(panel: Panel, kept: np.ndarray, chart: Chart) -> dict[str, Any]:
    limits = panel.range()
    return {
        "label": panel.label,
        "title": panel.title,
        "height": panel.height,
        "stacked": panel.stacked,
        "spans": [[float(a), float(b)] for a, b in panel.spans],
        "marks": [float(x) for x in panel.marks],
        "levels": [[name, float(y)] for name, y in panel.levels.items()],
        "range": None if limits is None else list(limits),
        "lines": [
            {
                "name": line.name,
                "style": line.style,
                "color": color,
                "y": packed(np.asarray(line.y, float)[kept if line.x is None else slice(None)]),
                "x": None if line.x is None else packed(np.asarray(line.x)),
            }
            for line, color in zip(panel.lines, colors_of(panel.lines), strict=True)
        ],
    }


def _rows(panel: Timeline) -> dict[str, Any]:
    return {
        "label": panel.label,
        "title": panel.title,
        "height": panel.height,
        "states": [[number, name, color] for number, (name, color) in panel.states.items()],
        "rows": [
            [name, packed(np.stack(spans, axis=-1))] for name, spans in panel.rows.items()
        ],
    }  # fmt: skip


def _cells(panel: Map, x: np.ndarray) -> dict[str, Any]:
    known = panel.values[np.isfinite(panel.values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    return {
        "label": panel.label,
        "title": panel.title,
        "height": panel.height,
        "name": panel.name,
        "points": panel.points,
        "states": [[number, name, color] for number, (name, color) in panel.states.items()],
        "values": packed(panel.values),
        "span": [low, high],
        "y": packed(panel.y),
        "extents": [_extent(side, cells=not panel.points) for side in (x, panel.y)],
    }


def _extent(side: np.ndarray, *, cells: bool) -> list[float]:
    """From where to where cells or points reach, with a little room around points."""
    low, high = float(np.min(side)), float(np.max(side))
    if cells and len(side) > 1:
        return [low - 0.5 * float(side[1] - side[0]), high + 0.5 * float(side[-1] - side[-2])]
    room = 0.02 * (high - low) or 0.5
    return [low - room, high + room]
