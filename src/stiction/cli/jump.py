"""`stiction jump`: how high a jump was, from a force plate."""

from pathlib import Path
from typing import Annotated

import typer

from stiction.cli.options import Force, Json, Out
from stiction.cli.output import OutputDirectory, print_json


def jump(
    forces: Annotated[
        Path, typer.Argument(help="Vertical force against time (.txt, .csv, .mot, .sto).")
    ],
    rate: Annotated[
        float | None, typer.Option("--rate", help="Sampling rate of a file of bare numbers [Hz].")
    ] = None,
    column: Annotated[
        str | None, typer.Option("--column", help="The vertical force, if there are more columns.")
    ] = None,
    out: Out = None,
    force: Force = False,
    json: Json = False,
) -> int:
    """Find the jumps in a record of vertical force, and how high they were."""
    directory = None if out is None else OutputDirectory(out, force=force)
    from dataclasses import asdict

    from stiction.biped.jump import find_jumps, read_vertical_force

    table = read_vertical_force(forces, rate=rate, column=column)
    record = find_jumps(table.time, table.values[:, 0])
    summary = {
        "weight": record.weight,
        "weighed": record.weighed,
        "jumps": [asdict(j) for j in record.jumps],
        "notes": list(table.notes),
    }
    if directory is not None:
        from stiction.report.jump import write_jump

        summary["report"] = write_jump(record, directory, forces.name)
        summary["files"] = directory.files
    if json:
        print_json(summary)
        return 0
    print(f"weight {record.weight:.1f} N ({record.weighed})")
    for j in record.jumps:
        speed = (
            ""
            if j.takeoff_speed != j.takeoff_speed
            else f"; from the impulse {j.impulse_height:.3f} m ({j.takeoff_speed:.2f} m/s)"
        )
        print(
            f"{j.takeoff:.3f} to {j.landing:.3f} s in the air: {j.height:.3f} m from the flight"
            f" time{speed}; landing with {j.landing_force / record.weight:.1f} body weights"
        )
    if directory is not None:
        print(f"report: {summary['report']}")
    return 0
