"""Charts in the studio: the panels of the report's charts, by the uPlot that viser brings."""

from typing import Any

import numpy as np

from stiction.report.charts import Chart, Map, Panel, Timeline
from stiction.report.charts.chart import colors_of
from stiction.report.charts.markup import thin
from stiction.report.figures import COLORS
from stiction.studio.bench import Bench

_HAND = "#c43b00"
_MOST_PANELS = 4  # of one chart
_ROW = 18  # px of a row of the time line


class Plots:
    """The charts of a bench in one browser, with a hand that shows the time.

    Args:
        gui: The browser's own controls (`client.gui`).
        bench: What is shown.
    """

    def __init__(self, gui: Any, bench: Bench):
        self.gui, self.bench = gui, bench
        self._plots: list[tuple[str, int, Any]] = []  # chart, panel and handle
        panel = gui.add_panel()
        panel.dock_left()
        panel.set_width(380)
        self._charts = self._made()
        for name, chart in self._charts.items():
            with panel.add_tab(name):
                parts = [
                    (i, p)
                    for i, p in enumerate(chart.panels[:_MOST_PANELS])
                    if not isinstance(p, Map)
                ]
                for i, part in sorted(parts, key=lambda p: not isinstance(p[1], Timeline)):
                    self._plots.append((name, i, self._add(part, chart)))
        self._panel = panel

    def remove(self) -> None:
        """Take all charts away."""
        self._panel.remove()

    def _made(self) -> dict[str, Chart]:
        from stiction.report.run_charts import (
            contact_chart,
            coordinate_chart,
            energy_chart,
            speed_chart,
        )

        run, path = self.bench.run, self.bench.path
        found = {} if run.contacts is None else {"Contacts": contact_chart(run)}
        found |= {
            "Energy": energy_chart(run),
            "Motion": coordinate_chart(run, path),
            "Speeds": speed_chart(run, path),
        }
        return found

    def _add(self, panel: Panel | Timeline, chart: Chart) -> Any:
        if isinstance(panel, Timeline):
            return self.gui.add_html(time_line(panel, chart, 0.0))
        x, ys = _data(panel, chart)
        colors = [COLORS[c] if 0 <= c < len(COLORS) else "#888" for c in colors_of(panel.lines)]
        series: list[dict[str, Any]] = [{"label": "time"}]
        for line, color in zip(panel.lines, colors, strict=True):
            look = {"label": line.name, "stroke": color, "width": 1.5}
            series.append(look | ({"dash": [6, 4]} if line.style == "dashed" else {}))
        series.append({"label": "now", "stroke": _HAND, "width": 1})
        bands = ()
        if panel.stacked:
            series[1]["fill"] = colors[0] + "88"
            bands = tuple(
                {"series": (i + 2, i + 1), "fill": color + "88"}
                for i, color in enumerate(colors[1:])
            )
        return self.gui.add_uplot(
            (x, *ys, _hand(x, ys, float(x[0]))),
            tuple(series),
            title=_title(panel),
            scales=_scales(panel),
            bands=bands or None,
            height=190,
        )

    def refresh(self) -> None:
        """Take over another run."""
        self._charts = self._made()
        for name, i, handle in self._plots:
            if isinstance(panel := self._charts[name].panels[i], Panel):
                handle.scales, handle.title = _scales(panel), _title(panel)

    def at(self, t: float) -> None:
        """Move the hand."""
        for name, i, handle in self._plots:
            chart = self._charts[name]
            panel = chart.panels[i]
            if isinstance(panel, Timeline):
                handle.content = time_line(panel, chart, t)
            elif isinstance(panel, Panel):
                x, ys = _data(panel, chart)
                handle.data = (x, *ys, _hand(x, ys, t))


def _data(panel: Panel, chart: Chart) -> tuple[np.ndarray, list[np.ndarray]]:
    """The curves of a panel, thinned out; of a stack their sums. uPlot takes no gaps here."""
    kept, times = thin(chart), _magnified(panel)
    ys = [times * np.nan_to_num(np.asarray(line.y, float)[kept]) for line in panel.lines]
    limits = _limits(panel)
    if limits is not None and panel.bulk:
        ys = [np.clip(y, *limits) for y in ys]
    return chart.x[kept], list(np.cumsum(ys, axis=0)) if panel.stacked else ys


def _magnified(panel: Panel) -> float:
    """By how much values are multiplied: labels of an axis have three digits after the point."""
    sizes = [float(np.nanmax(np.abs(line.y), initial=0.0)) for line in panel.lines]
    largest = max(sizes, default=0.0)
    return 10.0 ** (-3 * np.floor(np.log10(largest) / 3)) if 0 < largest < 0.1 else 1.0


def _limits(panel: Panel) -> tuple[float, float] | None:
    limits, times = panel.range(), _magnified(panel)
    return None if limits is None else (times * limits[0], times * limits[1])


def _title(panel: Panel) -> str:
    text, times = panel.label + (f": {panel.title}" if panel.title else ""), _magnified(panel)
    return text if times == 1.0 else text.replace("[", f"[1e{-round(np.log10(times))} ", 1)


def _scales(panel: Panel) -> dict[str, Any]:
    """Of both axes; the vertical one has a range of its own where the panel has one."""
    limits = None if panel.stacked else _limits(panel)
    height: dict[str, Any] = {"auto": True} if limits is None else {"range": limits}
    return {"x": {"time": False, "auto": True}, "y": height}


def _hand(x: np.ndarray, ys: list[np.ndarray], t: float) -> np.ndarray:
    """A spike at the time t, as high as the curves."""
    low, high = (float(f(y)) for f, y in ((np.min, np.stack(ys)), (np.max, np.stack(ys))))
    spike = np.full(len(x), low)
    spike[int(np.clip(np.searchsorted(x, t), 0, len(x) - 1))] = high
    return spike


def time_line(panel: Timeline, chart: Chart, t: float) -> str:
    """Rows of contacts, coloured by what they do, with a hand at the time t, as SVG."""
    first, last = float(chart.x[0]), float(chart.x[-1])
    place = lambda x: 100 * (x - first) / ((last - first) or 1.0)  # noqa: E731
    parts, names = [], []
    colors = {s: COLORS[c] if c >= 0 else "#c9ced4" for s, (_, c) in panel.states.items()}
    for i, (name, (starts, ends, states)) in enumerate(panel.rows.items()):
        names.append(f'<div style="height:{_ROW}px">{name}</div>')
        for a, b, state in zip(starts, ends, states, strict=True):
            width = max(place(b) - place(a), 0.15)
            parts.append(
                f'<rect x="{place(a):.3f}" y="{i * _ROW + 2}" width="{width:.3f}"'
                f' height="{_ROW - 4}" fill="{colors[int(state)]}"/>'
            )
    height = _ROW * len(panel.rows)
    parts.append(f'<rect x="{place(t):.3f}" y="0" width=".35" height="{height}" fill="{_HAND}"/>')
    legend = " · ".join(
        f'<span style="color:{colors[s]}">■</span> {n}' for s, (n, _) in panel.states.items()
    )
    return (
        '<div style="font-size:11px;padding:.5em"><div style="display:flex;gap:6px">'
        f'<div style="line-height:{_ROW}px">{"".join(names)}</div>'
        f'<svg width="100%" height="{height}" viewBox="0 0 100 {height}"'
        f' preserveAspectRatio="none">{"".join(parts)}</svg></div>{legend}</div>'
    )
