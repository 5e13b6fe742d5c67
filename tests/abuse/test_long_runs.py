"""Long runs and many runs: memory and time stay flat, and bits the same."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

import stiction
from memory import resident

RUN = """
import hashlib, numpy as np, stiction
found = hashlib.sha256()
for law in ("hybrid", "stepping", "compliant"):
    run = stiction.scene("box", {"contact.law": law, "until": 0.5, "samples": 21}).run()
    found.update(np.asarray(run.q).tobytes() + np.asarray(run.force).tobytes())
print(found.hexdigest())
"""


@pytest.mark.parametrize("law", ["hybrid", "stepping", "compliant"])
def test_many_runs_in_one_process_stay_as_small_and_as_fast(law, cases):
    """1,000 runs of other numbers: after the first few nothing grows."""
    scene = stiction.scene("box", {"contact.law": law, "until": 0.3, "samples": 11})
    count, sizes, times = cases(1_000), [], []
    for i in range(count):
        begin = time.process_time()
        run = scene.run({"start.v": [0.0, 0.0, 0.0, 0.01 * i, 0.0, 0.0]})
        assert run.success
        times.append(time.process_time() - begin)
        sizes.append(resident())
    half = count // 2
    assert sizes[-1] - sizes[half] < 10
    assert np.median(times[half:]) < 2 * np.median(times[5:half])


def test_a_long_run_takes_no_more_memory_than_a_short_one(cases):
    """Walking-like contact: a box that a swinging floor throws and catches, 1 h with --thorough."""
    shaken = {
        "contact.law": "stepping", "ground.amplitude": [0.0, 0.0, 0.02], "ground.frequency": 2.0,
        "samples": 101, "contact.max_events": 100, "start.resolve": True,
    }  # fmt: skip
    scene = stiction.scene("box", shaken)
    scene.run(until=1.0)
    before, begin = resident(), time.process_time()
    scene.run(until=10.0)
    short = time.process_time() - begin
    long = float(cases(3600)) / 6
    begin = time.process_time()
    run = scene.run(until=long)
    assert run.n_events > 100  # the list is full, and the run goes on
    assert resident() - before < 50
    assert (time.process_time() - begin) / long < 2 * short / 10
    assert np.isfinite(run.q).all()


def test_bits_are_the_same_in_batches_of_any_size(rng):
    scene = stiction.scene("box")
    q = np.tile(np.asarray(scene.q), (64, 1))
    v = rng.normal(size=(64, 6))
    given = {"until": 0.4, "contacts": scene.contacts, "law": scene.law, "samples": 5}
    whole = stiction.simulate(scene.mechanism, q, v, **given)
    for some in (slice(0, 1), slice(3, 10), slice(20, 64)):
        part = stiction.simulate(scene.mechanism, q[some], v[some], **given)
        np.testing.assert_array_equal(part.q, whole.q[some])
        np.testing.assert_array_equal(part.force, whole.force[some])
    alone = stiction.simulate(scene.mechanism, q[5], v[5], **given)
    np.testing.assert_array_equal(alone.q, whole.q[5])


@pytest.mark.slow
def test_bits_are_the_same_in_other_processes_and_with_other_threads():
    one_thread = {
        "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
        "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    }  # fmt: skip
    found = {
        subprocess.run(
            [sys.executable, "-c", RUN], env=os.environ | more, capture_output=True, text=True,
            check=True, timeout=300,
        ).stdout
        for more in ({}, {"PYTHONHASHSEED": "7"}, one_thread)
    }  # fmt: skip
    assert len(found) == 1
