"""`stiction reproduce`: the figures and tables of a document, each with its check."""

from typing import Annotated

import typer

from stiction._errors import InputError, RunError, unknown
from stiction.cli.options import Force, Json, Out
from stiction.cli.output import OutputDirectory, print_json, text_table


def reproduce(
    document: Annotated[
        str, typer.Argument(help="marhefka, flickinger, erdmann, ma or rodic.", show_default=False)
    ],
    only: Annotated[
        str | None, typer.Option("--only", help="One item, as the document calls it: 'Figure 3'.")
    ] = None,
    chapter: Annotated[int | None, typer.Option("--chapter", help="One chapter.")] = None,
    out: Out = None,
    force: Force = False,
    json: Json = False,
) -> int:
    """Make a document's figures and tables anew, and check what each must show."""
    from stiction.report.figures import save_figure
    from stiction.report.page import Report
    from stiction.report.progress import progress
    from stiction.reproduce.registry import DOCUMENTS, entries

    chosen = entries(document)
    if not chosen:
        raise InputError(f"nothing of `{document}` is reproduced yet; try another document")
    if only is not None:
        known = [e.item for e in chosen]
        chosen = [e for e in chosen if only.lower() in (e.item.lower(), e.slug)]
        if not chosen:
            raise unknown(f"item of '{document}'", only, known)
    if chapter is not None:
        known_chapters = {e.chapter for e in chosen if e.chapter is not None}
        chosen = [e for e in chosen if e.chapter == chapter]
        if not chosen:
            raise unknown(f"chapter of '{document}'", chapter, known_chapters)
    directory = OutputDirectory(out or f"out/reproduce-{document}", force=force)
    report = Report(title=DOCUMENTS[document])
    results = []
    for entry in progress(chosen, f"reproducing {document}", label=lambda e: e.item):
        made = entry.make()
        report.heading(f"{entry.item}: {entry.title}")
        if made.note:
            report.text(made.note)
        files = []
        if made.figure is not None:
            files = save_figure(made.figure, directory, entry.slug)
            report.figure(files[-1], caption=entry.title)
        if made.table:
            report.table(made.table)
        report.checks(made.checks)
        report.write(directory.file("report.html"))  # after each item: nothing made is ever lost
        results.append(
            {
                "item": entry.item,
                "title": entry.title,
                "passed": all(c.passed for c in made.checks),
                "checks": [vars(c) for c in made.checks],
                "files": files,
                "table": made.table,
            }
        )
    failed = [r["item"] for r in results if not r["passed"]]
    if json:
        print_json({"document": document, "passed": not failed, "items": results})
    else:
        _print_table(results)
        print(f"report: {directory.path / 'report.html'}")
    if failed:
        raise RunError(
            f"{len(failed)} of {len(results)} items fail their check: {', '.join(failed)}"
        )
    return 0


def _print_table(results: list[dict]) -> None:
    from rich.console import Console
    from rich.markup import escape

    table = text_table("item", "what", "check", "result")
    for r in results:
        for i, c in enumerate(r["checks"] or [{"claim": "", "passed": True}]):
            head = (r["item"], r["title"]) if i == 0 else ("", "")
            table.add_row(*map(escape, (*head, c["claim"])), "holds" if c["passed"] else "FAILS")
    Console().print(table)
