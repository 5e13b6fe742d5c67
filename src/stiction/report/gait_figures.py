"""Figures of gait as clinicians draw them: angle, moment and power of each joint over the cycle."""

from typing import NamedTuple

import numpy as np

from stiction.biped import PERCENT, Cycles, Gait, side_of
from stiction.report.figures import COLORS, new_figure
from stiction.report.grf_figures import legend_above, shade

SIDES = {"left": COLORS[1], "right": COLORS[0]}


class SheetJoint(NamedTuple):
    """A joint of a clinical sheet, and which way is up in it."""

    name: str  # what a model calls it, without the side
    title: str  # what clinics call it
    angle: str  # the movement that is drawn upwards
    moment: str  # the muscles whose moment is drawn upwards: those that resist gravity in stance


# In the order of clinical sheets. All models count the movement named here as positive, but for
# the knee, which older models of OpenSim bend to the negative.
_SHEET = (
    SheetJoint("hip_flexion", "hip", "flexion", "extensor"),
    SheetJoint("hip_adduction", "hip", "adduction", "abductor"),
    SheetJoint("hip_rotation", "hip", "internal rotation", "external rotator"),
    SheetJoint("knee_angle", "knee", "flexion", "extensor"),
    SheetJoint("knee_flexion", "knee", "flexion", "extensor"),
    SheetJoint("ankle_angle", "ankle", "dorsiflexion", "plantarflexor"),
    SheetJoint("ankle_flexion", "ankle", "dorsiflexion", "plantarflexor"),
)


def joints_of_sheet(gait: Gait) -> list[SheetJoint]:
    """The joints of the legs that a sheet has, from the hip down."""
    subject = gait.reactions.subject
    names = {side_of(subject.coordinates[i].name)[1] for i in gait.coordinates}
    return [joint for joint in _SHEET if joint.name in names]


def bends(gait: Gait, joint: SheetJoint, side: str) -> tuple[int, float] | None:
    """Which of the gait's joints it is, and 1 if the model counts as the sheet does, else -1."""
    subject = gait.reactions.subject
    for k, i in enumerate(gait.coordinates):
        coordinate = subject.coordinates[i]
        if side_of(coordinate.name) == (side, joint.name):
            low, high = coordinate.range
            if joint.title != "knee":
                return k, 1.0
            if np.isinf(low) or np.isinf(high):
                low = high = float(np.mean(gait.reactions.motion.q[:, i]))
            return k, 1.0 if low + high > 0 else -1.0
    return None


def joint_cycles(gait: Gait, joints: list[SheetJoint]):
    """Rows angle, moment, power; columns joints; left and right, mean and standard deviation."""
    figure, axes = new_figure(
        3, len(joints), sharex=True, squeeze=False, figsize=(2.5 * len(joints) + 0.6, 6.8)
    )
    for column, joint in enumerate(joints):
        # Muscles that resist a movement pull against it.
        rows = (("angle", 1, joint.angle), ("moment", -1, joint.moment), ("power", 0, "generated"))
        for row, (quantity, turned, word) in enumerate(rows):
            axis = axes[row, column]
            axis.axhline(0, color="0.6", linewidth=0.6)
            for cycles in gait.cycles:
                found = bends(gait, joint, cycles.foot)
                if found is not None and cycles.strides:
                    sign = turned * found[1] if turned else 1.0
                    _band(axis, cycles, quantity, (..., found[0]), sign)
            axis.set_title(f"{joint.title} {word}" if row < 2 else f"{joint.title} power, {word}")
            axis.title.set_fontsize("medium")
        axes[-1, column].set_xlabel("gait cycle [%]")
        axes[-1, column].set_xlim(0, 100)
    for row, label in enumerate(("angle [deg]", "moment [N m/kg]", "power [W/kg]")):
        axes[row, 0].set_ylabel(label)
    legend_above(figure, axes[0, 0])
    return figure


def force_cycles(gait: Gait):
    """Ground reactions over the cycle, as force plates are drawn: along, across, vertical."""
    figure, axes = new_figure(1, 3, sharex=True, figsize=(8.4, 2.8))
    for k, title in enumerate(("forward", "towards the midline", "vertical")):
        axes[k].axhline(0, color="0.6", linewidth=0.6)
        for cycles in gait.cycles:
            if cycles.strides:
                sign = -1.0 if k == 1 and cycles.foot == "left" else 1.0
                _band(axes[k], cycles, "force", (..., k), sign)
        axes[k].set_title(title)
        axes[k].set_xlabel("gait cycle [%]")
    axes[0].set_ylabel("force [body weight]")
    axes[0].set_xlim(0, 100)
    legend_above(figure, axes[0])
    return figure


def _band(axis, cycles: Cycles, quantity: str, at: tuple, sign: float) -> None:
    mean, band = sign * cycles.mean(quantity)[at], cycles.band(quantity)[at]
    color = SIDES.get(cycles.foot, COLORS[2])
    count = len(cycles.strides)
    label = f"{cycles.foot}, {count} stride{'s' if count > 1 else ''}"
    axis.plot(PERCENT, mean, color=color, label=label)
    if count > 1:
        axis.fill_between(PERCENT, mean - band, mean + band, color=color, alpha=0.2, linewidth=0)
    off = np.mean([(s.off - s.start) / (s.end - s.start) * 100 for s in cycles.strides])
    axis.axvline(off, color=color, linewidth=0.8, linestyle=":")


def joint_moments(gait: Gait, joints: list[SheetJoint], bands: np.ndarray | None):
    """Moments over the whole record, with the band of the declared noise, and stances shaded."""
    subject, time = gait.reactions.subject, gait.reactions.time
    figure, axes = new_figure(
        len(joints),
        2,
        sharex=True,
        sharey="row",
        squeeze=False,
        figsize=(8.4, 1.5 * len(joints) + 1),
    )
    up = gait.reactions.axes.up
    for column, side in enumerate(("left", "right")):
        for row, joint in enumerate(joints):
            axis = axes[row, column]
            if side in gait.loads.feet:
                load = gait.loads.force[:, gait.loads.feet.index(side)] @ up
                shade(axis, time, np.nan_to_num(load) > 0.05 * subject.weight)
            if (found := bends(gait, joint, side)) is not None:
                i = gait.coordinates[found[0]]
                moment = -found[1] * gait.joints.moment[:, i] / subject.mass
                axis.plot(time, moment, color=SIDES[side])
                if bands is not None:
                    wide = 1.96 * bands[:, i] / subject.mass
                    low, high = moment - wide, moment + wide
                    axis.fill_between(time, low, high, color=SIDES[side], alpha=0.2, linewidth=0)
            if column == 0:
                axis.set_ylabel(f"{joint.title}\n{joint.moment}")
        axes[0, column].set_title(f"{side}, moment [N m/kg]")
        axes[-1, column].set_xlabel("time [s]")
    return figure


def residual_figure(gait: Gait):
    """What the base would have to be pushed with."""
    joints, time = gait.joints, gait.reactions.time
    figure, axes = new_figure(2, sharex=True, figsize=(6.4, 4.2))
    names = ("forward", "left", "up")
    for k, along in enumerate(gait.reactions.axes.matrix):
        axes[0].plot(time, joints.residual_force @ along, color=COLORS[k], label=names[k])
        axes[1].plot(time, joints.residual_moment @ along, color=COLORS[k], label=names[k])
    axes[0].set_ylabel("residual force [N]")
    axes[1].set_ylabel("residual moment [N m]")
    axes[1].set_xlabel("time [s]")
    legend_above(figure, axes[0])
    return figure
