"""The rig: so many mutated files, what became of each, and the file of every failure."""

import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from stiction import InputError, RunError

from .doors import Door, doors, quietly
from .mutate import mutate

SECONDS = 2.0  # the promise of the threat page for any one file
CORPUS = Path(__file__).parent / "corpus"


class TooSlow(Exception):
    """A file took longer than it may."""


@dataclass
class Tally:
    """What became of the files of one kind."""

    read: int = 0
    refused: int = 0
    slowest: float = 0.0  # [s] of processor time
    failures: Counter[str] = field(default_factory=Counter)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise `TooSlow` in what takes more processor time than that."""

    def stop(*_: object) -> None:
        raise TooSlow(f"longer than {seconds:g} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def verdict(door: Door, path: Path) -> str:
    """'read', 'refused', or what is wrong."""
    try:
        with at_most(SECONDS):
            error = quietly(door, path)
    except TooSlow as slow:
        return f"TooSlow: {slow}"
    if error is None:
        return "read"
    if not isinstance(error, InputError | RunError):
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        line = "" if place is None else f"{place.tb_frame.f_code.co_name}:{place.tb_lineno}"
        return f"{type(error).__name__} in {line}: {' '.join(str(error).split())[:150]}"
    # A message is about the file, not a copy of it.
    return "refused" if len(str(error)) < 2000 else f"message of {len(str(error))} letters"


def content_of(kind: str, number: int) -> bytes:
    """The mutated file of that number: the same in every run."""
    rng, door = random.Random(f"{kind} {number}"), doors()[kind]
    return mutate(rng.choice(door.seeds), rng, text=door.text)


def fuzz(count: int, *, first: int = 0, kinds: list[str] | None = None) -> dict[str, Tally]:
    """Read so many mutated files; those that fail are kept in the current directory's `fuzz/`."""
    chosen = kinds or list(doors())
    tallies = {kind: Tally() for kind in chosen}
    with tempfile.TemporaryDirectory() as folder:
        for i in range(count):
            kind, number = chosen[i % len(chosen)], first + i // len(chosen)
            door, tally = doors()[kind], tallies[kind]
            path = Path(folder) / f"{kind}{door.suffix}"
            path.write_bytes(content_of(kind, number))
            begin = time.process_time()
            said = verdict(door, path)
            tally.slowest = max(tally.slowest, time.process_time() - begin)
            if said in ("read", "refused"):
                setattr(tally, said, getattr(tally, said) + 1)
                continue
            tally.failures[said] += 1
            if tally.failures[said] == 1:
                Path("fuzz").mkdir(exist_ok=True)
                Path("fuzz", f"{kind}-{number}{door.suffix}").write_bytes(path.read_bytes())
    return tallies


def table(tallies: dict[str, Tally]) -> str:
    """The tallies as a table of Markdown, and under it what went wrong."""
    lines = ["| kind | files | read | refused | failures | slowest [s] |", "| --- " * 6 + "|"]
    for kind, t in tallies.items():
        failed = t.failures.total()
        counts = f"{t.read + t.refused + failed} | {t.read} | {t.refused} | {failed}"
        lines.append(f"| {kind} | {counts} | {t.slowest:.2f} |")
    wrong = [
        f"{n} x {kind}: {what}" for kind, t in tallies.items() for what, n in t.failures.items()
    ]
    return "\n".join([*lines, "", *wrong])
