"""The data of an animation as the player takes it: few frames, single precision, text."""

import base64
from typing import TYPE_CHECKING, Any

import numpy as np

from stiction.report.player.framing import frame, is_planar

if TYPE_CHECKING:
    from stiction.report.player.animation import Animation, Numbers, Shape

MOST_FRAMES = 2000
MOST_NUMBERS = 450_000  # of poses and forces in all frames: 2.4 MB of a page
FRAME_RATE = 60.0  # Hz
LINE_WIDTH = 0.004  # radius of a line over the size of the scene

# Colours of bodies and of kinds of events: those of the figures (Okabe and Ito), a little softer.
BODY_COLORS = ["#4c8fc7", "#e07a3f", "#3aa587", "#d490b5", "#e5b04a", "#7cc0ea", "#8d98a7"]
EVENT_COLORS = ["#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f"]
STILL_COLOR = "#9aa5b1"


def payload(animation: "Animation") -> dict[str, Any]:
    """Everything the player needs, ready for JSON.

    The player's world has z up and begins at 0 s: another axis is turned up, times are shifted.
    """
    a = animation
    time, positions, quaternions, forces = resample(a.time, a.positions, a.quaternions, a.forces)
    upright = _upright(a.up)
    positions = upright.apply(positions.reshape(-1, 3)).reshape(positions.shape)
    quaternions = continuous(_turned(upright, quaternions))
    planes = [s for s in a.shapes if s.kind == "plane"] + [p.as_shape() for p in a.ground]
    solids = [s for s in a.shapes if s.kind != "plane"]

    # The camera looks at what moves; walls and posts may be out of the picture.
    movers = [s for s in solids if s.body >= 0]
    centers, spans = _places(movers or solids, positions, quaternions, upright)
    planar = is_planar(positions, quaternions)
    view = ("side" if planar else "iso") if a.view == "auto" else a.view
    framing = frame(time, centers, spans, view=view, follow=a.follow)
    radius = float(np.linalg.norm(framing.follow_box if framing.follow else framing.box))
    endless = 30 * (radius + float(np.abs(framing.box).max()))
    grid = round_number(radius / 3)
    data = {
        "time": packed(time - time[0]),
        "bodies": positions.shape[1],
        "pose": packed(np.concatenate([positions, quaternions], axis=-1)),
        "path": packed(framing.path),
        "shapes": [
            _shape(s, upright, radius, endless) | _mesh(s, i) for i, s in enumerate(planes + solids)
        ],
        "trails": [
            {"body": t.body, "point": _floats(t.point), "color": color(t.rgba, t.body)}
            for t in a.trails
        ],
        "events": _events(a, time[0]),
        "origin": float(time[0]),
        "fold": fold(a),
        "slow": [t - float(time[0]) for t in slow_times(a.impulses, slowness(time))],
        "slowness": slowness(time),
        "azimuth": framing.azimuth,
        "elevation": framing.elevation,
        "center": _floats(framing.center),
        "box": _floats(framing.box),
        "followBox": _floats(framing.follow_box),
        "follow": framing.follow,
        "radius": radius,
        "grid": grid,
        "start": float(np.clip(a.start - time[0], 0, time[-1] - time[0])),
        "speed": float(a.speed),
        "scaleText": f"grid {grid:g} m",
    }
    if forces is not None:
        data |= _forces(forces, upright, radius)
        data["scaleText"] += data.pop("arrowText")
    if a.impulses is not None and len(a.impulses):
        data |= _impulses(a.impulses, upright, radius, time[0])
        data["scaleText"] += data.pop("impulseText")
    return data


def fold(animation: "Animation") -> float | None:
    """Where the time that is shown at first ends, from the start [s]; None if nothing is folded."""
    a, end = animation, float(animation.time[-1] - animation.time[0])
    if a.rest is None:
        return None
    shown = 1.05 * max(a.rest - float(a.time[0]), 0.0) + 0.1
    return shown if shown < 0.9 * end else None


def slowness(time: np.ndarray) -> float:
    """How long before and after an impact the player goes slower [s]."""
    return float(min(0.06, (time[-1] - time[0]) / 30))


