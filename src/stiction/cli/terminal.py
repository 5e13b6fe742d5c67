"""Printing for people. Text may come from a user's file: it is never taken for markup."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # would steer the terminal


def plain(text: str) -> str:
    """Text without the signs that would steer a terminal."""
    return _CONTROL.sub("�", text)


def say(text: str, *, bold: bool = False) -> None:
    """Print a line as it is, however long."""
    line = plain(text)
    if bold:
        _console().print(line, style="bold", soft_wrap=True)
    else:
        print(line)


def show_table(
    rows: Sequence[Mapping[str, Any]],
    *,
    title: str = "",
    header: bool = True,
    lines: bool = False,
    sections: Sequence[int] = (),
) -> None:
    """Print rows as a table that folds what does not fit, and cuts nothing off.

    Args:
        rows: One mapping a row, with the columns of the first.
        title: Above the table.
        header: Whether to print the names of the columns.
        lines: Whether to draw a line between rows.
        sections: Rows after which to draw a line.
    """
    if not rows:
        return
    from rich.table import Column, Table

    def cell(value: Any) -> str:
        return plain(f"{value:.6g}" if isinstance(value, float) else str(value))

    console = _console()
    columns = {name: [cell(name), *(cell(row[name]) for row in rows)] for name in rows[0]}
    words = [
        max(len(w) for text in texts for w in [*text.split(), ""]) for texts in columns.values()
    ]
    if sum(words) + 3 * len(words) + 1 > console.width:  # some words must be broken
        words = [1] * len(words)
    table = Table(
        *(
            Column(texts[0], overflow="fold", min_width=width)
            for texts, width in zip(columns.values(), words, strict=True)
        ),
        title=cell(title) or None,
        title_justify="left",
        show_header=header,
        show_lines=lines,
    )
    for i in range(len(rows)):
        table.add_row(*(texts[i + 1] for texts in columns.values()), end_section=i in sections)
    console.print(table)


def _console():
    from rich.console import Console

    return Console(markup=False, emoji=False, highlight=False)
