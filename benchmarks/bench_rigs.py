"""Random yaws, shakers, grooves and grasps, 1,000 each: failures and forces outside their cones.

`STICTION_RIGS` is how many of each to try.
"""

import os
import time

import numpy as np
from tests.abuse.rigs import LAWS, RIGS


def main() -> None:
    """Print the table of docs/trust.md."""
    count = int(os.environ.get("STICTION_RIGS", 1000))
    print("| rig | law | runs | failures | outside its cone | events a run | processor time |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, rig in RIGS.items():
        for engine in LAWS:
            began = time.process_time()
            held = rig(np.random.default_rng(0), count, engine)
            spent = time.process_time() - began
            ended = ", ".join(f"{n} with {code}" for code, n in held.ended.items())
            print(
                f"| {name} | {engine} | {held.runs} | {ended or 0} | {max(held.outside, 0.0):.0e} |"
                f" {held.events / held.runs:.1f} | {spent:.0f} s |",
                flush=True,
            )
