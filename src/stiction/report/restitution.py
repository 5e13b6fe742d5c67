"""What `stiction restitution` leaves behind: a table, figures and a page."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stiction.report.output import OutputDirectory
from stiction.report.page import Report

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UNITS = {
    "speed": "m/s",
    "rebound_speed": "m/s",
    "sticky_speed": "m/s",
    "alpha": "s/m",
    "dissipation": "s/m",
    "energy_lost": "J",
    "peak_depth": "m",
    "peak_force": "N",
    "duration": "s",
}


def label(name: str) -> str:
    """A quantity in words, with its unit."""
    unit = f" [{UNITS[name]}]" if name in UNITS else ""
    return name.replace("_", " ") + unit


def write_restitution(
    directory: OutputDirectory, result: Mapping[str, Any], body: Mapping[str, float] | None
) -> Path:
    """Write table, figures and report.

    Args:
        directory: Where they go.
        result: As `stiction restitution` answers: one impact and, under `table`, several.
        body: `mass`, `stiffness` and `exponent`; without them there is no loop of force to draw.
    """
    from stiction.report.figures import add_figures

    report = Report("Restitution of a Hunt-Crossley impact")
    shown = {k: v for k, v in result.items() if k != "table" and v is not None}
    report.table([{"quantity": label(k), "value": v} for k, v in shown.items()])
    if "table" in result:
        rows = [{label(k): v for k, v in row.items()} for row in result["table"]]
        report.table(rows)
        directory.csv("table.csv", rows)
    speed, d = result["speed"], result["dissipation"]
    caption = f"Restitution against speed, α = {d / 1.5:.4g} s/m"
    figures = {"restitution": (restitution_figure(speed, d), caption)}
    if body is not None:
        caption = f"Force against depth at {speed:g} m/s; the area is the energy lost"
        figures["loop"] = (loop_figure(speed, d, body), caption)
    add_figures(report, directory, figures)
    return directory.page(report)


def restitution_figure(speed: float, dissipation: float) -> "Figure":
    """Restitution against speed of approach, exactly and in the limit of low speed."""
    import jax
    import numpy as np

    from stiction.laws import impact
    from stiction.report.figures import new_figure

    figure, axis = new_figure()
    v = np.linspace(0.0, 4 * speed, 400)
    exact = jax.vmap(lambda s: impact.restitution(s, dissipation))(v)
    axis.plot(v, np.asarray(exact), label="exact")
    line = 1 - dissipation / 1.5 * v
    axis.plot(v[line > 0], line[line > 0], "--", lw=1, label="1 - α v, the low-speed limit")
    axis.plot([speed], [float(impact.restitution(speed, dissipation))], "o")
    axis.set(xlabel="speed of approach [m/s]", ylabel="restitution", xlim=(0, None), ylim=(0, 1.02))
    axis.legend(frameon=False)
    return figure


def loop_figure(speed: float, dissipation: float, body: Mapping[str, float]) -> "Figure":
    """Force against depth: in along one curve, out along another."""
    import jax
    import numpy as np

    from stiction.laws import impact
    from stiction.report.figures import new_figure

    figure, axis = new_figure()
    at = {"speed": speed, "dissipation": dissipation, **body}
    rebound = float(impact.rebound_speed(speed, dissipation))
    # Closer where the loop turns into its ends, as the cosine is.
    velocity = 0.5 * (speed - rebound + (speed + rebound) * np.cos(np.linspace(0, np.pi, 400)))
    depth = np.asarray(jax.vmap(lambda w: impact.depth_at_velocity(w, **at))(velocity))
    force = body["stiffness"] * depth ** body["exponent"] * (1 + dissipation * velocity)
    axis.plot(1e3 * depth, force)
    axis.set(xlabel="depth [mm]", ylabel="force [N]")
    return figure
