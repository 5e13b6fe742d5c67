"""Figures of ground reactions: forces of the feet, paths of pressure, functional coordinates."""

import numpy as np

from stiction.biped.comparison import Comparison
from stiction.biped.measured import Measured
from stiction.biped.reactions import GroundReactions
from stiction.report.figures import COLORS, new_figure

MEASURED = {"color": "0.15", "linewidth": 1.2}
SHADE = {"color": "0.5", "alpha": 0.12, "linewidth": 0}


def directions(reactions: GroundReactions) -> dict[str, np.ndarray]:
    """The three directions that figures and tables speak of."""
    axes = reactions.axes
    return {"vertical": axes.up, "forward": axes.forward, "lateral (left)": axes.left}


def shade_double_support(axis, reactions: GroundReactions) -> None:
    """Mark where more than one foot is down, so that mechanics does not say who bears what."""
    both = reactions.shares.down.sum(axis=1) > 1
    axis.fill_between(
        reactions.time, 0, 1, where=both, transform=axis.get_xaxis_transform(), **SHADE
    )


def foot_forces(reactions: GroundReactions, measured: Measured | None = None):
    """Each foot's force in three directions, measured ones beneath."""
    feet = reactions.feet
    figure, axes = new_figure(
        3, len(feet), sharex=True, sharey="row", squeeze=False, figsize=(4.2 * len(feet), 6.4)
    )
    for k, foot in enumerate(feet):
        for row, (name, along) in enumerate(directions(reactions).items()):
            axis = axes[row, k]
            shade_double_support(axis, reactions)
            if measured is not None:
                axis.plot(
                    measured.time, measured.feet[:, k] @ along, **MEASURED, label="force plate"
                )
            force = reactions.shares.foot_force[:, k] @ along
            axis.plot(reactions.time, force, color=COLORS[k], label="from motion")
            if k == 0:
                axis.set_ylabel(f"{name} [N]")
        axes[0, k].set_title(f"{foot} foot")
        axes[-1, k].set_xlabel("time [s]")
    if measured is not None:
        figure.legend(
            *axes[0, 0].get_legend_handles_labels(),
            loc="outside upper center",
            ncols=2,
            frameon=False,
        )
    return figure


def total_force(reactions: GroundReactions, measured: Measured | None = None):
    """The force of all feet together."""
    figure, axes = new_figure(3, sharex=True, figsize=(6.4, 5.6))
    for axis, (name, along) in zip(axes, directions(reactions).items(), strict=True):
        if measured is not None:
            axis.plot(measured.time, measured.total @ along, **MEASURED, label="force plates")
        axis.plot(reactions.time, reactions.force @ along, color=COLORS[2], label="from motion")
        axis.set_ylabel(f"{name} [N]")
    axes[-1].set_xlabel("time [s]")
    if measured is not None:
        figure.legend(
            *axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False
        )
    return figure


def pressure_paths(reactions: GroundReactions, comparison: Comparison | None = None):
    """Where the centre of pressure is, seen from above, relative to each foot."""
    feet = reactions.feet
    figure, axes = new_figure(
        1, len(feet), squeeze=False, sharex=True, sharey=True, figsize=(3.2 * len(feet), 5.0)
    )
    soles = np.array(reactions.subject.soles.feet)
    forward, left = reactions.axes.forward, reactions.axes.left
    for k, foot in enumerate(feet):
        axis = axes[0, k]
        points = reactions.touch.position[:, soles == foot]
        middle = points.mean(axis=1)
        force = reactions.shares.foot_force[:, k] @ reactions.axes.up
        loaded = force > 0.1 * reactions.subject.weight
        # The sole at rest: the mean place of its points while it bears load.
        outline = (points - middle[:, None])[loaded].mean(axis=0)
        axis.plot(-outline @ left * 100, outline @ forward * 100, "o", color="0.6", markersize=5)
        if comparison is not None:
            measured = comparison.measured
            path = measured.pressure[:, k] - middle[measured.frames]
            axis.plot(
                -path @ left * 100, path @ forward * 100, **MEASURED | {"linewidth": 0.9}, alpha=0.8
            )
        path = np.where(loaded[:, None], reactions.shares.pressure[:, k] - middle, np.nan)
        axis.plot(-path @ left * 100, path @ forward * 100, color=COLORS[k], linewidth=1.1)
        axis.set_title(f"{foot} foot")
        axis.set_xlabel("to the right [cm]")
        axis.set_aspect("equal")
    axes[0, 0].set_ylabel("forward [cm]")
    return figure


def functional_coordinates(reactions: GroundReactions):
    """Height and speeds of the soles' points, rodic's functional coordinates and their rates."""
    feet, touch = reactions.feet, reactions.touch
    figure, axes = new_figure(
        2, len(feet), sharex=True, sharey="row", squeeze=False, figsize=(4.2 * len(feet), 5.0)
    )
    names = np.array(reactions.subject.soles.names)
    soles = np.array(reactions.subject.soles.feet)
    for k, foot in enumerate(feet):
        down = reactions.shares.down[:, k]
        for axis in axes[:, k]:
            axis.fill_between(
                reactions.time, 0, 1, where=down, transform=axis.get_xaxis_transform(), **SHADE
            )
        for i in np.flatnonzero(soles == foot):
            label = names[i].removeprefix(f"{foot}_").replace("_", " ")
            axes[0, k].plot(reactions.time, touch.gap[:, i] * 100, linewidth=1.1, label=label)
            speed = np.linalg.norm(touch.rate[:, i], axis=-1)
            axes[1, k].plot(reactions.time, speed, linewidth=1.1)
        axes[0, k].set_title(f"{foot} foot")
        axes[1, k].set_xlabel("time [s]")
    axes[0, 0].set_ylabel("height above rest [cm]")
    axes[1, 0].set_ylabel("speed over ground [m/s]")
    axes[0, -1].legend(fontsize="x-small", loc="upper right")
    return figure
