"""Ground reactions as files that others read: NetCDF, CSV, and OpenSim's external loads."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from stiction.biped.reactions import GroundReactions

if TYPE_CHECKING:
    import xarray as xr


def to_dataset(reactions: GroundReactions) -> "xr.Dataset":
    """Everything that was computed, with names and units."""
    import xarray as xr

    axis = ["x", "y", "z"]
    motion, subject, shares = reactions.motion, reactions.subject, reactions.shares
    coordinates = [c.name for c in subject.coordinates]
    variables = {
        "force": (("time", "axis"), reactions.force, {"units": "N"}),
        "moment": (("time", "axis"), reactions.moment, {"units": "N m", "about": "origin"}),
        "center_of_mass": (("time", "axis"), reactions.center, {"units": "m"}),
        "q": (("time", "coordinate"), motion.q),
        "q_rate": (("time", "coordinate"), motion.rate),
        "q_acceleration": (("time", "coordinate"), motion.acceleration),
    }
    coords = {
        "time": ("time", reactions.time, {"units": "s"}),
        "axis": axis,
        "coordinate": coordinates,
    }
    if reactions.feet:
        touch = reactions.touch
        variables |= {
            "foot_force": (("time", "foot", "axis"), shares.foot_force, {"units": "N"}),
            "center_of_pressure": (("time", "foot", "axis"), shares.pressure, {"units": "m"}),
            "free_moment": (("time", "foot"), shares.free_moment, {"units": "N m"}),
            "down": (("time", "foot"), shares.down),
            "point_force": (("time", "point", "axis"), shares.point_force, {"units": "N"}),
            "point_position": (("time", "point", "axis"), touch.position, {"units": "m"}),
            "gap": (("time", "point"), touch.gap, {"units": "m"}),
            "rate": (("time", "point", "axis"), touch.rate, {"units": "m/s"}),
            "nearness": (("time", "point"), touch.nearness),
            "determined": (("time", "axis"), shares.determined),
            "moment_error": (("time", "axis"), shares.moment_error, {"units": "N m"}),
            "needed_friction": (("time",), shares.needed_friction),
        }
        coords |= {"foot": list(reactions.feet), "point": list(subject.soles.names)}
    attributes = {
        "subject": subject.name,
        "mass": subject.mass,
        "filter": motion.filter,
        "cutoff_hz": motion.cutoff,
        "split": reactions.split,
        "friction": reactions.friction,
        "notes": "\n".join(reactions.notes),
    }
    return xr.Dataset(variables, coords, attributes)


def foot_columns(reactions: GroundReactions) -> dict[str, np.ndarray]:
    """Force, centre of pressure and free moment of each foot, labelled as OpenSim does."""
    columns = {}
    pressure = np.nan_to_num(reactions.shares.pressure)
    for k, foot in enumerate(reactions.feet):
        short = {"right": "r", "left": "l"}.get(foot, foot)
        for i, axis in enumerate("xyz"):
            columns[f"ground_force_{short}_v{axis}"] = reactions.shares.foot_force[:, k, i]
        for i, axis in enumerate("xyz"):
            columns[f"ground_force_{short}_p{axis}"] = pressure[:, k, i]
        moment = reactions.shares.free_moment[:, k, None] * reactions.axes.up
        for i, axis in enumerate("xyz"):
            columns[f"ground_torque_{short}_{axis}"] = moment[:, i]
    return columns


def write_csv(reactions: GroundReactions, path: Path) -> None:
    """The feet's reactions as a table."""
    columns = {"time": reactions.time, **foot_columns(reactions)}
    table = np.stack(list(columns.values()), axis=1)
    np.savetxt(path, table, delimiter=",", header=",".join(columns), comments="", fmt="%.9g")


def write_external_loads(reactions: GroundReactions, table: Path, setup: Path) -> None:
    """The feet's reactions as OpenSim takes them: a storage file and the ExternalLoads to it."""
    columns = {"time": reactions.time, **foot_columns(reactions)}
    rows = np.stack(list(columns.values()), axis=1)
    header = [table.stem, "version=1", f"nRows={len(rows)}", f"nColumns={len(columns)}"]
    header += ["inDegrees=no", "endheader", "\t".join(columns)]
    np.savetxt(table, rows, delimiter="\t", header="\n".join(header), comments="", fmt="%.9g")
    soles = reactions.subject.soles
    forces = []
    for foot in reactions.feet:
        short = {"right": "r", "left": "l"}.get(foot, foot)
        body = reactions.subject.body_names[soles.bodies[soles.feet.index(foot)]]
        fields = {
            "applied_to_body": body,
            "force_expressed_in_body": "ground",
            "point_expressed_in_body": "ground",
            "force_identifier": f"ground_force_{short}_v",
            "point_identifier": f"ground_force_{short}_p",
            "torque_identifier": f"ground_torque_{short}_",
        }
        inside = "".join(f"<{tag}>{text}</{tag}>" for tag, text in fields.items())
        forces.append(f'<ExternalForce name="{foot}">{inside}</ExternalForce>')
    setup.write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n<OpenSimDocument Version="40000">'
        f'<ExternalLoads name="{setup.stem}"><objects>{"".join(forces)}</objects>'
        f"<datafile>{table.name}</datafile></ExternalLoads></OpenSimDocument>\n"
    )
