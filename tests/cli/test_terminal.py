"""Tables on a terminal: what fits is not broken within a word, and nothing is cut off."""

import pytest

from stiction.cli.terminal import show_table

ROWS = [
    {"law": "dissipation, constrained", "velocity [m/s]": "-0.72789, 2.5261", "state": "slip"},
    {"law": "no-slip", "velocity [m/s]": "0, 2.5981", "state": "stick"},
]


@pytest.mark.parametrize("width", [36, 40, 200])
def test_words_that_fit_are_not_broken(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    show_table(ROWS)
    told = capsys.readouterr().out
    for row in ROWS:
        for text in row.values():
            for word in text.split():
                assert word in told


def test_where_words_do_not_fit_every_letter_is_there(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "24")
    show_table(ROWS)
    told = capsys.readouterr().out
    assert all(len(line) <= 24 for line in told.splitlines())
    letters = [c for c in told if c.isalnum()]
    wanted = [
        c for row in [dict.fromkeys(ROWS[0]), *ROWS] for k, v in row.items() for c in (v or k)
    ]
    assert sorted(letters) == sorted(c for c in wanted if c.isalnum())
