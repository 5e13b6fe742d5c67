"""A human with 38 degrees of freedom as a MuJoCo model, after rodic's Figure 7.

Six of the base (pelvis) and 32 joints: three at hip, waist, neck and shoulder, two at ankle and
wrist, one at knee, elbow and toe. z is up; at zero joint angles the person stands upright, faces x,
the left is y, the arms hang with palms to the thighs and the soles lie on z = 0. Masses and
inertias are de Leva's ([deLeva1996], scaled by `anthropometry.person`); geoms are pictures.

Order of the degrees of freedom: base, left leg, right leg, waist, neck, left arm, right arm; in a
limb from the trunk outwards; in a joint of three flexion, then adduction or bending, then rotation,
each about an axis carried by the one before.

Ranges are round clinical norms (after [AAOS1965]). Signs of limbs and trunk are those of
[Rajagopal2016]'s OpenSim coordinates, but waist flexion is its lumbar extension with a minus.

Feet are rectangles with four contact points each, two at the heel and two at the front (rodic,
Figure 3: 1 to 4 and 5 to 8): the corners of the sole from the heel to the tip of the toes. rodic's
subject had wooden plates under his feet, so by default the sole is one rigid plate and all four
points belong to the foot; the toes then move above it. With `sole="hinged"` it bends at the ball of
the foot and the two front points belong to the toes; where it bends the toes have two more,
`left_bend_inner` and so on, on which a body can walk while its heel is up.
"""

import xml.etree.ElementTree as ET

import numpy as np

from stiction._base.errors import InputError, unknown
from stiction.biped.anthropometry import (
    ANKLE,
    FOOT_BREADTH,
    TOE_JOINT,
    TOE_THICKNESS,
    Person,
    SegmentInertia,
    person,
    toe_joint,
)

SIDES = ("left", "right")
SOLES = ("plate", "hinged")

# name: axis on the right side (or in the middle; on the left axes are mirrored), range in degrees.
# The comment says which way is positive.
Joints = dict[str, tuple[tuple[int, int, int], tuple[int, int]]]
HIP: Joints = {
    "hip_flexion": ((0, -1, 0), (-30, 120)),  # limb forward
    "hip_adduction": ((1, 0, 0), (-45, 30)),  # limb to the midline
    "hip_rotation": ((0, 0, 1), (-45, 45)),  # front of the limb inwards
}
KNEE: Joints = {"knee_flexion": ((0, 1, 0), (0, 135))}  # bent
ANKLE_JOINT: Joints = {
    "ankle_flexion": ((0, -1, 0), (-50, 20)),  # toes up
    "ankle_inversion": ((1, 0, 0), (-15, 35)),  # inner edge of the foot up
}
TOE: Joints = {"toe_extension": ((0, -1, 0), (-45, 70))}  # toes up
TOE_ON_PLATE: Joints = {"toe_extension": ((0, -1, 0), (0, 70))}
WAIST: Joints = {
    "waist_flexion": ((0, 1, 0), (-25, 80)),  # bent forward
    "waist_bending": ((1, 0, 0), (-35, 35)),  # bent to the right
    "waist_rotation": ((0, 0, 1), (-45, 45)),  # turned to the left
}
NECK: Joints = {
    "neck_flexion": ((0, 1, 0), (-45, 45)),
    "neck_bending": ((1, 0, 0), (-45, 45)),
    "neck_rotation": ((0, 0, 1), (-60, 60)),
}
SHOULDER: Joints = {
    "shoulder_flexion": ((0, -1, 0), (-60, 180)),
    "shoulder_adduction": ((1, 0, 0), (-180, 45)),
    "shoulder_rotation": ((0, 0, 1), (-90, 70)),
}
ELBOW: Joints = {"elbow_flexion": ((0, -1, 0), (0, 150))}
WRIST: Joints = {
    "wrist_flexion": ((1, 0, 0), (-70, 80)),  # palm to the forearm
    "wrist_deviation": ((0, -1, 0), (-30, 20)),  # hand to the thumb's side
}

SKIN = (0.86, 0.68, 0.55, 1.0)
SHIRT = (0.36, 0.56, 0.74, 1.0)
TROUSERS = (0.33, 0.38, 0.46, 1.0)
SHOES = (0.85, 0.85, 0.83, 1.0)
PLATE = (0.72, 0.58, 0.40, 1.0)

