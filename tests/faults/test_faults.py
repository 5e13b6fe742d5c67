"""Killed at any instant, on a full disk, without a home: no torn file, nothing foreign touched, and
the next run succeeds.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
import xarray as xr

from stiction.report import MANIFEST

pytestmark = pytest.mark.slow

COMMANDS = {
    "run": ("run", "box", "--set", "until=0.3", "--set", "samples=31"),
    "study": ("study", "box", "--vary", "start.v.wx=-9..9", "--cases", "64", "--set", "until=0.2"),
    "identify": ("identify", "--setup", "single-point", "--simulate", "2"),
    "gait": ("gait", "m.csv", "--mass", "80"),
    "reproduce": ("reproduce", "erdmann"),
}


def command(*arguments: str, out: Path | None = None) -> list[str]:
    place = () if out is None else ("--out", str(out))
    return [sys.executable, "-m", "stiction", *arguments, *place]


def call(
    arguments: list[str], folder: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        arguments, cwd=folder, env=os.environ | environment, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip


def inputs(folder: Path) -> None:
    """What commands read, and what is nobody's but the user's."""
    (folder / "notes.txt").write_text("of the user")
    columns = ",".join(f"base.{a}" for a in ("x", "y", "z", "qw", "qx", "qy", "qz"))
    rows = [f"{k / 60:.5f},0,0,1,1,0,0,0" for k in range(60)]
    (folder / "m.csv").write_text("\n".join([f"time,{columns}", *rows]))


def count(folder: Path) -> int:
    """How many files there are, while others come and go."""
    return sum(len(files) for _, _, files in os.walk(folder))


def assert_whole(folder: Path) -> None:
    """Every file in place can be read to its end, and the manifest lists no others."""
    for path in (p for p in folder.rglob("*") if p.is_file()):
        if any(part.startswith(".stiction-") or part.endswith(".zarr") for part in path.parts):
            continue  # aside, or in a store that is tested by itself
        match path.suffix:
            case ".json":
                json.loads(path.read_text())
            case ".nc":
                with xr.open_dataset(path, engine="h5netcdf") as data:
                    data.load()
            case ".html":
                assert path.read_text().rstrip().endswith("</html>"), path
            case ".svg" | ".xml":
                ElementTree.parse(path)
            case ".png":
                assert path.read_bytes().endswith(b"IEND\xaeB`\x82"), path
            case ".csv" | ".toml" | ".md" | ".mot" | ".sto" | ".txt":
                assert path.read_text().endswith("\n"), path
    for manifest in folder.rglob(MANIFEST):
        for name in json.loads(manifest.read_text())["files"]:
            assert (manifest.parent / name).exists(), name


@pytest.mark.parametrize("name", COMMANDS)
def test_killed_at_any_instant_nothing_is_torn(name, tmp_path, rng, cases):
    """Most kills fall into the time in which files are written."""
    inputs(tmp_path)
    begin = time.monotonic()
    whole = call(command(*COMMANDS[name], out=tmp_path / "whole"), tmp_path)
    usual = time.monotonic() - begin
    assert whole.returncode == 0, whole.stderr
    out = tmp_path / "out"
    for kill in range(cases(30)):
        process = subprocess.Popen(
            command(*COMMANDS[name], out=out), cwd=tmp_path, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        begin = time.monotonic()
        if kill % 3:  # as soon as something is written, and a little later
            known = count(out)
            while process.poll() is None and count(out) == known:
                time.sleep(0.005)
            time.sleep(float(rng.uniform(0, 0.3 * usual)))
        else:
            time.sleep(float(rng.uniform(0, usual)))
        process.send_signal(signal.SIGKILL)
        process.wait()
        if out.exists():
            assert_whole(out)
        assert (tmp_path / "notes.txt").read_text() == "of the user"
    again = call(command(*COMMANDS[name], out=out), tmp_path)
    assert again.returncode == 0, again.stderr
    assert_whole(out)

    def names(folder: Path) -> set[str]:
        return {str(p.relative_to(folder)) for p in folder.rglob("*") if ".zarr" not in str(p)}

    assert names(out) == names(tmp_path / "whole")


@pytest.mark.parametrize("name", COMMANDS)
def test_on_a_full_disk_a_command_fails_in_one_line_and_tears_nothing(name, tmp_path):
    inputs(tmp_path)
    done = subprocess.run(
        command(*COMMANDS[name], out=tmp_path / "out"), cwd=tmp_path, capture_output=True,
        text=True, timeout=300, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (6_000, 6_000)),
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert done.returncode == 1, done.stderr
    assert [line for line in done.stderr.splitlines() if line.startswith("stiction: ")]
    if (tmp_path / "out").exists():
        assert_whole(tmp_path / "out")


def test_without_a_home_everything_works(tmp_path):
    """Neither programs nor kernels can be kept; what Warp has compiled elsewhere is not there."""
    import warp as wp

    wp.init()
    kept = str(Path(str(wp.config.kernel_cache_dir)).parent)  # compiling takes a minute
    nowhere = {"HOME": "/nonexistent", "XDG_CACHE_HOME": "", "WARP_CACHE_PATH": kept}
    done = call(command(*COMMANDS["run"], "--json"), tmp_path, **nowhere)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert json.loads(done.stdout)["success"]


def test_two_processes_on_a_cold_cache_do_not_hurt_each_other(tmp_path):
    """Of JAX's programs; both runs give the same bytes, and so does one on the warm cache."""
    cold = {"STICTION_CACHE": str(tmp_path / "cache")}
    runs = [
        subprocess.Popen(
            command(*COMMANDS["run"], out=tmp_path / f"out{i}"), env=os.environ | cold,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for i in range(2)
    ]  # fmt: skip
    for process in runs:
        _, said = process.communicate(timeout=300)
        assert process.returncode == 0, said
        assert "rror" not in said
    warm = call(command(*COMMANDS["run"], out=tmp_path / "out2"), tmp_path, **cold)
    assert warm.returncode == 0, warm.stderr
    data = [(tmp_path / f"out{i}" / "trajectory.nc").read_bytes() for i in range(3)]
    assert data[0] == data[1] == data[2]


@pytest.mark.parametrize("arguments", [("scenes", "--json"), ("run", "box", "--json")])
def test_closed_pipes_are_no_tracebacks(arguments, tmp_path):
    """The reader goes away, or standard output is full, or closed from the start."""
    words = " ".join(command(*arguments, "--set", "until=0.1") if "run" in arguments
                     else command(*arguments))  # fmt: skip
    for end in ("| true", "> /dev/full", ">&-", "2>&- > /dev/null"):
        done = subprocess.run(
            ["bash", "-c", f"{words} {end}"], cwd=tmp_path, capture_output=True, text=True,
            timeout=300, check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stderr + done.stdout
        assert "Exception ignored" not in done.stderr
