"""What `stiction gait` leaves behind: OpenSim's files, NetCDF, CSV, clinical figures, a page."""

from pathlib import Path
from typing import Any

import numpy as np

from stiction.biped import Comparison, Gait, GroundReactions, describe_filter
from stiction.report import gait_figures, grf_figures
from stiction.report.charts import Chart, Line, Panel
from stiction.report.figures import add_figures
from stiction.report.grf import animation, rounded
from stiction.report.grf_files import storage, write_external_loads
from stiction.report.output import OutputDirectory
from stiction.report.page import Report

_SIDES = {"right": 0, "left": 1}  # colours, as in the figures


def write_gait(
    gait: Gait,
    comparison: Comparison | None,
    bands: np.ndarray | None,
    summary: dict[str, Any],
    directory: OutputDirectory,
    title: str,
) -> Path:
    """Write everything that was computed and its `summary`; return the report's path."""
    reactions, measured = gait.reactions, gait.measured
    dataset = gait.to_dataset()
    if bands is not None:
        own = bands[:, gait.coordinates]
        dataset["joint_moment_band"] = (("time", "joint"), own, {"units": "N m"})
    directory.netcdf("gait.nc", dataset)
    _write_tables(gait, summary, directory)
    report = Report(title)
    joints = gait_figures.joints_of_sheet(gait)
    with report.beside(animation(reactions, gait.loads)):
        report.chart(
            moment_chart(gait, joints),
            "Loads of the feet, and joint moments in N m/kg; a click sets the motion's time",
        )
    report.heading("Is the trial usable?")
    report.text(gait.residual.sentence)
    report.heading("In numbers")
    report.table(_numbers(gait, summary))
    if gait.stride_rows:
        report.heading("Strides")
        report.table(rounded(summary["strides"], 3))
    if gait.stance_rows:
        report.heading("Landings and flights")
        report.table(rounded(gait.stance_rows, 3))
        report.table(rounded(summary["flights"], 3))
    if summary.get("events_in_file"):
        report.heading("Events marked in the file")
        report.table(rounded(summary["events_in_file"], 3))
    report.heading("Joints")
    report.table(rounded(summary["peaks"], 3))
    figures = {}
    if gait.strides:
        figures["forces"] = (
            gait_figures.force_cycles(gait),
            "Ground reactions over the gait cycle; mean and standard deviation of the strides",
        )
    if gait.strides and joints:
        figures["cycles"] = (
            gait_figures.joint_cycles(gait, joints),
            "Angle, moment and power over the gait cycle, from heel strike to heel strike; mean and"
            " standard deviation of the strides, dotted: toe-off. What the titles name is drawn"
            " upwards, whatever the model's signs; tables and files keep those",
        )
    if joints:
        wide = " Band: 95 % of the declared noise." if bands is not None else ""
        figures["moments"] = (
            gait_figures.joint_moments(gait, joints, bands),
            f"Joint moments, signs as over the cycle; shaded while the foot stands.{wide}",
        )
    if reactions.feet:
        figures["feet"] = (
            grf_figures.foot_forces(reactions, measured),
            "Force of each foot. Shaded: more than one foot is down",
        )
    figures["residual"] = (
        gait_figures.residual_figure(gait),
        "Residual: what the base would have to be pushed with for motion and loads to agree",
    )
    report.heading("Figures")
    add_figures(report, directory, figures)
    if comparison is not None:
        report.heading("Ground reactions by motion, against the force plates")
        report.table(rounded(comparison.components))
    report.heading("What was assumed, mended or left out")
    for note in summary["notes"] or ["nothing"]:
        report.text(note)
    return directory.page(report)


def moment_chart(gait: Gait, joints: list[gait_figures.SheetJoint]) -> Chart:
    """Force of each foot and moments of the joints, on the clock of the player."""
    reactions, subject = gait.reactions, gait.reactions.subject
    panels = []
    if gait.loads.feet:
        up = np.nan_to_num(gait.loads.force) @ reactions.axes.up / subject.weight
        named = zip(gait.loads.feet, up.T, strict=True)
        lines = [Line(foot, y, color=_SIDES.get(foot)) for foot, y in named]
        panels.append(Panel("load [body weight]", lines))
    for joint in joints:
        lines = []
        for side, color in _SIDES.items():
            if (found := gait_figures.bends(gait, joint, side)) is not None:
                moment = gait.joints.moment[:, gait.coordinates[found[0]]]
                lines.append(Line(side, -found[1] * moment / subject.mass, color=color))
        panels.append(Panel(f"{joint.title} {joint.moment}", lines))
    return Chart(reactions.time, panels)


def _write_tables(gait: Gait, summary: dict[str, Any], directory: OutputDirectory) -> None:
    """Kinematics and inverse dynamics as OpenSim's storages, loads, and tables of strides."""
    reactions, joints = gait.reactions, gait.joints
    subject = reactions.subject
    with directory.file("kinematics.mot") as path:
        storage(path, _coordinates(reactions), degrees=True)
    moments = {"time": reactions.time}
    reaction = {"time": reactions.time}
    for i, c in enumerate(subject.coordinates):
        if not c.follows and c.name.rpartition(".")[2] not in ("qw", "qx", "qy", "qz"):
            kind = "moment" if c.rotational else "force"
            moments[f"{c.name}_{kind}"] = joints.moment[:, i]
    with directory.file("inverse_dynamics.sto") as path:
        storage(path, moments)
    for b, body in list(enumerate(subject.body_names))[1:]:
        for what, values in (("f", joints.reaction), ("m", joints.reaction_moment)):
            reaction |= {f"{body}_{what}{a}": values[:, b, i] for i, a in enumerate("xyz")}
    with directory.file("joint_reactions.sto") as path:
        storage(path, reaction)
    if reactions.feet:
        with directory.file("grf.mot") as table, directory.file("grf.xml") as setup:
            write_external_loads(reactions, gait.loads, table, setup)
    if summary["every_stride"]:
        directory.csv("strides.csv", summary["every_stride"])
    if gait.stance_rows:
        directory.csv("stances.csv", gait.stance_rows)
    directory.csv("events.csv", summary["events"], ["foot", "event", "time"])
    directory.csv("joints.csv", summary["peaks"])


def _coordinates(reactions: GroundReactions) -> dict[str, np.ndarray]:
    columns = {"time": reactions.time}
    for i, c in enumerate(reactions.subject.coordinates):
        unit = 180 / np.pi if c.rotational else 1.0
        columns[c.name] = unit * reactions.motion.q[:, i]
    return columns


def _numbers(gait: Gait, summary: dict[str, Any]) -> list[dict[str, str]]:
    parts = [f"{foot} {part:.0%}" for foot, part in summary["loads_from_plates"].items()]
    rows = {
        "subject": f"{summary['subject']}, {summary['mass']:.5g} kg",
        "recording": f"{summary['start']:.4g} to {summary['end']:.4g} s,"
        f" {summary['frames']} frames at {summary['rate']:.4g} Hz",
        "gait": gait.kind,
        "low-pass": describe_filter(summary),
        "frames in which plates give the load": ", ".join(parts) or "no feet are known",
        "whole strides": str(len(gait.strides)),
    }
    return [{"quantity": k, "value": v} for k, v in rows.items()]