_DECK = (3.5, 1.0, 0.1)  # half the size of a platform [m]
_DECK_RADIUS = 1e5  # of the sphere that its deck is a part of [m]: 0.1 mm low at 4 m
_POINT = 1e-3  # radius of a point of the sole on it [m]


def human(
    height: float = 1.90,
    mass: float = 84.0728,
    sex: str = "male",
    *,
    sole: str = "plate",
    platform: float | None = None,
) -> str:
    """A standing person as MJCF; by default the subject of rodic's experiments.

    Sites: `left_heel_inner`, `left_heel_outer`, `left_toe_inner`, `left_toe_outer` and the same on
    the right are the contact points; `head_top` is the top of the head. There is no ground. Each
    joint has a motor of its own name that turns control into torque [N m].

    Args:
        height: Stature [m].
        mass: Body mass [kg].
        sex: "male" or "female": whose table is scaled.
        sole: "plate", one rigid rectangle under foot and toes, or "hinged", bending with the toes.
        platform: Mass of a platform to stand on, which glides freely over the level [kg]; None for
            no platform.

    Returns:
        The text of a MuJoCo model: 18 bodies, nv = 38, 32 actuators, and the platform.
    """
    if sole not in SOLES:
        raise unknown("sole", sole, SOLES)
    p = person(height=float(height), mass=float(mass), sex=sex)
    root = ET.Element("mujoco", model="human")
    ET.SubElement(root, "compiler", angle="radian", inertiafromgeom="false")
    world = ET.SubElement(root, "worldbody")

    hip_height = p.ankle_height + p.lengths["shank"] + p.lengths["thigh"]
    pelvis = _body(world, "pelvis", (0, 0, hip_height), p.inertias["pelvis"])
    _draw_pelvis(pelvis, p)
    for side in SIDES:
        _add_leg(pelvis, side, p, sole)
    torso = _body(pelvis, "torso", (0, 0, p.lengths["lower_trunk"]), p.inertias["torso"], WAIST)
    _draw_torso(torso, p)
    trunk = p.lengths["mid_trunk"] + p.lengths["upper_trunk"]
    head = _body(torso, "head", (0, 0, trunk), p.inertias["head"], NECK)
    _draw_head(head, p)
    for side in SIDES:
        _add_arm(torso, side, p)

    actuators = ET.SubElement(root, "actuator")
    for joint in root.iter("joint"):
        name = joint.attrib["name"]
        ET.SubElement(actuators, "motor", name=name, joint=name)
    if platform is not None:
        _add_platform(root, world, float(platform))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"


def _add_platform(root: ET.Element, world: ET.Element, mass: float) -> None:
    """A body under the feet, free to glide along x and y.

    Bodies touch each other by spheres: the deck is a part of one so large that it is flat (0.1 mm
    low at 4 m), and each point of a sole is the lowest point of a small one.
    """
    if not mass > 0:
        raise InputError(f"`platform` must be a mass above 0 kg, got {mass:g}")
    body = ET.SubElement(world, "body", name="platform")
    for axis, along in (("x", "1 0 0"), ("y", "0 1 0")):
        ET.SubElement(body, "joint", name=f"platform_{axis}", type="slide", axis=along)
    inertia = _text([mass * (a**2 + b**2) / 3 for a, b in _pairs(_DECK)])
    ET.SubElement(body, "inertial", mass=_text([mass]), pos=_text((0, 0, -_DECK[2])),
                  diaginertia=inertia)  # fmt: skip
    _geom(body, "box", _DECK, (_DECK[0] - 1.0, 0, -_DECK[2]), PLATE)
    hidden = {"group": "3", "contype": "0", "conaffinity": "2", "name": "deck"}
    _geom(body, "sphere", (_DECK_RADIUS,), (0, 0, -_DECK_RADIUS), PLATE, **hidden)
    for part in list(root.iter("body")):
        for site in part.findall("site"):
            name, at = site.attrib["name"], np.array(site.attrib["pos"].split(), float)
            if name != "head_top":
                hidden = {"group": "3", "contype": "2", "conaffinity": "0", "name": name}
                above = at + np.array([0, 0, _POINT])
                _geom(part, "sphere", (_POINT,), above, PLATE, **hidden)


def _pairs(half: tuple[float, float, float]) -> list[tuple[float, float]]:
    x, y, z = half
    return [(y, z), (x, z), (x, y)]


