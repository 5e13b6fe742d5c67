"""Ground reactions as files that others read: CSV, and OpenSim's external loads."""

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np

from stiction.biped import FootLoads, GroundReactions

_SHORT = {"right": "r", "left": "l"}  # as OpenSim labels the sides


def foot_columns(reactions: GroundReactions, loads: FootLoads) -> dict[str, np.ndarray]:
    """Time, and each foot's force, centre of pressure and free moment, labelled as by OpenSim."""
    columns = {"time": reactions.time}
    for k, foot in enumerate(loads.feet):
        short = _SHORT.get(foot, foot)
        for label, values in (
            (f"ground_force_{short}_v", loads.force[:, k]),
            (f"ground_force_{short}_p", loads.point[:, k]),
            (f"ground_torque_{short}_", loads.moment[:, k]),
        ):
            columns |= {label + axis: np.nan_to_num(values[:, i]) for i, axis in enumerate("xyz")}
    return columns


def storage(path: Path, columns: dict[str, np.ndarray], *, degrees: bool = False) -> None:
    """Columns as OpenSim's storage file (.mot, .sto)."""
    rows = np.column_stack(list(columns.values()))
    header = [path.stem, "version=1", f"nRows={len(rows)}", f"nColumns={len(columns)}"]
    header += [f"inDegrees={'yes' if degrees else 'no'}", "endheader", "\t".join(columns)]
    np.savetxt(path, rows, delimiter="\t", header="\n".join(header), comments="", fmt="%.9g")


def write_external_loads(
    reactions: GroundReactions, acting: FootLoads, table: Path, setup: Path
) -> None:
    """The feet's loads as OpenSim takes them: a storage file and the ExternalLoads to it."""
    storage(table, foot_columns(reactions, acting))
    root = ET.Element("OpenSimDocument", Version="40000")
    loads = ET.SubElement(root, "ExternalLoads", name=setup.stem)
    objects = ET.SubElement(loads, "objects")
    for foot, body in zip(acting.feet, acting.bodies, strict=True):
        short = _SHORT.get(foot, foot)
        force = ET.SubElement(objects, "ExternalForce", name=foot)
        for tag, text in (
            ("applied_to_body", reactions.subject.body_names[body]),
            ("force_expressed_in_body", "ground"),
            ("point_expressed_in_body", "ground"),
            ("force_identifier", f"ground_force_{short}_v"),
            ("point_identifier", f"ground_force_{short}_p"),
            ("torque_identifier", f"ground_torque_{short}_"),
        ):
            ET.SubElement(force, tag).text = text
    ET.SubElement(loads, "datafile").text = table.name
    ET.ElementTree(root).write(setup, encoding="utf-8", xml_declaration=True)
