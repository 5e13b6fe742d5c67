"""`study`: do all cases of a design, keep what came out, and answer questions about it."""

import atexit
import contextlib
import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stiction._base.errors import InputError, RunError
from stiction.scenes import Scene
from stiction.studies import running
from stiction.studies.ask import Probability, Question, probability
from stiction.studies.design import StudyDesign, case_seed, make_design
from stiction.studies.measures import parse_keep
from stiction.studies.scene_subject import SceneSubject, VariedScene
from stiction.studies.store import (
    FAILED,
    MESSAGE,
    STATUS,
    Block,
    Schema,
    Store,
    clean,
    create_store,
    open_store,
    require_names,
)
from stiction.studies.subject import AbstractSubject, function_subject
from stiction.studies.watch import Stop, Watch

if TYPE_CHECKING:
    import xarray as xr

_PROBES = 16  # cases that are looked at before a design is refused
_BLOCK_SECONDS = 2.0  # how long a block should take
_MOST_IN_BLOCK = 1024
_MOST_TRIED = 64  # cases, to find how long one takes
_MOST_ON_GPU = 2**16
_SHORT = 4.0  # a study that takes less [s] needs no other processes
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Progress:
    """How far a study is."""

    cases: int
    done: int  # failed ones too
    failed: int
    kept: int  # done before this start