def _add_leg(pelvis: ET.Element, side: str, p: Person, sole: str) -> None:
    lengths, y = p.lengths, _outwards(side) * p.hip_width / 2
    thigh = _body(pelvis, f"{side}_thigh", (0, y, 0), p.inertias["thigh"], HIP, side)
    shank = _body(
        thigh, f"{side}_shank", (0, 0, -lengths["thigh"]), p.inertias["shank"], KNEE, side
    )
    below = (0, 0, -lengths["shank"])
    foot = _body(shank, f"{side}_foot", below, p.inertias["foot"], ANKLE_JOINT, side)
    ball = toe_joint(lengths["foot"], p.ankle_height)
    bend = TOE_ON_PLATE if sole == "plate" else TOE
    toes = _body(foot, f"{side}_toes", ball, p.inertias["toes"], bend, side)
    _limb(thigh, lengths["thigh"], 0.031 * p.height, 0.047 * p.height, 0.30, TROUSERS)
    _limb(shank, lengths["shank"], 0.022 * p.height, 0.031 * p.height, 0.30, TROUSERS)
    _draw_foot(foot, toes, p)

    # The sole's corners: heel and tip of the toes, inner and outer edge.
    L, ground = lengths["foot"], -p.ankle_height
    heel, tip, breadth = -ANKLE * L, (1 - ANKLE) * L, FOOT_BREADTH * L
    front, shift = (foot, np.zeros(3)) if sole == "plate" else (toes, ball)
    for edge, across in (("inner", -1), ("outer", 1)):
        at = across * _outwards(side) * breadth / 2
        _site(foot, f"{side}_heel_{edge}", (heel, at, ground))
        _site(front, f"{side}_toe_{edge}", np.array([tip, at, ground]) - shift)
    if sole == "plate":
        _sole(foot, f"{side}_sole", heel, tip, breadth, ground)
    else:
        _sole(foot, f"{side}_sole", heel, ball[0], breadth, ground)
        _sole(toes, f"{side}_toe_sole", 0, tip - ball[0], breadth, ground - ball[2])
        for edge, across in (("inner", -1), ("outer", 1)):
            at = across * _outwards(side) * breadth / 2
            _site(toes, f"{side}_bend_{edge}", (0, at, ground - ball[2]))


def _add_arm(torso: ET.Element, side: str, p: Person) -> None:
    lengths = p.lengths
    height = lengths["MIDS-MIDH"] - lengths["lower_trunk"]
    at = (0, _outwards(side) * p.shoulder_width / 2, height)
    upper = _body(torso, f"{side}_upper_arm", at, p.inertias["upper_arm"], SHOULDER, side)
    elbow, wrist = (0, 0, -lengths["upper_arm"]), (0, 0, -lengths["forearm"])
    forearm = _body(upper, f"{side}_forearm", elbow, p.inertias["forearm"], ELBOW, side)
    hand = _body(forearm, f"{side}_hand", wrist, p.inertias["hand"], WRIST, side)
    _limb(upper, lengths["upper_arm"], 0.021 * p.height, 0.029 * p.height, 0.35, SHIRT)
    _limb(forearm, lengths["forearm"], 0.015 * p.height, 0.023 * p.height, 0.28, SKIN)
    reach = lengths["WJC-DAC3"] / 2
    _geom(hand, "ellipsoid", (0.022 * p.height, 0.010 * p.height, reach), (0, 0, -reach), SKIN)


def _outwards(side: str) -> int:
    return 1 if side == "left" else -1


def _body(
    parent, name, position, inertia: SegmentInertia, joints: Joints | None = None, side="right"
):
    """A body at its upper joint, with its inertia and the joints that carry it (or none: free)."""
    body = ET.SubElement(parent, "body", name=name, pos=_text(position))
    if joints is None:
        ET.SubElement(body, "freejoint", name="base")
    for joint, ((x, y, z), degrees) in (joints or {}).items():
        mirror = -1 if side == "left" else 1  # turns about x and z change sense in a mirror, not y
        sided = f"{side}_{joint}" if name.startswith(side) else joint
        axis, limits = (mirror * x, y, mirror * z), np.radians(degrees)
        ET.SubElement(body, "joint", name=sided, axis=_text(axis), range=_text(limits))
    i = inertia.tensor
    ET.SubElement(
        body,
        "inertial",
        mass=_text([inertia.mass]),
        pos=_text(inertia.center),
        fullinertia=_text([i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]]),
    )
    return body


