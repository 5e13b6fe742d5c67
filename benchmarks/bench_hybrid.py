"""Scenes of the hybrid engine: compiled from nothing, and run.

Every scene is compiled in a process of its own without a cache on disk. Times are of the processor:
XLA compiles on several cores, so that less than the time to compile may pass.

    python -m benchmarks hybrid
"""

import json
import os
import subprocess
import sys
import time

import jax

import stiction
from benchmarks.precision import timed
from benchmarks.timing import machine, table
from stiction.scenes import parse_settings, scene

# With e = 1 and e* = 1 the pendulum never rests: events for 10 s.
SCENES = {
    "double-pendulum": ["contact.restitution=1.0", "contact.energetic=1.0"],
    "bicycle": [],
    "box": [],
}


def measure(name: str) -> dict:
    """One scene: first call and later ones, with samples and events, and of the ends alone."""
    built = scene(name, parse_settings(SCENES[name]))
    scenario, mechanism, contacts = built.scenario, built.mechanism, built.contacts
    q, v, law, solver = built.q, built.v, built.law, built.solver

    def run(**keep):
        return jax.block_until_ready(
            stiction.simulate(
                mechanism, q, v, until=scenario.until, contacts=contacts, law=law, solver=solver,
                **keep,
            )
        )  # fmt: skip

    ends = {"samples": 2, "keep_events": False}
    start, wall = time.process_time(), time.perf_counter()
    first = run()
    compiled, waited = time.process_time() - start, time.perf_counter() - wall
    run(**ends)
    return {
        "scene": name,
        "until [s]": scenario.until,
        "steps": int(first.steps),
        "events": int(first.n_events),
        "ends [ms]": 1e3 * timed(lambda: run(**ends))[1],
        "501 samples and events [ms]": 1e3 * timed(run)[1],
        "compile, processor [s]": compiled,
        "compile, elapsed [s]": waited,
    }


def main() -> None:
    print(machine(), "\n")
    environment = os.environ | {"STICTION_CACHE": "off"}
    rows = []
    for name in SCENES:
        command = [sys.executable, "-m", "benchmarks.bench_hybrid", name]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        rows.append(json.loads(done.stdout))
    table(rows)


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(measure(sys.argv[1])))
    else:
        main()
