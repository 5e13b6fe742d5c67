"""Physics under abuse: a million impacts, degenerate contacts and random scenes, with counts.

`STICTION_ABUSE` is the share of them to try (0.01 takes a minute).
"""

import os
import time
from collections import Counter

import numpy as np
from tests.abuse.impacts import LAWS, MODELS, POSES, impacts
from tests.abuse.scenes import scenes

IMPACTS, DEGENERATE, SCENES = 1_000_000, 10_000, 10_000
CHUNK, SOME = 2_000, 500


def main() -> None:
    """Print the tables of docs/trust.md."""
    share = float(os.environ.get("STICTION_ABUSE", 1.0))
    rng = np.random.default_rng(0)
    print("| law | impacts | gained more than 1e-12 | largest gain | outside the cone | pulled |")
    print("| --- | --- | --- | --- | --- | --- |")
    each = int(share * IMPACTS / len(LAWS) / len(MODELS))
    for law in LAWS:
        _row(law, [(model, "any", each) for model in MODELS], rng)
    print("\nDegenerate: flat, nearly flat, on an edge.\n", flush=True)
    each = int(share * DEGENERATE / len(LAWS) / len(MODELS) / 3) + 1
    for law in LAWS:
        _row(law, [(model, pose, each) for model in MODELS for pose in POSES[1:]], rng)
    begin, found, count = time.process_time(), Counter(), int(share * SCENES)
    for first in range(0, count, SOME):
        found += scenes(min(SOME, count - first), first)
        spent = time.process_time() - begin
        print(f"\n{found.total()} scenes in {spent:.0f} s of processor time:")
        for what, times in found.most_common():
            print(f"- {times} {what}", flush=True)


def _row(law: str, asked: list[tuple[str, str, int]], rng: np.random.Generator) -> None:
    found = [
        impacts(model, law, rng, min(CHUNK, count - first), pose=pose)
        for model, pose, count in asked
        for first in range(0, count, CHUNK)
    ]
    gained = np.concatenate([f.gained for f in found])
    worst = [max(f.outside.max() for f in found), max(f.pulled.max() for f in found)]
    failed = sum(f.failed + f.lost for f in found)
    print(
        f"| {law} | {sum(f.tried for f in found)} | {(gained > 1e-12).sum()} | {gained.max():.1e} |"
        f" {max(worst[0], 0.0) + 0.0:.1e} | {max(worst[1], 0.0) + 0.0:.1e} |"
        + (f" ({failed} ended by name)" if failed else ""),
        flush=True,
    )
