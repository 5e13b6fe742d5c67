"""Where the blocks of a study are done: here, in processes of this machine, or on a Dask cluster.

Whoever does a block writes it into the store and answers with a count, so that results never pass
through the process that leads the study. A block that is lost with its process is done again.
"""

import contextlib
import functools
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stiction._base.errors import InputError, RunError
from stiction.studies.ask import Question
from stiction.studies.design import case_seed, plain
from stiction.studies.store import FAILED, Block, Schema, Store
from stiction.studies.subject import AbstractSubject

_TRIES = 3  # of a block whose process dies
_AHEAD = 2  # blocks that wait for each process
_AT_ONCE = threading.Lock()  # a Dask worker may have threads; the engines are for one


@dataclass(frozen=True)
class Task:
    """What a process needs to do any block of a study."""

    subject: AbstractSubject
    schema: Schema
    path: Path
    targets: Mapping[str, tuple[str, ...]]
    seed: int
    question: Question | None = None


@dataclass(frozen=True)
class Tally:
    """What came of a block: how many cases, how many failed, and how many answer yes."""

    number: int
    cases: int
    failed: int
    yes: int = 0


Work = tuple[Block, dict[str, np.ndarray]]  # a block, and what varies in its cases


def do_block(task: Task, block: Block, values: Mapping[str, np.ndarray]) -> Tally:
    """Do the cases of a block and write them."""
    cases = [
        {path: plain(values[name][i]) for name, paths in task.targets.items() for path in paths}
        for i in range(block.last - block.first)
    ]
    seeds = [case_seed(task.seed, number) for number in range(block.first, block.last)]
    found, messages = task.subject.outcomes(cases, seeds, task.schema)
    store = _store(task.path)
    store.write(block, found, messages)
    failed = np.array([bool(m) for m in messages])
    return tally(block, failed, task.question, task.schema, found | dict(values))


def tally(
    block: Block,
    failed: np.ndarray,
    question: Question | None,
    schema: Schema,
    values: Mapping[str, np.ndarray],
) -> Tally:
    """The count of a block."""
    yes = 0
    if question is not None:
        yes = int((question.answers(values, schema.labels) & ~failed).sum())
    return Tally(block.number, len(failed), int(failed.sum()), yes)


@functools.lru_cache(maxsize=4)
def _store(path: Path) -> Store:
    return Store(path)


def run_here(task: Task, work: Iterator[Work]) -> Iterator[Tally]:
    """Block after block in this process."""
    for block, values in work:
        yield do_block(task, block, values)


def run_in_processes(task: Task, work: Iterator[Work], count: int) -> Iterator[Tally]:
    """Blocks in processes of this machine. One whose process dies is done again, then alone."""
    import concurrent.futures as futures
    from concurrent.futures.process import BrokenProcessPool

    payload = pack(task)
    waiting: dict[Any, Work] = {}
    again: list[Work] = []  # lost with a process; each is tried alone, to know whose fault it is
    tries: dict[int, int] = {}
    pool = _pool(count, payload)
    source = iter(work)
    exhausted = False
    try:
        while True:
            room = 1 if again else count * _AHEAD
            while len(waiting) < room and not (exhausted and not again):
                if again:
                    item = again.pop()
                else:
                    item = next(source, None)
                    if item is None:
                        exhausted = True
                        break
                waiting[pool.submit(_work, *item)] = item
                if tries.get(item[0].number):
                    break
            if not waiting:
                return
            done, _ = futures.wait(waiting, return_when=futures.FIRST_COMPLETED)
            lost = [f for f in done if isinstance(f.exception(), BrokenProcessPool)]
            for future in set(done) - set(lost):
                waiting.pop(future)
                yield future.result()
            if lost:
                again += waiting.values()
                for block, _ in waiting.values():
                    tries[block.number] = tries.get(block.number, 0) + 1
                waiting.clear()
                _end(pool)
                pool = _pool(count, payload)
                for item in [i for i in again if tries[i[0].number] > _TRIES]:
                    again.remove(item)
                    yield give_up(task, item[0], "the process that ran this case died")
    finally:
        _end(pool)


