"""`stiction study`: the same scene a thousand times, each time a little different."""

import shlex
import sys
import warnings
from pathlib import Path
from typing import Any

from stiction._base.errors import InputError, RunError
from stiction.cli.command import INTERRUPTED, Answer, Output, command
from stiction.cli.options import BASE, SCENE, SET, Number, Text, Texts, flag, option, read_scene
from stiction.cli.stances import read_direction
from stiction.cli.terminal import say, show_table
from stiction.report import counting, working

_MOST_SHOWN = 5  # failed cases on a terminal; the report has more


@command("Simulate", writes="always")
def study(
    output: Output,
    scene: str = SCENE,
    vary: Texts = option(
        None,
        "FIELD=VALUES",
        "What varies: a grid 0.1:0.9:17 or 1,2,5; drawn 0.1..0.9 or ~normal(0.5,0.05).",
    ),
    cases: int | None = option(None, "N", "How many cases to draw."),
    sampler: Text = option(
        None,
        "NAME",
        "Spread by sobol (default), lhs, random (default of --ask), or saltelli: Sobol indices.",
    ),
    table: Path | None = option(
        None, "FILE", "Take the cases from a CSV file, one column for each field."
    ),
    replicates: int = option(
        1, "N", "How often each case is repeated, each time with another seed."
    ),
    seed: int = option(0, "N", "Seed of all random numbers."),
    identified: Path | None = option(
        None,
        "FILE",
        "Answer of 'identify --json', for FIELD~identified(NAME): draws by its covariance.",
    ),
    of: str = option(
        "run", "WHAT", "What each case does: run, impact, posture; identify (SCENE is its setup)."
    ),
    direction: Text = option(
        None, "X,Y,Z", "For --of posture: the direction to accelerate in; z is up."
    ),
    log: list[Path] | None = option(
        None, "FILE", "For --of identify: a test; each replicate draws as many with replacement."
    ),
    keep: str = option(
        "summary", "WORDS", "What is kept of each run: ends, summary, events, trajectories."
    ),
    ask: Text = option(
        None, "EXPRESSION", "Find the probability of this: 'at_rest and final.z > 0.1'."
    ),
    width: Number = option(None, "W", "Stop once the probability is known to this width."),
    show: Text = option(None, "NAME,…", "Outcomes to draw and to find Sobol indices of."),
    workers: int | None = option(None, "N", "Processes; by default one for each processor."),
    scheduler: Text = option(None, "ADDRESS", "Use a Dask cluster: tcp://host:8786."),
    device: str = option(
        "cpu", "NAME", "Where the cases run: cpu, or gpu (NVIDIA), thousands at once."
    ),
    models: bool = flag(
        "Run nothing: write the model of each case as MJCF, and as arrays for MJX."
    ),
    set_: Texts = SET,
    base: Text = BASE,
) -> Answer:
    """Vary a scene's numbers over a grid or at random, run every case, and say what matters.

    Results are Zarr, an xarray dataset whose dimensions are the varied numbers. Stopped at any
    instant, even killed, the same command goes on where it was.

    Examples:
      stiction study double-pendulum --vary contact.restitution=0.1:0.9:17
      stiction study box --vary start.v.wx=-9..9 --cases 5000 --ask 'final.z > 0.09' --width 0.02
      stiction study rod --vary 'contact.restitution~normal(0.5,0.05)' --sampler saltelli --cases 64
    """
    from stiction import studies

    if width is not None and ask is None:
        raise InputError("`--width` is that of a probability; add --ask EXPRESSION")
    if workers is not None and workers < 1:
        raise InputError(f"`--workers` must be at least 1, got {workers}")
    if workers is not None and scheduler is not None:
        raise InputError("`--workers` and `--scheduler` exclude each other; choose one")
    if device != "cpu" and (scheduler or log):
        raise InputError("`--device` is for runs on this machine: leave --scheduler and --log out")
    if (of == "identify") != bool(log):
        raise InputError("`--log` belongs to `--of identify`, which needs at least three")
    sampler = sampler or ("random" if ask else None)
    design = studies.make_design(
        studies.parse_variations(vary or [], identified),
        cases=cases, sampler=sampler, table=table, replicates=replicates, seed=seed,
    )  # fmt: skip
    if log:
        if design.targets or set_ or base:
            raise InputError("`--of identify` varies only its tests: give --replicates alone")
        described, title, subject = None, scene, studies.bootstrap(log, scene)
    else:
        described = read_scene(scene, set_, base)
        title = described.scenario.title or scene
        options = [f"--set {shlex.quote(s)}" for s in set_ or []]
        options += [f"--base {base}"] if base else []
        towards = None if direction is None else read_direction(direction)
        subject = studies.subject_of(
            described, scene, of,
            keep=keep, direction=towards, settings=" ".join(options), device=device,
        )  # fmt: skip
    directory = output.open(f"study-{Path(scene).stem}", always=True)
    assert directory is not None
    if models:
        return _models(described or read_scene(scene), scene, design)
    stop = None if ask is None else studies.Stop(studies.Question(ask), width)
    with working("looking the study over"):
        plan = studies.prepare(subject, design, directory.path, stop)
        shown = [word.strip() for word in show.split(",")] if show else []
        studies.require_outcomes(plan.schema, shown)
    if described is not None:
        _tell_not_treated(described)
    placed = workers if scheduler is None else studies.connect(scheduler)
    directory.json("study.json", {"command": ["stiction", *sys.argv[1:]], **plan.about})
    with working("trying a few cases"):
        made = studies.begin(plan, placed)
    failure, status = "", 1
    try:
        with counting("cases", design.count) as bar:
            studies.go_on(made, placed, lambda p: bar(p.done, p.failed, p.kept))
    except (KeyboardInterrupt, RunError) as error:
        why = str(error)
        if isinstance(error, KeyboardInterrupt):
            why, status = "interrupted", INTERRUPTED
        failure = (
            f"{why}: {made.progress.done} of {design.count} cases are kept in '{directory.path}';"
            " the same command does the others"
        )
    from stiction.report.study import summarize_study, write_study

    with working("finding answers"):
        summary = summarize_study(made, shown)
    return Answer(
        summary,
        lambda: _show(title, summary),
        lambda d: write_study(made, summary, title, d),
        failure,
        status,
    )


