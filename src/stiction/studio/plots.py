"""Charts in the studio: the panels of the report's charts, by the uPlot that viser brings."""

import html
from typing import Any

import numpy as np

from stiction.report.charts import Chart, Line, Panel, Timeline
from stiction.report.charts.chart import colors_of
from stiction.report.charts.markup import thin
from stiction.report.figures import COLORS
from stiction.report.page import number, table_html
from stiction.report.run_path import has_place
from stiction.report.waterfall import energy_steps, waterfall
from stiction.studio.bench import Bench

_HAND = "#c43b00"
_MOST_PANELS = 4  # of one chart
_APART = "largest difference of a coordinate"
_ROW = 18  # px of a row of the time line
_NAME = f"height:{_ROW}px;max-width:8em;overflow:hidden;text-overflow:ellipsis;white-space:nowrap"


class Plots:
    """The charts of a bench in one browser, with a hand that shows the time.

    Args:
        gui: The browser's own controls (`client.gui`).
        bench: What is shown.
    """

    def __init__(self, gui: Any, bench: Bench):
        self.gui, self.bench = gui, bench
        self._plots: list[tuple[str, int, Any, Any]] = []  # chart, panel, handle, legend
        self._panel = gui.add_panel()
        self._panel.dock_left()
        self._panel.set_width(380)
        self._charts = self._made()
        self._tabs: dict[str, Any] = {}
        for name in self._charts:
            self._tabs[name] = self._panel.add_tab(name)
            if name == "Energy":
                with self._tabs[name]:
                    self._waterfall = gui.add_html("")
            self._fill(name)
        self._ghosts = self._panel.add_tab("Ghosts")
        with self._ghosts:
            self._hint = gui.add_markdown("Tick a ghost under *Law* to compare.")
        self._apart: tuple[Any, Any] | None = None  # the chart of the ghosts, and its legend
        self._refresh_whole()

    def remove(self) -> None:
        """Take all charts away."""
        self._panel.remove()

    def _made(self) -> dict[str, Chart]:
        from stiction.report.run_charts import (
            MAX_CONTACTS,
            contact_chart,
            coordinate_chart,
            energy_chart,
            speed_chart,
        )

        run, path = self.bench.run, self.bench.path
        # All contacts, whether they touch or not: another run has the same curves.
        placed = has_place(run)
        every = np.flatnonzero(placed if placed.any() else ~placed)[:MAX_CONTACTS].tolist()
        found = {} if run.contacts is None else {"Contacts": contact_chart(run, every)}
        found |= {
            "Energy": energy_chart(run),
            "Motion": coordinate_chart(run, path),
            "Speeds": speed_chart(run, path),
        }
        return found

    def _fill(self, name: str) -> None:
        """Put the panels of a chart into its tab, in place of those that are there."""
        for _, _, plot, words in [p for p in self._plots if p[0] == name]:
            for handle in (plot, words):
                if handle is not None:
                    handle.remove()
        self._plots = [p for p in self._plots if p[0] != name]
        chart = self._charts[name]
        parts = list(enumerate(chart.panels[:_MOST_PANELS]))
        with self._tabs[name]:
            for i, part in sorted(parts, key=lambda p: not isinstance(p[1], Timeline)):
                self._plots.append((name, i, *self._add(part, chart)))

    def _add(self, panel: Any, chart: Chart) -> tuple[Any, Any]:
        """The handles of a panel and of its legend."""
        if isinstance(panel, Timeline):
            return self.gui.add_html(time_line(panel, chart, 0.0)), None
        series, bands = _looks(panel)
        plot = self.gui.add_uplot(
            _with_hand(panel, chart, float(chart.x[0])),
            series,
            title=_title(panel),
            scales=_scales(panel, chart),
            bands=bands or None,
            legend={"show": False},
            height=170,
            padding=(10, 8, 0, 0),  # room for half a number above the topmost line
        )
        return plot, self.gui.add_html(legend(panel, chart, float(chart.x[0])))

    def refresh(self) -> None:
        """Take over another run."""
        before, self._charts = self._charts, self._made()
        for name, chart in self._charts.items():
            if len(chart.panels) != len(before[name].panels):  # now there are contacts, or none
                self._fill(name)
        for name, i, handle, _ in self._plots:
            chart = self._charts[name]
            if isinstance(panel := chart.panels[i], Panel):
                series, bands = _looks(panel)
                if len(series) != len(handle.series):  # contacts found on the way are others
                    handle.series, handle.bands = series, bands or None
                    handle.data = _with_hand(panel, chart, float(chart.x[0]))
                handle.scales, handle.title = _scales(panel, chart), _title(panel)
        self._refresh_whole()

    def _refresh_whole(self) -> None:
        """What does not change with the time shown: the waterfall, and how ghosts differ."""
        steps = energy_steps(self.bench.run)
        rows = table_html(waterfall(steps)) if steps else ""
        self._waterfall.content = (
            f'<div style="font-size:11px;padding:.5em;white-space:nowrap">{rows}</div>'
        )
        apart = self.bench.apart()
        lines = [Line(name, d, color=self.bench.color(name)) for name, d in apart.items()]
        panel = Panel(_APART, lines)
        chart = Chart(np.asarray(self.bench.run.time), [panel])
        self._charts["Ghosts"] = chart
        self._hint.visible = not lines
        if lines and self._apart is None:
            with self._ghosts:
                self._apart = self._add(panel, chart)
        if self._apart is not None:
            plot, words = self._apart
            plot.visible = words.visible = bool(lines)
            if lines:
                plot.series, plot.scales = _looks(panel)[0], _scales(panel, chart)

    def at(self, t: float) -> None:
        """Move the hand."""
        shown = list(self._plots)
        if self._apart is not None and self._apart[0].visible:
            shown.append(("Ghosts", 0, *self._apart))
        for name, i, handle, words in shown:
            chart = self._charts[name]
            panel = chart.panels[i]
            if isinstance(panel, Timeline):
                handle.content = time_line(panel, chart, t)
            elif isinstance(panel, Panel):
                handle.data = _with_hand(panel, chart, t)
                words.content = legend(panel, chart, t)


