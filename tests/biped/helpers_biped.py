"""Equipment of the biped tests: subjects, synthetic recordings, the open recordings."""

import functools
import json
from pathlib import Path

import numpy as np

from stiction.biped import human, read_osim, subject_of_mechanism, with_soles
from stiction.mechanism import load_mechanism
from stiction.tables import Table

HERE = Path(__file__).parent
EVERY_JOINT = HERE / "opensim" / "every_joint.osim"
ANSWERS = json.loads((HERE / "opensim" / "answers.json").read_text())

WALKS = {
    "walk23": {
        "model": "gait_subject01_walk23/subject01.osim",
        "motion": "gait_subject01_walk23/subject01_walk1_ik.mot",
        "plates": "gait_subject01_walk23/subject01_walk1_grf.mot",
        "loads": "gait_subject01_walk23/subject01_walk1_grf.xml",
    },
    "walk10": {
        "model": "gait_subject01_walk10/gait10dof18musc_subject01.osim",
        "motion": "gait_subject01_walk10/gait10dof18musc_subject_adjusted_Kinematics_q.sto",
        "plates": "gait_subject01_walk10/gait10dof18musc_subject01_walk_grf.mot",
        "loads": "gait_subject01_walk10/gait10dof18musc_subject01_walk_grf.xml",
    },
    "rajagopal": {
        "model": "gait_rajagopal_walk/subject_walk_scaled.osim",
        "motion": "gait_rajagopal_walk/coordinates.sto",
        "plates": "gait_rajagopal_walk/grf_walk.mot",
        "loads": "gait_rajagopal_walk/grf_walk.xml",
        "contacts": "gait_rajagopal_walk/subject_walk_scaled_ContactGeometrySet.xml",
    },
}


@functools.cache
def person(stature: float = 1.90, mass: float = 84.0728, sole: str = "plate"):
    """The 38-DOF human as a subject with soles."""
    mechanism = load_mechanism(human(stature, mass, sole=sole))
    return with_soles(subject_of_mechanism(mechanism), mechanism=mechanism)


@functools.cache
def walker(folder: Path, name: str):
    """The subject of an open recording."""
    files = WALKS[name]
    contacts = folder / files["contacts"] if "contacts" in files else None
    return with_soles(read_osim(folder / files["model"]), contacts)


def recording(subject, time, changes=None) -> Table:
    """A recording of all coordinates: at their defaults, but for those given."""
    values = np.tile(subject.defaults, (len(time), 1))
    names = [c.name for c in subject.coordinates]
    for name, column in (changes or {}).items():
        values[:, names.index(name)] = column
    return Table.recording(
        "synthetic", np.asarray(time, float), tuple(names), values, degrees=False
    )
