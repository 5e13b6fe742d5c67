"""`stiction gait`: from a recorded trial to joint moments, powers, events and cycles."""

import json
from pathlib import Path
from typing import Any

from stiction._base.errors import InputError
from stiction.cli import trial
from stiction.cli.command import Answer, Output, command
from stiction.cli.options import option
from stiction.cli.terminal import say, show_table
from stiction.report import OutputDirectory, json_text, progress, working


@command("People")
def gait(
    output: Output,
    options: trial.TrialOptions,
    loads: str = option(
        "auto", "NAME", "What acts on the feet: plates, motion, or auto (plates where they know)."
    ),
    draws: int = option(
        0, "N", "Draw the declared noise this many times for bands of the moments; 0 for none."
    ),
) -> Answer:
    """Analyse a recorded gait: joint angles, moments and powers, events, cycles, symmetry.

    A .c3d file brings its own force plates. Without a model, the human with 38 degrees of freedom
    is scaled to the markers. Of a folder, every trial is analysed; what was done before is kept.

    Examples:
      stiction gait trial.c3d --model generic.osim --static static.c3d --mass 72 --plot
      stiction gait walk.mot --model subject.osim --plates loads.xml --out results
      stiction gait subjects/ --out results
      stiction gait run.trc --model subject.osim --loads motion --draws 24 --json
    """
    if draws < 0 or draws == 1:
        raise InputError(f"`--draws` must be 0 or at least 2, got {draws}")
    if options.motion.is_dir():
        return _folder(options, output, loads, draws)
    options.check_files()
    output.open(f"gait-{options.motion.stem}")
    with working("computing joint moments"):
        result, comparison, bands, summary = _analyse(options, loads, draws)

    def write(directory):
        from stiction.report.gait import write_gait

        return write_gait(
            result, comparison, bands, summary, directory, f"Gait: {options.motion.name}"
        )

    def show() -> None:
        _show(summary)
        if output.directory is None:
            say("Add --plot for data, figures and a report in which the motion plays.")

    return Answer(summary, show, write)


def _analyse(options: trial.TrialOptions, loads: str, draws: int):
    """The outcome of one trial, its comparison, its bands and all that in numbers."""
    from stiction.biped import analyze, moment_bands, summarize_gait
    from stiction.tables import read_c3d_events

    who = trial.read_subject(options)
    reactions, measured, comparison = trial.ground_reactions_of(options, who)
    result = analyze(reactions, measured, loads=loads)
    bands = moment_bands(result, draws=draws) if draws else None
    summary = summarize_gait(result, comparison, bands)
    if options.motion.suffix.lower() == ".c3d":
        marked = read_c3d_events(options.motion)
        summary["events_in_file"] = [{"time": t, "event": word} for t, word in marked]
    return result, comparison, bands, summary


def _folder(options: trial.TrialOptions, output: Output, loads: str, draws: int) -> Answer:
    """Every trial of a folder, each in a directory of its own, and a table of them all."""
    from stiction.cli.gait_batch import find_trials, run_trials
    from stiction.report.gait import write_gait

    folder = options.motion
    trials = find_trials(folder, options)
    output.open(f"gait-{folder.resolve().name}", always=True)
    assert output.directory is not None
    place = output.directory.path

    def analyse(one: trial.TrialOptions, at: Path) -> tuple[dict[str, Any], OutputDirectory]:
        directory = OutputDirectory(at, command="gait", force=output.force)
        result, comparison, bands, summary = _analyse(one, loads, draws)
        write_gait(result, comparison, bands, summary, directory, f"Gait: {one.motion.name}")
        return json.loads(json_text(summary)), directory

    rows = []
    for row in progress(
        run_trials(folder, trials, place, {"loads": loads, "draws": draws}, analyse),
        "trials",
        label=lambda row: row["trial"],
        total=len(trials),
    ):
        rows.append(row)
        output.directory.csv("summary.csv", rows, list(dict.fromkeys(k for r in rows for k in r)))
    failed = [r for r in rows if r["outcome"] == "failed"]

    def show() -> None:
        keys = ("trial", "outcome", "gait", "usable", "residual force [%]", "why")
        show_table([{k: _rounded(r).get(k, "") for k in keys} for r in rows])
        say(f"table of all trials: {place / 'summary.csv'}")

    return Answer(
        {"trials": rows},
        show,
        failure=f"{len(failed)} of {len(rows)} trials failed" if failed else "",
    )


def _show(summary: dict[str, Any]) -> None:
    from stiction.biped import describe_filter

    say(
        f"{summary['subject']}, {summary['mass']:.4g} kg, {summary['kind']}:"
        f" {summary['frames']} frames at {summary['rate']:.4g} Hz,"
        f" low-pass: {describe_filter(summary)}",
        bold=True,
    )
    if summary["strides"]:
        show_table([_rounded(row) for row in summary["strides"]])
    else:
        say("No stride is whole: heel strike to heel strike of one foot, away from the ends.")
    for rows in (summary["stances"], summary["flights"]):
        if rows:
            show_table([_rounded(row) for row in rows])
    show_table([_spans(row) for row in summary["peaks"]])
    say(summary["residual"]["sentence"])
    for note in summary["notes"]:
        say(f"note: {note}")


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    # What is not known (nan) is left empty.
    return {
        k: v if not isinstance(v, float) else f"{v:.4g}" if v == v else "" for k, v in row.items()
    }


def _spans(row: dict[str, Any]) -> dict[str, str]:
    """A joint's row with 'from' and 'to' in one cell."""
    cells = {"joint": row["joint"]}
    for name, digits in (("angle [deg]", 0), ("moment [N m/kg]", 2), ("power [W/kg]", 2)):
        word, unit = name.split(" ", 1)
        cells[name] = f"{row[f'{word} from {unit}']:z.{digits}f} to {row[f'to {unit}']:z.{digits}f}"
    if "moment +- [N m/kg]" in row:
        cells["moment +-"] = f"{row['moment +- [N m/kg]']:.2f}"
    return cells
