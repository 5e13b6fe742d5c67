"""Runs that are looked at while they go on, and that may be ended before they are done."""

import contextlib
import copy
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar

import jax
import numpy as np
import warp as wp

from stiction.engines.blueprint import Run
from stiction.engines.given import changed
from stiction.engines.result import RESULTS, Trajectory

Look = Callable[[Callable[[], Trajectory]], None]
BETWEEN = 0.02  # s of a run between two looks
_WHOLE = ("log", "n_events", "drift", "steps", "result", "origin")  # what has no axis of samples

_look: ContextVar[Look | None] = ContextVar("look", default=None)


@contextlib.contextmanager
def watched(look: Look) -> Iterator[None]:
    """Look at the runs of this thread while they go on, as far as a processor carries them out.

    Args:
        look: Called about every `BETWEEN` seconds with a function that gives the motion so far:
            the samples that were reached, with the origin's contacts alone. What it raises ends
            the run.
    """
    token = _look.set(look)
    try:
        yield
    finally:
        _look.reset(token)


def glances(run: Run, so_far: Callable[[Run], Trajectory]) -> Callable[[], None] | None:
    """What to call between the parts of a run; None if nobody looks at it."""
    look = _look.get()
    if look is None or run.design.device != "cpu":
        return None
    seen = time.monotonic()

    def glance() -> None:
        nonlocal seen
        if time.monotonic() > seen + BETWEEN:
            look(lambda: _reached(so_far(_held(run))))
            seen = time.monotonic()

    return glance


def _held(run: Run) -> Run:
    """The run with samples of its own: a trajectory marks those that are missing."""
    held = copy.copy(run)
    held.samples = wp.clone(run.samples)
    return held


def _reached(run: Trajectory) -> Trajectory:
    """A run that is on its way, with the samples that it has reached."""
    n = max(int(np.isfinite(np.asarray(run.kinetic)).sum()), 1)
    sampled = {name: x for name, x in vars(run).items() if name not in _WHOLE}
    return changed(run, result=RESULTS.successful, **jax.tree.map(lambda x: x[:n], sampled))