def _looks(panel: Panel) -> tuple[tuple[dict[str, Any], ...], tuple[dict[str, Any], ...]]:
    """How uPlot draws the curves and the hand, and what it fills between them."""
    colors = _colors(panel)
    series: list[dict[str, Any]] = [{"label": "time"}]
    for line, color in zip(panel.lines, colors, strict=True):
        look = {"label": line.name, "stroke": color, "width": 1.5}
        series.append(look | ({"dash": [6, 4]} if line.style == "dashed" else {}))
    series.append({"label": "now", "stroke": _HAND, "width": 1.5})
    if not panel.stacked:
        return tuple(series), ()
    series[1]["fill"] = colors[0] + "88"
    between = ({"series": (i + 2, i + 1), "fill": c + "88"} for i, c in enumerate(colors[1:]))
    return tuple(series), tuple(between)


def _data(panel: Panel, chart: Chart) -> tuple[np.ndarray, list[np.ndarray]]:
    """The curves of a panel, thinned out; of a stack their sums. uPlot takes no gaps here."""
    kept, times = thin(chart), _magnified(panel)
    ys = [times * np.nan_to_num(np.asarray(line.y, float)[kept]) for line in panel.lines]
    if panel.bulk:
        ys = [np.clip(y, *_limits(panel, ys)) for y in ys]
    return chart.x[kept], list(np.cumsum(ys, axis=0)) if panel.stacked else ys


def _with_hand(panel: Panel, chart: Chart, t: float) -> tuple[np.ndarray, ...]:
    """The curves, and one that runs below all that is seen and stands up at the time t."""
    x, ys = _data(panel, chart)
    low, high = _limits(panel, ys)
    low -= 2 * (high - low)
    k = int(np.searchsorted(x, t, side="right"))
    now = [np.interp(t, x, y) for y in ys]
    curves = [np.insert(y, k, [at] * 3) for y, at in zip(ys, now, strict=True)]
    foot = np.full(len(x), low)
    return np.insert(x, k, [t] * 3), *curves, np.insert(foot, k, [low, high, low])


