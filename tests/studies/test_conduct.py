"""A study gives the same results wherever and however often it is started."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from stiction import InputError, RunError
from stiction.studies import conduct, make_design, study
from stiction.studies.store import Schema
from stiction.studies.subject import FunctionSubject

VARY = ["a=0:1:7", "b=0..1"]


def additive(a, b, rng):
    """A number, an array, and noise of the case's own seed."""
    return {"sum": a + 2 * b, "powers": np.array([a, a**2, a**3]), "noise": rng.normal()}


def brittle(a):
    """Fails in some cases, each in its own way."""
    if a < 0.3:
        raise ValueError(f"{a:g} is too small\nfor this")
    return {"root": np.sqrt(a), "size": 3 if a < 0.7 else [3, 4]}


def same(one: xr.Dataset, other: xr.Dataset) -> bool:
    """Whether two results are the same to the bit."""
    if set(one.variables) != set(other.variables):
        return False
    return all(
        one[n].values.tobytes() == other[n].values.tobytes()
        if one[n].dtype.kind != "T"
        else np.array_equal(one[n].values, other[n].values)
        for n in one.variables
    )


@pytest.fixture(scope="module")
def design():
    return make_design(VARY, cases=9, seed=5)


@pytest.fixture(scope="module")
def serial(design):
    with_study = study(additive, design, workers=1, block=63)
    return with_study.dataset().load()


def test_dimensions_are_the_varied_numbers(serial, design):
    assert dict(serial["sum"].sizes) == {"a": 7, "sample": 9}
    b = serial["b"]
    assert np.array_equal(serial["sum"].values, (serial["a"] + 2 * b).transpose("a", "sample"))
    assert np.array_equal(serial["powers"].sel(a=0.5)[0], [0.5, 0.25, 0.125])
    assert len(np.unique(serial["noise"])) == design.count
    assert np.all(serial["status"] == 1)


@pytest.mark.parametrize("block", [1, 5, 9, 20])
def test_results_do_not_depend_on_the_size_of_blocks(serial, design, block):
    assert same(study(additive, design, workers=1, block=block).dataset().load(), serial)


def test_processes_give_what_one_does(serial, design, tmp_path):
    made = study(additive, design, out=tmp_path, workers=2, block=4)
    assert same(made.dataset().load(), serial)


def test_xarray_opens_the_results_by_itself(serial, design, tmp_path, recwarn):
    study(additive, design, out=tmp_path, workers=1, block=9)
    opened = xr.open_zarr(tmp_path / "results.zarr", chunks=None)
    assert np.array_equal(opened["sum"].values, serial["sum"].values)
    assert not [w for w in recwarn if "onsolidated" in str(w.message)]


def test_started_again_only_what_is_missing_is_done(serial, design, tmp_path):
    done = []

    def interrupted(a, b, rng):
        if len(done) == 30:
            raise KeyboardInterrupt
        done.append((a, b))
        return additive(a, b, rng)

    interrupted.__code__ = interrupted.__code__  # its source is its identity: the same both times
    with pytest.raises(KeyboardInterrupt):
        study(interrupted, design, out=tmp_path, workers=1, block=9)
    part = xr.open_zarr(tmp_path / "results.zarr", chunks=None)
    assert int((part["status"] == 1).sum()) == 27  # three blocks of nine; the fourth was lost
    done[:] = [None] * 100
    told = []
    made = study(interrupted, design, out=tmp_path, workers=1, tell=told.append)
    assert len(done) == 100 + 63 - 27 + 1  # and one more, to see what the function gives
    assert (told[0].kept, told[-1].done) == (27, 63)
    assert same(made.dataset().load(), serial)


