"""A picture of a motion: the mechanism drawn at several instants, with the paths of its points."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import jax
import numpy as np
from matplotlib.colors import to_rgba
from scipy.spatial import ConvexHull, QhullError

from stiction._base.spatial import CORNERS
from stiction.engines import poses_at
from stiction.mechanism import GREY, Mechanism
from stiction.report.figures import COLORS, new_figure
from stiction.report.meshes import Triangles, drawn
from stiction.surfaces import HeightField
from stiction.surfaces.supports import Planes

_ROUND = 40  # points that stand for a round outline
_CUT = 400  # points of a height field's cut


def plane_pairs(planes: Planes) -> list[tuple[np.ndarray, np.ndarray]]:
    """A point and the normal of each plane, as `draw_strobe` takes them."""
    pairs = zip(np.asarray(planes.position), np.asarray(planes.rotation), strict=True)
    return [(point, R[:, 2]) for point, R in pairs]


def strobe(mechanism: Mechanism, q: np.ndarray, **options):
    """A figure of its own with what `draw_strobe` draws."""
    figure, axis = new_figure(figsize=(7.0, 4.6))
    draw_strobe(axis, mechanism, q, **options)
    return figure


def draw_strobe(
    axis,
    mechanism: Mechanism,
    q: np.ndarray,
    *,
    path: np.ndarray,
    ground: list[tuple[np.ndarray, np.ndarray]],
    field: HeightField | None = None,
    meshes: Mapping[int, Triangles] | None = None,
    side: tuple[int, int] = (0, 2),
) -> None:
    """The mechanism at configurations `q`, seen from the side, and the way it went along `path`.

    Args:
        axis: Where to draw.
        mechanism: What moves.
        q: Configurations to draw, shape (n, nq); later ones are darker.
        path: Configurations along which sites (or bodies' centres) leave a line, shape (m, nq).
        ground: A point and the normal of each plane to draw.
        field: Ground that is not flat; it is cut along the way's middle.
        meshes: Of those shapes that have one.
        side: The two world axes of the picture.
    """
    position, rotation = poses_at(mechanism, path)
    for body, point, color in _marks(mechanism):
        line = position[:, body] + rotation[:, body] @ point
        axis.plot(line[:, side[0]], line[:, side[1]], color=color, lw=1.0, alpha=0.8, zorder=1)
    position, rotation = poses_at(mechanism, q)
    outlines = _outlines(mechanism, meshes or {})
    for k in range(len(q)):
        shade = 0.15 + 0.75 * (k + 1) / len(q)
        for i, outline in enumerate(outlines):
            if outline is None:
                continue
            body = mechanism.shapes.bodies[i]
            flat = (position[k, body] + outline @ rotation[k, body].T)[:, side]
            color = _color(mechanism, i)
            faces, edges = to_rgba(color, 0.35 * shade), to_rgba(color, shade)
            axis.fill(*_hull(flat).T, fc=faces, ec=edges, lw=0.9, zorder=2 + k)
    axis.set_aspect("equal")
    axis.autoscale_view()
    axis.autoscale(False)  # the ground is endless; it does not count
    for point, normal in ground:
        a, b = point[list(side)], normal[list(side)]
        if np.linalg.norm(b) > 1e-9:
            axis.axline(a, a + np.array([b[1], -b[0]]), color="0.4", lw=1, zorder=0)
    if field is not None and side[1] == 2:
        middle = np.asarray(position)[:, 1:].mean(axis=(0, 1))
        at = np.tile(middle[:2], (_CUT, 1))
        left, right = axis.get_xlim()
        at[:, side[0]] = np.linspace(left, right, _CUT)
        height = jax.jit(jax.vmap(field.elevation))(at[:, 0], at[:, 1])
        axis.plot(at[:, side[0]], height, color="0.4", lw=1, zorder=0)
    axis.set_xlabel(f"{'xyz'[side[0]]} [m]")
    axis.set_ylabel(f"{'xyz'[side[1]]} [m]")


def _marks(mechanism: Mechanism) -> list[tuple[int, np.ndarray, str]]:
    sites = mechanism.sites
    if sites.names:
        points = zip(sites.bodies, np.asarray(sites.position), strict=True)
        return [(b, p, COLORS[i % len(COLORS)]) for i, (b, p) in enumerate(list(points)[:4])]
    body = next(b for b, link in enumerate(mechanism.tree.body_links) if link != 0)
    return [(body, np.asarray(mechanism.bodies.center[body]), COLORS[0])]


def _outlines(mechanism: Mechanism, meshes: Mapping[int, Triangles]) -> list[np.ndarray | None]:
    """Points on the surface of each moving shape, in its body's frame."""
    shapes = mechanism.shapes
    found: list[np.ndarray | None] = []
    for i, (kind, seen) in enumerate(zip(shapes.kinds, drawn(mechanism), strict=True)):
        moves = mechanism.tree.body_links[shapes.bodies[i]] != 0
        if not (moves and seen):
            points = None
        elif i in meshes:
            points = meshes[i][0]
        else:
            points = _surface(kind, np.asarray(shapes.size[i]))
        if points is not None:
            points = points @ np.asarray(shapes.rotation[i]).T + np.asarray(shapes.position[i])
        found.append(points)
    return found


def _surface(kind: str, size: np.ndarray) -> np.ndarray | None:
    if kind == "sphere":
        return size[0] * _ball()
    if kind == "ellipsoid":
        return size * _ball()
    if kind in ("capsule", "cylinder"):
        ends = size[1] * np.array([[[0, 0, -1]], [[0, 0, 1]]])
        angle = np.linspace(0, 2 * np.pi, _ROUND, endpoint=False)
        rim = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
        return (size[0] * (_ball() if kind == "capsule" else rim) + ends).reshape(-1, 3)
    if kind == "box":
        return size * CORNERS
    return None


@cache
def _ball() -> np.ndarray:
    """Points spread evenly over the unit sphere, round from every side (a Fibonacci spiral)."""
    k = np.arange(_ROUND**2 // 4) + 0.5
    z, turn = 1 - 2 * k / len(k), np.pi * (1 + 5**0.5) * k
    r = np.sqrt(1 - z * z)
    return np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=1)


def _hull(points: np.ndarray) -> np.ndarray:
    try:
        return points[ConvexHull(points).vertices]
    except QhullError:  # a flat outline is a line
        return points


def _color(mechanism: Mechanism, shape: int) -> Any:
    rgba = mechanism.shapes.colors[shape]
    body = mechanism.shapes.bodies[shape]
    return COLORS[(body - 1) % len(COLORS)] if rgba == GREY else rgba[:3]
