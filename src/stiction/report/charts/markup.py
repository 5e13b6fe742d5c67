"""A chart as HTML: its data, and the program that draws it, with the page's clock."""

import functools
import html
import itertools
import json
from importlib import resources
from typing import Any

import numpy as np

from stiction.report.charts.chart import Chart, Panel, Timeline, colors_of
from stiction.report.player.payload import packed

BUCKETS = 600  # along the axis: in each, every line keeps its least and its largest value


def fragment(chart: Chart, caption: str = "") -> str:
    """A figure with the chart's data, and the call that draws it."""
    data = json.dumps(payload(chart), separators=(",", ":"), allow_nan=False)
    text = f"<figcaption>{html.escape(caption)}</figcaption>" if caption else ""
    return (
        '<figure class="stiction-chart">'
        f'<script type="application/json">{data.replace("<", chr(92) + "u003c")}</script>'
        f"<noscript>This chart needs JavaScript.</noscript>{text}</figure>"
        "<script>stictionCharts.mount(document.currentScript.previousElementSibling)</script>"
    )


@functools.cache
def program() -> str:
    """The style and the program of charts, and uPlot with its licence."""
    folder = resources.files("stiction.report.charts")
    read = lambda path: folder.joinpath(path).read_text("utf-8")  # noqa: E731
    style = read("vendor/uPlot.min.css") + read("js/charts.css")
    code = read("js/clock.js") + read("js/charts.js")
    return (
        f"<style>{style}</style><script>\n/* uPlot\n{read('vendor/LICENSE')}*/\n"
        f"{read('vendor/uPlot.iife.min.js')}</script>"
        f'<script>if (!window.stictionCharts) (() => {{\n"use strict";\n{code}}})();</script>'
    )


def payload(chart: Chart) -> dict[str, Any]:
    """Everything the program needs, ready for JSON."""
    kept = thin(chart)
    return {
        "x": packed(chart.x[kept]),
        "label": chart.x_label,
        "clock": chart.x_label.startswith("time"),
        "until": chart.until,
        "panels": [
            _rows(p) if isinstance(p, Timeline) else _lines(p, kept, chart) for p in chart.panels
        ],
    }


def thin(chart: Chart) -> np.ndarray:
    """Which samples to keep: all, or the extremes of each line in each of many short stretches."""
    n = len(chart.x)
    if n <= 4 * BUCKETS:
        return np.arange(n)
    edges = np.linspace(0, n, BUCKETS + 1).astype(int)
    kept = {0, n - 1, *edges[:-1].tolist()}
    lines = [li for p in chart.panels if isinstance(p, Panel) for li in p.lines if li.x is None]
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
