"""A report: one HTML file that holds its figures and opens from disk with no network."""

import base64
import contextlib
import html
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from stiction.report.charts import Chart
    from stiction.report.player import Animation

ROUNDING = 1e-12  # times the size of what stands beside: smaller is nothing
_BARS = {"part": "#0072b2", "whole": "#8a94a2", "loss": "#d55e00", "gain": "#009e73"}
_CSS = """
:root { color-scheme: light dark; --line: #8884; --now: #2f6fb222; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1, p, figcaption { overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin-bottom: .2rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
figure { margin: 1rem 0; }
figure img { max-width: min(100%, 46rem); max-height: 34rem; background: #fff; border-radius: 4px; }
figcaption { opacity: .75; font-size: .9em; }
.scroll { overflow-x: auto; margin: .8rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--line); }
td { white-space: pre-line; } tr[data-t] td { white-space: nowrap; }
tr[data-t] { cursor: pointer; }
tr[data-t]:hover, tr.now { background: var(--now); }
pre { overflow-x: auto; } summary { cursor: pointer; font-weight: 600; }
.holds { color: #00794f; } .fails { color: #c43b00; font-weight: 600; }
footer { margin-top: 3rem; opacity: .6; font-size: .85em; }
@media (min-width: 75rem) {
  body:has(.beside) { max-width: 88rem; }
  .beside { display: grid; grid-template-columns: 11fr 10fr; gap: 1.4rem; align-items: start; }
  .beside > :first-child { position: sticky; top: 1rem; }
}
@media (max-width: 30rem) {
  body { margin-top: 1rem; padding: 0 .7rem; } td, th { font-size: .9em; }
}
@media (prefers-color-scheme: dark) {
  .holds { color: #4cc38a; } .fails { color: #ff9466; }
  /* White paper turned black, its hues kept. */
  figure img { filter: invert(.9) hue-rotate(180deg); }
}
"""


class Bar(NamedTuple):
    """A cell of a table that is drawn: from where to where, as shares of its width, and how."""

    start: float
    end: float
    kind: str = "part"  # or whole, loss, gain


class Report:
    """Collects headings, text, tables, figures and raw HTML, and writes them as one page."""

    def __init__(self, title: str, subtitle: str = ""):
        self.title = title
        self._has_player = self._has_charts = False
        self._parts: list[str] = [f"<h1>{html.escape(title)}</h1>"]
        if subtitle:
            self.text(subtitle)

    def heading(self, text: str) -> None:
        """Start a section."""
        self._parts.append(f"<h2>{html.escape(text)}</h2>")

    def text(self, text: str) -> None:
        """Add a paragraph."""
        self._parts.append(f"<p>{html.escape(text)}</p>")

    def raw(self, markup: str) -> None:
        """Add HTML as it is."""
        self._parts.append(markup)

    def animation(self, animation: "Animation") -> None:
        """Add a motion that plays in the page; the player itself is put in once."""
        self.raw(animation.to_html(with_player=not self._has_player))
        self._has_player = True

    @contextlib.contextmanager
    def beside(self, *animations: "Animation") -> Iterator[None]:
        """Animations that stay in sight, with what is added meanwhile beside them."""
        self.raw('<div class="beside"><div>')
        for animation in animations:
            self.animation(animation)
        self.raw("</div><div>")
        yield
        self.raw("</div></div>")

    def chart(self, chart: "Chart", caption: str = "") -> None:
        """Add a chart to zoom and read; the program that draws it is put in once."""
        from stiction.report.charts import markup

        self.raw(("" if self._has_charts else markup.program()) + markup.fragment(chart, caption))
        self._has_charts = True

    def figure(self, path: Path, caption: str = "") -> None:
        """Add a PNG or SVG file, embedded."""
        kind = {".png": "image/png", ".svg": "image/svg+xml"}[Path(path).suffix]
        data = base64.b64encode(Path(path).read_bytes()).decode()
        text = html.escape(caption)
        self._parts.append(
            f'<figure><img alt="{text}" src="data:{kind};base64,{data}">'
            f"<figcaption>{text}</figcaption></figure>"
        )

    def table(
        self, rows: Sequence[Mapping[str, Any]], times: Sequence[float | None] | None = None
    ) -> None:
        """Add a table: one mapping a row, columns named by the first row's keys.

        Args:
            rows: The rows.
            times: When each row was [s], if it was at a time: a click on it sets the clock of the
                page's charts.
        """
        if not rows:
            return
        self.raw(f'<div class="scroll">{table_html(rows, times)}</div>')
        if times is not None and self._has_charts:
            link = "stictionCharts.link(document.currentScript.previousElementSibling)"
            self.raw(f"<script>{link}</script>")

    def write(self, path: str | Path) -> Path:
        """Write the page. Calling again after adding more replaces it."""
        Path(path).write_text(self.to_html(), encoding="utf-8")
        return Path(path)

    def body(self) -> str:
        """What stands on the page, for another page or a notebook."""
        return "\n".join(self._parts)

    def to_html(self) -> str:
        """The whole page."""
        import stiction

        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width">'
            f"<title>{html.escape(self.title)}</title><style>{_CSS}</style></head><body>"
            + self.body()
            + f"<footer>made by stiction {stiction.__version__}</footer></body></html>\n"
        )


def table_html(
    rows: Sequence[Mapping[str, Any]], times: Sequence[float | None] | None = None
) -> str:
    """The table of `Report.table` as HTML."""
    names = list(rows[0])
    head = "".join(f"<th>{html.escape(str(n))}</th>" for n in names)
    when = ["" if t is None else f' data-t="{t:.9g}"' for t in times or [None] * len(rows)]
    body = "".join(
        f"<tr{at}>" + "".join(_cell_html(row.get(n, "")) for n in names) + "</tr>"
        for at, row in zip(when, rows, strict=True)
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _cell_html(value: Any) -> str:
    if not isinstance(value, Bar):
        return f"<td>{html.escape(cell(value))}</td>"
    color = _BARS[value.kind]
    left, width = 100 * min(value.start, value.end), 100 * abs(value.end - value.start)
    place = f"margin-left:{left:.2f}%;width:{width:.2f}%;min-width:1px;height:.8em"
    return (
        f'<td style="width:99%;min-width:6em"><div style="{place};background:{color}"></div></td>'
    )


def number(value: float, digits: int = 7, scale: float = 1.0) -> str:
    """A number for people; what is nothing but rounding, beside values of size `scale`, is 0."""
    if not math.isfinite(value):
        return str(value)
    return "0" if abs(value) < ROUNDING * max(scale, 1.0) else f"{value:.{digits}g}"


def numbers(values: Sequence[float], digits: int = 4) -> str:
    """Components of a vector, for people; rounding is told by the largest."""
    scale = max((abs(v) for v in values if math.isfinite(v)), default=1.0)
    return ", ".join(number(v, digits, scale) for v in values)


def cell(value: Any) -> str:
    """A value as it stands in a table."""
    if value is None:
        return ""
    if isinstance(value, float):
        return number(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {cell(v)}" for name, v in value.items())
    if isinstance(value, list | tuple):
        return "(" + ", ".join(cell(v) for v in value) + ")"
    return str(value)
