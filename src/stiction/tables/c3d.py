"""Markers, force plates and events of .c3d files, by ezc3d (`pip install stiction[c3d]`).

A file says of each plate its type, which analogue channels it has, where its corners are, and where
its sensors' origin lies below the middle of its face. The plate's axes are x from corner 2 to
corner 1, y from corner 4 to corner 1, and z = x × y. By type, the channels are

- 1: force, centre of pressure x and y, free moment;
- 2: force and moment about the sensors' origin;
- 3: eight forces of four corner sensors (Fx12 Fx34 Fy14 Fy23 Fz1 Fz2 Fz3 Fz4), whose distances
  from the middle stand in place of the origin's x and y;
- 4: as 2, after a calibration matrix for crosstalk.
"""

from pathlib import Path
from typing import Any

import numpy as np

from stiction._base.errors import InputError
from stiction._base.files import check_file
from stiction.tables.c3d_check import check_c3d
from stiction.tables.table import Table
from stiction.tables.text import markers_table
from stiction.tables.units import size_of

_LENGTHS = ("mm", "cm", "m")
_FORCES = ("N", "kN", "lbf")
_MOMENTS = ("N*m", "N*mm", "lbf*in")
_CHANNELS = {1: 6, 2: 6, 3: 8, 4: 6}
_LEAST = 1e-9  # N: below it a centre of pressure has no meaning


def read_c3d(path: Path) -> Table:
    """Positions of markers [m]: of each marker the columns NAME.x, NAME.y and NAME.z."""
    file = _open(path)
    points = file["data"]["points"]  # (4, n_markers, n_frames), nan where not seen
    if points.shape[1] == 0:
        raise InputError(f"`{path}` holds no markers")
    parameters = file["parameters"]["POINT"]
    labels = _labels(parameters)
    if len(labels) < points.shape[1]:
        raise InputError(
            f"`POINT:LABELS` in `{path}` must name all {points.shape[1]} markers, it names"
            f" {len(labels)}"
        )
    position = _length(file, path) * np.moveaxis(points[:3], 0, -1).swapaxes(0, 1)
    position[(position == 0).all(axis=-1)] = np.nan  # how some systems write a marker not seen
    header = file["header"]["points"]
    if not header["frame_rate"] > 0:
        raise InputError(f"`POINT:RATE` in `{path}` must be positive, got {header['frame_rate']}")
    time = (header["first_frame"] + np.arange(len(position))) / header["frame_rate"]
    return markers_table(path, time, labels[: points.shape[1]], position)


def has_plates(path: Path) -> bool:
    """Whether a file is a .c3d file with force plates in use."""
    if path.suffix.lower() != ".c3d":
        return False
    used = _open(path)["parameters"].get("FORCE_PLATFORM", {}).get("USED", {}).get("value", [0])
    return len(used) > 0 and int(used[0]) > 0


def read_c3d_events(path: Path) -> list[tuple[float, str]]:
    """Events that somebody marked: time [s] and words such as 'Right Foot Strike'."""
    group = _open(path)["parameters"].get("EVENT", {})
    times = np.atleast_2d(np.asarray(group.get("TIMES", {}).get("value", []), float))
    if times.size == 0 or len(times) != 2:
        return []
    words = [[str(w) for w in group.get(k, {}).get("value", [])] for k in ("CONTEXTS", "LABELS")]
    n = times.shape[1]
    context, label = (w + [""] * (n - len(w)) for w in words)
    return [
        (float(60 * times[0, k] + times[1, k]), f"{context[k]} {label[k]}".strip())
        for k in range(n)
    ]


