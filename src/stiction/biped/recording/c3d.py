"""Markers and force plates from .c3d files, by ezc3d (`pip install stiction[c3d]`)."""

from pathlib import Path

import numpy as np

from stiction._errors import InputError
from stiction.biped.plates import Plate, Plates
from stiction.biped.recording.markers import Markers, scale_of


def read_c3d_markers(path: str | Path) -> Markers:
    """The markers of a .c3d file."""
    file = _open(path)
    points = file["data"]["points"]  # (4, n_markers, n_frames), nan where not seen
    if points.shape[1] == 0:
        raise InputError(f"`{path}` holds no markers")
    parameters = file["parameters"]["POINT"]
    labels = [str(label) for label in parameters["LABELS"]["value"]][: points.shape[1]]
    units = parameters.get("UNITS", {}).get("value") or ["mm"]
    position = scale_of(str(units[0]), path) * np.moveaxis(points[:3], 0, -1).swapaxes(0, 1)
    header = file["header"]["points"]
    time = (header["first_frame"] + np.arange(len(position))) / header["frame_rate"]
    return Markers(Path(path).name, time, tuple(labels), position)


def read_c3d_plates(path: str | Path) -> Plates:
    """The force plates of a .c3d file: what they exert on the person, in the laboratory."""
    file = _open(path, extract_forceplat_data=True)
    found = file["data"].get("platform", [])
    if not found:
        raise InputError(f"`{path}` holds no force plates (FORCE_PLATFORM is empty)")
    plates = []
    for k, plate in enumerate(found):
        length = scale_of(str(plate.get("unit_position", "mm")), path)
        newton = {"N": 1.0, "kN": 1e3}.get(str(plate.get("unit_force", "N")))
        if newton is None:
            raise InputError(f"forces in `{path}` must be in N, got '{plate['unit_force']}'")
        plates.append(
            Plate(
                f"plate {k + 1}",
                newton * np.nan_to_num(plate["force"].T),
                length * plate["center_of_pressure"].T,
            )
        )
    header = file["header"]
    points, analogs = header["points"], header["analogs"]
    rate = analogs["frame_rate"] or points["frame_rate"]
    start = points["first_frame"] / points["frame_rate"]
    n = len(plates[0].force)
    return Plates(Path(path).name, start + np.arange(n) / rate, tuple(plates))


def _open(path: str | Path, **options):
    try:
        import ezc3d
    except ImportError:
        raise InputError(
            f"`{path}` needs ezc3d to be read; install it with: pip install stiction[c3d]"
        ) from None
    if not Path(path).is_file():
        raise InputError(f"no file '{path}'; check the path")
    try:
        return ezc3d.c3d(str(path), **options)
    except Exception as error:  # ezc3d raises what its C++ throws
        raise InputError(f"`{path}` is not a readable .c3d file: {error}") from None
