"""Figures of ground reactions: forces of the feet, paths of pressure, functional coordinates."""

from typing import Any

import numpy as np

from stiction.biped import GroundReactions, Measured
from stiction.report.charts import INK, Chart, Line, Panel
from stiction.report.charts.chart import spans_where
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


def reaction_figures(
    reactions: GroundReactions, measured: Measured | None = None
) -> dict[str, tuple[Any, str]]:
    """The charts and figures of ground reactions, with captions; measured ones beneath."""
    figures: dict[str, tuple[Any, str]] = {
        "total": (total_force(reactions, measured), "Force of all feet")
    }
    if reactions.feet:
        figures |= {
            "feet": (
                foot_forces(reactions, measured),
                "Force of each foot. Shaded: more than one foot is down, and mechanics alone does"
                " not say which bears what",
            ),
            "pressure": (
                pressure_paths(reactions, measured),
                "Centre of pressure under each foot, seen from above, while it bears a tenth of the"
                " weight",
            ),
            "functional": (
                functional_coordinates(reactions),
                "Functional coordinates of the soles' points and their rates; shaded while the foot"
                " bears load",
            ),
        }
    return figures


def _beside(force: np.ndarray, measured: Measured | None, plate: np.ndarray | None) -> list[Line]:
    """A force from motion, over what a plate measured."""
    lines = [Line("from motion", force, color=0)]
    if measured is not None and plate is not None:
        lines.insert(0, Line("force plate", plate, color=INK, x=measured.time))
    return lines


def foot_forces(reactions: GroundReactions, measured: Measured | None = None) -> Chart:
    """Each foot's force in three directions."""
    both = spans_where(reactions.time, reactions.shares.down.sum(axis=1) > 1)
    panels = []
    for k, foot in enumerate(reactions.feet):
        for name, along in directions(reactions).items():
            plate = None if measured is None else measured.feet[:, k] @ along
            lines = _beside(reactions.shares.foot_force[:, k] @ along, measured, plate)
            panels.append(Panel(f"{name} [N]", lines, f"{foot} foot", both))
    return Chart(reactions.time, panels)


def total_force(reactions: GroundReactions, measured: Measured | None = None) -> Chart:
    """The force of all feet together."""
    panels = []
    for name, along in directions(reactions).items():
        plate = None if measured is None else measured.total @ along
        panels.append(Panel(f"{name} [N]", _beside(reactions.force @ along, measured, plate)))
    return Chart(reactions.time, panels)


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


def functional_coordinates(reactions: GroundReactions) -> Chart:
    """Height and speeds of the soles' points, rodic's functional coordinates and their rates."""
    touch, soles = reactions.touch, reactions.subject.soles
    panels = []
    for k, foot in enumerate(reactions.feet):
        down = spans_where(reactions.time, reactions.shares.down[:, k])
        points = np.flatnonzero(np.array(soles.feet) == foot)
        names = [soles.names[i].removeprefix(f"{foot}_").replace("_", " ") for i in points]
        speed = np.linalg.norm(touch.rate[:, points], axis=-1)
        for label, values in (
            ("height above rest [cm]", 100 * touch.gap[:, points]),
            ("speed over ground [m/s]", speed),
        ):
            lines = [Line(name, y) for name, y in zip(names, values.T, strict=True)]
            panels.append(Panel(label, lines, f"{foot} foot", down))
    return Chart(reactions.time, panels)
