"""What `stiction translate` leaves behind: the numbers, the snippet to paste, and a page."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stiction.report.output import OutputDirectory
from stiction.report.page import Report


def write_translation(directory: OutputDirectory, result: Mapping[str, Any]) -> Path:
    """Write `translation.json`, `snippet.txt` and the report of what `translate` answered."""
    report = Report("Contact parameters")
    report.table([{"contact": k, "value": v} for k, v in result["contact"].items()])
    if "engine" in result:
        report.heading(result["engine"])
        report.table([{"name": k, "value": value_text(v)} for k, v in result["parameters"].items()])
        directory.text("snippet.txt", result["snippet"] + "\n")
    for line in [*result["lost"], *result.get("limits", ())]:
        report.text(line)
    if "check" in result:
        report.heading("A ball dropped")
        report.table(drop_rows(result["check"]))
    directory.json("translation.json", result)
    return directory.page(report)


def drop_rows(check: Mapping[str, Any]) -> list[dict[str, str]]:
    """The balls that were dropped, as a table for people."""
    return [
        {
            "how": drop["how"],
            "gravity": "yes" if drop["gravity"] else "no",
            "asked": f"{drop['asked']:.6f}",
            "got": f"{drop['got']:.6f}",
            "error": f"{drop['error']:+.1e}",
            "range": f"{drop['lowest']:.4f}-{drop['highest']:.4f}",
        }
        for drop in check["drops"]
    ]


def value_text(value: Any) -> str:
    """A parameter's value, which may be a vector or a table, on one line."""
    if isinstance(value, dict):
        return ", ".join(f"{k} {value_text(v)}" for k, v in value.items())
    if isinstance(value, tuple):
        return " ".join(value_text(v) for v in value)
    return f"{value:.8g}" if isinstance(value, float) else str(value)
