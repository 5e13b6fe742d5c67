"""The gallery of known answers as a page: case, law, error.

`python -m manual answers` runs all cases and writes `answers.csv`; the page is made of it.
"""

import csv
from collections.abc import Iterator
from pathlib import Path

from manual import head

MEASURED = Path(__file__).parent / "answers.csv"


def main() -> None:
    """Run all cases, and write their errors."""
    from tests.gallery.all import errors

    with MEASURED.open("w", newline="") as file:
        rows = csv.writer(file)
        for group, case, engine, error in errors():
            rows.writerow([group, case, engine, f"{error:.1e}"])
            file.flush()


def _table(rows: list[list[str]]) -> Iterator[str]:
    """One line a case: its laws with the same error stand together."""
    yield "| case | error by law |"
    yield "| --- | --- |"
    for case in dict.fromkeys(row[1] for row in rows):
        by_error: dict[str, list[str]] = {}
        for _, name, engine, error in rows:
            if name == case:
                by_error.setdefault(error, []).append(engine)
        told = "; ".join(f"{', '.join(laws)}: {error}" for error, laws in by_error.items())
        yield f"| {case} | {told} |"


def page() -> str:
    """The page."""
    with MEASURED.open(newline="") as file:
        rows = list(csv.reader(file))
    cases = len({row[1] for row in rows})
    text = [head("answers"), f"{cases} cases, {len(rows)} runs.", ""]
    for group in dict.fromkeys(row[0] for row in rows):
        text += [f"## {group.capitalize()}", "", *_table([r for r in rows if r[0] == group]), ""]
    return "\n".join(text)