def slow_times(impulses: np.ndarray | None, width: float) -> list[float]:
    """The impacts worth seeing slowly: strong ones, more than twice `width` [s] apart."""
    if impulses is None or not len(impulses):
        return []
    size = np.linalg.norm(impulses[:, 4:], axis=1)
    found: list[float] = []
    for t in impulses[size > 0.1 * size.max(), 0]:
        if not found or t > found[-1] + 2 * width:
            found.append(float(t))
    return found


def resample(time, positions, quaternions, forces):
    """The same motion with as many frames as a page has room for.

    Given times are kept where there are few enough; else there are at most `FRAME_RATE` a second.
    Positions and quaternions are interpolated, forces are those of the sample before: they jump.
    """
    contacts = 0 if forces is None else forces.shape[1]
    numbers = 7 * positions.shape[1] + 6 * contacts  # of a frame
    room = min(MOST_FRAMES, MOST_NUMBERS // max(numbers, 1))
    if len(time) <= room:
        return time, positions, quaternions, forces
    most = max(min(room, int(np.ceil((time[-1] - time[0]) * FRAME_RATE)) + 1), 2)
    wanted = np.linspace(time[0], time[-1], most)
    k = np.clip(np.searchsorted(time, wanted, side="right") - 1, 0, len(time) - 2)
    step = time[k + 1] - time[k]
    w = np.where(step > 0, (wanted - time[k]) / np.where(step > 0, step, 1.0), 1.0)
    held = np.where(w < 1, k, k + 1)
    w = w[:, None, None]
    q = continuous(quaternions)
    q = (1 - w) * q[k] + w * q[k + 1]
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    p = (1 - w) * positions[k] + w * positions[k + 1]
    return wanted, p, q, None if forces is None else forces[held]


def continuous(quaternions: np.ndarray) -> np.ndarray:
    """The same rotations, each quaternion on the side of the one before (q and -q are one)."""
    same = np.sum(quaternions[1:] * quaternions[:-1], axis=-1, keepdims=True)
    flips = np.cumprod(np.where(same < 0, -1.0, 1.0), axis=0)
    return np.concatenate([quaternions[:1], quaternions[1:] * flips])


def packed(array: np.ndarray) -> str:
    """The numbers in single precision, little-endian, as base 64."""
    most = np.finfo("<f4").max
    return base64.b64encode(np.clip(array, -most, most).astype("<f4").tobytes()).decode()


def half_sides(shape: "Shape") -> np.ndarray:
    """Half sides of the box around a shape, along its own axes [m]."""
    s = np.asarray(shape.size)
    match shape.kind:
        case "box" | "ellipsoid":
            return s
        case "capsule":
            return np.array([s[0], s[0], s[0] + s[1]])
        case "cylinder":
            return np.array([s[0], s[0], s[1]])
        case "line":
            return np.array([0.0, 0.0, s[0]])
        case "mesh":
            return np.abs(np.asarray(shape.vertices)).max(axis=0)
        case _:
            return np.full(3, s[0])


def round_number(x: float) -> float:
    """The largest of 1, 2, 5, 10, 20, … (and 0.5, 0.2, …) that is not above x."""
    power = 10.0 ** np.floor(np.log10(x))
    return float(max(m * power for m in (1, 2, 5) if m * power <= x * (1 + 1e-9)))


def color(given: "Numbers | None", body: int) -> list[float]:
    """A colour as four numbers: the given one, or the body's."""
    if given is not None:
        return _floats(given)
    text = STILL_COLOR if body < 0 else BODY_COLORS[body % len(BODY_COLORS)]
    return _floats([*(int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)), 1.0])


