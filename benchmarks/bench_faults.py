"""Identification of faulty logs: do intervals cover the truth, or is the fault named?

`FAULT_REPETITIONS` (200 if absent) logs of each fault and setup. The table is that of
docs/identify.md. Rows are kept in the file `FAULT_RESULTS`, if that is set: a study that was
interrupted goes on where it was.
"""

import json
import os
from pathlib import Path

from tests.identify.fault_rig import FAULTS, Verdict, judge

SETUPS = ("single-point", "two-point")


def main() -> None:
    count = int(os.environ.get("FAULT_REPETITIONS", "200"))
    kept = os.environ.get("FAULT_RESULTS")
    done = _read(Path(kept)) if kept else {}
    print(f"{count} logs a row; how many intervals hold the truth, by parameter\n")
    print("| fault | setup | hold the truth | width [%] | refused | named | what is said first |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for fault in FAULTS:
        for setup in SETUPS:
            found = done.get(f"{setup}: {fault}")
            if found is None or found.count < count:
                found = judge(setup, fault, count)
                if kept:
                    with Path(kept).open("a", encoding="utf-8") as file:
                        file.write(json.dumps({"row": f"{setup}: {fault}", **vars(found)}) + "\n")
            print(row(fault, setup, found), flush=True)


def _read(path: Path) -> dict[str, Verdict]:
    if not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {r.pop("row"): Verdict(**r) for r in rows}


def row(fault: str, setup: str, found: Verdict) -> str:
    """One line of the table."""
    held = ", ".join(f"{a}" for a, b in found.held.values() if b) or "-"
    left = found.count - found.refused
    held += f" of {left}" if left > 0 else ""
    width = ", ".join(f"{100 * x:.2g}" for x in found.width.values()) or "-"
    mark = "" if found.honest else " **no**"
    return (
        f"| {fault}{mark} | {setup} | {held} | {width} | {found.refused}"
        f" | {found.named} | {found.said[:90]} |"
    )


if __name__ == "__main__":
    main()
