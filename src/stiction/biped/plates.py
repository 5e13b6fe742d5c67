"""Force plates: what they measured, in the model's axes, and which foot stood on which plate.

Files: a table (.mot, .sto, .csv) with OpenSim's labels (`ground_force_r_vx`, `…_px`,
`ground_torque_r_x`, any prefix or number) or short ones (`Fx`, `COPx`, `Mx`); an ExternalLoads file
(.xml), which names the columns and the foot; .c3d.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from stiction._errors import InputError, unknown
from stiction.biped.opensim import document
from stiction.biped.recording.even import make_even
from stiction.biped.recording.table import Table
from stiction.biped.recording.text import read_text_table

_LONG = re.compile(
    r"^(?P<head>.*?)(?P<kind>force|torque|moment)(?P<tail>.*?)_?(?P<part>[vpm])?(?P<axis>[xyz])$",
    re.I,
)
_SHORT = re.compile(r"^(?P<head>.*?)(?P<kind>F|M|T|COP|P)_?(?P<axis>[xyz])(?P<tail>.*)$")
_AXIS = re.compile(r"^([+-]?)([xyz])$", re.I)


@dataclass(frozen=True)
class Plate:
    """One plate, or one foot's part of the measurement.

    Attributes:
        name: As the file calls it.
        force: On the person [N], one row a time.
        point: Centre of pressure [m]; none if not measured.
        body: The body that it acts on, if the file says.
    """

    name: str
    force: np.ndarray
    point: np.ndarray | None = None
    body: str | None = None


@dataclass(frozen=True)
class Plates:
    """All plates of a measurement, on common times.

    Attributes:
        source: The file's name.
        time: [s], evenly spaced.
        plates: One each.
        notes: What was mended.
    """

    source: str
    time: np.ndarray
    plates: tuple[Plate, ...]
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> np.ndarray:
        """The sum of all forces [N]."""
        return np.sum([p.force for p in self.plates], axis=0)


def read_plates(path: str | Path, *, axes: str | None = None) -> Plates:
    """The force plates of a file.

    Args:
        path: .mot, .sto, .csv, .txt, .c3d, or an ExternalLoads .xml that names such a table.
        axes: What the model's x, y and z are in the plates' axes, as "x,z,-y".
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".xml":
        plates = _read_external_loads(path)
    elif suffix == ".c3d":
        from stiction.biped.recording.c3d import read_c3d_plates

        plates = read_c3d_plates(path)
    else:
        table = make_even(read_text_table(path))
        found = _find_columns(table)
        plates = Plates(table.source, table.time, tuple(found), table.notes)
    return plates if axes is None else in_axes(plates, axes)


def in_axes(plates: Plates, axes: str) -> Plates:
    """The same measurement seen along other axes: "x,z,-y" makes y of the plates' z."""
    matrix = axes_matrix(axes)
    turned = tuple(
        replace(p, force=p.force @ matrix.T, point=None if p.point is None else p.point @ matrix.T)
        for p in plates.plates
    )
    return replace(plates, plates=turned)


def axes_matrix(axes: str) -> np.ndarray:
    """The matrix of "x,z,-y": its rows are the new axes in the old ones."""
    parts = [_AXIS.match(a.strip()) for a in axes.split(",")]
    rows = [
        (-1.0 if m[1] == "-" else 1.0) * np.eye(3)["xyz".index(m[2].lower())] for m in parts if m
    ]
    if len(rows) != 3 or len(parts) != 3 or abs(np.linalg.det(np.array(rows))) != 1:
        raise InputError(
            f"axes must be three different letters with signs, such as 'x,z,-y', got '{axes}'"
        )
    return np.array(rows)


def _read_external_loads(path: Path) -> Plates:
    root = document.parse(path)
    loads = root.find("ExternalLoads")
    if loads is None:
        raise InputError(f"`{path}` must hold <ExternalLoads>; give that file or the table itself")
    name = document.text(loads, "datafile")
    if not name:
        raise InputError(f"`datafile` is empty in `{path}`; give the table of forces instead")
    table = make_even(read_text_table(path.parent / name))
    plates = []
    for e in document.objects(loads, "ExternalLoads") or list(loads.iter("ExternalForce")):
        if not document.flag(e, "appliesForce", True) or document.flag(e, "isDisabled"):
            continue
        columns = [
            np.stack([table.column(document.text(e, tag) + axis) for axis in "xyz"], axis=1)
            for tag in ("force_identifier", "point_identifier")
        ]
        body = document.text(e, "applied_to_body")
        plates.append(Plate(document.name_of(e), columns[0], columns[1], body))
    if not plates:
        raise InputError(f"`{path}` has no ExternalForce that applies")
    return Plates(table.source, table.time, tuple(plates), table.notes)


def _find_columns(table: Table) -> list[Plate]:
    """Plates by the labels of a table."""
    groups: dict[tuple[str, str], dict[str, dict[str, np.ndarray]]] = {}
    for k, label in enumerate(table.names):
        match = _LONG.match(label)
        if match:
            kind = {"v": "force", "p": "point", "m": "moment"}.get((match["part"] or "").lower())
            kind = kind or ("force" if match["kind"].lower() == "force" else "moment")
        elif match := _SHORT.match(label):
            kind = {"F": "force", "COP": "point", "P": "point"}.get(match["kind"], "moment")
        else:
            continue
        key = (match["head"].strip("_ "), match["tail"].strip("_ "))
        parts = groups.setdefault(key, {}).setdefault(kind, {})
        parts[match["axis"].lower()] = table.values[:, k]
    plates = []
    for (head, tail), kinds in groups.items():
        if set(kinds.get("force", {})) != set("xyz"):
            continue
        point = kinds.get("point", {})
        name = " ".join(part for part in (head, tail) if part) or "plate"
        plates.append(
            Plate(
                name,
                np.stack([kinds["force"][a] for a in "xyz"], axis=1),
                np.stack([point[a] for a in "xyz"], axis=1) if set(point) == set("xyz") else None,
            )
        )
    if not plates:
        raise unknown(
            f"force in `{table.source}` with three components, such as",
            "ground_force_vx",
            table.names,
        )
    return plates
