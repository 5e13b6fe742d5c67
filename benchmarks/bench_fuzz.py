"""Mutated files of every kind: how many are read, refused, or go wrong (100,000, or as many as
`STICTION_FUZZ` says). Files that fail are kept in `fuzz/`."""

import os
import time

from tests.fuzz.rig import fuzz, table


def main() -> None:
    """Try them, and print the table of docs/trust.md."""
    begin = time.process_time()
    tallies = fuzz(int(os.environ.get("STICTION_FUZZ", 100_000)))
    print(table(tallies))
    print(f"{time.process_time() - begin:.0f} s of processor time")