def _site(body, name, position) -> None:
    ET.SubElement(body, "site", name=name, pos=_text(position), size="0.008")


def _sole(body, name, back, front, breadth, ground) -> None:
    """The part that touches: a thin box whose lower face is the ground."""
    thickness = 0.05 * breadth  # 5 mm, as rodic's plates, for a foot of usual size
    half = ((front - back) / 2, breadth / 2, thickness / 2)
    center = ((front + back) / 2, 0, ground + thickness / 2)
    _geom(body, "box", half, center, PLATE, name=name, contype="1", conaffinity="0")


def _geom(body, kind, size, position, rgba, **more) -> None:
    numbers = {"size": _text(size), "pos": _text(position), "rgba": _text(rgba)}
    untouched = {"contype": "0", "conaffinity": "0"}  # pictures do not touch
    ET.SubElement(body, "geom", {"type": kind} | numbers | untouched | more)


def _limb(body, length, bone, belly, middle, rgba) -> None:
    """A limb that hangs from its joint: a slim capsule, and flesh thickest at `middle` of it."""
    _geom(body, "capsule", (bone, length / 2), (0, 0, -length / 2), rgba)
    _geom(body, "ellipsoid", (belly, 0.95 * belly, 0.52 * length), (0, 0, -middle * length), rgba)


def _draw_pelvis(pelvis, p: Person) -> None:
    h, up = p.height, p.lengths["lower_trunk"]
    _geom(pelvis, "ellipsoid", (0.060 * h, 0.092 * h, 0.75 * up), (0, 0, 0.30 * up), TROUSERS)


def _draw_torso(torso, p: Person) -> None:
    h, middle, upper = p.height, p.lengths["mid_trunk"], p.lengths["upper_trunk"]
    shoulders = p.lengths["MIDS-MIDH"] - p.lengths["lower_trunk"]
    half = p.shoulder_width / 2
    belly, chest = (0, 0, 0.42 * middle), (0.004 * h, 0, middle + 0.25 * upper)
    _geom(torso, "ellipsoid", (0.055 * h, 0.080 * h, 0.85 * middle), belly, SHIRT)
    _geom(torso, "ellipsoid", (0.063 * h, 0.096 * h, 0.72 * upper), chest, SHIRT)
    across = _text([np.pi / 2, 0, 0])
    _geom(torso, "capsule", (0.030 * h, half), (0, 0, shoulders), SHIRT, euler=across)
    back = (0.042 * h, 0.8 * half, 0.030 * h)
    _geom(torso, "ellipsoid", back, (-0.004 * h, 0, shoulders + 0.022 * h), SHIRT)


def _draw_head(head, p: Person) -> None:
    h, top, jaw = p.height, p.lengths["head"], p.lengths["VERT-MIDG"]
    _geom(head, "capsule", (0.030 * h, 0.040 * h), (0, 0, 0.015 * h), SKIN)
    # Its upper end is the top of the head, its lower end the chin, below the jaw's corners.
    half = 0.57 * jaw
    _geom(head, "ellipsoid", (0.055 * h, 0.046 * h, half), (0.012 * h, 0, top - half), SKIN)
    _site(head, "head_top", (0.012 * h, 0, top))


def _draw_foot(foot, toes, p: Person) -> None:
    length, h = p.lengths["foot"], p.ankle_height
    ball, half = toe_joint(length, h), FOOT_BREADTH * length * 0.42
    heel = -ANKLE * length
    middle, back, tip = (heel + ball[0]) / 2, 0.26 * length, (1 - TOE_JOINT) * length
    sole = (0.5 * (ball[0] - heel), half, 0.42 * h)
    _geom(foot, "ellipsoid", sole, (middle, 0, -0.55 * h), SHOES)
    _geom(foot, "ellipsoid", (back, half * 0.9, 0.5 * h), (heel + back, 0, -0.5 * h), SHOES)
    front = (0.75 * tip, half, TOE_THICKNESS * h * 0.7)
    _geom(toes, "ellipsoid", front, (0.25 * tip, 0, 0.1 * h), SHOES)


def _text(numbers) -> str:
    return " ".join(repr(float(x)) for x in numbers)