def test_another_study_is_not_written_over(design, tmp_path):
    study(additive, design, out=tmp_path, workers=1)
    before = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*")}
    for other in (make_design(VARY, cases=9, seed=6), make_design(VARY, cases=10, seed=5)):
        with pytest.raises(InputError, match="another study"):
            study(additive, other, out=tmp_path, workers=1)
    with pytest.raises(InputError, match="another study"):
        study(brittle, design, out=tmp_path, workers=1)
    assert {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*")} == before


def test_a_case_that_fails_is_recorded_and_ends_nothing(tmp_path):
    made = study(brittle, {"a": "0:1:11"}, out=tmp_path, workers=1, block=4)
    found = made.dataset()
    assert found["status"].values.tolist() == [2] * 3 + [1] * 4 + [2] * 4
    messages = found["message"].values
    assert messages[0] == "ValueError: 0 is too small for this"
    assert "has the shape (2,), not ()" in messages[10]
    assert np.isnan(found["root"].values[0])
    assert [f["case"] for f in made.failures()] == [0, 1, 2, 7, 8, 9, 10]
    assert len(made.failures(2)) == 2


def test_a_design_in_which_nothing_works_is_refused_and_nothing_written(tmp_path):
    for function, vary, words in (
        (brittle, {"a": "0:0.2:5"}, "too small"),
        (brittle, {"c": "0:1:5"}, "cannot be called so"),
        (lambda a: "word", {"a": "0:1:3"}, "must give numbers"),
        (lambda a: {"status": a}, {"a": "0:1:3"}, "name of something else"),
        (lambda a: {"a": a}, {"a": "0:1:3"}, "name of something else"),
    ):
        out = tmp_path / "out"
        with pytest.raises(InputError, match=words):
            study(function, vary, out=out, workers=1)
        assert not out.exists()


def deadly(a):
    """Kills its process in one case."""
    if a == 3.0:
        os.kill(os.getpid(), signal.SIGKILL)
    return a


def test_a_case_that_kills_its_process_is_found_and_recorded(tmp_path):
    made = study(deadly, {"a": "0,1,2,3,4,5,6,7"}, out=tmp_path, workers=2, block=1)
    assert made.dataset()["status"].values.tolist() == [1, 1, 1, 2, 1, 1, 1, 1]
    assert made.failures()[0]["message"] == "the process that ran this case died"


SCRIPT = """
    import sys, time
    import numpy as np
    from stiction.studies import make_design, study

    def slow(a, rng):
        time.sleep(0.004)
        return {"kept": a, "noise": rng.normal(size=20)}

    if __name__ == "__main__":
        out, workers = sys.argv[1], int(sys.argv[2])
        study(slow, make_design(["a=0..1"], cases=600, sampler="random"), out=out,
              workers=workers, block=10)
        print("finished")
"""


def start(script: Path, out: Path, workers: int) -> subprocess.Popen:
    command = [sys.executable, str(script), str(out), str(workers)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)


def done_in(out: Path) -> int:
    """Cases that are done, if the study was begun; raises if the store is torn."""
    if not (out / "results.zarr").exists():
        return 0
    found = xr.open_zarr(out / "results.zarr", chunks=None)
    done = found["status"].values == 1
    assert np.isfinite(found["noise"].values[done]).all()
    assert np.array_equal(found["kept"].values[done], found["a"].values[done])
    return int(done.sum())


def test_a_call_that_is_slow_to_begin_makes_no_small_blocks():
    """Blocks of a few cases would cost more to write than to do."""

    class Slow(FunctionSubject):
        def outcomes(self, cases, seeds, schema):
            time.sleep(0.25 + 1e-4 * len(cases))
            return {}, [""] * len(cases)

    many = make_design(["a=0..1"], cases=4000, sampler="random")
    size = conduct._block_size(Slow(lambda case, seed: 0.0, "slow"), many, Schema({}), 1)
    assert size > 100  # by a single case it would be 8


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_killed_at_any_instant_it_goes_on_and_comes_out_the_same(tmp_path, cases, rng, workers):
    script = tmp_path / "slow.py"
    script.write_text(textwrap.dedent(SCRIPT))
    whole = start(script, tmp_path / "whole", 1)
    assert whole.communicate()[0] == "finished\n"
    kills, out, done, round_ = cases(50), tmp_path / "killed0", 0, 0
    while kills:
        process = start(script, out, workers)
        begun = time.monotonic()  # most of the time goes by before the first case
        while done_in(out) == done and process.poll() is None and time.monotonic() - begun < 30:
            time.sleep(0.02)
        time.sleep(float(rng.uniform(0, 0.5)))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        time.sleep(0.3)  # processes that have lost their leader end
        now = done_in(out)
        assert now >= done
        kills, done = kills - 1, now
        if done == 600 and kills:
            assert same_files(out, tmp_path / "whole")
            round_, done = round_ + 1, 0
            out = tmp_path / f"killed{round_}"
    assert start(script, out, workers).communicate()[0] == "finished\n"
    assert same_files(out, tmp_path / "whole")
    assert not list(out.rglob("*.partial"))


def same_files(one: Path, other: Path) -> bool:
    opened = (xr.open_zarr(p / "results.zarr", chunks=None).load() for p in (one, other))
    return same(*opened)


def large(a):
    """A case that takes room."""
    return {"noise": np.random.default_rng(int(a * 1e6)).normal(size=20_000)}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounts a small disk")
def test_on_a_full_disk_what_is_done_is_kept_and_the_rest_is_done_later(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", disk])
    if mounted.returncode:
        pytest.skip("no disk can be mounted here")
    try:
        vary = {"a": "0:1:40"}
        with pytest.raises(RunError, match="No space left"):
            study(large, vary, out=disk / "study", workers=1, block=2)
        part = xr.open_zarr(disk / "study" / "results.zarr", chunks=None)
        done = part["status"].values == 1
        assert 0 < done.sum() < 40
        assert np.isfinite(part["noise"].values[done]).all()
        subprocess.run(["mount", "-o", "remount,size=30m", disk], check=True)
        made = study(large, vary, out=disk / "study", workers=1, block=2)
        whole = study(large, vary, workers=1, block=40).dataset().load()
        assert same(made.dataset().load(), whole)
        assert not list(disk.rglob("*.partial"))
    finally:
        subprocess.run(["umount", "-l", disk])


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.slow
def test_a_cluster_gives_what_one_process_does(serial, design, client, tmp_path):
    made = study(additive, design, out=tmp_path, workers=client, block=3)
    assert same(made.dataset().load(), serial)


@pytest.mark.slow
def test_a_cluster_runs_scenes_to_the_bit(client, tmp_path):
    vary = {"contact.restitution": "0.2:0.8:6", "contact.mu_static,contact.mu_dynamic": "0.3,0.6"}
    here = study("double-pendulum", vary, workers=1, block=12).dataset().load()
    there = study("double-pendulum", vary, out=tmp_path, workers=client, block=2).dataset()
    assert same(there.load(), here)


def waiting(a):
    """A case that takes a moment."""
    time.sleep(0.02)
    return {"kept": a}


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_loses_nothing(client, tmp_path):
    killed = []

    def tell(progress):
        if 20 <= progress.done < 100 and not killed:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    vary = {"a": "0:1:200"}
    made = study(waiting, vary, out=tmp_path, workers=client, block=4, tell=tell)
    found = made.dataset()
    assert killed
    assert np.all(found["status"] == 1)
    assert np.array_equal(found["kept"].values, np.linspace(0, 1, 200))
