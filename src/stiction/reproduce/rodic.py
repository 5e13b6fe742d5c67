"""rodic's figures of walking, made anew from an open recording.

The motion of rodic's subject is not public. Here a man of 72.6 kg walks on a treadmill at 1.14 m/s
between force plates (`gait_subject01_walk23`, inverse kinematics that never saw the forces), and
the human of 38 degrees of freedom with his mass and stature moves as he did. Arms, neck and toes
are at rest, as in rodic.
"""

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from stiction.biped.bones import stick_figures
from stiction.biped.comparison import Comparison, compare, m_shape
from stiction.biped.human import human
from stiction.biped.measured import TOUCHED, Measured, measured_on_frames
from stiction.biped.plates import read_plates
from stiction.biped.reactions import GroundReactions, ground_reactions
from stiction.biped.recording import Table, read_motion
from stiction.biped.soles import with_soles
from stiction.biped.stretches import stretches
from stiction.biped.subject import Subject, subject_of_mechanism
from stiction.mechanism import load_mechanism
from stiction.report.figures import COLORS, new_figure
from stiction.report.grf_figures import MEASURED, directions, legend_above, shade
from stiction.reproduce.registry import Check, Reproduction, check_close, reproduces

FOLDER, MOTION, PLATES = (
    "gait_subject01_walk23",
    "subject01_walk1_ik.mot",
    "subject01_walk1_grf.mot",
)
SOURCE = "https://github.com/opensim-org/opensim-core, Applications/ID/tests/resources"
STATURE, MASS = 1.80, 72.6  # m, kg: of the man in the recording
HALF_STEPS = 4
POINTS = ("heel_inner", "heel_outer", "toe_inner", "toe_outer")


@dataclass(frozen=True)
class Walk:
    """Four half-steps: what was computed, what was measured, and when."""

    reactions: GroundReactions
    measured: Measured
    comparison: Comparison
    window: tuple[float, float]


def of_recording(figure: Callable[[Walk], Reproduction]) -> Callable[[], Reproduction]:
    """Make a figure from the recording, or say that there is none and fail its check."""

    @functools.wraps(figure)
    def made() -> Reproduction:
        folder = Path(os.environ.get("STICTION_DATA", "data")) / FOLDER
        if not (folder / MOTION).is_file():
            note = (
                f"Not made: no recording at '{folder}'. Put {MOTION} and {PLATES} of {SOURCE}"
                " there, or set STICTION_DATA to the folder that holds it."
            )
            return Reproduction(note=note, checks=[Check("the recording is there", False)])
        return figure(walk(folder))

    return made


@functools.cache
def walk(folder: Path) -> Walk:
    """The recording on the 38-DOF human, beside the plates."""
    subject = person(STATURE, MASS)
    reactions = ground_reactions(read_motion(folder / MOTION, subject), subject)
    # The plates have y up and z to the right; the human z up and y to the left.
    plates = read_plates(folder / PLATES, axes="x,-z,y")
    measured = measured_on_frames(plates, reactions)
    return Walk(reactions, measured, compare(reactions, measured), four_half_steps(reactions))


def person(stature: float, mass: float) -> Subject:
    """The human of 38 degrees of freedom on feet that bend at the ball."""
    mechanism = load_mechanism(human(stature, mass, sole="hinged"))
    return with_soles(subject_of_mechanism(mechanism), mechanism=mechanism)


def four_half_steps(reactions: GroundReactions) -> tuple[float, float]:
    """From the first landing in the record to the fourth after it [s]."""
    load = reactions.shares.foot_force @ reactions.axes.up
    down = load > 0.05 * reactions.subject.weight
    landings = np.flatnonzero((down[1:] & ~down[:-1]).any(axis=1)) + 1
    last = landings[min(HALF_STEPS, len(landings) - 1)]
    return float(reactions.time[landings[0]]), float(reactions.time[last])


def _points(reactions: GroundReactions, foot: str) -> list[int]:
    names = reactions.subject.soles.names
    return [names.index(f"{foot}_{point}") for point in POINTS]


def _inside(walk: Walk) -> np.ndarray:
    start, end = walk.window
    return (walk.reactions.time >= start) & (walk.reactions.time <= end)


