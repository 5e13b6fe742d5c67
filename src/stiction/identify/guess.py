"""A setup from the columns of a log: what is probably what, to be corrected by hand."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from stiction._base.errors import InputError

_TIME = r"(t|time|stamp|timestamp|seconds?|sec)([ _\-.\[(].*)?"
_WRENCH_TIME = r"(t|time)[_\-.]?(wrench|force|ft|f|w)"


def guess_setup(log: Path, columns: Sequence[str]) -> str:
    """The text of a setup for a log with these columns.

    A wrench beside a pose makes a contact test; positions and torques (or currents) of joints make
    a robot; poses alone make rollouts.
    """
    position = _vector(
        columns, ("", "p", "p_", "pos", "pos_", "position_", "position.", "tx ty tz")
    )
    turns = ("q", "q_", "quat", "quat_", "r", "orientation.", "rotation.")
    quaternion = _vector(columns, turns, "wxyz")
    force = _vector(columns, ("f", "f_", "force", "force_", "force."))
    moment = _vector(columns, ("m", "m_", "t", "moment_", "moment.", "torque_", "torque.", "tau_"))
    joints = _numbered(columns, r"(q|pos|position|joint_?pos(ition)?|angle)_?")
    torques = _numbered(columns, r"(tau|u|i|cur(rent)?|eff(ort)?|torque)_?")
    time = _first(columns, _TIME) or "time"
    if joints and torques and len(joints) == len(torques):
        lines = [
            'kind = "robot"',
            f"time = {_quoted(time)}",
            f"position = {_list(joints)}",
            f"torque = {_list(torques)}",
            "",
            "[mechanism]",
            'file = "robot.xml"             # MJCF or URDF with a fixed base',
        ]
    elif position and force and moment:
        lines = [
            'kind = "contact"',
            "",
            "[pose]",
            f"time = {_quoted(time)}",
            f"position = {_list(position)}",
            *([f"quaternion = {_list(quaternion)}"] if quaternion else []),
            "",
            "[wrench]",
            f"time = {_quoted(_first(columns, _WRENCH_TIME) or time)}",
            f"force = {_list(force)}",
            f"moment = {_list(moment)}",
            'acts_on = "fixed"              # or "moving": whose contact wrench the columns hold',
            "point = [0.0, 0.0, 0.0]        # where moments are taken [m]",
            "",
            "[[body]]                       # what moves",
            'shape = "sphere"',
            "radius = 0.005",
            "",
            "[[surfaces]]                   # what it touches",
            'name = "plate"',
            "point = [0.0, 0.0, 0.0]",
            "normal = [0.0, 0.0, 1.0]",
            'wanted = ["k", "c", "mu"]',
        ]
    elif position and quaternion:
        lines = [
            'kind = "rollouts"',
            f"coordinates = {_list([*position, *quaternion])}",
            f"time = {_quoted(time)}",
            'wanted = ["mu", "restitution"]',
            "",
            "[mechanism]",
            'file = "body.xml"',
            "",
            "[contact]",
            'law = "stepping"',
        ]
    else:
        raise InputError(
            f"no setup can be guessed for '{log}': columns of a position and a wrench, of joints"
            f" and torques, or of a pose are needed, got {', '.join(columns)}; write one by hand"
        )
    return "\n".join([f"# Guessed from the columns of {log.name}: check every line.", *lines, ""])


def _plain(name: str) -> str:
    """A column's name without its unit, in lower case."""
    return re.sub(r"[\s_]*[\[(].*", "", name.strip()).lower()


def _first(columns: Iterable[str], pattern: str) -> str | None:
    return next((c for c in columns if re.fullmatch(pattern, _plain(c))), None)


def _vector(columns: Sequence[str], prefixes: Iterable[str], axes: str = "xyz") -> list[str] | None:
    """The columns of the first prefix that stands before every axis."""
    by_name = {_plain(c): c for c in columns}
    for prefix in prefixes:
        names = [prefix + axis for axis in axes]
        if all(n in by_name for n in names):
            return [by_name[n] for n in names]
    return None


def _numbered(columns: Sequence[str], stem: str) -> list[str]:
    """Columns of one stem, in the order of their numbers."""
    found = [(re.fullmatch(rf"(?:{stem})(\d+)", _plain(c)), c) for c in columns]
    return [c for _, c in sorted((int(m.groups()[-1]), c) for m, c in found if m)]


def _quoted(text: str) -> str:
    return f'"{text}"'


def _list(names: Iterable[str]) -> str:
    return "[" + ", ".join(_quoted(n) for n in names) + "]"