@dataclass(frozen=True, eq=False)
class Study:
    """A study on disk: its cases, done or not.

    Attributes:
        store: Where the results are.
        design: Which cases there are.
        subject: What is done in each.
        schema: What is kept of each.
        stop: The question it was to answer, if any.
        tallies: Counts of the blocks that are done, by number.
        watch: How narrow the answer is so far.
    """

    store: Store
    design: StudyDesign
    subject: AbstractSubject
    schema: Schema
    stop: Stop | None = None
    tallies: dict[int, running.Tally] = field(default_factory=dict)
    watch: Watch = field(default_factory=lambda: Watch(None))

    @property
    def path(self) -> Path:
        """Of the Zarr group; `xarray.open_zarr` opens it too."""
        return self.store.path

    @property
    def question(self) -> Question | None:
        """What it was to answer, if anything."""
        return None if self.stop is None else self.stop.question

    @property
    def progress(self) -> Progress:
        """How far it is."""
        done = sum(t.cases for t in self.tallies.values())
        return Progress(self.design.count, done, sum(t.failed for t in self.tallies.values()), 0)

    @property
    def complete(self) -> bool:
        """Whether every case is done."""
        return self.progress.done == self.design.count

    def dataset(self) -> "xr.Dataset":
        """What was kept, with the varied numbers as dimensions or coordinates.

        Cases that are not done have `status` 0, failed ones 2. Nothing is read before it is used.
        """
        return self.store.dataset()

    def failures(self, most: int = 100) -> list[dict[str, Any]]:
        """Cases that failed: number, message, what varied, and a command that does it again."""
        found = []
        for block in self.store.blocks():
            if (known := self.tallies.get(block.number)) is None or not known.failed:
                continue
            status, messages = (self.store.read(block, [n])[n] for n in (STATUS, MESSAGE))
            for i in np.flatnonzero(status == FAILED):
                if len(found) == most:
                    return found
                number = block.first + int(i)
                values = self.design.case(number)
                command = self.subject.command(self._case(values))
                found.append(
                    {"case": number, "message": str(messages[i]), **values, "command": command}
                )
        return found

    def _case(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {p: values[name] for name, paths in self.design.targets.items() for p in paths}

    def ask(self, question: str | None = None, *, confidence: float = _CONFIDENCE) -> Probability:
        """How probable a yes is, over the cases that are done.

        The cases must be a random sample; on a grid the share of yes is no probability.
        """
        if question is None and self.stop is None:
            raise InputError("`question` is needed: the study was not asked any")
        require_random(self.design)
        watched = question is None and self.watch.width is not None
        if watched:
            self.watch.look(self.tallies)
            counts = self.watch.counts
        else:
            tallies = list(self.tallies.values())
            if question is not None:
                task = _task(self, Question(question))
                tallies = list(running.finished(self.store, task, self._values))
            sums = np.array([(t.cases, t.yes, t.failed) for t in tallies], int).reshape(-1, 3)
            counts = tuple(sums.sum(axis=0).tolist())
        return probability(*counts, confidence=confidence, watched=watched)

    def _values(self, block: Block) -> dict[str, np.ndarray]:
        return self.design.values(block.first, block.last)


def study(
    subject: Any,
    design: StudyDesign | Mapping[str, Any] | Sequence[str],
    *,
    out: str | Path | None = None,
    keep: str = "summary",
    device: str = "cpu",
    workers: Any = None,
    block: int | None = None,
    stop: Stop | None = None,
    tell: Callable[[Progress], None] = lambda progress: None,
) -> Study:
    """Do every case of a design, or go on with a study that was interrupted.

    Args:
        subject: A `Scene`, a scene's name or file, or a function whose arguments vary.
        design: From `make_design`, or what that takes: `{"contact.restitution": "0.1:0.9:9"}`.
        out: The directory of the results; by default one that is gone when Python ends. If it
            holds this study already, only what is missing is done.
        keep: Of runs of a scene: words of ends, summary, events, trajectories.
        device: Of runs of a scene: "gpu" runs thousands of cases at once, if they differ in their
            start, duration or the numbers of a rigid contact law alone.
        workers: How many processes; by default as many as there are processors. Or a
            `dask.distributed` client.
        block: Cases that are done, and lost if a process is killed, at once; by default as many as
            take about two seconds.
        stop: A question, and how narrow its answer must be for the study to end early.
        tell: Called with the progress whenever a block is done.
    """
    design = design if isinstance(design, StudyDesign) else make_design(design)
    temporary = out is None
    folder = Path(tempfile.mkdtemp(prefix="stiction-study-")) if temporary else Path(str(out))
    made = begin(prepare(as_subject(subject, keep, device), design, folder, stop), workers, block)
    if temporary:
        atexit.register(shutil.rmtree, folder, ignore_errors=True)  # datasets read it until then
    go_on(made, workers, tell)
    return made


def as_subject(subject: Any, keep: str = "summary", device: str = "cpu") -> AbstractSubject:
    """What a study does, from a scene, a scene's name or a function."""
    if isinstance(subject, AbstractSubject):
        return subject
    if isinstance(subject, str | Path):
        from stiction.scenes import scene

        found = scene(subject)
        source = str(subject)
    elif isinstance(subject, Scene):
        found, source = subject, "SCENE"
    else:
        if device != "cpu":
            raise InputError(f"`device` {device} is for runs of a scene, not for functions")
        return function_subject(subject)
    varied = VariedScene(found.scenario, found.folder, source)
    return SceneSubject(varied, parse_keep(keep), device=device)


@dataclass(frozen=True)
class Plan:
    """A study that can be done: everything about it was looked at, and nothing written yet."""

    subject: AbstractSubject
    design: StudyDesign
    folder: Path
    stop: Stop | None
    schema: Schema
    store: Store | None  # where it was begun before

    @property
    def about(self) -> dict[str, Any]:
        """What the study is, as plain data."""
        return _about(self.subject, self.design)


def prepare(
    subject: AbstractSubject, design: StudyDesign, folder: Path, stop: Stop | None = None
) -> Plan:
    """Look a study over; refuse it if it makes no sense, or if the folder holds another one."""
    store = open_store(folder)
    if store is not None:
        _require_same(store, _about(subject, design), folder)
    if stop is not None:
        require_random(design)
    schema = _schema(subject, design)
    require_names(design, schema)
    if stop is not None:
        stop.question.check(schema, list(design.targets))
    return Plan(subject, design, folder, stop, schema, store)


def _about(subject: AbstractSubject, design: StudyDesign) -> dict[str, Any]:
    """What a study is, as plain data."""
    import stiction

    source = f"stiction {stiction.__version__}"
    return {"design": design.to_json(), "subject": subject.about(), "source": source}


def begin(plan: Plan, workers: Any = None, block: int | None = None) -> Study:
    """The study on disk, made if it is not there."""
    store = plan.store
    with _writing(plan.folder):
        if store is None:
            size = block or _block_size(plan.subject, plan.design, plan.schema, workers)
            clean(plan.folder)
            store = create_store(plan.folder, plan.design, plan.schema, size, plan.about)
        else:
            store.sweep()
    watch = Watch(None if plan.stop is None else plan.stop.width)
    made = Study(store, plan.design, plan.subject, plan.schema, plan.stop, watch=watch)
    for tally in running.finished(store, _task(made, made.question), made._values):
        made.tallies[tally.number] = tally
    return made


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Say in one line that something could not be written."""
    try:
        yield
    except OSError as error:
        raise RunError(
            f"'{folder}' could not be written ({error.strerror or error}); what is there is whole:"
            " make room and start the same study again"
        ) from None


def require_random(design: StudyDesign) -> None:
    """Refuse to ask for a probability where cases are not a random sample."""
    if not design.draws or design.axes or design.table or design.sampler != "random":
        raise InputError(
            "`--ask` needs independent random cases, for the interval of a probability: vary by"
            " draws (a..b or ~) alone, with --sampler random"
        )


def _require_same(store: Store, about: dict[str, Any], folder: Path) -> None:
    import json

    for part in ("subject", "design"):
        now, then = (json.loads(json.dumps(x)) for x in (about[part], store.attributes[part]))
        if now != then:
            names = sorted(k for k in {*now, *then} if now.get(k) != then.get(k))
            raise InputError(
                f"`--out` holds another study in '{folder}': it differs in {part}"
                f" ({', '.join(names)}); choose another directory, or remove that one"
            )
    if store.attributes["source"] != about["source"]:
        warnings.warn(
            f"the study was begun by {store.attributes['source']} and goes on with"
            f" {about['source']}: cases of both may differ in rounding",
            stacklevel=3,
        )


def _schema(subject: AbstractSubject, design: StudyDesign) -> Schema:
    """What is kept, from the first of some cases that can begin; if none can, the design is bad."""
    first: InputError | None = None
    for number in np.unique(np.linspace(0, design.count - 1, _PROBES).astype(int)):
        try:
            return subject.schema(_named(design, int(number)), case_seed(design.seed, int(number)))
        except (InputError, RunError) as error:
            first = first or InputError(str(error))
    assert first is not None
    raise first


def _named(design: StudyDesign, number: int) -> dict[str, Any]:
    values = design.case(number)
    return {p: values[name] for name, paths in design.targets.items() for p in paths}


def _block_size(subject: AbstractSubject, design: StudyDesign, schema: Schema, workers: Any) -> int:
    """How many cases take about two seconds, from a few that are tried; all processes get some.

    Runs of scenes are measured in processor time: others may be busy on this machine now. What a
    function does may be to wait.
    """
    clock = time.process_time if isinstance(subject, SceneSubject) else time.perf_counter

    def seconds(count: int) -> float:
        numbers = [int(n) for n in np.linspace(0, design.count - 1, count)]
        cases = [_named(design, n) for n in numbers]
        begun = clock()
        subject.outcomes(cases, [case_seed(design.seed, n) for n in numbers], schema)
        return max(clock() - begun, 1e-9) / count

    seconds(1)  # loads and compiles what is needed
    each, tried = seconds(1), 1
    # A call takes its time however few cases it has: more are tried, as long as that pays.
    while (more := int(min(_MOST_TRIED, design.count, _BLOCK_SECONDS / each))) >= 2 * tried:
        each, tried = min(each, seconds(more)), more
    share = -(-design.count // (4 * _count(workers)))
    if subject.device == "gpu":  # a few cases tell nothing: thousands take as long
        return min(_MOST_ON_GPU, design.count)
    return int(np.clip(_BLOCK_SECONDS / each, 1, min(_MOST_IN_BLOCK, max(share, 1))))


def _count(workers: Any) -> int:
    """How many processes there are to share the work."""
    if workers is None:
        return (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )
    if isinstance(workers, int):
        if workers < 1:
            raise InputError(f"`--workers` must be at least 1, got {workers}")
        return workers
    return max(sum(workers.nthreads().values()), 1)


def _task(made: Study, question: Question | None) -> running.Task:
    return running.Task(
        made.subject,
        made.schema,
        made.store.path.absolute(),
        made.design.targets,
        made.design.seed,
        question,
    )


def go_on(
    made: Study, workers: Any = None, tell: Callable[[Progress], None] = lambda progress: None
) -> None:
    """Do the blocks that are missing; interrupted, what is done is kept."""
    kept = made.progress.done
    tell(replace(made.progress, kept=kept))
    missing = [b for b in made.store.blocks() if b.number not in made.tallies]

    def work() -> Iterator[running.Work]:
        for block in missing:
            if made.watch.look(made.tallies):
                return
            yield block, made._values(block)

    task = _task(made, made.question)
    with _writing(made.path.parent):
        for tally in _tallies(task, work(), workers, len(missing)):
            made.tallies[tally.number] = tally
            tell(replace(made.progress, kept=kept))
            if made.watch.look(made.tallies):
                return


def _tallies(
    task: running.Task, work: Iterator[running.Work], workers: Any, blocks: int
) -> Iterator[running.Tally]:
    if not blocks:
        return
    if workers is None and task.subject.device == "gpu":
        workers = 1  # which has the whole GPU
    count = _count(workers)
    if not (workers is None or isinstance(workers, int)):
        yield from running.run_on_cluster(task, work, workers)
        return
    if workers is None and count > 1:  # worth other processes? The first block tells.
        begun = time.perf_counter()
        first = next(work, None)
        if first is None:
            return
        yield running.do_block(task, *first)
        if (time.perf_counter() - begun) * (blocks - 1) < _SHORT:
            count = 1
    if min(count, blocks) == 1:
        yield from running.run_here(task, work)
    else:
        yield from running.run_in_processes(task, work, min(count, blocks))
