"""A progress bar on standard error, shown only to people and only when work takes a while."""

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import TypeVar

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
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[now]}"),
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
    """Show people that something is being done, while it is; call what it gives to say what."""
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console

    with Console(stderr=True).status(what) as status:
        yield status.update