@reproduces("rodic", "Figure 6", title="Measured forces and moments on the right foot")
@of_recording
def figure_6(walk: Walk) -> Reproduction:
    measured, reactions = walk.measured, walk.reactions
    foot = reactions.feet.index("right")
    force = measured.feet[:, foot]
    first, after = _whole_stance(force @ reactions.axes.up)
    part = slice(max(first - 4, 0), after + 4)
    time, force = measured.time[part], force[part]
    arm = measured.pressure[part, foot] - reactions.center[measured.frames][part]
    moment = np.nan_to_num(np.cross(arm, force))
    figure, (top, bottom) = new_figure(2, sharex=True, figsize=(6.4, 5.2))
    axes = reactions.axes
    for name, along in directions(reactions).items():
        top.plot(time, force @ along, label=name)
        bottom.plot(time, moment @ along, label=f"about {name}")
    top.set_ylabel("force [N]")
    bottom.set_ylabel("moment about the\ncentre of mass [N m]")
    bottom.set_xlabel("time [s]")
    legend_above(figure, top)
    load, ahead = force @ axes.up, force @ axes.forward
    shape = m_shape(measured.time[first:after], load[first - part.start : after - part.start])
    inner = ahead[first - part.start : after - part.start]
    half = len(inner) // 2
    checks = [
        Check("the vertical force is M-shaped", shape is not None),
        Check("it is nothing before and after", bool(max(load[0], load[-1]) < 0.02 * load.max())),
        Check(
            "the foot brakes first and pushes later",
            bool(inner[:half].mean() < 0 < inner[half:].mean()),
            [float(inner[:half].mean()), float(inner[half:].mean())],
        ),
    ]
    return Reproduction(figure, checks=checks, note="Measured at 600 Hz, averaged to 60 Hz.")


@reproduces("rodic", "Figure 8", title="Snapshots of the gait")
@of_recording
def figure_8(walk: Walk) -> Reproduction:
    reactions = walk.reactions
    start, end = walk.window
    frames = np.searchsorted(reactions.time, np.linspace(start, end, 9))
    bodies, lines = stick_figures(reactions.subject, reactions.motion.q[frames])
    # The belt carries him back: unroll it, so that he walks.
    travel = reactions.time[frames] - start
    lines = lines - (travel[:, None] * reactions.touch.support_velocity)[:, None, None]
    figure, axis = new_figure(figsize=(7.6, 4.3))
    for color, label in ((COLORS[0], "right"), (COLORS[1], "left"), ("0.2", "trunk and head")):
        axis.plot([], [], color=color, linewidth=2.4, label=label)
    legend_above(figure, axis)
    names = [reactions.subject.body_names[b] for b in bodies]
    colors = [COLORS[0] if n[0] == "r" else COLORS[1] if n[0] == "l" else "0.2" for n in names]
    order = np.argsort([n.startswith("right") for n in names], kind="stable")  # the near side last
    for one in lines:
        for k in order:
            (x0, _, z0), (x1, _, z1) = one[k]
            axis.plot([x0, x1], [z0, z1], color=colors[k], linewidth=2.4, solid_capstyle="round")
    level = float(np.median(reactions.touch.level))
    axis.axhline(level, color="0.5", linewidth=1)
    axis.set_aspect("equal")
    axis.set_xlabel("along the way [m]")
    axis.set_ylabel("height [m]")
    axis.grid(False)
    speed = float(np.linalg.norm(reactions.touch.support_velocity))
    travelled = lines[-1].mean(axis=(0, 1))[0] - lines[0].mean(axis=(0, 1))[0]
    height = reactions.center[_inside(walk)] @ reactions.axes.up
    checks = [
        check_close("speed of walking [m/s], rodic's 1.25", speed, 1.25, 0.15),
        check_close("the body keeps up with the belt [m]", travelled, speed * (end - start), 0.1),
        Check("its centre rises and falls by centimetres", bool(0.02 < np.ptp(height) < 0.08)),
    ]
    return Reproduction(figure, checks=checks)


