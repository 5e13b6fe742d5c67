"""What `stiction grf` leaves behind: data, tables, figures, and a page that tells the story."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from stiction.biped import (
    Comparison,
    FootLoads,
    GroundReactions,
    MechanismPoses,
    describe_filter,
    foot_loads,
    summarize,
)
from stiction.report import grf_figures
from stiction.report.figures import add_figures
from stiction.report.grf_files import foot_columns, write_external_loads
from stiction.report.output import OutputDirectory
from stiction.report.page import Report
from stiction.report.player import Animation, Plane, Shape
from stiction.report.stick_figure import bones

_BONE = 0.02  # m, the radius of a stick figure's limbs
_SPLITS = {
    "pivot": "least norm, each foot's force directed near a pivot {height:.2f} m above the centre"
    " of mass",
    "least-norm": "least norm",
    "smooth": "smooth transition from one foot to the other",
    "none": "none: no feet are known",
}


def write_grf(
    reactions: GroundReactions,
    comparison: Comparison | None,
    summary: dict[str, Any],
    directory: OutputDirectory,
    title: str,
) -> Path:
    """Write everything that was computed and its `summary`; return the report's path."""
    directory.netcdf("grf.nc", reactions.to_dataset())
    measured = comparison.measured if comparison else None
    report = Report(title)
    loads = foot_loads(reactions, None, "motion")
    with report.beside(animation(reactions, loads)):
        add_figures(report, directory, grf_figures.reaction_figures(reactions, measured))
    if reactions.feet:
        columns = foot_columns(reactions, loads)
        values = np.stack(list(columns.values()), axis=1)
        rows = ([f"{x:.9g}" for x in row] for row in values)
        directory.csv("feet.csv", [dict(zip(columns, row, strict=True)) for row in rows])
        with directory.file("grf.mot") as table, directory.file("grf.xml") as setup:
            write_external_loads(reactions, loads, table, setup)
    report.heading("In numbers")
    report.table(reaction_rows(reactions, summary))
    if comparison is not None:
        report.heading("Against the force plates")
        report.table(rounded(comparison.components))
        if comparison.pressure:
            report.text("Centre of pressure, computed less measured:")
            report.table(rounded(comparison.pressure))
    if comparison is not None and comparison.stances:
        report.heading("Peaks of the vertical force")
        report.table(rounded(comparison.stances))
    report.heading("What was assumed, mended or left out")
    for note in summary["notes"] or ["nothing"]:
        report.text(note)
    return directory.page(report)


def animation(reactions: GroundReactions, loads: FootLoads) -> Animation:
    """The motion as a figure that plays, with an arrow for each foot's force."""
    subject = reactions.subject
    poses = subject.poses(reactions.motion.q)
    rotation = Rotation.from_matrix(poses.rotation.reshape(-1, 3, 3))
    turned = rotation.as_quat(scalar_first=True).reshape(len(reactions.time), -1, 4)
    forces = None
    if reactions.feet:
        forces = np.nan_to_num(np.concatenate([loads.point, loads.force], axis=-1))
    up = int(np.argmax(np.abs(reactions.axes.up)))
    level = float(np.median(reactions.touch.level)) if reactions.feet else reactions.ground
    return Animation(
        time=reactions.time,
        shapes=_look(reactions),
        positions=np.asarray(poses.position),
        quaternions=turned,
        ground=[Plane(point=level * reactions.axes.up, normal=reactions.axes.up)],
        forces=forces,
        up="xyz"[up] if up else "z",
        view="iso",
        caption=f"{subject.name}, with the forces of the ground on the feet",
    )


def _look(reactions: GroundReactions) -> list[Shape]:
    """A mechanism's own shapes, or a stick figure."""
    subject = reactions.subject
    poses = subject.bodies.poses
    if isinstance(poses, MechanismPoses):
        from stiction.report.animate import shapes_of  # brings the engines along

        if shapes := shapes_of(poses.mechanism, planes=False):
            return shapes
    shapes = []
    for body, start, end in bones(subject):
        half = float(np.linalg.norm(end - start)) / 2
        turn = Rotation.align_vectors([(end - start) / (2 * half)], [[0, 0, 1]])[0]
        shapes.append(
            Shape(
                "capsule",
                [_BONE, half],
                body=body,
                position=(start + end) / 2,
                quaternion=turn.as_quat(scalar_first=True),
            )
        )
    return shapes


def reaction_rows(
    reactions: GroundReactions, summary: dict[str, Any] | None = None
) -> list[dict[str, str]]:
    """Who moved, how it was recorded and what was assumed, as a table for people."""
    summary = summarize(reactions, None) if summary is None else summary
    rows = {
        "subject": f"{summary['subject']}, {summary['mass']:.5g} kg",
        "recording": f"{summary['start']:.4g} to {summary['end']:.4g} s,"
        f" {summary['frames']} frames at {summary['rate']:.4g} Hz",
        "low-pass": describe_filter(summary),
        "split": _SPLITS[reactions.split].format(height=summary.get("pivot_height", 0)),
    }
    if reactions.feet:
        belt = float(np.linalg.norm(summary["support_velocity"]))
        rows |= {
            "points of the soles": f"{len(reactions.subject.soles)}, {summary['soles']}",
            "ground": "at rest" if belt == 0 else f"a belt at {belt:.3g} m/s",
            "frames with both feet down": f"{summary['double_support_frames']},"
            f" of which {summary['frames_not_determined']} not determined by mechanics alone",
        }
    return [{"quantity": k, "value": v} for k, v in rows.items()]


def rounded(rows: list[dict[str, Any]], most: int = 2) -> list[dict[str, Any]]:
    """Rows for people: numbers with as many digits as their unit bears, nothing for nan."""

    def cell(name: str, value: Any) -> Any:
        if not isinstance(value, float):
            return value
        if not np.isfinite(value):
            return ""
        whole = "[N]" in name or "[mm]" in name
        digits = 3 if "corr" in name or "[s]" in name else 0 if whole else most
        return f"{value:z.{digits}f}"

    return [{k: cell(k, v) for k, v in row.items()} for row in rows]