def _upright(up: str):
    """The rotation that brings the given axis to z and leaves x."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_euler("x", 0.0 if up == "z" else np.pi / 2)


def _rotation(quaternions: np.ndarray):
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(quaternions, scalar_first=True)


def _turned(rotation, quaternions: np.ndarray) -> np.ndarray:
    turned = rotation * _rotation(quaternions.reshape(-1, 4))
    return turned.as_quat(scalar_first=True).reshape(quaternions.shape)


def _places(solids, positions, quaternions, upright) -> tuple[np.ndarray, np.ndarray]:
    """Middles of the shapes at each time, and the half sides around them as vectors."""
    n = len(positions)
    centers = np.zeros((n, max(len(solids), 1), 3))
    spans = np.zeros((n, max(len(solids), 1), 3, 3))
    if not solids:  # nothing to frame: a metre of ground
        spans[:] = np.eye(3)
    for i, shape in enumerate(solids):
        if shape.body < 0:
            turn, origin = upright, np.zeros(3)
        else:
            turn, origin = _rotation(quaternions[:, shape.body]), positions[:, shape.body]
        centers[:, i] = origin + turn.apply(shape.position)
        spans[:, i] = (turn * _rotation(shape.quaternion)).as_matrix() * half_sides(shape)
    return centers, spans


def _shape(shape: "Shape", upright, radius: float, endless: float) -> dict[str, Any]:
    kind, size = shape.kind, np.asarray(shape.size)
    position, quaternion = np.asarray(shape.position), np.asarray(shape.quaternion)
    if shape.body < 0:  # given in a world with another axis up
        position = upright.apply(position)
        quaternion = _turned(upright, quaternion)
    if kind == "line":
        kind, size = "capsule", np.array([LINE_WIDTH * radius, size[0]])
    if kind == "plane":
        size = np.where(size > 0, size, endless)
    plain_ground = shape.kind == "plane" and shape.rgba is None
    return {
        "kind": kind,
        "size": _floats(size),
        "color": None if plain_ground else color(shape.rgba, shape.body),
        "body": shape.body,
        "position": _floats(position),
        "quaternion": _floats(quaternion),
        "reach": float(np.linalg.norm(half_sides(shape))),
    }


def _mesh(shape: "Shape", number: int) -> dict[str, Any]:
    """The triangles of a mesh; its number stands for a size, which tells shapes apart."""
    if shape.kind != "mesh":
        return {}
    return {
        "size": [number],
        "vertices": packed(np.asarray(shape.vertices)),
        "faces": packed(np.asarray(shape.faces)),  # counts of this size are exact
    }


def _events(animation: "Animation", start: float) -> dict[str, Any]:
    """Times, and numbers of kinds and texts: there may be ten thousand."""
    inside = [e for e in animation.events if start <= e.time <= animation.time[-1]]
    events = sorted(inside, key=lambda e: e.time)
    kinds = list(dict.fromkeys(e.kind for e in events))
    own = {e.kind: e.color for e in events if e.color}
    texts = list(dict.fromkeys(e.text for e in events))
    number = {text: i for i, text in enumerate(texts)}
    return {
        "time": packed(np.array([e.time - start for e in events])),
        "kind": [kinds.index(e.kind) for e in events],
        "text": [number[e.text] for e in events],
        "kinds": kinds,
        "colors": [own.get(k, EVENT_COLORS[i % len(EVENT_COLORS)]) for i, k in enumerate(kinds)],
        "texts": texts,
    }


def _impulses(impulses: np.ndarray, upright, radius: float, start: float) -> dict[str, Any]:
    """Arrows of impacts: the largest is as long as the scene is large."""
    largest = float(np.linalg.norm(impulses[:, 4:], axis=1).max()) or 1.0
    unit = round_number(largest)
    metres = round_number(0.8 * radius * unit / largest)
    turned = [upright.apply(impulses[:, i : i + 3]) for i in (1, 4)]
    return {
        "impulse": packed(np.column_stack([impulses[:, 0] - start, *turned])),
        "metresPerImpulse": metres / unit,
        "impulseText": f" · impulses {unit:g} N·s = {metres:g} m",
    }


def _forces(forces: np.ndarray, upright, radius: float) -> dict[str, Any]:
    """Arrows: the middle force is a quarter as long as the scene is large; peaks are cut short."""
    sizes = np.linalg.norm(forces[..., 3:], axis=-1)
    usual = float(np.median(sizes[sizes > 0])) if (sizes > 0).any() else 1.0
    newtons = round_number(usual)
    metres = round_number(0.3 * radius * newtons / usual)
    return {
        "contacts": forces.shape[1],
        "force": packed(upright.apply(forces.reshape(-1, 3))),
        "metresPerNewton": metres / newtons,
        "longestArrow": 0.9 * radius,
        "arrowText": f" · arrows {newtons:g} N = {metres:g} m",
    }


def _floats(values: "Numbers") -> list[float]:
    """Seven digits: all that single precision has."""
    return [float(f"{v:.7g}") for v in np.asarray(values, float)]
