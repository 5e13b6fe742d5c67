"""A report: one HTML file that holds its figures and opens from disk with no network."""

import base64
import html
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stiction.report.player import Animation

_CSS = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: .2rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
figure { margin: 1rem 0; } figure img { max-width: 100%; background: #fff; border-radius: 4px; }
figcaption { opacity: .75; font-size: .9em; }
table { border-collapse: collapse; margin: .8rem 0; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #8884; }
.holds { color: #00794f; } .fails { color: #c43b00; font-weight: 600; }
footer { margin-top: 3rem; opacity: .6; font-size: .85em; }
@media (prefers-color-scheme: dark) { .holds { color: #4cc38a; } .fails { color: #ff9466; } }
"""


class Report:
    """Collects headings, text, tables, figures and raw HTML, and writes them as one page."""

    def __init__(self, title: str, subtitle: str = ""):
        self.title = title
        self._has_player = False
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

    def figure(self, path: Path, caption: str = "") -> None:
        """Add a PNG or SVG file, embedded."""
        kind = {".png": "image/png", ".svg": "image/svg+xml"}[Path(path).suffix]
        data = base64.b64encode(Path(path).read_bytes()).decode()
        text = html.escape(caption)
        self._parts.append(
            f'<figure><img alt="{text}" src="data:{kind};base64,{data}">'
            f"<figcaption>{text}</figcaption></figure>"
        )

    def table(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add a table: one mapping a row, columns named by the first row's keys."""
        if not rows:
            return
        names = list(rows[0])
        head = "".join(f"<th>{html.escape(str(n))}</th>" for n in names)
        body = "".join(
            "<tr>"
            + "".join(f"<td>{html.escape(_cell(r.get(n, '')))}</td>" for n in names)
            + "</tr>"
            for r in rows
        )
        self._parts.append(f"<table><tr>{head}</tr>{body}</table>")

    def checks(self, checks: Sequence[Any]) -> None:
        """Add a list of `reproduce.Check`s with their outcome."""
        if not checks:
            return
        rows = "".join(
            f"<tr><td>{html.escape(c.claim)}</td><td>{_cell(c.value)}</td>"
            f"<td>{_cell(c.expected)}</td>"
            + (
                '<td class="holds">holds</td></tr>'
                if c.passed
                else '<td class="fails">fails</td></tr>'
            )
            for c in checks
        )
        self._parts.append(
            f"<table><tr><th>check</th><th>value</th><th>expected</th><th></th></tr>{rows}</table>"
        )

    def write(self, path: Path) -> Path:
        """Write the page. Calling again after adding more replaces it."""
        import stiction

        Path(path).write_text(
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width">'
            f"<title>{html.escape(self.title)}</title><style>{_CSS}</style></head><body>"
            + "\n".join(self._parts)
            + f"<footer>made by stiction {stiction.__version__}</footer></body></html>\n",
            encoding="utf-8",
        )
        return Path(path)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.7g}" if math.isfinite(value) else str(value)
    if isinstance(value, list | tuple):
        return "(" + ", ".join(_cell(v) for v in value) + ")"
    return str(value)
