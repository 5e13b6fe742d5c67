"""Markers of the common sets on the human of 38 degrees of freedom.

Places are those of the landmarks that the sets name (Plug-in Gait, Helen Hayes, OpenSim's, CAST),
in fractions of stature, in the human's segment frames: x forward, y to the left, z up. The hips lie
0.22, 0.30 and 0.14 of the distance of the spines behind, below and inwards of the anterior superior
iliac spines ([Bell1990]); the rest is decided here, to a centimetre or two. `scaling` moves markers
to where a static trial shows them, which matters more.
"""

import re
from dataclasses import replace

import numpy as np

from stiction.biped.subject.retarget import stature_of
from stiction.biped.subject.subject import Points, Subject

_SPINES = 0.139  # distance of the anterior superior iliac spines over stature: 0.25 m at 1.80 m
# landmark: (segment, place (x, outwards, z) over stature, names without side). On segments with a
# side, and with "*", there is one on each.
LANDMARKS: dict[str, tuple[str, tuple[float, float, float], str]] = {
    "asis": ("pelvis*", (0.22 * _SPINES, 0.5 * _SPINES, 0.30 * _SPINES), "ASI ASIS IAS"),
    "psis": ("pelvis*", (-0.054, 0.025, 0.045), "PSI PSIS IPS"),
    "sacrum": ("pelvis", (-0.057, 0.0, 0.045), "SACR SACRUM VSACRAL S2 S1"),
    "thigh": ("thigh", (0.0, 0.04, -0.14), "THI THIGH"),
    "knee": ("thigh", (0.0, 0.030, -0.2375), "KNE KNEE KNEELAT LFC FLE LEP LKNEE"),
    "knee_medial": ("thigh", (0.0, -0.030, -0.2375), "MKNE KNEEMED MFC FME MEP KNM"),
    "shank": ("shank", (0.0, 0.025, -0.12), "TIB SHANK"),
    "ankle": ("shank", (0.0, 0.021, -0.2476), "ANK ANKLE ANKLELAT LMAL FAL LM"),
    "ankle_medial": ("shank", (0.0, -0.021, -0.2476), "MANK ANKLEMED MMAL TAM MM MED"),
    "heel": ("foot", (-0.036, 0.0, -0.017), "HEE HEEL CAL FCC"),
    "toe": ("foot", (0.082, 0.0, -0.015), "TOE MT2 MT23 FM2"),
    "outer_ball": ("foot", (0.066, 0.026, -0.024), "MT5 FM5 5MT VMH FIFTHMT"),
    "inner_ball": ("foot", (0.080, -0.022, -0.020), "MT1 FM1 1MT FMH"),
    "neck": ("torso", (-0.035, 0.0, 0.245), "C7 CV7"),
    "back": ("torso", (-0.055, 0.0, 0.140), "T10 TV10"),
    "clavicle": ("torso", (0.035, 0.0, 0.205), "CLAV CLAVICLE SJN"),
    "sternum": ("torso", (0.058, 0.0, 0.130), "STRN STERNUM SXS"),
    "shoulder": ("torso*", (0.0, 0.112, 0.232), "SHO SHOULDER ACR ACROMIUM ACROMION"),
    "elbow": ("upper_arm", (0.0, 0.020, -0.1618), "ELB ELBOW ELBOWLAT HLE LELB"),
    "wrist_thumb": ("forearm", (0.016, 0.0, -0.1544), "WRA RSP WRISTRAD RAD"),
    "wrist_small": ("forearm", (-0.016, 0.0, -0.1544), "WRB USP WRISTULN ULN"),
    "wrist": ("forearm", (0.0, 0.018, -0.1544), "WRI WRIST"),
    "finger": ("hand", (0.0, 0.008, -0.050), "FIN FINGER HAND"),
    "head_front": ("head*", (0.052, 0.040, 0.095), "FHD"),
    "head_back": ("head*", (-0.045, 0.040, 0.095), "BHD"),
}
_SIDES = {"R": "right", "L": "left"}


def with_marker_sets(subject: Subject, names: tuple[str, ...]) -> Subject:
    """The human with markers of the names that a file uses, as far as they are known.

    Args:
        subject: Any; only the human without markers of its own is given some.
        names: As the file spells them: 'RASI', 'R.ASIS', 'r_asis', …
    """
    if subject.markers or not {"left_thigh", "torso", "right_foot"} <= set(subject.body_names):
        return subject
    height = stature_of(subject)
    rows = [(name, *place) for name in names if (place := _place(name)) is not None]
    if not rows:
        return subject
    points = Points(
        names=tuple(name for name, _, _ in rows),
        bodies=np.array([subject.body(body) for _, body, _ in rows]),
        position=height * np.array([at for _, _, at in rows]),
        radius=np.zeros(len(rows)),
        source="landmarks of the common marker sets",
    )
    left = [n for n in names if n not in points.names]
    note = f"{len(rows)} of {len(names)} markers are on known landmarks of the human"
    if left:
        note += f"; not used: {', '.join(left[:12])}{' …' if len(left) > 12 else ''}"
    return replace(subject, markers=points, notes=(*subject.notes, note))


def _place(name: str) -> tuple[str, np.ndarray] | None:
    """Body and place of a marker, or none where the name is not known."""
    plain = re.sub(r"[^A-Z0-9]", "", name.upper())
    for side in ("", "R", "L"):
        rest = plain.removeprefix(side) if plain.startswith(side) else None
        for segment, (x, out, z), words in LANDMARKS.values():
            body, both = segment.rstrip("*"), segment.endswith("*")
            sided = both or body in _LIMBS
            if rest not in words.split() or sided != bool(side):
                continue
            y = out if side == "L" else -out
            return (body if both or not sided else f"{_SIDES[side]}_{body}"), np.array([x, y, z])
    return None


_LIMBS = ("thigh", "shank", "foot", "upper_arm", "forearm", "hand")
