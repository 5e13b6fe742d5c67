"""Identification of faulty logs: do intervals cover the truth, or is the fault named?

`FAULT_REPETITIONS` (200 if absent) logs of each fault and setup, four of every row in turn, so
that a study that ends early (`FAULT_SECONDS`) has seen all rows alike; a row whose first thirty
were all refused is left at that (fewer than nine in ten would have shown). Outcomes are kept in the
file `FAULT_RESULTS`, if that is set: a study that was interrupted goes on where it was. The table
is that of docs/identify.md.
"""

import json
import os
import time
from pathlib import Path

from tests.identify.fault_rig import FAULTS, Outcome, Verdict, try_log, verdict_on

SETUPS = ("single-point", "two-point")
_IN_TURN = 4
_SURE = 30  # logs refused one after the other


def main() -> None:
    count = int(os.environ.get("FAULT_REPETITIONS", "200"))
    end = time.monotonic() + float(os.environ.get("FAULT_SECONDS", "inf"))
    kept = os.environ.get("FAULT_RESULTS")
    rows = [(fault, setup) for fault in FAULTS for setup in SETUPS]
    done = _read(Path(kept)) if kept else {}
    for first in range(0, count, _IN_TURN):
        for row in rows:
            seen = [done[*row, i].refused for i in range(first) if (*row, i) in done]
            if len(seen) >= _SURE and all(seen):
                continue
            for number in range(first, min(first + _IN_TURN, count)):
                if (*row, number) in done or time.monotonic() > end:
                    continue
                fault, setup = row
                done[*row, number] = found = try_log(setup, fault, number)
                if kept:
                    with Path(kept).open("a", encoding="utf-8") as file:
                        file.write(json.dumps({"row": [*row, number], **vars(found)}) + "\n")
    print("| fault | setup | hold the truth | width [%] | refused | named | by a caveat alone |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        print(line(*row, verdict_on([done[*row, i] for i in range(count) if (*row, i) in done])))


def _read(path: Path) -> dict[tuple[str, str, int], Outcome]:
    if not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {tuple(r.pop("row")): Outcome(**r) for r in lines}


def line(fault: str, setup: str, found: Verdict) -> str:
    """One line of the table."""
    left = found.count - found.refused
    held = ", ".join(f"{a}" for a, b in found.held.values() if b) or "-"
    held += f" of {left}" if left > 0 else ""
    width = ", ".join(f"{100 * x:.2g}" for x in found.width.values()) or "-"
    mark = "" if found.honest else " **no**"
    return (
        f"| {fault}{mark} | {setup} | {held} | {width} | {found.refused} of {found.count}"
        f" | {found.named} | {found.caveat} |"
    )


if __name__ == "__main__":
    main()
