"""From a file of motion to the coordinates of a subject: names, units, and what is missing."""

import difflib
from pathlib import Path

import numpy as np

from stiction._base.errors import InputError
from stiction.biped.subject.markers import coordinates_from_markers, read_markers
from stiction.biped.subject.retarget import (
    KNOWN,
    PELVIS,
    SAGITTAL,
    TRANSLATIONS,
    is_for_human,
    retarget,
)
from stiction.biped.subject.subject import Coordinate, Subject
from stiction.tables import MARKERS, Table, read_table

ANGLES = ("degrees", "radians")
_TURN = 2 * np.pi
# Nobody keeps all joints within a few degrees (π, misread) and yet moves by more than a
# sway [m], and farther than legs of this length [m] carry the body when they turn by so little.
_STIFF, _SWAY, _LEG = 3.5, 0.02, 1.5


def read_motion(
    path: str | Path,
    subject: Subject,
    *,
    marker_axes: str | None = None,
    weights: dict[str, float] | None = None,
    who: str | None = None,
) -> Table:
    """The recorded coordinates of a subject, from a file of joint angles or of markers.

    Args:
        path: Markers (.trc, .c3d), which the model must have too, or a table of angles: .mot, .sto,
            .csv, or any other that `read_table` knows.
        subject: Whose motion.
        marker_axes: What the model's x, y and z are in the markers' axes, as "x,z,-y".
        weights: Of markers by name, 1 where not given.
        who: Whose markers, where a file holds those of several people.
    """
    if Path(path).suffix.lower() in MARKERS:
        markers = read_markers(path, axes=marker_axes, subject=who)
        return coordinates_from_markers(markers, subject, weights)
    return read_table(path).by_time()


def coordinates_of(
    table: Table, subject: Subject, *, angles: str | None = None
) -> tuple[np.ndarray, list[str]]:
    """The subject's coordinates at every row, in radians and metres.

    Args:
        table: Columns named as the coordinates; OpenSim's paths (`/jointset/hip_r/…/value`) too.
        subject: Whose coordinates.
        angles: "degrees" or "radians", whatever the file says; none believes the file.

    Returns:
        q, one row a time, and notes on what was assumed.
    """
    if angles not in (None, *ANGLES):
        raise InputError(f"`angles` must be 'degrees' or 'radians', got '{angles}'")
    columns, said = _columns(table), []
    if is_for_human(set(columns), subject):
        _refuse_absent_base(table, SAGITTAL, columns, KNOWN)
        theirs = [Coordinate(n, n not in TRANSLATIONS) for n in columns if n in KNOWN]
        degrees, said = _degrees(table, theirs, columns, PELVIS, angles)
        unit = np.pi / 180 if degrees else 1.0
        columns = {c.name: columns[c.name] * (unit if c.rotational else 1.0) for c in theirs}
        table, angles = retarget(columns, table, subject), None
        said = [*said, table.notes[-1]]
        columns = _columns(table)
    columns = _quaternions_from_angles(columns, subject, table, angles)
    known = [c for c in subject.coordinates if c.name in columns]
    _refuse_absent(table, subject, columns)
    degrees, notes = _degrees(table, known, columns, subject.base, angles)
    notes = said + notes
    q = np.tile(subject.defaults, (len(table), 1))
    for i, coordinate in enumerate(subject.coordinates):
        if coordinate.name not in columns or coordinate.follows:
            continue
        values = columns[coordinate.name]
        if coordinate.rotational:
            values = np.unwrap(np.radians(values) if degrees else values)
        q[:, i] = values
    return _continuous_quaternions(q, subject), notes + _notes(table, subject, columns, q)


def _columns(table: Table) -> dict[str, np.ndarray]:
    """Columns by coordinate: '/jointset/hip_r/hip_flexion_r/value' is 'hip_flexion_r'."""
    columns = {}
    for k, name in enumerate(table.names):
        parts = name.split("/")
        if len(parts) > 1:
            if parts[-1] != "value":
                continue  # speeds, activations, forces
            name = parts[-2]
        columns[name] = table.values[:, k]
    return columns


def _refuse_absent(table: Table, subject: Subject, columns: dict[str, np.ndarray]) -> None:
    names = [c.name for c in subject.coordinates]
    if not set(names) & set(columns):
        raise InputError(
            f"no column of `{table.source}` is a coordinate of '{subject.name}': columns are"
            f" {_listed(columns)}, coordinates are {_listed(names)}"
        )
    _refuse_absent_base(table, subject.base, columns, set(names))


def _refuse_absent_base(
    table: Table, base: tuple[str, ...], columns: dict[str, np.ndarray], known: set[str]
) -> None:
    if absent := [n for n in base if n not in columns]:
        raise InputError(
            f"`{table.source}` must have the columns of the floating base, but {_listed(absent)}"
            f" {'is' if len(absent) == 1 else 'are'} missing"
            f"{_nearest(absent[0], set(columns) - known) or '; export it too'}"
        )