@reproduces("rodic", "Figure 9", title="Heights of the eight points of the feet above the support")
@of_recording
def figure_9(walk: Walk) -> Reproduction:
    reactions, touch, inside = walk.reactions, walk.reactions.touch, _inside(walk)
    figure, axes = new_figure(2, sharex=True, sharey=True, figsize=(6.4, 5.2))
    checks = []
    for axis, foot in zip(axes, ("right", "left"), strict=True):
        down = reactions.shares.down[:, reactions.feet.index(foot)]
        shade(axis, reactions.time, down)
        index = _points(reactions, foot)
        for i, name in zip(index, POINTS, strict=True):
            axis.plot(reactions.time, touch.gap[:, i] * 100, label=name.replace("_", " "))
        axis.set_ylabel(f"{foot} foot\nheight [cm]")
        lowest = touch.gap[:, index].min(axis=1)
        checks.append(
            Check(
                f"the {foot} foot bears load only where a point is within the tolerance",
                bool((lowest[down] < 0.03).all()),
                float(lowest[down].max()),
                "< 0.03 m",
            )
        )
        checks.append(
            Check(
                f"the {foot} heel swings clear of the ground",
                bool(touch.gap[:, index[:2]].max() > 0.1),
                float(touch.gap[:, index[:2]].max()),
                "> 0.1 m",
            )
        )
    axes[0].set_xlim(*walk.window)
    legend_above(figure, axes[0])
    axes[1].set_xlabel("time [s]; shaded: the foot bears load")
    alternate = reactions.shares.down[inside].any(axis=1)
    checks.append(
        Check("some foot is always down: he walks, he does not run", bool(alternate.all()))
    )
    return Reproduction(figure, checks=checks)


@reproduces("rodic", "Figure 10", title="Rates of the functional coordinates of the feet")
@of_recording
def figure_10(walk: Walk) -> Reproduction:
    reactions, touch = walk.reactions, walk.reactions.touch
    names = {
        "normal": reactions.axes.up,
        "longitudinal": reactions.axes.forward,
        "transversal": reactions.axes.left,
    }
    figure, axes = new_figure(3, 2, sharex=True, sharey="row", figsize=(8.0, 6.0))
    checks = []
    for column, foot in enumerate(("right", "left")):
        k, index = reactions.feet.index(foot), _points(reactions, foot)
        for axis, (name, along) in zip(axes[:, column], names.items(), strict=True):
            down = reactions.shares.down[:, k]
            shade(axis, reactions.time, down)
            for i, point in zip(index, POINTS, strict=True):
                axis.plot(
                    reactions.time,
                    touch.rate[:, i] @ along,
                    linewidth=1.2,
                    label=point.replace("_", " "),
                )
            if column == 0:
                axis.set_ylabel(f"{name} [m/s]")
        axes[0, column].set_title(f"{foot} foot")
        axes[-1, column].set_xlabel("time [s]")
        # Points that bear load move with the support; before they touch they come down.
        load = reactions.shares.point_force[:, index] @ reactions.axes.up
        heavy = load > 0.2 * reactions.subject.weight
        slip = np.linalg.norm(touch.rate[:, index], axis=-1)[heavy]
        checks.append(
            Check(
                f"loaded points of the {foot} foot move with the support (median)",
                bool(np.median(slip) < 0.15),
                float(np.median(slip)),
                "< 0.15 m/s",
            )
        )
        load = reactions.shares.foot_force[:, k] @ reactions.axes.up
        stands = load > 0.05 * reactions.subject.weight
        landing = np.flatnonzero(stands[1:] & ~stands[:-1])
        falling = touch.gap_rate[landing][:, index[:2]].min(axis=1)
        checks.append(
            Check(
                f"the {foot} heel comes down as it lands",
                bool((falling < 0).all()),
                falling.tolist(),
            )
        )
    axes[0, 0].set_xlim(*walk.window)
    legend_above(figure, axes[0, 0])
    return Reproduction(figure, checks=checks)


