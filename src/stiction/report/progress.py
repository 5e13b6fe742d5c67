"""A progress bar on standard error, shown only to people and only when work takes a while."""

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import TypeVar

from stiction._base.waiting import listening

T = TypeVar("T")


def progress(
    items: Iterable[T], what: str, *, label: Callable[[T], str] = str, total: int | None = None
) -> Iterator[T]:
    """Iterate over `items`, showing how far along the work is."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[now]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        count = len(items) if total is None and isinstance(items, Sized) else total
        task = bar.add_task(what, total=count, now="")
        for item in items:
            bar.update(task, now=label(item))
            yield item
            bar.advance(task)


@contextlib.contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """Show people that something is being done, while it is; call what it gives to say what.

    Of a run that is under way they see how far it is.
    """
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(what)) as status:

        def say(text: str) -> None:
            status.update(Text(text))  # it may name a user's file: no markup

        def far(part: float, left: float) -> None:
            if left > 1:
                say(f"{what}: {part:.0%} of the run, {_clock(left)} left")

        with listening(far):
            yield say


@contextlib.contextmanager
def counting(what: str, total: int) -> Iterator[Callable[[int, int, int], None]]:
    """A bar of many things done: call what it gives with how many are done, failed and were kept.

    The rate and the time left count from those that were there already.
    """
    if not sys.stderr.isatty():
        yield lambda done, failed, kept: None
        return
    import time

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[now]}", markup=False),
    )
    begun = time.monotonic()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total, now="")

        def tell(done: int, failed: int, kept: int) -> None:
            rate = (done - kept) / max(time.monotonic() - begun, 1e-9)
            left = f", {_clock((total - done) / rate)} left" if rate > 0 else ""
            faults = f", {failed} failed" if failed else ""
            bar.update(task, completed=done, now=f"{rate:.3g}/s{left}{faults}")

        yield tell


def _clock(seconds: float) -> str:
    """A duration as people say it."""
    hours, rest = divmod(round(seconds), 3600)
    return f"{hours} h {rest // 60} min" if hours else f"{rest // 60}:{rest % 60:02d}"