def _tell_not_treated(described: Any) -> None:
    """Name, once for all cases, the pairs that may touch and are not treated."""
    from stiction.surfaces import tell_not_treated

    if left_out := tell_not_treated(described.touching):
        warnings.warn(left_out, stacklevel=1)


def _show(title: str, summary: dict[str, Any]) -> None:
    from stiction.report.study import index_rows, story

    show_table([{"quantity": k, "value": v} for k, v in story(summary)], title=title, header=False)
    for name, rows in summary["sobol"].items():
        show_table(index_rows(rows), title=f"What matters for {name}")
    show_table(summary.get("basins", [])[:8], title="Where it comes to rest")
    for row in summary["failures"][:_MOST_SHOWN]:
        say(f"case {row['case']} failed: {row['message']}")
        if row["command"]:
            say(f"  {row['command']}")
    if len(summary["failures"]) > _MOST_SHOWN:
        say(f"{summary['failed']} cases failed; the report lists more of them")


def _models(described: Any, source: str, design: Any) -> Answer:
    """A model for each case, instead of a run."""
    from stiction import studies
    from stiction.studies.scene_subject import VariedScene

    varied = VariedScene(described.scenario, described.folder, source)
    made = studies.randomize(varied, design)
    with working("compiling the models"):
        arrays = made.arrays
    data = {
        "models": design.count,
        "arrays": {name: list(values.shape) for name, values in arrays.items()},
        "limits": list(made.limits),
    }

    def show() -> None:
        say(f"{design.count} models; what differs between them:")
        show_table([{"field": name, "shape": str(tuple(s))} for name, s in data["arrays"].items()])
        for limit in made.limits:
            say(f"note: {limit}")

    def write(directory: Any) -> None:
        from stiction.report.study import write_models

        write_models(made, directory)

    return Answer(data, show, write)
