"""`stiction compare`: lay runs beside each other."""

from pathlib import Path

from stiction._base.errors import InputError
from stiction.cli.command import Answer, Output, command
from stiction.cli.options import (
    BASE,
    SET,
    Text,
    Texts,
    argument,
    complete_scene,
    option,
    read_or_run,
)
from stiction.cli.terminal import show_table
from stiction.report import progress

RUNS = argument(
    ...,
    "Directories of runs, or scenes and models, which are then run.",
    autocompletion=complete_scene,
)
VARY = option(None, "FIELD=V1,V2,…", "Run the one scene with each of these values instead.")


@command("Simulate", writes="always")
def compare(
    output: Output,
    runs: list[str] = RUNS,
    set_: Texts = SET,
    vary: Text = VARY,
    base: Text = BASE,
) -> Answer:
    """Lay two or more runs beside each other: motions overlaid, and where they differ.

    Examples:
      stiction compare out/box out/box-soft
      stiction compare box --vary contact.law=hybrid,stepping,compliant
      stiction compare bouncing-ball --vary contact.restitution=0.5,0.6,0.7 --out out/bounces
    """
    wanted = _sources(runs, set_ or [], vary, base)
    output.open("compare", always=True)
    done = {name: read_or_run(*how) for name, how in progress(wanted.items(), "running", label=str)}
    from stiction.report.compare import comparison_rows, summarize_comparison, write_comparison

    summary = summarize_comparison(done)
    return Answer(
        summary,
        lambda: show_table(comparison_rows(summary), title="compared"),
        lambda directory: write_comparison(done, summary, directory),
    )


def _sources(
    runs: list[str], settings: list[str], vary: Text, base: Text
) -> dict[str, tuple[str, Texts, Text]]:
    """What to run or to read under which name: a source, its settings and its base."""
    if vary is None:
        if len(runs) < 2:
            raise InputError(
                f"`RUNS` must be two or more, got {len(runs)}; name another, or --vary"
            )
        names = [Path(run).name for run in runs]
        if len(set(names)) < len(names):
            names = [f"{i + 1} {name}" for i, name in enumerate(names)]
        how: list[tuple[str, Texts, Text]] = []
        for run in runs:
            done = Path(run).is_dir()  # such are compared as they are
            how.append((run, None, None) if done else (run, settings, base))
        return dict(zip(names, how, strict=True))
    field, equals, values = vary.partition("=")
    if len(runs) != 1 or not equals or "," not in values:
        raise InputError(
            f"`--vary` must read FIELD=V1,V2,… and needs one scene, got '{vary}' and {len(runs)}"
        )
    name = field.rpartition(".")[2]
    return {
        f"{name}={value}": (runs[0], [*settings, f"{field}={value}"], base)
        for value in values.split(",")
    }
