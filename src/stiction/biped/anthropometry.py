"""The segments of a person: mass, centre of mass and inertia from de Leva's table, scaled.

Lengths scale with stature h, masses with body mass m, so that inertias scale with m h². Every
segment is given in its own frame: origin at its upper joint, x forward, y to the left, z up, in a
person who stands upright with hanging arms, palms towards the thighs.

The table's vertical lengths (head, trunk, thigh, shank) leave 32 mm of a man's stature of 1741 mm
for the height of the ankle, too little by half: its subjects lay on their backs. Here the ankle
has its height, and these lengths share one factor (0.979 for men, 1.001 for women) that makes the
stature right; radii of gyration keep their ratio to the lengths.
"""

import functools
import math
import tomllib
from dataclasses import dataclass
from importlib import resources

import numpy as np
from jaxtyping import Float

from stiction._base.errors import InputError, unknown

SEXES = ("female", "male")

# What the table does not hold, as fractions.
# Height of the ankle over stature: [Winter2009], after Drillis and Contini.
ANKLE_HEIGHT = 0.039
# Distance of the hip joint centres over stature: 0.167 m at 1.80 m in [Delp1990]'s leg.
HIP_WIDTH = 0.093
# Distance of the shoulder joints over stature: biacromial breadth, 415.7 mm of 1756.2 mm in men and
# 365.3 mm of 1628.5 mm in women ([Gordon2014]). The joint centres lie a few centimetres further in,
# but arms hang outwards from them: with vertical arms this breadth puts the arms where they are.
SHOULDER_WIDTH = {"male": 0.237, "female": 0.224}
# Of the foot's length: breadth 98.87/263.03 and ball of the foot, where the toes bend,
# 194.75/263.03 from the heel ([Gordon2014], men and women); the ankle at 48.8/178.8 of the way from
# the heel to there ([Delp1990]).
FOOT_BREADTH = 0.376
TOE_JOINT = 0.740
ANKLE = 0.202
TOE_MASS = 0.138  # of the foot's mass: 0.2166 of 1.5666 kg in [Rajagopal2016]
# Of the ankle's height; decided here, no source gives them.
FOOT_CM_HEIGHT = 0.5
TOE_THICKNESS = 0.3

VERTICAL = ("head", "upper_trunk", "mid_trunk", "lower_trunk", "thigh", "shank")
# Axes x, y, z of a standing person among the table's (sagittal, transverse, longitudinal) ones.
AXES = {
    "hand": (1, 0, 2),  # the palm, forward in the anatomical position, is turned to the thigh
    "foot": (2, 1, 0),  # its long axis points forward
}


