"""Small readers for the XML of OpenSim: numbers, flags, lists of objects, names of frames.

OpenSim has written two kinds of file: up to 3.x a body holds the joint that carries it, from 4.x
on joints stand beside bodies and point at frames. Elements that both kinds share are read here.
"""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np

from stiction._base.errors import InputError
from stiction._base.files import check_file

_LARGEST = 1e100  # squares and products of numbers are numbers too


def parse(path: str | Path) -> ET.Element:
    """The root element of an OpenSim document."""
    path = check_file(Path(path))
    try:
        root = ET.parse(path).getroot()
    except OSError as error:
        raise InputError(f"`{path}` cannot be read: {error}") from None
    except (ET.ParseError, ValueError, LookupError) as error:  # LookupError: unknown encodings
        raise InputError(f"`{path}` is not XML: {error}") from None
    if root.tag != "OpenSimDocument":
        raise InputError(
            f"`{path}` must hold an <OpenSimDocument>, got <{root.tag}>; give an OpenSim file"
        )
    return root


def version(root: ET.Element) -> int:
    """The version of the document, as 40500 for 4.5."""
    text = root.get("Version", "0")
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def text(element: ET.Element, tag: str, default: str = "") -> str:
    """The text of a child, stripped."""
    return (element.findtext(tag) or default).strip()


def name_of(element: ET.Element) -> str:
    """What the element is called, for messages and for looking it up."""
    return element.get("name", "") or element.tag


def numbers(element: ET.Element, tag: str, count: int | None, default=None) -> np.ndarray:
    """The numbers in a child; refuses what is missing, not finite or of another count."""
    words = text(element, tag).split()
    if not words and default is not None:
        return np.array(default, float)
    try:
        values = np.array([float(w) for w in words])
    except ValueError:
        values = np.array([np.nan])
    wrong_count = len(values) != count if count is not None else len(values) == 0
    if wrong_count or not (np.abs(values) < _LARGEST).all():
        wanted = "numbers" if count is None else f"{count} finite numbers"
        raise InputError(
            f"`{tag}` of '{name_of(element)}' must be {wanted}, got '{' '.join(words)[:60]}'"
        )
    return values


def number(element: ET.Element, tag: str, default: float | None = None) -> float:
    """The one number in a child."""
    return float(numbers(element, tag, 1, None if default is None else [default])[0])


def flag(element: ET.Element, tag: str, default: bool = False) -> bool:
    """Whether a child says true."""
    return text(element, tag, str(default)).lower() in ("true", "1")


def objects(element: ET.Element, tag: str) -> list[ET.Element]:
    """The members of a set such as <BodySet><objects>…</objects></BodySet>."""
    found = element.find(f"{tag}/objects")
    return [] if found is None else list(found)


def frame_name(element: ET.Element, *tags: str) -> str:
    """The last part of a path to a frame: '/bodyset/pelvis' is 'pelvis'.

    Args:
        element: What points at the frame.
        tags: The names under which versions of OpenSim have kept the pointer.
    """
    for tag in tags:
        for spelling in (tag, f"{tag}_connectee_name"):
            if path := text(element, spelling):
                return re.split(r"[/\s]+", path)[-1]
    return ""


def body_fixed_xyz(angles: np.ndarray) -> np.ndarray:
    """The rotation Rx Ry Rz of OpenSim's `orientation` [rad]."""
    (a, b, c), (sa, sb, sc) = np.cos(angles), np.sin(angles)
    Rx = np.array([[1.0, 0.0, 0.0], [0.0, a, -sa], [0.0, sa, a]])
    Ry = np.array([[b, 0.0, sb], [0.0, 1.0, 0.0], [-sb, 0.0, b]])
    Rz = np.array([[c, -sc, 0.0], [sc, c, 0.0], [0.0, 0.0, 1.0]])
    return Rx @ Ry @ Rz
