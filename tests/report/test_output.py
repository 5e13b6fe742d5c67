"""The output directory: nothing foreign is touched, no file is torn, the manifest is true."""

import contextlib
import json
import os
import resource

import numpy as np
import pytest
import xarray as xr

from stiction._base.errors import InputError, RunError
from stiction.report import MANIFEST, OutputDirectory


def manifest(folder):
    return json.loads((folder / MANIFEST).read_text())


def names(folder):
    return {p.name for p in folder.iterdir()}


def test_every_kind_of_file_is_written_and_listed(tmp_path):
    directory = OutputDirectory(tmp_path / "a" / "b", command="run")
    assert not (tmp_path / "a").exists()  # made when first written to
    directory.text("note.txt", "häh\n")
    directory.json("data.json", {"x": np.array([1.0, np.nan]), "path": tmp_path})
    directory.csv("table.csv", [{"a": 1.5, "b": "x, y"}, {"a": 2, "c": ""}])
    directory.csv("empty.csv", [], ["t", "kind"])
    directory.netcdf("data.nc", xr.Dataset({"q": ("time", np.arange(3.0), {"units": "m"})}))
    folder = tmp_path / "a" / "b"
    assert json.loads((folder / "data.json").read_text())["x"] == [1.0, None]
    assert (folder / "table.csv").read_text() == 'a,b,c\n1.5,"x, y",\n2,,\n'
    assert (folder / "empty.csv").read_text() == "t,kind\n"
    with xr.open_dataset(folder / "data.nc") as data:
        assert data.q.attrs["units"] == "m"
        np.testing.assert_array_equal(data.q, np.arange(3.0))
    files = {"note.txt", "data.json", "table.csv", "empty.csv", "data.nc"}
    assert manifest(folder)["files"] == dict.fromkeys(files, "run")
    assert names(folder) == files | {MANIFEST}  # nothing is left aside


