"""`stiction capability`: how fast a standing mechanism can accelerate a point."""

from pathlib import Path
from typing import Any

from stiction._base.errors import InputError
from stiction.cli.command import Answer, Output, command
from stiction.cli.stances import StanceOptions, read_direction, read_stance
from stiction.cli.terminal import show_table
from stiction.report import working


@command("Agility")
def capability(
    output: Output,
    options: StanceOptions,
) -> Answer:
    """The largest acceleration in a direction that motors can give while the feet hold.

    Examples:
      stiction capability jumping-leg --direction=-1,0,1 --posture guess
      stiction capability jumping-leg --direction=-1,0,1 --posture femur=0.1,tibia=-0.6 --plot
    """
    d = read_direction(options.direction)
    stance, q, _ = read_stance(options)
    output.open(f"capability-{Path(options.model).stem}")
    with working("looking for the limits"):
        from stiction.agility.summary import summarize_capability

        answer = summarize_capability(stance, q, d)
    if answer["capability"] is None:
        alone = answer["motors_alone"]["capability"]
        note = "" if alone is None else f" (on feet that cannot slip or lift: {alone:.4g} m/s²)"
        raise InputError(
            "`--direction`: no acceleration along it is possible at this posture while the feet"
            f" hold{note}; try another direction or posture, or more friction"
        )

    def write(directory):
        from stiction.report.capability import write_capability

        return write_capability(directory, stance, q, d, answer)

    return Answer(answer, lambda: show_table(_rows(answer)), write)


def _rows(answer: dict[str, Any]) -> list[dict[str, str]]:
    cases = {"while the feet hold": answer, "motors alone (6.6)": answer["motors_alone"]}
    return [
        {
            "": name,
            "acceleration [m/s²]": "none"
            if found["capability"] is None
            else f"{found['capability']:.6g}",
            "limited by": ", ".join(found["limits"]) or "no acceleration along it is possible",
            "efforts [N·m or N]": ", ".join(
                f"{k} {v:.4g}" for k, v in list((found["effort"] or {}).items())[:6]
            ),
        }
        for name, found in cases.items()
    ]
