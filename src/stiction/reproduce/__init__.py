"""The figures and tables of the five documents, made anew, each with its check.

A module a document (flickinger: one a chapter). Its items are registered with `Document.item`;
`entries` lists them, and `Entry.make()` gives a `Reproduction`: a figure, its data as arrays, a
table, the checks and a verdict: agrees, differs or not reproduced. Figures are drawn with what
`report` offers.
"""

from stiction.reproduce.registry import (
    DOCUMENTS,
    Agreement,
    Check,
    Curve,
    Document,
    Entry,
    Reproduction,
    entries,
)

__all__ = [
    "DOCUMENTS",
    "Agreement",
    "Check",
    "Curve",
    "Document",
    "Entry",
    "Reproduction",
    "entries",
]
