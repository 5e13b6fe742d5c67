"""Identification of faulty logs: do intervals cover the truth, or is the fault named?

`FAULT_REPETITIONS` (200 if absent) logs of each fault and setup. The table is that of
docs/identify.md.
"""

import os

from tests.identify.fault_rig import FAULTS, judge

SETUPS = ("single-point", "two-point")


def main() -> None:
    count = int(os.environ.get("FAULT_REPETITIONS", "200"))
    print(f"{count} logs a row\n")
    print("| fault | setup | covers [%] | width [%] | refused | warned | what is said |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for fault in FAULTS:
        for setup in SETUPS:
            found = judge(setup, fault, count)
            covers = ", ".join(f"{100 * x:.0f}" for x in found.coverage.values()) or "-"
            width = ", ".join(f"{100 * x:.2g}" for x in found.width.values()) or "-"
            mark = "" if found.honest else " **no**"
            print(
                f"| {fault}{mark} | {setup} | {covers} | {width} | {100 * found.refused:.0f} %"
                f" | {100 * found.warned:.0f} % | {found.said[:90]} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
