"""Figures of ground reactions: forces of the feet, paths of pressure, functional coordinates."""

import numpy as np

from stiction.biped.measured import Measured
from stiction.biped.reactions import GroundReactions
from stiction.report.figures import COLORS, new_figure

MEASURED = {"color": "0.15", "linewidth": 1.2}
SHADE = {"color": "0.5", "alpha": 0.12, "linewidth": 0}


def directions(reactions: GroundReactions) -> dict[str, np.ndarray]:
    """The three directions that figures and tables speak of."""
    axes = reactions.axes
    return {"vertical": axes.up, "forward": axes.forward, "lateral (left)": axes.left}


def shade(axis, time: np.ndarray, where: np.ndarray) -> None:
    """Mark a part of the time over the full height of an axis."""
    axis.fill_between(time, 0, 1, where=where, transform=axis.get_xaxis_transform(), **SHADE)


def legend_above(figure, axis) -> None:
    """What the lines of one axis, and of all others like it, are."""
    handles, labels = axis.get_legend_handles_labels()
    if len(labels) > 1:
        columns = len(labels) if len(labels) < 6 else -(-len(labels) // 2)
        figure.legend(handles, labels, loc="outside upper center", ncols=columns, frameon=False)


def foot_forces(reactions: GroundReactions, measured: Measured | None = None):
    """Each foot's force in three directions, measured ones beneath."""
    feet = reactions.feet
    figure, axes = new_figure(
        3, len(feet), sharex=True, sharey="row", squeeze=False, figsize=(4.2 * len(feet), 6.4)
    )
    for k, foot in enumerate(feet):
        for row, (name, along) in enumerate(directions(reactions).items()):
            axis = axes[row, k]
            shade(axis, reactions.time, reactions.shares.down.sum(axis=1) > 1)
            if measured is not None:
                axis.plot(
                    measured.time, measured.feet[:, k] @ along, **MEASURED, label="force plate"
                )
            force = reactions.shares.foot_force[:, k] @ along
            axis.plot(reactions.time, force, color=COLORS[0], label="from motion")
            if k == 0:
                axis.set_ylabel(f"{name} [N]")
        axes[0, k].set_title(f"{foot} foot")
        axes[-1, k].set_xlabel("time [s]")
    legend_above(figure, axes[0, 0])
    return figure


def total_force(reactions: GroundReactions, measured: Measured | None = None):
    """The force of all feet together."""
    figure, axes = new_figure(3, sharex=True, figsize=(6.4, 5.6))
    for axis, (name, along) in zip(axes, directions(reactions).items(), strict=True):
        if measured is not None:
            axis.plot(measured.time, measured.total @ along, **MEASURED, label="force plates")
        axis.plot(reactions.time, reactions.force @ along, color=COLORS[0], label="from motion")
        axis.set_ylabel(f"{name} [N]")
    axes[-1].set_xlabel("time [s]")
    legend_above(figure, axes[0])
    return figure


def pressure_paths(reactions: GroundReactions, measured: Measured | None = None):
    """Where the centre of pressure is, seen from above, relative to each foot."""
    feet = reactions.feet
    figure, axes = new_figure(
        1, len(feet), squeeze=False, sharex=True, sharey=True, figsize=(2.6 * len(feet), 5.2)
    )
    soles = np.array(reactions.subject.soles.feet)
    forward, left = reactions.axes.forward, reactions.axes.left
    for k, foot in enumerate(feet):
        axis = axes[0, k]
        points = reactions.touch.position[:, soles == foot]
        middle = points.mean(axis=1)
        force = reactions.shares.foot_force[:, k] @ reactions.axes.up
        loaded = force > 0.1 * reactions.subject.weight

        def draw(where, *style, axis=axis, **options):
            axis.plot(-where @ left * 100, where @ forward * 100, *style, **options)

        # The sole at rest: the mean place of its points while it bears load.
        outline = (points - middle[:, None])[loaded].mean(axis=0)
        draw(outline, "o", color="0.7", markersize=5, label="points of the sole")
        if measured is not None:
            path = measured.pressure[:, k] - middle[measured.frames]
            draw(path, **MEASURED, label="force plate")
        path = np.where(loaded[:, None], reactions.shares.pressure[:, k] - middle, np.nan)
        draw(path, color=COLORS[0], linewidth=1.0, alpha=0.9, label="from motion")
        axis.set_title(f"{foot} foot")
        axis.set_xlabel("to the right [cm]")
        axis.set_aspect("equal")
    axes[0, 0].set_ylabel("forward [cm]")
    legend_above(figure, axes[0, 0])
    return figure


def functional_coordinates(reactions: GroundReactions):
    """Height and speeds of the soles' points, rodic's functional coordinates and their rates."""
    feet, touch = reactions.feet, reactions.touch
    figure, axes = new_figure(
        2, len(feet), sharex=True, sharey="row", squeeze=False, figsize=(4.2 * len(feet), 5.0)
    )
    names = reactions.subject.soles.names
    soles = np.array(reactions.subject.soles.feet)
    colors: dict[str, str] = {}  # a point has one colour on all feet
    for k, foot in enumerate(feet):
        down = reactions.shares.down[:, k]
        for axis in axes[:, k]:
            shade(axis, reactions.time, down)
        for i in np.flatnonzero(soles == foot):
            label = names[i].removeprefix(f"{foot}_").replace("_", " ")
            color = colors.setdefault(label, COLORS[len(colors) % len(COLORS)])
            style = {"linewidth": 1.1, "color": color, "label": label}
            axes[0, k].plot(reactions.time, touch.gap[:, i] * 100, **style)
            axes[1, k].plot(reactions.time, np.linalg.norm(touch.rate[:, i], axis=-1), **style)
        axes[0, k].set_title(f"{foot} foot")
        axes[1, k].set_xlabel("time [s]")
    axes[0, 0].set_ylabel("height above rest [cm]")
    axes[1, 0].set_ylabel("speed over ground [m/s]")
    legend_above(figure, axes[0, 0])
    return figure
