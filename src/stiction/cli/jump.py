"""`stiction jump`: how high a jump was, from a force plate."""

import math
from pathlib import Path

from stiction.cli.command import Answer, Output, command
from stiction.cli.options import Number, Text, argument, option
from stiction.cli.terminal import say


@command("People")
def jump(
    output: Output,
    forces: Path = argument(..., "Vertical force against time (.txt, .csv, .mot, .sto)."),
    rate: Number = option(None, "F", "Sampling rate of a file of one column, without times [Hz]."),
    column: Text = option(None, "NAME", "The vertical force, if there are more columns."),
) -> Answer:
    """Find the jumps in a record of vertical force, and how high they were.

    Examples:
      stiction jump plate.csv --column Fz
      stiction jump force.txt --rate 1000 --plot
    """
    from dataclasses import asdict

    from stiction.biped import find_jumps, read_vertical_force

    output.open(f"jump-{forces.stem}")
    table = read_vertical_force(forces, rate=rate, column=column)
    record = find_jumps(table.time, table.values[:, 0])

    def write(directory):
        from stiction.report.jump import write_jump

        return write_jump(record, directory, forces.name)

    summary = {
        "weight": record.weight,
        "weighed": record.weighed,
        "jumps": [asdict(j) for j in record.jumps],
        "notes": list(table.notes),
    }
    return Answer(summary, lambda: _show(record), write)


def _show(record) -> None:
    say(f"weight {record.weight:.1f} N ({record.weighed})")
    for j in record.jumps:
        speed = ""
        if math.isfinite(j.takeoff_speed):
            speed = f"; from the impulse {j.impulse_height:.3f} m ({j.takeoff_speed:.2f} m/s)"
        say(
            f"{j.takeoff:.3f} to {j.landing:.3f} s in the air: {j.height:.3f} m from the flight"
            f" time{speed}; landing with {j.landing_force / record.weight:.1f} body weights"
        )