def read_c3d_plates(path: Path) -> Table:
    """What the person exerts on force plates, in the laboratory's axes.

    Of plate k the columns are `plate k force_vx` [N], `plate k force_px` [m], the centre of
    pressure, and `plate k torque_x` [N·m], the moment there, and so on for y and z.
    """
    file = _open(path)
    group = file["parameters"].get("FORCE_PLATFORM", {})
    used = _needed(group, "USED", path)
    if not int(used[0]):
        raise InputError(f"`{path}` holds no force plates (FORCE_PLATFORM is empty)")
    columns = {}
    for k in range(int(used[0])):
        force, point, torque = _plate(file, group, k, path)
        for name, values in (("force_v", force), ("force_p", point), ("torque_", torque)):
            columns |= {f"plate {k + 1} {name}{a}": values[i] for i, a in enumerate("xyz")}
    points, analogs = file["header"]["points"], file["header"]["analogs"]
    rate = analogs["frame_rate"] or points["frame_rate"]
    n = len(next(iter(columns.values())))
    time = points["first_frame"] / points["frame_rate"] + np.arange(n) / rate
    return Table(path, {"time": time, **columns})


def _plate(file, group, k: int, path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Force on the plate, centre of pressure, and moment there, each of shape (3, n)."""
    kind = int(_of_plate(group, "TYPE", k, path))
    if kind not in _CHANNELS:
        raise InputError(
            f"`FORCE_PLATFORM:TYPE` of plate {k + 1} in `{path}` must be 1, 2, 3 or 4, got {kind};"
            " export the forces as a table"
        )
    length = _length(file, path)
    corners = length * np.asarray(_of_plate(group, "CORNERS", k, path), float)  # (3, 4)
    origin = length * np.asarray(_of_plate(group, "ORIGIN", k, path), float).ravel()
    if corners.shape != (3, 4) or not np.isfinite(corners).all() or len(origin) != 3:
        raise InputError(
            f"`FORCE_PLATFORM:CORNERS` of plate {k + 1} in `{path}` must be four points and ORIGIN"
            " one"
        )
    x, y = corners[:, 0] - corners[:, 1], corners[:, 0] - corners[:, 3]
    z = np.cross(x, y)
    if np.linalg.norm(z) < 1e-6:
        raise InputError(f"the corners of plate {k + 1} in `{path}` lie on one line")
    R = np.stack([x, np.cross(z, x), z], axis=1)
    R = R / np.linalg.norm(R, axis=0)
    values = _channel_values(file, group, k, kind, path)
    if kind in (1, 2, 4) and origin[2] > 0:
        origin = -origin  # sensors lie below the face, along +z; some write it the other way
    F, M, p = _by_type(kind, values, origin)
    if p is None:
        load = np.where(np.abs(F[2]) > _LEAST, F[2], np.nan)
        p = np.stack([-M[1] / load, M[0] / load, 0 * load])
        torque = M - np.cross(np.nan_to_num(p), F, axis=0)
    else:
        torque = M
    lost = ~np.isfinite(p).all(axis=0)
    p[:, lost] = 0.0
    middle = corners.mean(axis=1)[:, None]
    # Channels hold what the person does to the plate, in axes whose z points into the floor.
    return R @ np.nan_to_num(F), middle + R @ p, R @ np.nan_to_num(torque)


def _by_type(kind: int, v: np.ndarray, origin: np.ndarray):
    """Force, moment about the face's middle, and centre of pressure where it was measured."""
    F = v[:3]
    if kind == 1:
        zero = np.zeros_like(v[0])
        return F, np.stack([zero, zero, v[5]]), np.stack([v[3], v[4], zero])
    if kind == 3:
        a, b, depth = np.abs(origin[0]), np.abs(origin[1]), -np.abs(origin[2])
        x12, x34, y14, y23, z1, z2, z3, z4 = v
        F = np.stack([x12 + x34, y14 + y23, z1 + z2 + z3 + z4])
        M = np.stack(
            [
                b * (z1 + z2 - z3 - z4),
                a * (z2 + z3 - z1 - z4),
                b * (x34 - x12) + a * (y14 - y23),
            ]
        )
        return F, M + np.cross(F, np.array([0, 0, depth])[:, None], axis=0), None
    return F, v[3:6] + np.cross(F, origin[:, None], axis=0), None


def _channel_values(file, group, k: int, kind: int, path: Path) -> np.ndarray:
    """The plate's channels in N, N·m and m, shape (n_channels, n)."""
    analogs = file["data"]["analogs"]  # (1, n_channels, n)
    count = _CHANNELS[kind]
    channels = np.asarray(_of_plate(group, "CHANNEL", k, path), int).ravel()[:count] - 1
    if len(channels) < count or (channels < 0).any() or (channels >= analogs.shape[1]).any():
        raise InputError(
            f"`FORCE_PLATFORM:CHANNEL` of plate {k + 1} in `{path}` must name {count} of the"
            f" {analogs.shape[1]} analogue channels, got {[int(c) + 1 for c in channels]}"
        )
    values = np.array(analogs[0, channels], float)
    length = _length(file, path)
    if kind == 4:
        matrix = np.asarray(_of_plate(group, "CAL_MATRIX", k, path), float)
        if matrix.shape != (6, 6) or not np.isfinite(matrix).all():
            raise InputError(
                f"`FORCE_PLATFORM:CAL_MATRIX` of plate {k + 1} in `{path}` must be 6 by 6 numbers"
            )
        return np.repeat([1.0, length], 3)[:, None] * (matrix @ values)
    units = file["parameters"].get("ANALOG", {}).get("UNITS", {}).get("value", [])
    words = [str(units[c]).strip() if c < len(units) else "" for c in channels]
    what = f"channels of plate {k + 1} in `{path}`"
    kinds = {1: "FFFLLM", 2: "FFFMMM", 3: "FFFFFFFF"}[kind]
    allowed = {"F": (_FORCES, 1.0), "M": (_MOMENTS, length), "L": (_LENGTHS, length)}
    # Without a unit of their own forces are in N, and the rest goes with the markers' unit.
    sizes = [
        size_of(w, allowed[q][0], what) if w else allowed[q][1]
        for q, w in zip(kinds, words, strict=True)
    ]
    return np.array(sizes)[:, None] * values


def _length(file, path: Path) -> float:
    units = file["parameters"]["POINT"].get("UNITS", {}).get("value") or ["mm"]
    return size_of(str(units[0]), _LENGTHS, f"markers in `{path}`")


def _labels(parameters) -> list[str]:
    """The markers' names; more than 255 are spread over LABELS, LABELS2, …"""
    names = [n for n in parameters if n == "LABELS" or n.removeprefix("LABELS").isdigit()]
    names.sort(key=lambda n: int(n.removeprefix("LABELS") or 1))
    return [str(label).strip() for n in names for label in parameters[n]["value"]]


def _needed(group, name: str, path: Path) -> Any:
    if name not in group or len(group[name]["value"]) == 0:
        raise InputError(
            f"`FORCE_PLATFORM:{name}` is missing in `{path}`; without it forces cannot be placed"
        )
    return group[name]["value"]


def _of_plate(group, name: str, k: int, path: Path) -> Any:
    """What a parameter says of plate k: the last of its dimensions counts plates."""
    values = np.asarray(_needed(group, name, path))
    if values.shape[-1] <= k:
        raise InputError(
            f"`FORCE_PLATFORM:{name}` in `{path}` must be given for plate {k + 1}, it is for"
            f" {values.shape[-1]}"
        )
    return values[..., k]


def _open(path: Path):
    check_file(path)
    try:
        import ezc3d
    except ImportError:
        raise InputError(
            f"`{path}` needs ezc3d to be read; install it with: pip install stiction[c3d]"
        ) from None
    check_c3d(path)
    try:
        return ezc3d.c3d(str(path))
    except Exception as error:  # ezc3d raises what its C++ throws
        raise InputError(f"`{path}` is not a readable .c3d file: {error}") from None