def _degrees(
    table: Table,
    known: list[Coordinate],
    columns: dict[str, np.ndarray],
    base: tuple[str, ...],
    angles: str | None,
) -> tuple[bool, list[str]]:
    """Whether angles are in degrees, and what speaks for it."""
    turning = [c for c in known if c.rotational and not c.follows]
    if angles is not None or not turning:
        return angles == "degrees", []
    largest = {c.name: float(np.abs(columns[c.name]).max()) for c in turning}
    widest = max(largest, key=lambda name: largest[name])
    limbs = {n: v for n, v in largest.items() if n not in base} or largest
    limb = max(limbs, key=lambda name: limbs[name])
    if table.degrees is None:
        guess = limbs[limb] > _TURN
        unit = "degrees" if guess else "radians"
        return guess, [
            f"'{table.source}' does not say the unit of its angles; '{limb}' reaches"
            f" {limbs[limb]:.3g}, so they were taken as {unit} (--angles says it)"
        ]
    if not table.degrees and limbs[limb] > _TURN:
        raise InputError(
            f"`{limb}` reaches {limbs[limb]:.4g} in `{table.source}`, whose header says radians; if"
            " the angles are in degrees, add --angles degrees"
        )
    paths = [columns[c.name] for c in known if not c.rotational and c.name in base]
    travel = max((float(np.ptp(v)) for v in paths), default=0.0)
    turn = max(float(np.ptp(columns[c.name])) for c in turning)
    moves = travel > max(_SWAY, _LEG * np.radians(turn))
    if table.degrees and moves and 0.2 < largest[widest] < _STIFF:
        raise InputError(
            f"`{widest}`, the largest angle in `{table.source}`, reaches {largest[widest]:.3g}"
            f" degrees as its header has it, while the body moves by {travel:.2g} m; if the angles"
            " are in radians, add --angles radians"
        )
    return table.degrees, []


def _notes(
    table: Table, subject: Subject, columns: dict[str, np.ndarray], q: np.ndarray
) -> list[str]:
    notes = []
    absent = [
        c for c in subject.coordinates if c.name not in columns and not (c.locked or c.follows)
    ]
    if absent:
        values = ", ".join(f"'{c.name}' at {c.default:.4g}" for c in absent[:6])
        more = f" and {len(absent) - 6} more" if len(absent) > 6 else ""
        notes.append(f"no column in '{table.source}' for {values}{more}: left there")
    for c in subject.coordinates:
        if c.follows and c.name in columns:
            notes.append(
                f"'{c.name}' follows {_listed(c.follows)} in the model; its column in"
                f" '{table.source}' was not used"
            )
    names = {c.name for c in subject.coordinates}
    if extra := [n for n in columns if n not in names]:
        notes.append(f"columns of '{table.source}' that are no coordinates: {_listed(extra)}")
    for i, c in enumerate(subject.coordinates):
        low, high = c.range
        margin = np.radians(10) if c.rotational else 0.1
        beyond = (q[:, i] < low - margin) | (q[:, i] > high + margin)
        if beyond.mean() > 0.5 and high > low:
            notes.append(
                f"'{c.name}' is mostly outside the model's range of {low:.3g} to {high:.3g}"
                f" (it goes from {q[:, i].min():.3g} to {q[:, i].max():.3g}): is its sign right?"
            )
    return notes


def _quaternions_from_angles(
    columns: dict[str, np.ndarray], subject: Subject, table: Table, angles: str | None
) -> dict[str, np.ndarray]:
    """Quaternions of free joints from their roll, pitch and yaw, as in (1) of rodic."""
    from scipy.spatial.transform import Rotation

    for c in subject.coordinates:
        joint, _, part = c.name.rpartition(".")
        turns = [f"{joint}.{t}" for t in ("roll", "pitch", "yaw")]
        if part != "qw" or c.name in columns or not all(t in columns for t in turns):
            continue
        values = np.stack([columns.pop(t) for t in turns], axis=1)
        degrees = angles == "degrees" if angles else bool(table.degrees)
        if angles is None and table.degrees is None:
            degrees = bool(np.abs(values).max() > _TURN)
        # First roll about x, then pitch about y, then yaw about z, all fixed in space.
        quaternion = Rotation.from_euler("xyz", values, degrees=degrees).as_quat(scalar_first=True)
        for k, letter in enumerate("wxyz"):
            columns[f"{joint}.q{letter}"] = quaternion[:, k]
    return columns


def _continuous_quaternions(q: np.ndarray, subject: Subject) -> np.ndarray:
    """Quaternions without jumps from one to its opposite, which is the same turn."""
    for i, c in enumerate(subject.coordinates):
        if c.name.endswith(".qw"):
            quaternion = q[:, i : i + 4]
            flips = np.sum(quaternion[1:] * quaternion[:-1], axis=1) < 0
            q[1:, i : i + 4] *= np.where(np.cumsum(flips) % 2, -1.0, 1.0)[:, None]
    return q


def _listed(names) -> str:
    names = list(names)
    shown = ", ".join(f"'{n}'" for n in names[:6])
    return shown + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def _nearest(name: str, known) -> str:
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; is it '{near[0]}'?" if near else ""