@reproduces("rodic", "Figure 11", title="Ground reactions of both feet, from the model")
@of_recording
def figure_11(walk: Walk) -> Reproduction:
    reactions, shares, inside = walk.reactions, walk.reactions.shares, _inside(walk)
    figure, axes = new_figure(3, sharex=True, figsize=(7.0, 6.2))
    for axis, (name, along) in zip(axes, directions(reactions).items(), strict=True):
        for color, foot in enumerate(("right", "left")):
            force = shares.foot_force[inside, reactions.feet.index(foot)] @ along
            axis.plot(reactions.time[inside], force, color=COLORS[color], label=f"{foot} foot")
        axis.set_ylabel(f"{name} [N]")
    axes[0].set_xlim(*walk.window)
    legend_above(figure, axes[0])
    axes[-1].set_xlabel("time [s]")
    error = np.abs(shares.foot_force.sum(axis=1) - reactions.force)[shares.down.any(axis=1)].max()
    shapes = [
        row["valley computed [N]"] < row["first peak computed [N]"]
        for row in walk.comparison.stances
    ]
    tangential = np.linalg.norm(
        shares.point_force
        - (shares.point_force @ reactions.axes.up)[..., None] * reactions.axes.up,
        axis=-1,
    )
    excess = tangential - reactions.friction * (shares.point_force @ reactions.axes.up)
    standing = standing_forces()
    half = 84.0728 * 9.81 / 2
    checks = [
        check_close(
            "standing: force on the left foot [N], rodic's 412", standing[0], half, 1e-6 * half
        ),
        check_close("standing: force on the right foot [N]", standing[1], half, 1e-6 * half),
        Check("the feet together give m (a - g)", bool(error < 1e-8), float(error), "< 1e-8 N"),
        Check("every whole step is M-shaped", bool(shapes) and all(shapes), len(shapes)),
        Check(
            "all forces are inside the friction cone",
            bool(excess.max() < 1e-8),
            float(excess.max()),
        ),
        Check("none pulls", bool((shares.point_force @ reactions.axes.up).min() >= 0)),
    ]
    return Reproduction(figure, checks=checks)


@reproduces("rodic", "Figure 12", title="Measured and computed vertical force on the right foot")
@of_recording
def figure_12(walk: Walk) -> Reproduction:
    reactions, measured = walk.reactions, walk.measured
    k = reactions.feet.index("right")
    figure, axis = new_figure()
    up = reactions.axes.up
    axis.plot(measured.time, measured.feet[:, k] @ up, **MEASURED, label="force plate")
    axis.plot(
        reactions.time, reactions.shares.foot_force[:, k] @ up, color=COLORS[0], label="model"
    )
    axis.set_xlim(*walk.window)
    axis.set_xlabel("time [s]")
    axis.set_ylabel("vertical force [N]")
    legend_above(figure, axis)
    row = next(
        r for r in walk.comparison.components if r["of"] == "right" and r["direction"] == "vertical"
    )
    table = [
        {key: r[key] for key in ("of", "direction", "RMSE [% BW]", "correlation")}
        for r in walk.comparison.components
    ]
    checks = [
        Check("error, all of the record", row["RMSE [% BW]"] < 8, row["RMSE [% BW]"], "< 8 % BW"),
        Check(
            "error in single support",
            row["single support [% BW]"] < 8,
            row["single support [% BW]"],
            "< 8 % BW",
        ),
        Check("correlation", row["correlation"] > 0.98, row["correlation"], "> 0.98"),
    ]
    return Reproduction(figure, table, checks)


@functools.cache
def standing_forces() -> tuple[float, float]:
    """Vertical force on the left and the right foot of rodic's subject, standing still [N]."""
    subject = person(1.90, 84.0728)
    time = np.linspace(0, 1, 51)
    values = np.tile(subject.defaults, (51, 1))
    still = Table("standing still", time, tuple(c.name for c in subject.coordinates), values, False)
    reactions = ground_reactions(still, subject)
    left, right = (reactions.feet.index(foot) for foot in ("left", "right"))
    load = reactions.shares.foot_force @ reactions.axes.up
    return float(load[25, left]), float(load[25, right])


def _whole_stance(load: np.ndarray) -> tuple[int, int]:
    """The first stance that begins and ends inside the record."""
    for first, after in stretches(load > TOUCHED):
        if first > 0 and after < len(load) and after - first > 10:
            return first, after
    raise ValueError("no whole stance in the record")
