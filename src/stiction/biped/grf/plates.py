"""Force plates: what they measured, in the model's axes, and which foot stood on which plate.

Files: a table (.mot, .sto, .csv) with OpenSim's labels (`ground_force_r_vx`, `…_px`,
`ground_torque_r_x`, any prefix or number) or short ones (`Fx`, `COPx`, `Mx`); an ExternalLoads file
(.xml), which names the columns and the foot; .c3d.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from stiction._base.errors import InputError, unknown
from stiction.biped.axes import axes_matrix
from stiction.biped.opensim import document
from stiction.tables import Table, make_even, read_c3d_plates, read_table

_LONGEST = 200  # letters; no label is longer, and the patterns would take time with its cube
_LONG = re.compile(
    r"^(?P<head>.*?)(?P<kind>force|torque|moment)(?P<tail>.*?)_?(?P<part>[vpm])?(?P<axis>[xyz])$",
    re.I,
)
_SHORT = re.compile(r"^(?P<head>.*?)(?P<kind>F|M|T|COP|P)_?(?P<axis>[xyz])(?P<tail>.*)$")


@dataclass(frozen=True)
class ForcePlate:
    """One plate, or one foot's part of the measurement."""

    name: str  # as the file calls it
    force: np.ndarray  # on the person [N], one row a time
    point: np.ndarray | None = None  # centre of pressure [m]; none if not measured
    body: str | None = None  # the body that it acts on, if the file says
    torque: np.ndarray | None = None  # moment at that point [N·m]; zero if not measured


@dataclass(frozen=True)
class ForcePlates:
    """All plates of a measurement, on common times."""

    source: str  # the file's name
    time: np.ndarray  # [s], evenly spaced
    plates: tuple[ForcePlate, ...]  # one each
    notes: tuple[str, ...] = ()  # what was mended

    @property
    def total(self) -> np.ndarray:
        """The sum of all forces [N]."""
        return np.sum([p.force for p in self.plates], axis=0)


def read_plates(path: str | Path, *, axes: str | None = None) -> ForcePlates:
    """Force plates from a file.

    Args:
        path: .mot, .sto, .csv, .txt, .c3d, or an ExternalLoads .xml that names such a table.
        axes: What the model's x, y and z are in the plates' axes, as "x,z,-y".
    """
    path = Path(path)
    if path.suffix.lower() == ".xml":
        plates = _read_external_loads(path)
    else:
        c3d = path.suffix.lower() == ".c3d"
        table = read_c3d_plates(path) if c3d else make_even(read_table(path).by_time())
        plates = ForcePlates(table.source, table.time, tuple(_find_columns(table)), table.notes)
    return plates if axes is None else in_axes(plates, axes)


def in_axes(plates: ForcePlates, axes: str) -> ForcePlates:
    """The same measurement seen along other axes: "x,z,-y" makes y of the plates' z."""
    matrix = axes_matrix(axes)
    # A moment is turned like any vector, and keeps its sense only in a frame of the same hand.
    hand = np.linalg.det(matrix)
    turned = tuple(
        replace(
            p,
            force=p.force @ matrix.T,
            point=None if p.point is None else p.point @ matrix.T,
            torque=None if p.torque is None else hand * p.torque @ matrix.T,
        )
        for p in plates.plates
    )
    return replace(plates, plates=turned)


def _read_external_loads(path: Path) -> ForcePlates:
    root = document.parse(path)
    loads = root.find("ExternalLoads")
    if loads is None:
        raise InputError(f"`{path}` must hold <ExternalLoads>; give that file or the table itself")
    name = document.text(loads, "datafile")
    if not name:
        raise InputError(f"`datafile` is empty in `{path}`; give the table of forces instead")
    table = make_even(read_table(_beside(path, name)).by_time())
    plates = []
    for e in document.objects(loads, "ExternalLoads") or list(loads.iter("ExternalForce")):
        if not document.flag(e, "appliesForce", True) or document.flag(e, "isDisabled"):
            continue
        for tag in ("force_expressed_in_body", "point_expressed_in_body"):
            frame = document.text(e, tag)
            if frame.rpartition("/")[2] not in ("", "ground"):
                raise InputError(
                    f"`{tag}` of '{document.name_of(e)}' in `{path}` must be ground, got '{frame}';"
                    " export the loads in the laboratory's frame"
                )
        force, point, torque = (
            _columns(table, document.text(e, tag))
            for tag in ("force_identifier", "point_identifier", "torque_identifier")
        )
        if force is None:
            label = document.text(e, "force_identifier") + "x"
            raise unknown(f"column in `{table.source}`", label, table.names)
        body = document.text(e, "applied_to_body")
        plates.append(ForcePlate(document.name_of(e), force, point, body, torque))
    if not plates:
        raise InputError(f"`{path}` has no ExternalForce that applies")
    return ForcePlates(table.source, table.time, tuple(plates), table.notes)


def _columns(table: Table, label: str) -> np.ndarray | None:
    """Three columns of one label; OpenSim takes `ground_torque` for `ground_torque_x` too."""
    for head in (label, f"{label}_"):
        if label and all(head + axis in table.names for axis in "xyz"):
            return np.stack([table.column(head + axis) for axis in "xyz"], axis=1)
    return None


def _beside(path: Path, name: str) -> Path:
    """The file that a setup names: as it is named, or by its last part beside the setup."""
    named = path.parent / name.replace("\\", "/")
    return named if named.is_file() else path.parent / named.name


def _find_columns(table: Table) -> list[ForcePlate]:
    """Plates found by the labels of a table."""
    groups: dict[tuple[str, str], dict[str, dict[str, np.ndarray]]] = {}
    for k, label in enumerate(table.names):
        if len(label) > _LONGEST:
            continue
        match = _LONG.match(label)
        if match:
            kind = {"v": "force", "p": "point", "m": "moment"}.get((match["part"] or "").lower())
            kind = kind or match["kind"].lower()
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
        point, torque = kinds.get("point", {}), kinds.get("torque", {})
        name = " ".join(part for part in (head, tail) if part) or "plate"
        plates.append(
            ForcePlate(
                name,
                np.stack([kinds["force"][a] for a in "xyz"], axis=1),
                np.stack([point[a] for a in "xyz"], axis=1) if set(point) == set("xyz") else None,
                # A moment is about an origin that the file does not name; a torque is at the point.
                torque=np.stack([torque[a] for a in "xyz"], axis=1)
                if set(torque) == set("xyz")
                else None,
            )
        )
    if not plates:
        raise unknown(
            f"force in `{table.source}` with three components, such as",
            "ground_force_vx",
            table.names,
        )
    return plates
