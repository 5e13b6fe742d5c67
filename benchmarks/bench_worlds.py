"""Random worlds of MuJoCo's, run by the exact machine: how many come to their end, and rightly.

`STICTION_WORLDS` is how many to try, `STICTION_WORLDS_FIRST` the number of the first one.
"""

import os
import time
from collections import Counter

from tests.abuse.worlds import try_world


def main() -> None:
    """Print how they ended, and each that did not end rightly."""
    count = int(os.environ.get("STICTION_WORLDS", 1000))
    first = int(os.environ.get("STICTION_WORLDS_FIRST", 0))
    found, steps, began = Counter(), 0, time.process_time()
    for number in range(first, first + count):
        verdict = try_world(number)
        found[verdict.what.split(" by ")[0]] += 1
        steps += verdict.steps
        if verdict.what != "right":
            print(f"- world {number}: {verdict.what}", flush=True)
    spent = time.process_time() - began
    print(f"\n{count} worlds, {steps} steps, in {spent:.0f} s of processor time:")
    for what, number in found.most_common():
        print(f"- {number} {what}")