def run_on_cluster(task: Task, work: Iterator[Work], client: Any) -> Iterator[Tally]:
    """Blocks on a Dask cluster, whose workers may come and go; they write into the same store."""
    from distributed import as_completed
    from distributed.scheduler import KilledWorker

    payload = pack(task)
    blocks: dict[str, Block] = {}

    def submit(item: Work) -> Any:
        future = client.submit(_work_of, payload, *item, pure=False)
        blocks[future.key] = item[0]
        return future

    room = max(_AHEAD * sum(client.nthreads().values()), 8)
    first = [submit(item) for _, item in zip(range(room), work, strict=False)]
    flying = as_completed(first, loop=client.loop)  # it need not be the default one
    try:
        for future in flying:
            block = blocks.pop(future.key)
            try:
                yield future.result()
            except KilledWorker:
                yield give_up(task, block, "the worker that ran this case died, time and again")
            if (item := next(work, None)) is not None:
                flying.add(submit(item))
    finally:
        with contextlib.suppress(Exception):
            client.cancel(list(flying.futures))


def give_up(task: Task, block: Block, why: str) -> Tally:
    """Record all cases of a block as failed."""
    count = block.last - block.first
    _store(task.path).write(block, {}, [why] * count)
    return Tally(block.number, count, count)


def finished(store: Store, task: Task, values: Callable[[Block], Mapping]) -> Iterator[Tally]:
    """The counts of the blocks that are in the store already."""
    needed: Sequence[str] = () if task.question is None else task.question.variables(task.schema)
    for block in store.blocks():
        status = store.status(block)
        if status.all():
            read = store.read(block, needed)
            known = dict(values(block)) if task.question else {}
            yield tally(block, status == FAILED, task.question, task.schema, read | known)


def pack(task: Task) -> bytes:
    """A task as bytes; functions that cannot be imported need cloudpickle."""
    try:
        import cloudpickle

        return cloudpickle.dumps(task)
    except ImportError:
        pass
    try:
        return pickle.dumps(task)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            f"`subject` cannot be sent to other processes ({error}); define it at the top of a"
            " module, or install cloudpickle"
        ) from None


def _pool(count: int, payload: bytes) -> Any:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    start = multiprocessing.get_context("spawn")  # JAX has threads, which a fork would cut off
    return ProcessPoolExecutor(count, start, _begin, (payload,))


def _end(pool: Any) -> None:
    """End a pool now: what its processes are at is lost, what they have written is whole."""
    processes = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.kill()
    for process in processes:
        process.join()


_task: Task | None = None


def _begin(payload: bytes) -> None:
    """Prepare a process of the pool."""
    import multiprocessing

    global _task
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the leader ends its processes itself
    leader = multiprocessing.parent_process()
    if leader is not None:  # it may be killed, and would leave this process waiting for ever

        def follow() -> None:
            leader.join()
            os._exit(1)

        threading.Thread(target=follow, daemon=True).start()
    _task = pickle.loads(payload)


def _work(block: Block, values: dict[str, np.ndarray]) -> Tally:
    assert _task is not None
    return do_block(_task, block, values)


@functools.lru_cache(maxsize=4)
def _unpack(payload: bytes) -> Task:
    return pickle.loads(payload)


def _work_of(payload: bytes, block: Block, values: dict[str, np.ndarray]) -> Tally:
    with _AT_ONCE:
        return do_block(_unpack(payload), block, values)


def connect(address: str) -> Any:
    """A client of the Dask cluster at an address."""
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            "`--scheduler` needs Dask; install it by: pip install 'stiction[studies]'"
        ) from None
    try:
        return Client(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise RunError(f"`--scheduler` {address} does not answer: {error}") from None
