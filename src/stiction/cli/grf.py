"""`stiction grf`: ground reactions from recorded motion, compared with force plates."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stiction._errors import InputError
from stiction.cli.options import Force, Json, Out
from stiction.cli.output import OutputDirectory, print_json, text_table

if TYPE_CHECKING:
    from stiction.biped.subject import Subject


def grf(
    motion: Annotated[
        Path,
        typer.Argument(
            help="Joint angles (.mot, .sto, .csv) or markers (.trc, .c3d) against time."
        ),
    ],
    model: Annotated[
        str,
        typer.Option(
            "--model", help="OpenSim model (.osim), MJCF, URDF, scenario, or a scene: human."
        ),
    ],
    plates: Annotated[
        Path | None,
        typer.Option(
            "--plates", help="Force plates to compare with (.mot, .sto, .csv, .c3d, loads .xml)."
        ),
    ] = None,
    contacts: Annotated[
        Path | None,
        typer.Option("--contacts", help="Points of the soles: ContactGeometrySet .xml, or .csv."),
    ] = None,
    filter_: Annotated[
        str, typer.Option("--filter", help="Low-pass: spline, butterworth or none.")
    ] = "spline",
    cutoff: Annotated[
        float | None,
        typer.Option("--cutoff", help="Its cut-off [Hz]; chosen from the data if absent."),
    ] = None,
    split: Annotated[
        str, typer.Option("--split", help="In double support: pivot, least-norm or smooth.")
    ] = "pivot",
    friction: Annotated[float, typer.Option("--friction", help="Coefficient of friction.")] = 0.8,
    angles: Annotated[
        str | None, typer.Option("--angles", help="Unit of angles: degrees or radians.")
    ] = None,
    start: Annotated[
        float | None, typer.Option("--start", help="Leave out what is before [s].")
    ] = None,
    end: Annotated[float | None, typer.Option("--end", help="Leave out what is after [s].")] = None,
    gap_tolerance: Annotated[
        float, typer.Option("--gap-tolerance", help="Height from which on points do not touch [m].")
    ] = 0.03,
    speed_tolerance: Annotated[
        float, typer.Option("--speed-tolerance", help="Speed from which on they do not [m/s].")
    ] = 1.0,
    ground: Annotated[
        float | None,
        typer.Option("--ground", help="Height of the ground [m]; found from the motion if absent."),
    ] = None,
    plate_axes: Annotated[
        str | None,
        typer.Option("--plate-axes", help="The model's x,y,z in the plates' axes, as x,z,-y."),
    ] = None,
    marker_axes: Annotated[
        str | None, typer.Option("--marker-axes", help="Likewise for markers.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="PATH=VALUE", help="Of a scenario: --set mechanism.human.mass=72.6."
        ),
    ] = None,
    out: Out = None,
    force: Force = False,
    json: Json = False,
) -> int:
    """Compute ground reaction forces from motion, in total, by foot and by point of the sole."""
    from stiction.report.progress import working

    for path in (motion, plates, contacts):
        if path is not None and not path.is_file():
            raise InputError(f"no file '{path}'; check the path")
    directory = None if out is None else OutputDirectory(out, force=force)
    with working("computing ground reactions"):
        from stiction.biped.comparison import compare
        from stiction.biped.measured import measured_on_frames
        from stiction.biped.plates import read_plates
        from stiction.biped.reactions import ground_reactions
        from stiction.biped.recording import read_motion
        from stiction.biped.summary import summarize

        subject = _subject(model, contacts, set_)
        reactions = ground_reactions(
            read_motion(motion, subject, marker_axes=marker_axes),
            subject,
            angles=angles,
            filter=filter_,
            cutoff=cutoff,
            split=split,
            friction=friction,
            gap_tolerance=gap_tolerance,
            speed_tolerance=speed_tolerance,
            level=ground,
            start=start,
            end=end,
        )
        comparison = None
        if plates is not None:
            measured = measured_on_frames(read_plates(plates, axes=plate_axes), reactions)
            comparison = compare(reactions, measured)
    summary = summarize(reactions, comparison)
    if directory is not None:
        with working("writing the report"):
            from stiction.report.grf import write_grf

            title = f"Ground reactions: {motion.name} on {subject.name}"
            page = write_grf(reactions, comparison, directory, title)
        summary |= {"report": page, "files": directory.files}
    if json:
        print_json(summary)
    else:
        _print(summary)
    return 0


def _subject(model: str, contacts: Path | None, overrides: list[str] | None) -> "Subject":
    """The subject of a model file or of a scene."""
    from stiction.biped.soles import with_soles

    if Path(model).suffix.lower() == ".osim":
        if overrides:
            raise InputError("`--set` is for scenarios and scenes, not for OpenSim models")
        from stiction.biped.opensim import read_osim

        return with_soles(read_osim(model), contacts)
    from stiction.biped.subject import subject_of_mechanism
    from stiction.scenes.read import read_scenario
    from stiction.scenes.run import build_mechanism

    mechanism = build_mechanism(*read_scenario(model, overrides))
    return with_soles(subject_of_mechanism(mechanism), contacts, mechanism)


def _print(summary: dict) -> None:
    from rich.console import Console

    from stiction.biped.summary import describe_filter

    console = Console()
    console.print(
        f"[bold]{summary['subject']}[/bold], {summary['mass']:.4g} kg: {summary['frames']} frames"
        f" at {summary['rate']:.4g} Hz, low-pass: {describe_filter(summary)}"
    )
    if "comparison" in summary:
        table = text_table("of", "direction", "RMSE [% BW]", "single support", "correlation")
        for row in summary["comparison"]["components"]:
            numbers = (
                ("RMSE [% BW]", ".2f"),
                ("single support [% BW]", ".2f"),
                ("correlation", ".3f"),
            )
            # What is not known (nan) is left empty.
            cells = (f"{row[k]:{f}}" if row[k] == row[k] else "" for k, f in numbers)
            table.add_row(row["of"], row["direction"], *cells)
    else:
        table = text_table("foot", "bears load", "largest vertical force", "stances")
        for foot, row in summary["feet"].items():
            largest = row["largest_vertical"]
            table.add_row(
                foot,
                f"{row['down']:.0%} of the time",
                f"{largest:.0f} N, {largest / summary['weight']:.2f} body weights",
                str(len(row["stances"])),
            )
    console.print(table)
    if summary.get("frames_not_determined"):
        console.print(
            f"In {summary['frames_not_determined']} frames mechanics alone does not say which foot"
            f" bears what; the split is '{summary['split']}'."
        )
    for note in summary["notes"]:
        console.print(f"note: {note}", markup=False)
    if "report" in summary:
        print(f"report: {summary['report']}")
    else:
        console.print("Add --out DIR for data, figures and a report in which the motion plays.")
