"""`stiction reproduce`: the figures and tables of a document, each with its verdict."""

from typing import Any

from stiction.cli.command import Answer, Output, command
from stiction.cli.options import Text, argument, option
from stiction.cli.terminal import say, show_table
from stiction.report import Report, progress


@command("Documents", writes="always")
def reproduce(
    output: Output,
    document: str = argument(
        ..., "marhefka, flickinger, erdmann, ma or rodic; or studies, beyond them."
    ),
    only: Text = option(None, "ITEM", "One item, as the document calls it: 'Figure 3'."),
    chapter: Text = option(None, "N", "The items of one chapter, such as 3 or A."),
) -> Answer:
    """Make a document's figures and tables anew, and say where they agree with it.

    Each item agrees, differs (by how much, and why as far as that is known) or is not reproduced.
    The exit status is 0 whenever the items were made, whatever their verdicts.

    Examples:
      stiction reproduce erdmann
      stiction reproduce flickinger --chapter 4
      stiction reproduce marhefka --only 'Figure 3'
    """
    from stiction.report.reproduce import add_item
    from stiction.reproduce import DOCUMENTS, entries

    chosen = entries(document, only=only, chapter=chapter)
    directory = output.open(f"reproduce-{document}", always=True)
    assert directory is not None
    report = Report(title=DOCUMENTS[document])
    results = []
    for entry in progress(chosen, f"reproducing {document}", label=lambda e: e.item):
        made = entry.make()
        files = add_item(report, directory, entry, made)
        results.append(
            {
                "item": entry.item,
                "title": entry.title,
                "verdict": made.verdict,
                "text": made.text,
                "checks": [vars(c) for c in made.checks],
                "files": files,
                "table": made.table,
            }
        )
    counts = {
        verdict: sum(r["verdict"] == verdict for r in results)
        for verdict in ("agrees", "differs", "not reproduced")
    }
    return Answer(
        {"document": document, "verdicts": counts, "items": results},
        lambda: _show(results, counts),
        lambda directory: directory.path / "report.html",
    )


def _show(results: list[dict[str, Any]], counts: dict[str, int]) -> None:
    """The verdicts, and of what differs each check that does not hold."""
    from stiction.report.page import cell

    show_table(
        [
            {
                "item": r["item"],
                "what": r["title"],
                "verdict": r["verdict"],
                "checks": f"{sum(c['passed'] for c in r['checks'])} of {len(r['checks'])} hold",
                "of the document": sum(c["source"] == "document" for c in r["checks"]),
            }
            for r in results
        ]
    )
    for r in results:
        if r["text"]:
            say(f"{r['item']} {r['verdict']}: {r['text']}")
        for c in (c for c in r["checks"] if not c["passed"]):
            beside = f"{cell(c['value'])}, not {cell(c['expected'])}"
            beside = "does not hold" if c["value"] is c["expected"] is None else beside
            say(f"  {c['source']}: {c['claim']}: {beside}")
    say("; ".join(f"{n} {verdict}" for verdict, n in counts.items() if n))
