"""OpenSim's joints, all brought to one form: three turns, then three shifts.

The child's joint frame, seen from the parent's, is turned about three axes one after the other and
shifted along three axes of the parent's frame, each by a function of the coordinates. A CustomJoint
says that itself (its SpatialTransform); the others are special cases.
"""

import xml.etree.ElementTree as ET
from dataclasses import dataclass

import numpy as np

from stiction._base.errors import InputError, unknown
from stiction.biped.opensim import document
from stiction.biped.opensim.functions import KINDS, Term, constant, identity, read_term
from stiction.biped.subject.subject import Coordinate

# kind -> its axes in the order of its coordinates: r for a turn, t for a shift.
SIMPLE = {
    "WeldJoint": (),
    "PinJoint": ("rz",),
    "SliderJoint": ("tx",),
    "UniversalJoint": ("rx", "ry"),
    "GimbalJoint": ("rx", "ry", "rz"),
    "BallJoint": ("rx", "ry", "rz"),
    "PlanarJoint": ("rz", "tx", "ty"),
    "FreeJoint": ("rx", "ry", "rz", "tx", "ty", "tz"),
}
_AXES = dict(zip("xyz", np.eye(3), strict=True))
_TRANSFORM = tuple(f"{kind}{k}" for kind in ("rotation", "translation") for k in (1, 2, 3))


@dataclass(frozen=True)
class Joint:
    """A joint as read: what it joins, where, and how it moves."""

    name: str  # name of the joint
    parent: str  # name of the body that carries it, "ground" for the ground
    child: str  # name of the body that it moves
    # rotation and position [m] of the joint's frame on the parent
    in_parent: tuple[np.ndarray, np.ndarray]
    # rotation and position [m] of the joint's frame on the child
    in_child: tuple[np.ndarray, np.ndarray]
    axes: np.ndarray  # unit vectors along three turns and three shifts
    terms: list[Term]  # by how much, as functions of the coordinates
    coordinates: list[Coordinate]  # what the functions are of
    reverse: bool = False  # whether the transform is from the child to the parent


def read_motion_of_joint(
    element: ET.Element,
) -> tuple[np.ndarray, list[Term], list[Coordinate]]:
    """Axes, functions and coordinates of a joint element."""
    found = element.find("CoordinateSet/objects")
    found = found if found is not None else element.find("coordinates")
    given = [] if found is None else [e for e in found if e.tag == "Coordinate"]
    if element.tag == "CustomJoint":
        axes, terms = _read_spatial_transform(element)
    elif element.tag in SIMPLE:
        axes, terms = _simple(element, [document.name_of(e) for e in given])
    else:
        raise unknown(
            f"joint type that stiction reads ('{document.name_of(element)}')",
            element.tag,
            ["CustomJoint", *SIMPLE],
        )
    names = [document.name_of(e) for e in given]
    for term in terms:
        for name in term.weights:
            if name not in names:
                raise unknown(f"coordinate of the joint '{document.name_of(element)}'", name, names)
    turning = {name for term in terms[:3] for name in term.weights}
    return axes, terms, [_read_coordinate(e, turning) for e in given]


def _read_coordinate(element: ET.Element, turning: set[str]) -> Coordinate:
    name = document.name_of(element)
    kind = document.text(element, "motion_type")  # files before 4.0 say it
    lower, upper = document.numbers(element, "range", 2, (-np.inf, np.inf))
    return Coordinate(
        name,
        # From 4.0 on it follows from what the coordinate does.
        rotational=kind == "rotational" or (not kind.startswith("trans") and name in turning),
        default=document.number(element, "default_value", 0.0),
        range=(float(lower), float(upper)),
        locked=document.flag(element, "locked"),
    )


def _simple(element: ET.Element, names: list[str]) -> tuple[np.ndarray, list[Term]]:
    moves = SIMPLE[element.tag]
    if len(names) != len(moves):
        raise InputError(
            f"`{document.name_of(element)}` is a {element.tag} and must have {len(moves)}"
            f" coordinates, got {len(names)}"
        )
    axes, terms = np.concatenate([np.eye(3), np.eye(3)]), [constant(0.0)] * 6
    turn = 0
    for name, (kind, letter) in zip(names, moves, strict=True):
        slot = turn if kind == "r" else 3 + "xyz".index(letter)
        turn += kind == "r"
        axes[slot], terms[slot] = _AXES[letter], identity(name)
    return axes, terms


def _read_spatial_transform(element: ET.Element) -> tuple[np.ndarray, list[Term]]:
    transform = element.find("SpatialTransform")
    if transform is None:
        raise InputError(
            f"`{document.name_of(element)}` is a CustomJoint without a SpatialTransform;"
            " files from before OpenSim 2.0 must be opened and saved in OpenSim once"
        )
    by_name = {e.get("name", ""): e for e in transform.iter("TransformAxis")}
    axes, terms = np.concatenate([np.eye(3), np.eye(3)]), []
    for k, name in enumerate(_TRANSFORM):
        if name not in by_name:
            terms.append(constant(0.0))
            continue
        axis = document.numbers(by_name[name], "axis", 3, axes[k])
        length = np.linalg.norm(axis)
        if length == 0:
            raise InputError(
                f"`axis` of '{name}' in '{document.name_of(element)}' must not be zero"
            )
        axes[k] = axis / length
        terms.append(_read_axis_function(by_name[name]))
    return axes, terms


def _read_axis_function(element: ET.Element) -> Term:
    coordinates = document.text(element, "coordinates").split()
    wrapped = element.find("function")  # before 4.0 the function stands inside an element
    # From 4.0 on the element that is named "function" is itself the function.
    inside = list(wrapped) if wrapped is not None else list(element)
    functions = [e for e in inside if e.tag in KINDS or e.get("name") == "function"]
    if functions:
        return read_term(functions[0], coordinates)
    return identity(coordinates[0]) if coordinates else constant(0.0)
