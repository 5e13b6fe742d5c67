"""Mutated files: 2,000 here; `python -m benchmarks fuzz` tries 100,000."""

from importlib.resources import files

import pytest

from .doors import doors, quietly
from .rig import CORPUS, content_of, fuzz, table, verdict

pytest.importorskip("ezc3d")
COUNT = 2_000


@pytest.mark.parametrize("kind", list(doors()))
def test_what_is_whole_is_read(kind, tmp_path):
    """Else mutations would only try how broken files are refused."""
    door = doors()[kind]
    for given in (files("stiction.scenes") / "library").iterdir():
        if given.name.endswith(".csv"):  # that scenarios name
            (tmp_path / given.name).write_bytes(given.read_bytes())
    for seed in door.seeds:
        path = tmp_path / f"whole{door.suffix}"
        path.write_bytes(seed)
        assert quietly(door, path) is None


@pytest.mark.parametrize("path", sorted(CORPUS.iterdir()), ids=lambda p: p.name)
def test_what_once_failed_is_read_or_refused(path):
    """Files are named KIND--WHAT: each was a crash, a traceback, or took too long."""
    assert verdict(doors()[path.stem.partition("--")[0]], path) in ("read", "refused")


def test_mutated_files_are_read_or_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # failures are kept there
    tallies = fuzz(COUNT)
    assert not any(t.failures for t in tallies.values()), table(tallies)
    for kind, tally in tallies.items():
        assert tally.read > 0, kind
        assert tally.refused > 0, kind


def test_a_number_stands_for_the_same_file_always():
    assert content_of("table", 7) == content_of("table", 7) != content_of("table", 8)


def test_the_rig_sees_what_is_wrong(tmp_path, monkeypatch):
    """A door that raises what it should not, notes of NumPy, and one that never ends."""
    import time

    import numpy as np

    def endless(_):
        begin = time.process_time()
        while time.process_time() - begin < 10:
            pass

    door = doors()["table"]
    path = tmp_path / "a.csv"
    path.write_text("")
    for read, word in (
        (lambda _: {}["a"], "KeyError"),
        (lambda _: np.float64(1e308) * 10, "RuntimeWarning"),
        (endless, "TooSlow"),
    ):
        monkeypatch.setattr(door, "read", read)
        assert word in verdict(door, path)
