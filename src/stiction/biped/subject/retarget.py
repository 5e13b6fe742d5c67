"""Motion of OpenSim's gait models on the human of 38 degrees of freedom.

Coordinates of legs, trunk and arms mean the same in both, up to signs and names; what a recording
does not hold (arms and neck, often) stays at rest, as in rodic's experiment. The pelvis is carried
over by its orientation and by the midpoint of the hips.
"""

import numpy as np

from stiction.biped.subject.subject import Subject
from stiction.tables import Table

# From the pelvis' origin to the midpoint of the hips, for a stature of 1.80 m: [Delp1990].
HIPS = np.array([-0.0707, -0.0661, 0.0])
_STATURE = 1.80
# At zero angles the lumbar joint of [Rajagopal2016] and of its forerunners lies 3 cm behind the
# hips, and the torso's centre of mass 3 cm behind the joint; here both are straight above. The
# trunk is turned back by so much [rad] that its weight comes where it is in those models.
TRUNK_LEAN = 0.16
# The human's axes (forward, left, up) in OpenSim's (forward, up, right).
_AXES = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
# the human's joint: OpenSim's coordinate, both without their side
_LIMBS = {
    "hip_flexion": "hip_flexion",
    "hip_adduction": "hip_adduction",
    "hip_rotation": "hip_rotation",
    "knee_flexion": "knee_angle",
    "ankle_flexion": "ankle_angle",
    "ankle_inversion": "subtalar_angle",
    "toe_extension": "mtp_angle",
    "shoulder_flexion": "arm_flex",
    "shoulder_adduction": "arm_add",
    "shoulder_rotation": "arm_rot",
    "elbow_flexion": "elbow_flex",
    "wrist_flexion": "wrist_flex",
    "wrist_deviation": "wrist_dev",
}
_TRUNK = {
    "waist_flexion": ("lumbar_extension", -1),
    "waist_bending": ("lumbar_bending", 1),
    "waist_rotation": ("lumbar_rotation", 1),
}
TRANSLATIONS = ("pelvis_tx", "pelvis_ty", "pelvis_tz")
PELVIS = ("pelvis_tilt", "pelvis_list", "pelvis_rotation", *TRANSLATIONS)
SAGITTAL = ("pelvis_tilt", "pelvis_tx", "pelvis_ty")  # what planar models have of it
KNOWN = {
    *PELVIS,
    *(name for name, _ in _TRUNK.values()),
    *(f"{name}_{side}" for name in _LIMBS.values() for side in "lr"),
}


def is_for_human(names: set[str], subject: Subject) -> bool:
    """Whether columns are those of a gait model of OpenSim, and the subject is our human."""
    ours = {c.name for c in subject.coordinates}
    return {"base.qw", "left_hip_flexion", "waist_flexion"} <= ours and "pelvis_tilt" in names


def retarget(columns: dict[str, np.ndarray], table: Table, subject: Subject) -> Table:
    """The same motion in the human's coordinates; `columns` are in radians and metres."""
    from scipy.spatial.transform import Rotation  # slow to import

    n = len(table)
    zero = np.zeros(n)
    tilt, list_, turn, x, y, z = (columns.get(name, zero) for name in PELVIS)
    # OpenSim turns the pelvis about z, then x, then y, each carried along.
    pelvis = Rotation.from_euler("ZXY", np.stack([tilt, list_, turn], axis=1))
    height = stature_of(subject)
    hips = np.stack([x, y, z], axis=1) + pelvis.apply(HIPS * height / _STATURE)
    base = Rotation.from_matrix(_AXES @ pelvis.as_matrix() @ _AXES.T)
    values = dict(zip(("base.x", "base.y", "base.z"), (hips @ _AXES.T).T, strict=True))
    quaternion = base.as_quat(scalar_first=True)
    values |= {f"base.q{letter}": quaternion[:, k] for k, letter in enumerate("wxyz")}
    for side, letter in (("left", "l"), ("right", "r")):
        for joint, name in _LIMBS.items():
            if (angle := columns.get(f"{name}_{letter}")) is not None:
                if joint == "knee_flexion" and angle.mean() < 0:
                    angle = -angle  # older models count flexion of the knee as negative
                values[f"{side}_{joint}"] = angle
    for joint, (name, sign) in _TRUNK.items():
        values[joint] = sign * columns.get(name, zero)
    values["waist_flexion"] = values["waist_flexion"] - TRUNK_LEAN
    note = f"coordinates of '{table.source}' are OpenSim's: carried over to the human's joints"
    return Table.recording(
        table.source,
        table.time,
        tuple(values),
        np.stack(list(values.values()), axis=1),
        degrees=False,
        notes=(*table.notes, note),
    )


def stature_of(subject: Subject) -> float:
    """How tall the human is: its hips stand at 0.524 of its stature."""
    names = [c.name for c in subject.coordinates]
    hip = subject.coordinates[names.index("base.z")].default
    return float(hip / 0.524) if hip else _STATURE
