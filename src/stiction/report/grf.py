"""What `stiction grf` leaves behind: data, tables, figures, and a page that tells the story."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from stiction.biped.bones import bones
from stiction.biped.comparison import Comparison
from stiction.biped.export import to_dataset, write_csv, write_external_loads
from stiction.biped.reactions import GroundReactions
from stiction.biped.subject import MechanismPoses
from stiction.biped.summary import describe_filter, summarize
from stiction.report import grf_figures
from stiction.report.figures import save_figure
from stiction.report.page import Report
from stiction.report.player import Animation, Plane, Shape

_BONE = 0.02  # m, the radius of a stick figure's limbs
_SPLITS = {
    "pivot": "least norm, each foot's force directed near a pivot {height:.2f} m above the centre"
    " of mass",
    "least-norm": "least norm",
    "smooth": "smooth transition from one foot to the other",
    "none": "none: no feet are known",
}


def write_grf(
    reactions: GroundReactions, comparison: Comparison | None, directory, title: str
) -> Path:
    """Write everything into an `OutputDirectory`; return the report's path."""
    to_dataset(reactions).to_netcdf(directory.file("grf.nc"), engine="h5netcdf")
    summary = summarize(reactions, comparison)
    measured = comparison.measured if comparison else None
    report = Report(title)
    report.animation(animation(reactions))
    report.heading("In numbers")
    report.table(_numbers(reactions, summary))
    if comparison is not None:
        report.heading("Against the force plates")
        report.table(_rounded(comparison.components))
        if comparison.pressure:
            report.text("Centre of pressure, computed less measured:")
            report.table(_rounded(comparison.pressure))
    figures = {"total": (grf_figures.total_force(reactions, measured), "Force of all feet")}
    if reactions.feet:
        write_csv(reactions, directory.file("feet.csv"))
        write_external_loads(reactions, directory.file("grf.mot"), directory.file("grf.xml"))
        figures |= {
            "feet": (
                grf_figures.foot_forces(reactions, measured),
                "Force of each foot. Shaded: more than one foot is down, and mechanics alone does"
                " not say which bears what",
            ),
            "pressure": (
                grf_figures.pressure_paths(reactions, measured),
                "Centre of pressure under each foot, seen from above, while it bears a tenth of the"
                " weight",
            ),
            "functional": (
                grf_figures.functional_coordinates(reactions),
                "Functional coordinates of the soles' points and their rates; shaded while the foot"
                " bears load",
            ),
        }
    report.heading("Figures")
    for name, (figure, caption) in figures.items():
        report.figure(save_figure(figure, directory, name)[-1], caption)
    if comparison is not None and comparison.stances:
        report.heading("Peaks of the vertical force")
        report.table(_rounded(comparison.stances))
    report.heading("What was assumed, mended or left out")
    for note in summary["notes"] or ["nothing"]:
        report.text(note)
    return report.write(directory.file("report.html"))


def animation(reactions: GroundReactions) -> Animation:
    """The motion as a figure that plays, with an arrow for each foot's force."""
    subject, shares = reactions.subject, reactions.shares
    poses = subject.poses(reactions.motion.q)
    rotation = Rotation.from_matrix(poses.rotation.reshape(-1, 3, 3))
    turned = rotation.as_quat(scalar_first=True).reshape(len(reactions.time), -1, 4)
    forces = None
    if reactions.feet:
        at = np.where(shares.down[..., None], shares.pressure, 0.0)
        forces = np.concatenate([at, shares.foot_force], axis=-1)
    up = int(np.argmax(np.abs(reactions.axes.up)))
    level = float(np.median(reactions.touch.level)) if reactions.feet else reactions.ground
    return Animation(
        time=reactions.time - reactions.time[0],
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


def _numbers(reactions: GroundReactions, summary: dict[str, Any]) -> list[dict[str, str]]:
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


def _rounded(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    def cell(name: str, value: Any) -> Any:
        if not isinstance(value, float):
            return value
        if not np.isfinite(value):
            return ""
        digits = 3 if "corr" in name or "[s]" in name else 2 if "%" in name else 0
        return f"{value:.{digits}f}"

    return [{k: cell(k, v) for k, v in row.items()} for row in rows]
