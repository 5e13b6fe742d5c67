"""That people are told, once and on standard error, when a compilation keeps them waiting.

JAX is not imported here: kernels of the engines are compiled without it.
"""

import contextlib
import sys
import threading
from collections.abc import Iterator

PATIENCE = 2.0  # a compilation that takes longer is told [s]


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