@pytest.mark.parametrize("place", ["file/out", "x" * 300, "/proc/nowhere", "/dev/full"])
def test_a_place_that_cannot_be_written_is_refused_at_once(tmp_path, monkeypatch, place):
    """A parent that is a file, a name too long, a file system that takes nothing, no directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="`--out`"):
        OutputDirectory(place)
    assert names(tmp_path) == {"file"}


@pytest.mark.parametrize(
    "content",
    ["", "{}", "[]", "not json", '{"made_by": "me", "files": []}', '{"made_by": "stiction 1"}'],
)
def test_a_directory_is_ours_only_if_its_manifest_says_so(tmp_path, content):
    (tmp_path / MANIFEST).write_text(content)
    with pytest.raises(InputError, match="--force"):
        OutputDirectory(tmp_path)


def test_a_manifest_that_is_a_link_does_not_count(tmp_path):
    OutputDirectory(tmp_path / "ours").text("a.txt", "a")
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / MANIFEST).symlink_to(tmp_path / "ours" / MANIFEST)
    with pytest.raises(InputError, match="--force"):
        OutputDirectory(tmp_path / "theirs")


def test_a_link_inside_is_replaced_and_not_followed(tmp_path):
    (tmp_path / "precious.txt").write_text("years of work")
    folder = tmp_path / "out"
    OutputDirectory(folder, command="run").text("report.html", "old")
    for name in ("report.html", "new.txt"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(tmp_path / "precious.txt")
    again = OutputDirectory(folder, command="run")
    again.text("report.html", "new")
    again.text("new.txt", "new")
    assert (tmp_path / "precious.txt").read_text() == "years of work"
    assert (folder / "report.html").read_text() == "new"
    assert not (folder / "report.html").is_symlink()


def test_a_rerun_leaves_nothing_of_the_run_before(tmp_path):
    first = OutputDirectory(tmp_path / "out", command="run")
    for name in ("report.html", "events.csv"):
        first.text(name, "old")
    (tmp_path / "out" / "notes.txt").write_text("of the user")
    second = OutputDirectory(tmp_path / "out", command="run")
    second.text("report.html", "new")
    assert names(tmp_path / "out") == {"report.html", "notes.txt", MANIFEST}
    assert set(manifest(tmp_path / "out")["files"]) == {"report.html"}


def test_files_of_other_commands_stay(tmp_path):
    """Virtual logs are made by one mode of `identify` and read by another."""
    OutputDirectory(tmp_path, command="identify --simulate").text("test-01.csv", "t")
    OutputDirectory(tmp_path, command="identify").text("report.html", "r")
    OutputDirectory(tmp_path, command="identify").text("report.html", "r")
    files = {"test-01.csv": "identify --simulate", "report.html": "identify"}
    assert manifest(tmp_path)["files"] == files
    assert names(tmp_path) == {*files, MANIFEST}


def test_a_manifest_that_names_foreign_files_has_no_power_over_them(tmp_path):
    (tmp_path / "precious.txt").write_text("years of work")
    files = {"../precious.txt": "run", str(tmp_path / "precious.txt"): "run"}
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / MANIFEST).write_text(json.dumps({"made_by": "stiction 1", "files": files}))
    OutputDirectory(tmp_path / "out", command="run").text("a.txt", "a")
    assert (tmp_path / "precious.txt").read_text() == "years of work"
    assert set(manifest(tmp_path / "out")["files"]) == {"a.txt"}


def test_directories_of_the_first_version_are_still_ours(tmp_path):
    old = {"made_by": "stiction 0.1.0", "command": ["run", "box"], "files": ["a.txt"]}
    (tmp_path / MANIFEST).write_text(json.dumps(old))
    (tmp_path / "a.txt").write_text("old")
    OutputDirectory(tmp_path, command="run").text("b.txt", "new")
    assert names(tmp_path) == {"b.txt", MANIFEST}


def test_what_a_killed_command_left_aside_is_removed(tmp_path):
    OutputDirectory(tmp_path, command="run").text("a.txt", "a")
    (tmp_path / ".stiction-dead").mkdir()
    (tmp_path / ".stiction-dead" / "report.html").write_text("half")
    OutputDirectory(tmp_path, command="run").text("a.txt", "a")
    assert names(tmp_path) == {"a.txt", MANIFEST}


@contextlib.contextmanager
def largest_file(size):
    """No file may be larger [bytes], as on a disk that is full."""
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)


def test_a_failure_to_write_names_what_is_kept(tmp_path):
    directory = OutputDirectory(tmp_path / "out", command="run")
    directory.text("small.txt", "a")
    data = xr.Dataset({"q": ("time", np.random.default_rng(0).random(10_000))})
    with largest_file(20_000):
        with pytest.raises(RunError, match=r"big\.nc.*File too large.*kept.*: small\.txt"):
            directory.netcdf("big.nc", data)
        with pytest.raises(RunError, match=r"big\.txt"):
            directory.text("big.txt", "a" * 50_000)
    assert names(tmp_path / "out") == {"small.txt", MANIFEST}
    assert set(manifest(tmp_path / "out")["files"]) == {"small.txt"}


def test_a_block_that_fails_leaves_the_former_file_alone(tmp_path):
    directory = OutputDirectory(tmp_path / "out", command="run")
    directory.text("a.txt", "whole")

    def write_half():
        with directory.file("a.txt") as path:
            path.write_text("wh")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_half()
    assert (tmp_path / "out" / "a.txt").read_text() == "whole"
    assert names(tmp_path / "out") == {"a.txt", MANIFEST}


def test_files_can_be_read_by_others(tmp_path):
    """As the user's mask has it, though the folder aside is private."""
    OutputDirectory(tmp_path / "out").text("a.txt", "a")
    usual = os.umask(0)
    os.umask(usual)
    for name in ("a.txt", MANIFEST):
        assert (tmp_path / "out" / name).stat().st_mode & 0o777 == 0o666 & ~usual
