"""Figures of agility: a capability polytope, postures, a field, a study, a jump."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.spatial import ConvexHull, QhullError

from stiction.agility import (
    AccelerationSet,
    CapabilityField,
    Correlation,
    JumpControl,
    JumpStudy,
    Stance,
    stance_gaps,
)
from stiction.engines import Trajectory
from stiction.report.figures import COLORS, new_figure
from stiction.report.strobe import draw_strobe, plane_pairs


def polytope_figure(found: AccelerationSet, direction: np.ndarray, value: float | None):
    """All accelerations that the point can have, in space and seen from the side."""
    flat_only = found.motors.shape[1] == 2
    figure, _ = new_figure(figsize=(5.4 if flat_only else 10.4, 4.8))
    figure.clear()
    arrow = np.asarray(direction) * max(value or 0.0, 0.0)
    if not flat_only:
        axis = figure.add_subplot(1, 2, 1, projection="3d")
        for points, color, alpha in ((found.motors, "0.6", 0.12), (found.exact, COLORS[0], 0.6)):
            if hull := _hull(points):
                axis.plot_trisurf(
                    *points.T, triangles=hull.simplices, color=color, alpha=alpha, lw=0
                )
        axis.plot(*np.stack([np.zeros(3), arrow]).T, color=COLORS[1], lw=2.5)
        axis.set(xlabel="x [m/s²]", ylabel="y [m/s²]", zlabel="z [m/s²]")
        axis.tick_params(labelsize=7)
    side = [0, 1] if flat_only else [0, 2]
    axis = figure.add_subplot(1, 1 if flat_only else 2, 1 if flat_only else 2)
    for points, label, style in (
        (found.motors[:, side], "motors alone", ("0.85", "0.6")),
        (found.exact[:, side], "while the contacts hold", (COLORS[5], COLORS[0])),
    ):
        if hull := _hull(points):
            axis.fill(*points[hull.vertices].T, label=label, alpha=0.7, fc=style[0], ec=style[1])
    axis.plot([0, arrow[0]], [0, arrow[2]], color=COLORS[1], lw=2.5, label="asked for")
    axis.plot(0, 0, "o", ms=4, color="0.2")
    axis.set(xlabel="x [m/s²]", ylabel="z [m/s²]", title="seen from the side")
    axis.set_aspect("equal", adjustable="datalim")
    axis.legend()
    return figure


def _hull(points: np.ndarray) -> ConvexHull | None:
    try:
        return ConvexHull(points)
    except (QhullError, ValueError):  # too few points, or all in a plane
        return None


def posture_figure(stance: Stance, q: np.ndarray, direction: np.ndarray, titles: list[str]):
    """Postures side by side, with the direction that counts."""
    n = len(q)
    figure, axes = new_figure(1, n, figsize=(4.2 * n, 4.0), squeeze=False)
    ground = plane_pairs(stance.contacts.planes)
    for axis, posture, title in zip(axes[0], q, titles, strict=True):
        draw_strobe(
            axis,
            stance.mechanism,
            np.asarray(posture)[None],
            path=np.asarray(posture)[None],
            ground=ground,
        )
        x = np.asarray(stance.position(jnp.asarray(posture)))
        tip = x + 0.06 * np.asarray(direction)
        arrow = {"arrowstyle": "->", "color": COLORS[1], "lw": 2}
        axis.annotate("", xy=tip[[0, 2]], xytext=x[[0, 2]], arrowprops=arrow)
        axis.set_title(title)
    return figure


def field_figure(field: CapabilityField, *, marks: dict[str, tuple[float, float]] | None = None):
    """Capability over two joints: by the motors alone, and while contacts hold."""
    figure, axes = new_figure(1, 2, figsize=(10.0, 4.4), sharey=True)
    top = np.nanpercentile(field.motors, 98)
    for axis, values, title in (
        (axes[0], field.motors, "motors alone (6.6)"),
        (axes[1], field.exact, "while the foot neither slips nor lifts"),
    ):
        shown = np.where(values > 0, values, np.nan)
        mesh = axis.pcolormesh(field.first, field.second, shown.T, cmap="Blues", vmin=0, vmax=top,
                               shading="nearest", rasterized=True)  # fmt: skip
        axis.set(xlabel=f"{field.names[0]} [rad]", title=title)
        axis.grid(False)
        for name, (a, b) in (marks or {}).items():
            axis.plot(a, b, "o", ms=6, mfc="none", color=COLORS[1])
            axis.annotate(name, (a, b), xytext=(5, 5), textcoords="offset points", fontsize=8)
    axes[0].set_ylabel(f"{field.names[1]} [rad]")
    figure.colorbar(mesh, ax=axes, label="capability [m/s²]")
    return figure


def sampling_figure(study: JumpStudy, x: np.ndarray, y: np.ndarray, names: tuple[str, str]):
    """All postures that were tried, by what became of them (Figure 6.2)."""
    figure, axis = new_figure(figsize=(6.4, 4.8))
    stayed = ~study.outcome.left & ~study.timeout
    for mask, label, marker, color in (
        (stayed, "did not leave", ".", "0.75"),
        (study.timeout, "timeout", "x", COLORS[1]),
        (study.jumped, "jumped at once", ".", COLORS[5]),
        (study.stood, "jumped after a stance", ".", COLORS[0]),
    ):
        axis.plot(
            x[mask], y[mask], marker, ms=4, color=color, ls="", label=f"{label}: {mask.sum()}"
        )
    axis.set(xlabel=f"{names[0]} [rad]", ylabel=f"{names[1]} [rad]")
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, 1.18), ncols=2)
    return figure


def duration_figure(study: JumpStudy, found: Correlation):
    """Stance duration against capability (Figure 6.3)."""
    figure, axis = new_figure()
    kept = study.stood & (study.motors > 0)
    axis.plot(study.motors[kept], 1e3 * study.outcome.stance_duration[kept], ".", ms=4, alpha=0.6)
    axis.set(xlabel="capability, motors alone (6.6) [m/s²]", ylabel="stance duration [ms]")
    axis.set_title(f"r = {found.pearson:.3f}, {100 * found.level:.0f} % interval"
                   f" {found.low:.3f} to {found.high:.3f}, {found.count} jumps")  # fmt: skip
    return figure


def partial_figure(study: JumpStudy, x: np.ndarray, y: np.ndarray, names: tuple[str, str]):
    """Jumps by posture: colour is stance duration, size capability (Figure 6.4)."""
    figure, axis = new_figure(figsize=(6.8, 4.8))
    kept = study.outcome.left & (study.motors > 0)
    size = 4 + 60 * np.clip(study.motors[kept] / np.percentile(study.motors[kept], 98), 0, 1)
    dots = axis.scatter(x[kept], y[kept], s=size, c=1e3 * study.outcome.stance_duration[kept],
                        cmap="viridis", alpha=0.7, lw=0)  # fmt: skip
    axis.set(xlabel=f"{names[0]} [rad]", ylabel=f"{names[1]} [rad]")
    figure.colorbar(dots, label="stance duration [ms]")
    return figure


def jump_heights(run: Trajectory) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places of the point [m], height of the lowest foot [m], distance to the goal [m]."""
    control: JumpControl = run.control
    stance = control.stance

    @jax.jit
    @jax.vmap
    def at(q):
        return stance.position(q), jnp.min(stance_gaps(stance, q))

    x, foot = (np.asarray(a) for a in at(jnp.asarray(run.q)))
    return x, foot, np.linalg.norm(x - np.asarray(control.goal), axis=1)


