"""That people are told, once and on standard error, what keeps them waiting: a compilation, a run.

JAX is not imported here: kernels of the engines are compiled without it.
"""

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar

PATIENCE = 2.0  # a compilation that takes longer is told [s]
LONG = 10.0  # after so long a run is told that will take longer still [s]


class Announcer:
    """Says that a compilation keeps the user waiting, once in a process."""

    def __init__(self) -> None:
        self.timers: dict[int, threading.Timer] = {}
        self.told = False

    def begins(self) -> None:
        """A compilation begins in this thread."""
        if not self.told:
            timer = threading.Timer(PATIENCE, self.tell)
            timer.daemon = True
            self.timers[threading.get_ident()] = timer
            timer.start()

    def ends(self) -> None:
        """It has ended."""
        timer = self.timers.pop(threading.get_ident(), None)
        if timer is not None:
            timer.cancel()

    def tell(self) -> None:
        """One line, and no more in this process."""
        if not self.told:
            self.told = True
            print("stiction: compiling; what is made is kept for the next time", file=sys.stderr)


ANNOUNCER = Announcer()


@contextlib.contextmanager
def announced() -> Iterator[None]:
    """Tell people if what is done here takes longer than `PATIENCE`."""
    ANNOUNCER.begins()
    try:
        yield
    finally:
        ANNOUNCER.ends()


_listener: ContextVar[Callable[[float, float], None] | None] = ContextVar("listener", default=None)


@contextlib.contextmanager
def listening(tell: Callable[[float, float], None]) -> Iterator[None]:
    """Tell how far runs of this thread are (of 1), and how long they take still [s], meanwhile."""
    token = _listener.set(tell)
    try:
        yield
    finally:
        _listener.reset(token)


class Pace:
    """How fast a run comes along: for who listens, or one line where nobody does and it is long."""

    told = False

    def __init__(self) -> None:
        self.begun = time.monotonic()

    def reached(self, part: float) -> None:
        """So much of it is done."""
        spent = time.monotonic() - self.begun
        if part <= 0:
            return
        if (tell := _listener.get()) is not None:
            tell(part, spent / part - spent)
            return
        if Pace.told or spent < LONG or spent / part < 2 * spent:
            return
        Pace.told = True
        minutes = spent / part / 60
        whole = f"{minutes:.3g} min" if minutes < 120 else f"{minutes / 60:.3g} h"
        print(
            f"stiction: {100 * part:.2g} % of the run is done after {spent:.0f} s: at this pace it"
            f" takes {whole}; Ctrl-C ends it",
            file=sys.stderr,
        )
