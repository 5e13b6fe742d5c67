"""The numbers of a scenario that have a slider."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from stiction.mechanism import FREE, HINGE, SLIDE
from stiction.scenes import Scene

GRAVITY = "mechanism.edits.option.gravity"
MOST_JOINTS = 12  # of a start: more sliders nobody finds
_CONTACT = {  # name -> lowest and highest value
    "restitution": (0.0, 1.0),
    "mu_static": (0.0, 1.5),
    "mu_dynamic": (0.0, 1.5),
    "rest_speed": (0.0, 0.1),
    "alpha": (0.0, 2.0),
}
_BY_POWERS = {"stiffness": (1e2, 1e8)}  # whose logarithm is slid
_COMMAND = {"offset": (-50.0, 50.0), "amplitude": (0.0, 50.0), "frequency": (0.0, 10.0)}


@dataclass(frozen=True)
class Knob:
    """A number of a scene and the range of its slider.

    Attributes:
        group: Under which heading it stands.
        label: Its name for people.
        path: The scenario's field.
        value: Now.
        low: The lowest value.
        high: The highest.
        index: Of the entry, where the field is a list.
        power: Whether the slider shows the logarithm to base 10.
    """

    group: str
    label: str
    path: str
    value: float
    low: float
    high: float
    index: int | None = None
    power: bool = False

    def change(self, scene: Scene, value: float) -> dict[str, Any]:
        """The fields of the scenario that give this number another value."""
        if self.path == GRAVITY:
            return {self.path: [0.0, 0.0, -value]}
        if self.index is None:
            return {self.path: value}
        entries = np.array(scene.posture if self.path == "start.q" else scene.v)
        entries[self.index] = value
        return {self.path: entries.tolist()}


def knobs_of(scene: Scene) -> list[Knob]:
    """The sliders of a scene: those of its numbers that a person may want to move."""
    return [*_contact(scene), *_world(scene), *_start(scene), *_commands(scene)]


def _contact(scene: Scene) -> Iterator[Knob]:
    fields = scene.scenario.contact
    for name, (low, high) in (_CONTACT | _BY_POWERS).items():
        value = getattr(fields, name, None)
        if isinstance(value, float):
            power = name in _BY_POWERS
            label = name.replace("mu_", "friction, ").replace("_", " ") + (
                " (10^)" if power else ""
            )
            path = f"contact.{name}"
            yield Knob(
                "Contact", label, path, value, min(low, value), max(high, value), power=power
            )


def _world(scene: Scene) -> Iterator[Knob]:
    slope = scene.scenario.ground.slope_deg
    yield Knob("World", "slope [deg]", "ground.slope_deg", slope, -45.0, 45.0)
    pull = np.asarray(scene.mechanism.gravity)
    if not pull[:2].any():
        yield Knob("World", "gravity [m/s²]", GRAVITY, -float(pull[2]), 0.0, 25.0)
    until = scene.scenario.until
    yield Knob("World", "duration [s]", "until", until, 0.1, max(10.0, 2 * until))


def _start(scene: Scene) -> Iterator[Knob]:
    if scene.scenario.jump is not None or scene.scenario.track is not None:
        return  # they have a say in where it begins
    mechanism = scene.mechanism
    tree, model = mechanism.tree, mechanism.compiled.model
    q, v = np.asarray(scene.posture), np.asarray(scene.v)
    joints = zip(tree.joint_types, tree.q_address, tree.v_address, strict=True)
    for j, (kind, at, speed) in list(enumerate(joints))[:MOST_JOINTS]:
        if kind not in (HINGE, SLIDE, FREE):
            continue  # a ball joint has no number of its own
        for k in range(3 if kind == FREE else 1):
            reach = math.pi if kind == HINGE else 2.0
            low, high = float(q[at + k]) - reach, float(q[at + k]) + reach
            if kind != FREE and model.njnt == len(tree.joint_types) and model.jnt_limited[j]:
                low, high = (float(x) for x in model.jnt_range[j])
            name = tree.coordinate_names[at + k]
            yield Knob("Start", name, "start.q", float(q[at + k]), low, high, int(at + k))
            name, now = tree.freedom_names[speed + k], float(v[speed + k])
            reach = max(10.0, 2 * abs(now))
            yield Knob("Start", f"{name}, speed", "start.v", now, -reach, reach, int(speed + k))


def _commands(scene: Scene) -> Iterator[Knob]:
    if scene.scenario.jump is not None or scene.scenario.track is not None:
        return
    for name in scene.mechanism.actuators.names[:MOST_JOINTS]:
        command = scene.scenario.control.get(name)
        for part, (low, high) in _COMMAND.items():
            value = float(getattr(command, part, 0.0))
            path = f"control.{name}.{part}"
            yield Knob("Motors", f"{name}, {part}", path, value, min(low, value), max(high, value))
