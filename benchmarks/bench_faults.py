"""Identification of faulty logs: do intervals cover the truth, or is the fault named?

    python -m benchmarks.bench_faults --workers 16 --logs 200 --results faults.jsonl

Logs of each fault and setup, four of every row in turn, so that a study that ends early has seen
all rows alike; a row whose first thirty were all refused is left at that (fewer than nine in ten
would have shown). Every outcome is written into the results as it comes; the same command goes on
where it was. The table is that of docs/identify.md.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from tests.identify.fault_rig import FAULTS, Outcome, Verdict, try_log, verdict_on

SETUPS = ("single-point", "two-point")
_IN_TURN = 4
_SURE = 30  # logs refused one after the other
_ONE_THREAD = {
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"),
}
Row = tuple[str, str]  # fault and setup
Log = tuple[str, str, int]  # and the log's number


def main(arguments: Sequence[str] = ()) -> None:
    """Try the logs that are missing, and print the table."""
    o = _options().parse_args(arguments)
    words = [w.strip() for w in o.rows.split(",")]
    chosen = [(f, s) for f in FAULTS for s in SETUPS if any(w in f"{f}: {s}" for w in words)]
    if not chosen:
        sys.exit(f"no row holds any of {words}; faults are: {', '.join(FAULTS)}")
    results, end = Path(o.results), time.monotonic() + o.seconds
    done, seconds = _read(results)
    missing = _missing(chosen, o.logs, done)
    # One thread a worker, set before JAX is imported there.
    os.environ.update(_ONE_THREAD)
    with (
        results.open("a", encoding="utf-8") as file,
        ProcessPoolExecutor(o.workers, get_context("spawn")) as pool,
    ):
        if results.stat().st_size and not results.read_bytes().endswith(b"\n"):
            file.write("\n")  # the last line was cut off
        running = set()
        while True:
            while len(running) < 2 * o.workers and time.monotonic() < end:
                if (log := next(missing, None)) is None:
                    break
                running.add(pool.submit(_try, log))
            if not running:
                break
            ready, running = wait(running, return_when=FIRST_COMPLETED)
            for log, outcome, spent in (future.result() for future in ready):
                done[log], seconds[log] = outcome, spent
                line = {"row": log, "seconds": round(spent, 2), **vars(outcome)}
                file.write(json.dumps(line) + "\n")
                file.flush()
    print(
        "| fault | setup | hold the truth | width, median [%] | mean [%] | refused | named"
        " | by a caveat alone | processor time a log [s] |\n" + 9 * "| --- " + "|"
    )
    for row in chosen:
        logs = [log for log in done if log[:2] == row and log[2] < o.logs]
        spent = float(np.mean([seconds[log] for log in logs])) if logs else float("nan")
        print(line_of(*row, verdict_on([done[log] for log in logs]), spent))


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_faults")
    parser.add_argument("--workers", type=int, default=1, help="processes, one thread each [1]")
    parser.add_argument("--logs", type=int, default=200, help="of each row [200]")
    parser.add_argument(
        "--rows", default="", help="rows whose 'fault: setup' has one of these words, by commas"
    )
    parser.add_argument("--results", default="faults.jsonl", help="outcomes [faults.jsonl]")
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="start no log after this time [s]"
    )
    return parser


def _missing(rows: list[Row], count: int, done: dict[Log, Outcome]) -> Iterator[Log]:
    """Logs to try, in turn; what is done meanwhile is seen."""
    for first in range(0, count, _IN_TURN):
        for row in rows:
            seen = [done[*row, i].refused for i in range(first) if (*row, i) in done]
            if len(seen) >= _SURE and all(seen):
                continue
            for number in range(first, min(first + _IN_TURN, count)):
                if (*row, number) not in done:
                    yield (*row, number)


def _try(log: Log) -> tuple[Log, Outcome, float]:
    fault, setup, number = log
    before = time.process_time()
    outcome = try_log(setup, fault, number)
    return log, outcome, time.process_time() - before


def _read(path: Path) -> tuple[dict[Log, Outcome], dict[Log, float]]:
    """What was tried before; a last line that was cut off is tried again."""
    done, seconds = {}, {}
    for text in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            found = json.loads(text)
        except json.JSONDecodeError:
            continue
        log = tuple(found.pop("row"))
        seconds[log] = found.pop("seconds", float("nan"))
        done[log] = Outcome(**found)
    return done, seconds


def line_of(fault: str, setup: str, found: Verdict, seconds: float) -> str:
    """One line of the table."""
    left = found.count - found.refused
    held = ", ".join(f"{a}" for a, b in found.held.values() if b) or "-"
    held += f" of {left}" if left > 0 else ""
    median, mean = (
        ", ".join(f"{100 * x:.2g}" for x in widths.values()) or "-"
        for widths in (found.width, found.mean_width)
    )
    mark = "" if found.honest else " **no**"
    return (
        f"| {fault}{mark} | {setup} | {held} | {median} | {mean} | {found.refused} of {found.count}"
        f" | {found.named} | {found.caveat} | {seconds:.1f} |"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
