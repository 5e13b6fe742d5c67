"""Every figure and table of the five documents is made, and its verdict is the listed one."""

import itertools
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

from stiction.reproduce import DOCUMENTS, Entry, entries, ma, rodic
from stiction.reproduce.flickinger_appendix import MU_STATIC, OMEGA, K, M, fixed_step

ALL = [e for document in DOCUMENTS for e in entries(document)]
# Items of one group share runs, which are made once in a process; groups go to different processes.
GROUPS: dict[str, list[Entry]] = {}
for _entry in ALL:
    _forward = _entry.document == "rodic" and _entry.item in ("Figure 8", "Figure 11")
    _part = _entry.item if _entry.document == "studies" else f"chapter {_entry.chapter}".rstrip()
    _name = f"{_entry.document}, {'forward' if _forward else _part}".removesuffix(", chapter")
    GROUPS.setdefault(_name, []).append(_entry)
QUICK = ("erdmann", "rodic")


@pytest.mark.parametrize(
    "group",
    [pytest.param(g, id=g, marks=() if g in QUICK else pytest.mark.slow) for g in GROUPS],
)
def test_verdicts_are_the_listed_ones(group):
    wrong = []
    for entry in GROUPS[group]:
        made = entry.make()
        failed = [(c.claim, c.value, c.expected) for c in made.checks if not c.passed]
        if made.verdict != entry.listed:
            wrong.append((entry.item, made.verdict, failed))
        # What differs is a statement of the document. Mechanics holds always.
        if not all(c.source == "document" for c in made.checks if not c.passed):
            wrong.append((entry.item, "mechanics", failed))
        said = any(c.source == "document" for c in made.checks)
        if made.checks and entry.document != "studies" and said == entry.silent:
            wrong.append((entry.item, "what the document says of it", failed))
        if made.verdict != "not reproduced" and not (made.data or made.table):
            wrong.append((entry.item, "no data", failed))
        plt.close("all")  # a chapter has many figures
    assert not wrong


@pytest.mark.slow
@pytest.mark.parametrize("study", ["Study 3", "Study 7", "Study 10"])
def test_the_page_on_differences_has_the_tables_of_the_studies(study):
    page = Path(__file__).parents[2] / "docs" / "differences.md"
    lines = page.read_text(encoding="utf-8").splitlines()
    table = entries("studies", only=study)[0].make().table
    plt.close("all")
    for row in (list(table[0]), *(row.values() for row in table)):
        assert f"| {' | '.join(row)} |" in lines


def test_at_most_five_items_are_not_reproduced():
    assert sum(e.listed == "not reproduced" for e in ALL) <= 5
    assert all(e.says for e in ALL if e.listed != "agrees")


def test_a_misprinted_test_of_ma_would_be_noticed():
    """The recomputed statistics depend on every printed number."""
    wrong = ma.TABLE_1.copy()
    wrong[4, 0] += 200.0
    assert abs(ma._scatter(wrong)[0] - ma.SCATTER_1[0]) > ma.ROUNDING
    assert np.all(np.abs(ma._scatter(ma.TABLE_1) - ma.SCATTER_1) < ma.ROUNDING)


def test_the_walk_that_is_shipped_is_small_and_says_whence_it_is():
    files = list(rodic.RECORDING.iterdir())
    assert sum(f.stat().st_size for f in files) < 100_000
    assert "CC BY 3.0" in (rodic.RECORDING / "NOTICE").read_text()


def test_fixed_steps_stick_no_longer_than_friction_holds():
    """Where the projected velocity stays zero from step to step, static friction is enough."""
    motion = fixed_step(1e-3, "crossing")
    t, d = motion.time, motion.deflection
    held = motion.sticks[1:] & motion.sticks[:-1]
    needed = np.abs(-K * d + M * OMEGA**2 * np.sin(OMEGA * t))[:-1][held]
    assert held.sum() > 100
    assert needed.max() <= MU_STATIC
    assert np.abs(np.diff(d)[held]).max() == 0.0


# What each document has, counted in its own lists and captions.
COUNTS = {
    "marhefka": [("Figure", "", 8)],
    "flickinger": [
        *(
            ("Figure", c, n)
            for c, n in {"2": 5, "3": 15, "4": 11, "5": 16, "6": 13, "A": 3}.items()
        ),
        *(("Table", c, n) for c, n in {"2": 4, "3": 4, "4": 1, "5": 3, "6": 2, "A": 2}.items()),
    ],
    "erdmann": [("Figure", "", 6), ("Table", "", 1)],
    "ma": [("Figure", "", 22), ("Table", "", 2)],
    "rodic": [("Figure", "", 12)],
}


@pytest.mark.parametrize("document", COUNTS)
def test_every_figure_and_table_of_a_document_is_listed(document):
    names = itertools.chain.from_iterable(
        (f"{kind} {chapter}.{i}" if chapter else f"{kind} {i}" for i in range(1, n + 1))
        for kind, chapter, n in COUNTS[document]
    )
    assert sorted(names) == sorted(e.item for e in entries(document))