def path_figure(run: Trajectory):
    """Path of the point in space and in the vertical plane, with the direction wanted."""
    x, _, _ = jump_heights(run)
    goal = np.asarray(run.control.goal)
    figure, _ = new_figure(figsize=(10.0, 4.6))
    figure.clear()
    space, plane = figure.add_subplot(1, 2, 1, projection="3d"), figure.add_subplot(1, 2, 2)
    reach = max(np.nanmax(np.linalg.norm(x - x[0], axis=1)), 0.02)
    line = np.stack([x[0], x[0] + reach * (goal - x[0]) / np.linalg.norm(goal - x[0])])
    for axis, rows in ((space, [0, 1, 2]), (plane, [0, 2])):
        axis.plot(*x[:, rows].T, label="body")
        axis.plot(*line[:, rows].T, "--", color="0.4", label="towards the goal")
        axis.plot(*x[:1, rows].T, "o", ms=5, color=COLORS[2])
    space.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    aside = max(float(np.nanmax(np.abs(x[:, 1] - x[0, 1]))), reach / 10)  # a plane has some room
    space.set_ylim(x[0, 1] - aside, x[0, 1] + aside)
    space.set_aspect("equal")
    space.locator_params(nbins=4)
    plane.set(xlabel="x [m]", ylabel="z [m]", aspect="equal")
    plane.legend()
    return figure


def error_figure(runs: dict[str, Trajectory]):
    """Distance to the goal against time."""
    figure, axis = new_figure()
    for name, run in runs.items():
        axis.plot(run.time, jump_heights(run)[2], label=name)
    axis.set(xlabel="time [s]", ylabel="distance to the goal [m]")
    axis.legend()
    return figure