@dataclass(frozen=True)
class SegmentInertia:
    """A rigid body's mass [kg], centre of mass [m] and inertia about it [kg m²]."""

    mass: float  # [kg]
    center: Float[np.ndarray, "3"]  # centre of mass in the body's frame [m]
    # inertia about the centre of mass, along the body's axes [kg m²]
    tensor: Float[np.ndarray, "3 3"]

    def about(self, point: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3 3"]:
        """Inertia about another point (Huygens and Steiner) [kg m²]."""
        d = self.center - point
        return self.tensor + self.mass * (d @ d * np.eye(3) - np.outer(d, d))

    def moved(self, shift: Float[np.ndarray, "3"]) -> "SegmentInertia":
        """The same body seen from a frame whose origin is at `-shift`."""
        return SegmentInertia(self.mass, self.center + shift, self.tensor)

    def __add__(self, other: "SegmentInertia") -> "SegmentInertia":
        """Two bodies in one frame, taken as one."""
        mass = self.mass + other.mass
        center = (self.mass * self.center + other.mass * other.center) / mass
        return SegmentInertia(mass, center, self.about(center) + other.about(center))

    def __sub__(self, part: "SegmentInertia") -> "SegmentInertia":
        """What is left of a body when a part is taken off."""
        mass = self.mass - part.mass
        center = (self.mass * self.center - part.mass * part.center) / mass
        return SegmentInertia(mass, center, self.about(center) - part.about(center))


@dataclass(frozen=True)
class Person:
    """The sizes of a person [m] and the inertias of the segments."""

    height: float  # stature [m]
    # lengths of the table's segments, and between some other points of it [m]
    lengths: dict[str, float]
    # inertia of head, torso, pelvis, and one each of upper_arm, forearm, hand, thigh, shank, foot,
    # toes
    inertias: dict[str, SegmentInertia]
    hip_width: float  # between the hip joints [m]
    shoulder_width: float  # between the shoulder joints [m]
    ankle_height: float  # above the sole [m]


def person(*, height: float, mass: float, sex: str) -> Person:
    """De Leva's table scaled to a person.

    Args:
        height: Stature [m].
        mass: Body mass [kg].
        sex: "male" or "female".
    """
    for name, value, unit in (("height", height, "m"), ("mass", mass, "kg")):
        if not (math.isfinite(value) and value > 0):
            raise InputError(f"`{name}` must be a positive number [{unit}], got {value}")
    if sex not in SEXES:
        raise unknown("sex", sex, SEXES)
    table = _tables()[sex]
    rows = table["segments"]
    lengths = _lengths(table, height)
    # The women's percentages add up to 99.99: each is taken of their sum.
    whole = sum(r["mass"] * (1 if k in VERTICAL[:4] else 2) for k, r in rows.items())
    masses = {k: mass * r["mass"] / whole for k, r in rows.items()}

    def segment(name: str, z: float, x: float = 0.0) -> SegmentInertia:
        radii = lengths[name] * np.array(rows[name]["radii"])[list(AXES.get(name, (0, 1, 2)))] / 100
        return SegmentInertia(masses[name], np.array([x, 0.0, z]), masses[name] * np.diag(radii**2))

    def from_origin(name: str) -> float:
        return lengths[name] * rows[name]["cm"] / 100

    ankle_height = ANKLE_HEIGHT * height
    # Trunk and head stand on their lower end, the table counts from the upper one.
    above = {k: lengths[k] - from_origin(k) for k in VERTICAL[:4]}
    inertias = {k: segment(k, above[k]) for k in ("head", "mid_trunk", "lower_trunk")}
    upper = segment("upper_trunk", lengths["mid_trunk"] + above["upper_trunk"])
    inertias["torso"] = inertias.pop("mid_trunk") + upper
    inertias["pelvis"] = inertias.pop("lower_trunk")
    for name in ("upper_arm", "forearm", "hand", "thigh", "shank"):
        inertias[name] = segment(name, -from_origin(name))
    ahead = from_origin("foot") - ANKLE * lengths["foot"]
    foot = segment("foot", (FOOT_CM_HEIGHT - 1) * ankle_height, ahead)
    inertias["foot"], inertias["toes"] = _split_foot(foot, lengths["foot"], ankle_height)
    return Person(
        height=height,
        lengths=lengths,
        inertias=inertias,
        hip_width=HIP_WIDTH * height,
        shoulder_width=SHOULDER_WIDTH[sex] * height,
        ankle_height=ankle_height,
    )


def _lengths(table: dict, height: float) -> dict[str, float]:
    """Lengths [m]: all scaled by stature, the vertical ones so that they add up to it."""
    scale = height / table["stature"]
    given = {k: r["length"] for k, r in table["segments"].items()} | table["lengths"]
    stack = sum(given[k] for k in VERTICAL)
    upright = height * (1 - ANKLE_HEIGHT) / stack
    stretched = (*VERTICAL, "VERT-MIDG", "MIDS-MIDH")
    return {k: v * (upright if k in stretched else scale) for k, v in given.items()}


def _split_foot(
    foot: SegmentInertia, length: float, ankle_height: float
) -> tuple[SegmentInertia, SegmentInertia]:
    """The table's foot in two: toes that are a uniform box, and all the rest.

    Put together again they are the table's foot exactly: mass, centre and inertia.
    """
    toe_mass = TOE_MASS * foot.mass
    sides = np.array([1 - TOE_JOINT, FOOT_BREADTH, 0]) * length
    sides[2] = TOE_THICKNESS * ankle_height
    box = toe_mass / 12 * np.diag(sides @ sides - sides**2)
    center = [(TOE_JOINT - ANKLE) * length + sides[0] / 2, 0, sides[2] / 2 - ankle_height]
    toes = SegmentInertia(toe_mass, np.array(center), box)
    # The toes' own frame is at their joint: the ball of the foot, half way up their thickness.
    return foot - toes, toes.moved(-toe_joint(length, ankle_height))


def toe_joint(length: float, ankle_height: float) -> Float[np.ndarray, "3"]:
    """Where the toes bend, from the ankle [m]."""
    height = TOE_THICKNESS * ankle_height / 2
    return np.array([(TOE_JOINT - ANKLE) * length, 0, height - ankle_height])


@functools.cache
def _tables() -> dict:
    text = (resources.files("stiction.biped") / "de_leva_1996.toml").read_text("utf-8")
    return tomllib.loads(text)
