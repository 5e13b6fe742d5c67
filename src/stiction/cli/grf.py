"""`stiction grf`: ground reactions from recorded motion, compared with force plates."""

from typing import Any

from stiction.cli import trial
from stiction.cli.command import Answer, Output, command
from stiction.cli.terminal import say, show_table
from stiction.report import working


@command("People")
def grf(
    output: Output,
    options: trial.TrialOptions,
) -> Answer:
    """Compute ground reaction forces from motion: in total, by foot and by point of the sole.

    Examples:
      stiction grf walk.mot --model subject.osim --plates forces.mot --plot
      stiction grf markers.trc --model subject.osim --plates loads.xml --json
      stiction grf walk.mot --model human --cutoff 6 --json
    """
    options.check_files()
    output.open(f"grf-{options.motion.stem}")
    with working("computing ground reactions"):
        from stiction.biped import summarize

        who = trial.read_subject(options)
        reactions, _, comparison = trial.ground_reactions_of(options, who)
    summary = summarize(reactions, comparison)

    def write(directory):
        from stiction.report.grf import write_grf

        title = f"Ground reactions: {options.motion.name} on {who.name}"
        return write_grf(reactions, comparison, summary, directory, title)

    def show() -> None:
        show_reactions(summary)
        if output.directory is None:
            say("Add --plot for data, figures and a report in which the motion plays.")

    return Answer(summary, show, write)


def show_reactions(summary: dict[str, Any]) -> None:
    """The reactions in a few lines."""
    from stiction.biped import describe_filter

    say(
        f"{summary['subject']}, {summary['mass']:.4g} kg: {summary['frames']} frames"
        f" at {summary['rate']:.4g} Hz, low-pass: {describe_filter(summary)}",
        bold=True,
    )
    if "comparison" in summary:
        formats = {"RMSE [% BW]": ".2f", "single support [% BW]": ".2f", "correlation": ".3f"}
        show_table(
            [
                {"of": row["of"], "direction": row["direction"]}
                # What is not known (nan) is left empty.
                | {k: f"{row[k]:{f}}" if row[k] == row[k] else "" for k, f in formats.items()}
                for row in summary["comparison"]["components"]
            ]
        )
    else:
        show_table(
            [
                {
                    "foot": foot,
                    "bears load": f"{row['down']:.0%} of the time",
                    "largest vertical force": f"{row['largest_vertical']:.0f} N,"
                    f" {row['largest_vertical'] / summary['weight']:.2f} body weights",
                    "stances": len(row["stances"]),
                }
                for foot, row in summary["feet"].items()
            ]
        )
    if summary.get("frames_not_determined"):
        say(
            f"In {summary['frames_not_determined']} frames mechanics alone does not say which foot"
            f" bears what; the split is '{summary['split']}'."
        )
    for note in summary["notes"]:
        say(f"note: {note}")
