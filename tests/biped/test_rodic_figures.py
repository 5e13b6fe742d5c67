"""rodic's figures from the open recording: every one is made and shows what it must."""

import pytest

from stiction.reproduce import rodic

FIGURES = ["6", "8", "9", "10", "11", "12"]


@pytest.mark.shared
@pytest.mark.parametrize("number", FIGURES)
def test_figures_show_what_they_must(number, shared_data, monkeypatch):
    monkeypatch.setenv("STICTION_DATA", str(shared_data))
    made = getattr(rodic, f"figure_{number}")()
    assert made.figure is not None
    assert made.checks
    assert [c.claim for c in made.checks if not c.passed] == []


def test_without_the_recording_they_say_so_and_fail(monkeypatch, tmp_path):
    monkeypatch.setenv("STICTION_DATA", str(tmp_path))
    made = rodic.figure_12()
    assert "set STICTION_DATA" in made.note
    assert not made.checks[0].passed
