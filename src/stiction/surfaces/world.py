"""Contacts that are found on the way: everything that the model lets touch, whatever its shape.

Where a mechanism has loops, tendons, limits or dry friction, or bodies that may touch each other,
MuJoCo's collision tells what is near while a run goes on. What touched is known after it: then
`touches` and `names` list every contact that was closed at some time, with limits that were
reached and joints with dry friction.
"""

from typing import Literal

import equinox as eqx
import numpy as np

from stiction.mechanism import Mechanism
from stiction.surfaces.contacts import Contacts, Touch, model_planes, touching_table
from stiction.surfaces.supports import HeightField, Planes
from stiction.surfaces.touching import Pair

ROOM = 64  # contacts that may be near at once


class WorldContacts(eqx.Module):
    """Whatever the model lets touch. Made by `world_contacts`; what touched is known after a run.

    Attributes:
        planes: The planes of the model, as a scenario tilts and moves them.
        points: Points that were chosen to touch what the model does not have; None for none.
        own_friction: Whether friction is the model's; else it is the law's.
        touches_what: "everything", "ground" (bodies pass through each other) or "nothing".
        room: How many contacts may be near at once.
        numbers: What the law has otherwise for contacts of a geom: its name, the field, the value.
        names: What touched.
        touches: The same, told in parts.
        couples: The two bodies of each, the world (0) for what stands still.
    """

    planes: Planes
    points: Contacts | None = None
    own_friction: bool = eqx.field(static=True, default=True)
    touches_what: str = eqx.field(static=True, default="everything")
    room: int = eqx.field(static=True, default=ROOM)
    numbers: tuple[tuple[str, str, float], ...] = eqx.field(static=True, default=())
    names: tuple[str, ...] = eqx.field(static=True, default=())
    touches: tuple[Touch, ...] = eqx.field(static=True, default=())
    couples: tuple[tuple[int, int], ...] = eqx.field(static=True, default=())

    planar = False
    dim = 3

    @property
    def field(self) -> HeightField | None:
        """A height field that chosen points may touch."""
        return None if self.points is None else self.points.field

    @property
    def count(self) -> int:
        """How many touched."""
        return len(self.names)

    @property
    def bodies(self) -> np.ndarray:
        """The two bodies of each contact. Shape (n_contacts, 2)."""
        return np.array(self.couples, int).reshape(-1, 2)


def world_contacts(
    mechanism: Mechanism,
    *,
    ground: Planes | None = None,
    points: Contacts | None = None,
    own_friction: bool = True,
    touches: Literal["everything", "ground", "nothing"] = "everything",
    room: int = ROOM,
) -> WorldContacts:
    """Everything that a mechanism's model lets touch, to be found while a run goes on.

    Args:
        mechanism: What moves.
        ground: The planes that stand still in the model, in their order, tilted or in motion; by
            default as they are.
        points: Contacts of points with what the model does not have: a height field, other planes.
        own_friction: Whether friction is the model's, as MuJoCo mixes it; else it is the law's.
        touches: Whether bodies may touch each other and the ground, only the ground, or nothing.
        room: How many contacts may be near at once; a run that needs more says so.
    """
    ground = model_planes(mechanism) if ground is None else ground
    return WorldContacts(ground, points, own_friction, touches, room)


def world_table(mechanism: Mechanism, contacts: WorldContacts, ground: Planes) -> list[Pair]:
    """Everything that may touch, and whether a world treats it; see `touching_table`."""
    table = touching_table(mechanism, contacts.points, ground)
    supports = {*ground.names, *([] if contacts.field is None else [contacts.field.name])}

    def treated(pair: Pair) -> bool:
        if contacts.touches_what == "nothing":
            return False
        if pair.second in supports:
            return pair.treated or contacts.points is None
        return contacts.touches_what == "everything"

    return [pair._replace(treated=treated(pair)) for pair in table]