def _colors(panel: Panel) -> list[str]:
    return [COLORS[c] if 0 <= c < len(COLORS) else "#888" for c in colors_of(panel.lines)]


def legend(panel: Panel, chart: Chart, t: float) -> str:
    """The curves that are not all zero, and their values at the time t."""
    told = []
    for line, color in zip(panel.lines, _colors(panel), strict=True):
        y = np.asarray(line.y, float)
        if len(panel.lines) == 1 or np.nan_to_num(y).any():
            value = np.interp(t, chart.x, y)
            words = "" if np.isnan(value) else number(float(value), 4)
            told.append(
                f'<span style="white-space:nowrap;display:inline-block;min-width:8.5em">'
                f'<span style="color:{color}">■</span> {html.escape(line.name)} {words}</span>'
            )
    style = "font-size:11px;padding:0 .5em .8em 3.2em;line-height:1.5"
    return f'<div style="{style}">{" ".join(told) or "all zero"}</div>'


def _magnified(panel: Panel) -> float:
    """By how much values are multiplied: labels of an axis have three digits after the point."""
    sizes = [float(np.nanmax(np.abs(line.y), initial=0.0)) for line in panel.lines]
    largest = max(sizes, default=0.0)
    return 10.0 ** (-3 * np.floor(np.log10(largest) / 3)) if 0 < largest < 0.1 else 1.0


def _limits(panel: Panel, ys: list[np.ndarray]) -> tuple[float, float]:
    """The vertical range: the panel's own, or that of the curves and a little more."""
    limits, times = None if panel.stacked else panel.range(), _magnified(panel)
    if limits is not None:
        return times * limits[0], times * (limits[1] + 0.05 * (limits[1] - limits[0]))
    low, high = float(np.min(ys)), float(np.max(ys))
    if panel.stacked:
        return min(0.0, low), 1.03 * high or 1.0
    return low - 0.05 * (high - low), high + 0.05 * (high - low)


def _title(panel: Panel) -> str:
    text, times = panel.label + (f": {panel.title}" if panel.title else ""), _magnified(panel)
    return text if times == 1.0 else text.replace("[", f"[1e{-round(np.log10(times))} ", 1)


def _scales(panel: Panel, chart: Chart) -> dict[str, Any]:
    """Of both axes."""
    limits = _limits(panel, _data(panel, chart)[1])
    # The browser would keep the range of the run as far as it had come when it was shown first.
    x = {"time": False, "range": (float(chart.x[0]), float(chart.x[-1]))}
    return {"x": x, "y": {"range": limits}}


def time_line(panel: Timeline, chart: Chart, t: float) -> str:
    """Rows of contacts, coloured by what they do, with a hand at the time t, as SVG."""
    first, last = float(chart.x[0]), float(chart.x[-1])
    place = lambda x: 100 * (x - first) / ((last - first) or 1.0)  # noqa: E731
    parts, names = [], []
    colors = {s: COLORS[c] if c >= 0 else "#c9ced4" for s, (_, c) in panel.states.items()}
    for i, (name, (starts, ends, states)) in enumerate(panel.rows.items()):
        names.append(f'<div style="{_NAME}">{html.escape(name)}</div>')
        for a, b, state in zip(starts, ends, states, strict=True):
            width = max(place(b) - place(a), 0.5)
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
        '<div style="font-size:11px;padding:.5em 1em .5em .5em"><div style="display:flex;gap:6px">'
        f'<div style="line-height:{_ROW}px">{"".join(names)}</div>'
        f'<svg width="100%" height="{height}" viewBox="0 0 100 {height}"'
        f' preserveAspectRatio="none">{"".join(parts)}</svg></div>{legend}</div>'
    )
