"""Recordings: motion, markers and forces from files, made fit for computing."""

from pathlib import Path
from typing import TYPE_CHECKING

from stiction._errors import InputError
from stiction.biped.recording.even import make_even
from stiction.biped.recording.markers import Markers, read_trc
from stiction.biped.recording.table import Table
from stiction.biped.recording.text import STORAGE, read_text_table

if TYPE_CHECKING:
    from stiction.biped.subject import Subject

TABLES = (*STORAGE, ".csv", ".txt", ".tsv")
MARKERS = (".trc", ".c3d")

__all__ = [
    "Markers",
    "Table",
    "make_even",
    "read_markers",
    "read_motion",
    "read_text_table",
    "read_trc",
]


def read_motion(path: str | Path, subject: "Subject", *, marker_axes: str | None = None) -> Table:
    """The coordinates of a subject from a file of joint angles or of markers.

    Args:
        path: .mot, .sto or .csv (angles), .trc or .c3d (markers, which the model must have too).
        subject: Whose motion.
        marker_axes: What the model's x, y and z are in the markers' axes, as "x,z,-y".
    """
    suffix = Path(path).suffix.lower()
    if suffix in TABLES:
        return read_text_table(path)
    if suffix not in MARKERS:
        raise InputError(
            f"`{path}` must end in {', '.join((*TABLES, *MARKERS))}, got '{suffix}'; give joint"
            " angles or markers"
        )
    from stiction.biped.inverse_kinematics import coordinates_from_markers

    return coordinates_from_markers(read_markers(path, axes=marker_axes), subject)


def read_markers(path: str | Path, *, axes: str | None = None) -> Markers:
    """Markers from a .trc or .c3d file, along other axes if asked for."""
    from dataclasses import replace

    if Path(path).suffix.lower() == ".c3d":
        from stiction.biped.recording.c3d import read_c3d_markers

        markers = read_c3d_markers(path)
    else:
        markers = read_trc(path)
    if axes is None:
        return markers
    from stiction.biped.plates import axes_matrix

    return replace(markers, position=markers.position @ axes_matrix(axes).T)
