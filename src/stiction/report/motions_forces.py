r"""Pictures in generalized force space: friction cones, and which forces do what.

Three-dimensional axes show $(F_x, \tau/\rho, F_y)$: $F_y$ points up as in erdmann's Figure 6.
"""

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from mpl_toolkits.mplot3d import Axes3D
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from stiction.motions import ContactState, DirectionRange, Motions, Response, classify_forces

SHEETS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
RESPONSES = {
    Response.JAM: "#4D4D4D",
    Response.SLIDE: "#56B4E9",
    Response.TIP: "#E69F00",
    Response.LIFT: "#F2F2F2",
}
NONE = "#D55E00"
SEVERAL = {  # ambiguities
    Response.JAM | Response.SLIDE: "#CC79A7",
    Response.JAM | Response.TIP: "#9E5A9B",
    Response.SLIDE | Response.TIP: "#F0A6CA",
    Response.JAM | Response.LIFT: "#B7A7C9",
    Response.SLIDE | Response.LIFT: "#E3CDE8",
    Response.TIP | Response.LIFT: "#F5D3D3",
}
MANY = "#6E3B6E"


UP = [0, 2, 1]  # (F_x, F_y, τ/ρ) as drawn


def draw_cone(axes: Axes3D, state: ContactState, *, names: list[str] | None = None) -> float:
    """Each contact's sheet and, dashed, the composite cone. Returns the height of the picture."""
    unit = state.rows.normals / np.linalg.norm(state.rows.normals, axis=1, keepdims=True)
    axis = unit.sum(axis=0) / max(len(unit), 1)
    length = np.linalg.norm(state.sheets, axis=-1)
    pointed = np.all(state.sheets @ axis > 0.3 * length * np.linalg.norm(axis))
    for i, edges in enumerate(state.sheets):
        # A pointed cone is cut across its axis; others show each sheet at unit normal force.
        tips = edges / (edges @ axis)[:, None] if pointed else edges
        sheet = Poly3DCollection([np.array([np.zeros(3), *tips])[:, UP]], alpha=0.35)
        sheet.set_facecolor(SHEETS[i % len(SHEETS)])
        sheet.set_edgecolor(SHEETS[i % len(SHEETS)])
        axes.add_collection3d(sheet)
        label = names[i] if names else str(i + 1)
        _line(axes, [np.zeros(3), tips[0]], color=SHEETS[i % len(SHEETS)], label=label)
    extreme = state.cone.extreme_edges()
    if pointed and len(extreme) > 2:
        ring = extreme / (extreme @ axis)[:, None]
        _line(axes, [*ring, ring[0]], color="black", ls="--", lw=1.0, label="composite cone")
    tips = state.sheets / (state.sheets @ axis)[..., None] if pointed else state.sheets
    height = float(np.abs(tips).max()) if len(tips) else 1.0
    axes.set_xlabel(r"$F_x$")
    axes.set_ylabel(r"$\tau/\rho$")
    axes.set_zlabel(r"$F_y$")
    axes.locator_params(nbins=5)
    axes.set_box_aspect(None, zoom=0.85)  # room for the labels  # type: ignore[arg-type]
    return height


def draw_reactions(axes: Axes3D, state: ContactState, applied, motions: Motions, height: float):
    """Minus the applied force, and the reaction of every motion, scaled to the picture."""
    applied = np.asarray(applied, float)
    largest = np.linalg.norm(applied) or 1.0
    _ray(axes, -applied * height / largest, "black", r"$-F_A$")
    to_config = np.array([1.0, 1.0, state.gyration_radius])
    for i, motion in enumerate(motions.motions):
        reaction = state.mass * motion.acceleration * to_config - applied
        label = r"$F_R$ of motion " + str(i + 1)
        _ray(axes, reaction * height / largest, SHEETS[(i + 1) % len(SHEETS)], label, ls=":")
        if motion.family is not None and len(motion.family.corners) == 2:
            ends = state.mass * motion.family.corners * to_config - applied
            _line(axes, ends * height / largest, color=SHEETS[(i + 1) % len(SHEETS)], lw=3)


def _ray(axes: Axes3D, vector: Float[np.ndarray, "3"], color: str, label: str, ls: str = "-"):
    _line(axes, [np.zeros(3), vector], color=color, label=label, ls=ls)
    axes.scatter(*vector[UP, None], color=color, s=14)


def _line(axes: Axes3D, points, **options) -> None:
    axes.plot(*np.array(points)[:, UP].T, **options)


def draw_directions(axes: Axes, ranges: list[DirectionRange]) -> None:
    """The circle of directions of a push, colored by what the body does (polar axes)."""
    for r in ranges:
        width = r.end - r.start
        axes.bar(
            r.start + width / 2,
            1.0,
            width=width,
            color=color_of(r.response),
            edgecolor="white",
            lw=0.5,
        )
        if width > np.radians(8):
            words = " or ".join(r.response.words) or "none"
            ink = "white" if color_of(r.response) in (RESPONSES[Response.JAM], MANY) else "black"
            at = r.start + width / 2
            axes.text(at, 0.66, words, ha="center", va="center", fontsize=8, color=ink)
    axes.set_yticks([])
    axes.grid(False)
    axes.set_title("push through the center of mass")


def draw_force_map(
    axes: Axes, state: ContactState, *, magnitude: float, samples: int = 180
) -> None:
    """All directions of (F_x, F_y, τ/ρ), unrolled: angle of the force against share of torque."""
    # Middles of pixels: forces exactly along the axes often lie between two responses.
    longitude = np.pi * ((np.arange(2 * samples) + 0.5) / samples - 1)
    latitude = np.pi * ((np.arange(samples) + 0.5) / samples - 0.5)
    lon, lat = np.meshgrid(longitude, latitude)
    force = magnitude * np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon)], axis=-1)
    torque = magnitude * np.sin(lat) * state.gyration_radius
    flags = classify_forces(state, force.reshape(-1, 2), torque.ravel())
    kinds, index = np.unique(flags, return_inverse=True)
    colors = [color_of(Response(int(kind))) for kind in kinds]
    extent = (-180, 180, -90, 90)
    axes.imshow(
        index.reshape(lat.shape),
        origin="lower",
        extent=extent,
        aspect="auto",
        cmap=ListedColormap(colors),
        vmin=-0.5,
        vmax=len(kinds) - 0.5,
        interpolation="nearest",
    )
    for kind, color in zip(kinds, colors, strict=True):
        words = " or ".join(Response(int(kind)).words) or "none (inconsistent)"
        axes.plot([], [], "s", color=color, label=words, mec="#888888", mew=0.5)
    axes.set_xticks(range(-180, 181, 90))
    axes.set_yticks(range(-90, 91, 45))
    axes.set_xlabel("direction of the force [deg]")
    axes.set_ylabel(r"share of the torque: $\arctan(\tau / \rho F)$ [deg]")
    axes.grid(False)
    axes.set_title("all forces and torques")


def color_of(response: Response) -> str:
    """One color a response; shades of purple for several at once, red for none."""
    if response == 0:
        return NONE
    return (RESPONSES | SEVERAL).get(response, MANY)
