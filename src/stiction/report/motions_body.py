"""Pictures in real space: the body, its contacts, the forces on it and how it can move.

Each function draws on given matplotlib axes; the caller makes the figure.
"""

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, Polygon, Wedge

from stiction.motions import ContactState, PlanarProblem, PossibleMotion

BODY, OBSTACLE, CONE = "#DCE6EF", "#8A8A8A", "#E69F00"
APPLIED, REACTION, MOTION = "#000000", "#0072B2", "#D55E00"


def draw_body(
    axes: Axes, problem: PlanarProblem, state: ContactState, *, cones: bool = True
) -> float:
    """The body, the obstacles at its contacts, and its friction cones. Returns its size [m]."""
    size = _size(problem, state)
    outline = np.array(problem.outline) if problem.outline else _hull(state)
    axes.add_patch(Polygon(outline, closed=True, facecolor=BODY, edgecolor="#5B7285", zorder=1))
    axes.plot(*state.center, marker="o", color="#5B7285", ms=4, zorder=4)
    for i, (point, normal) in enumerate(zip(state.points, state.unit_normals, strict=True)):
        _draw_obstacle(axes, point, normal, problem.contacts[i].curvatures, 0.16 * size)
        if cones:
            up = np.degrees(np.arctan2(normal[1], normal[0]))
            half = np.degrees(np.arctan(state.rows.mu[i]))
            cone = Wedge(point, 0.3 * size, up - half, up + half, color=CONE, alpha=0.25, zorder=2)
            axes.add_patch(cone)
    _frame(axes, np.concatenate([outline, state.points, state.center[None]]), size)
    return size


def draw_applied(axes: Axes, problem: PlanarProblem, state: ContactState, size: float) -> None:
    """The applied force at the center of mass, and the sense of the applied torque."""
    force = np.array(problem.force)
    if np.any(force):
        _arrow(axes, state.center, 0.35 * size * force / np.linalg.norm(force), APPLIED)
    if problem.torque:
        _turn(axes, state.center, 0.14 * size, problem.torque > 0, APPLIED)


def draw_motion(axes: Axes, state: ContactState, motion: PossibleMotion, size: float) -> None:
    """One motion: contact forces, the acceleration of the center of mass, and the turn."""
    tangents = np.stack([state.unit_normals[:, 1], -state.unit_normals[:, 0]], axis=1)
    forces = motion.forces[:, :1] * tangents + motion.forces[:, 1:] * state.unit_normals
    largest = np.linalg.norm(forces, axis=1).max(initial=0.0)
    for point, force in zip(state.points, forces, strict=True):
        if np.linalg.norm(force) > 1e-9 * largest:
            _arrow(axes, point, 0.4 * size * force / largest, REACTION)
    a, turn = motion.acceleration[:2], motion.acceleration[2] * state.gyration_radius
    total = np.hypot(np.linalg.norm(a), turn)
    if np.linalg.norm(a) > 1e-9 * total:
        _arrow(axes, state.center, 0.4 * size * a / total, MOTION)
    if abs(turn) > 1e-9 * total:
        _turn(axes, state.center, 0.22 * size, bool(turn > 0), MOTION)
    for point, normal, mode in zip(state.points, state.unit_normals, motion.modes, strict=True):
        axes.annotate(
            mode,
            point,
            xytext=tuple(-np.array([24.0, 15.0]) * normal),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=7,
            zorder=6,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.8},
        )


def _size(problem: PlanarProblem, state: ContactState) -> float:
    points = np.concatenate(
        [state.points, state.center[None], np.array(problem.outline or [[0, 0]])]
    )
    spread = np.ptp(points, axis=0).max()
    return float(spread) if spread > 0 else 2 * state.gyration_radius


def _hull(state: ContactState) -> Float[np.ndarray, "n 2"]:
    """Some shape for a body without outline: a disc of its radius of gyration and its contacts."""
    from scipy.spatial import ConvexHull

    angle = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    disc = state.center + state.gyration_radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points = np.concatenate([disc, state.points])
    return points[ConvexHull(points).vertices]


def _draw_obstacle(axes: Axes, point, normal, curvatures: tuple[float, float], length: float):
    """What the body touches: a straight edge, a sharp vertex or an arc, hatched."""
    tangent = np.array([normal[1], -normal[0]])
    style = {
        "facecolor": "none",
        "edgecolor": OBSTACLE,
        "hatch": "////",
        "linewidth": 0.0,
        "zorder": 0,
    }
    if np.isinf(curvatures[1]):
        shape = [point, point - 0.7 * length * normal + 0.45 * length * tangent]
        shape.append(point - 0.7 * length * normal - 0.45 * length * tangent)
        axes.add_patch(Polygon(np.array(shape), **style))
        axes.plot(*np.array([shape[1], shape[0], shape[2]]).T, color=OBSTACLE, lw=1.2, zorder=3)
        return
    s = np.linspace(-1.0, 1.0, 25) * length
    bend = np.clip(curvatures[1], -1 / length, 1 / length)
    edge = point + s[:, None] * tangent - (0.5 * bend * s**2)[:, None] * normal
    back = (point - 0.35 * length * normal + s[[-1, 0], None] * tangent) - (
        0.5 * abs(bend) * length**2 * normal
    )
    axes.add_patch(Polygon(np.concatenate([edge, back]), **style))
    axes.plot(*edge.T, color=OBSTACLE, lw=1.2, zorder=3)


def _arrow(axes: Axes, start, vector, color: str, **style) -> None:
    """An arrow from a point along a vector."""
    style = {"arrowstyle": "-|>", "mutation_scale": 11, "lw": 1.6} | style
    end = np.asarray(start) + vector
    axes.add_patch(
        FancyArrowPatch(start, end, shrinkA=0, shrinkB=0, color=color, zorder=5, **style)
    )


def _turn(axes: Axes, center, radius: float, counterclockwise: bool, color: str) -> None:
    """A quarter turn with an arrow head."""
    angle = np.radians([20, 110] if counterclockwise else [110, 20])
    start, end = center + radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    bend = "arc3,rad=0.45" if counterclockwise else "arc3,rad=-0.45"
    _arrow(axes, start, end - start, color, connectionstyle=bend, mutation_scale=10, lw=1.4)


def _frame(axes: Axes, points: Float[np.ndarray, "n 2"], size: float) -> None:
    low, high = points.min(axis=0), points.max(axis=0)
    axes.set_xlim(low[0] - 0.3 * size, high[0] + 0.3 * size)
    axes.set_ylim(low[1] - 0.3 * size, high[1] + 0.3 * size)
    axes.set_aspect("equal")
    axes.grid(False)
    axes.set_axis_off()
