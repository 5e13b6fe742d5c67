"""Figures of gait as clinicians draw them: angle, moment and power of each joint over the cycle."""

import numpy as np

from stiction.biped import PERCENT, Cycles, Gait, side_of
from stiction.report.figures import COLORS, new_figure
from stiction.report.grf_figures import legend_above, shade

SIDES = {"left": COLORS[1], "right": COLORS[0]}
_QUANTITIES = {"angle": "angle [deg]", "moment": "moment [N m/kg]", "power": "power [W/kg]"}
# In the order of clinical sheets; what a model calls them, without the side.
_SHEET = (
    "hip_flexion",
    "hip_adduction",
    "hip_rotation",
    "knee_angle",
    "knee_flexion",
    "ankle_angle",
    "ankle_flexion",
)


def joints_of_sheet(gait: Gait) -> list[str]:
    """The joints of the legs that both sides have, from the hip down."""
    subject = gait.reactions.subject
    names = {side_of(subject.coordinates[i].name)[1] for i in gait.coordinates}
    return [n for n in _SHEET if n in names]


def joint_cycles(gait: Gait, names: list[str]):
    """Rows angle, moment, power; columns joints; left and right, mean and standard deviation."""
    figure, axes = new_figure(
        3, len(names), sharex=True, squeeze=False, figsize=(2.5 * len(names) + 0.6, 6.4)
    )
    for column, name in enumerate(names):
        for row, (quantity, label) in enumerate(_QUANTITIES.items()):
            axis = axes[row, column]
            axis.axhline(0, color="0.6", linewidth=0.6)
            for cycles in gait.cycles:
                k = _index(gait, cycles.foot, name)
                if k is not None and cycles.strides:
                    _band(axis, cycles, quantity, k)
            if column == 0:
                axis.set_ylabel(label)
        axes[0, column].set_title(name.replace("_", " "))
        axes[-1, column].set_xlabel("gait cycle [%]")
        axes[-1, column].set_xlim(0, 100)
    legend_above(figure, axes[0, 0])
    return figure


def _index(gait: Gait, foot: str, joint: str) -> int | None:
    subject = gait.reactions.subject
    for k, i in enumerate(gait.coordinates):
        if side_of(subject.coordinates[i].name) == (foot, joint):
            return k
    return None


def _band(axis, cycles: Cycles, quantity: str, k: int) -> None:
    mean, band = cycles.mean(quantity)[:, k], cycles.band(quantity)[:, k]
    color = SIDES.get(cycles.foot, COLORS[2])
    count = len(cycles.strides)
    label = f"{cycles.foot}, {count} stride{'s' if count > 1 else ''}"
    axis.plot(PERCENT, mean, color=color, label=label)
    if count > 1:
        axis.fill_between(PERCENT, mean - band, mean + band, color=color, alpha=0.2, linewidth=0)
    off = np.mean([(s.off - s.start) / (s.end - s.start) * 100 for s in cycles.strides])
    axis.axvline(off, color=color, linewidth=0.8, linestyle=":")


def joint_moments(gait: Gait, names: list[str], bands: np.ndarray | None):
    """Moments over the whole record, with the band of the declared noise, and stances shaded."""
    subject, time = gait.reactions.subject, gait.reactions.time
    figure, axes = new_figure(
        len(names), 2, sharex=True, sharey="row", squeeze=False, figsize=(8.4, 1.5 * len(names) + 1)
    )
    up = gait.reactions.axes.up
    for column, side in enumerate(("left", "right")):
        for row, name in enumerate(names):
            axis = axes[row, column]
            if side in gait.loads.feet:
                load = gait.loads.force[:, gait.loads.feet.index(side)] @ up
                shade(axis, time, np.nan_to_num(load) > 0.05 * subject.weight)
            for i in gait.coordinates:
                if side_of(subject.coordinates[i].name) != (side, name):
                    continue
                moment = gait.joints.moment[:, i] / subject.mass
                axis.plot(time, moment, color=SIDES[side])
                if bands is not None:
                    wide = 1.96 * bands[:, i] / subject.mass
                    axis.fill_between(
                        time,
                        moment - wide,
                        moment + wide,
                        color=SIDES[side],
                        alpha=0.2,
                        linewidth=0,
                    )
            if column == 0:
                axis.set_ylabel(name.replace("_", " "))
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
