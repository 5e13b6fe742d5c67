"""From the fields of a scenario to what may touch, and what is touched."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from stiction._base.errors import InputError
from stiction.mechanism import Mechanism
from stiction.scenes.laws import world_numbers
from stiction.scenes.scenario import (
    AnyContact,
    CompliantFields,
    GroundFields,
    Scenario,
    SteppingContact,
    TerrainFields,
)
from stiction.surfaces import (
    Contacts,
    HeightField,
    Planes,
    SupportMotion,
    WorldContacts,
    find_contacts,
    height_field,
    level_ground,
    model_planes,
    planes,
    slope_rotation,
    touching_table,
    world_contacts,
)


def contacts_of(
    scenario: Scenario, mechanism: Mechanism, ground: Planes, folder: Path
) -> Contacts | WorldContacts | None:
    """What may touch; None if nothing can, or if the scenario says so.

    Points on the ground and balls are treated by the engines themselves. Where a model has more
    (loops, tendons, limits, bodies that touch each other), contacts are found on the way.
    """
    fields = scenario.contact
    touches = fields.law != "none"
    if not touches and not mechanism.beyond:
        return None
    field = _height_field(scenario.ground.field, folder) if touches else None
    own = model_planes(mechanism)
    chosen = fields.points is not None or field is not None or ground.names != own.names
    whole = _is_world(scenario, mechanism)
    wanted = fields.law is not None or fields.points is not None or field is not None

    def find(*, required: bool) -> Contacts | None:
        return find_contacts(
            mechanism,
            points=fields.points,
            ground=ground,
            field=field,
            pairs=fields.pairs and not whole,
            required=required,
        )

    points = find(required=False) if touches and (chosen or not whole) else None
    if not whole and not _left_out(mechanism, points, scenario):
        return find(required=True) if points is None and wanted else points
    world = world_contacts(
        mechanism,
        ground=own if chosen else ground,
        points=points if chosen else None,
        own_friction="mu_static" not in fields.model_fields_set and not _is_smooth(fields),
        touches="nothing" if not touches else "ground" if not fields.pairs else "everything",
    )
    return replace(world, numbers=world_numbers(fields, mechanism))


def tree_contacts(
    scenario: Scenario, mechanism: Mechanism, ground: Planes, folder: Path
) -> Contacts | None:
    """Of what may touch only that which is known beforehand: points and round shapes on the ground,
    balls on balls.
    """
    require_tree(mechanism)
    fields = scenario.contact
    field = _height_field(scenario.ground.field, folder)
    chosen = {"points": fields.points, "ground": ground, "field": field, "pairs": fields.pairs}
    return find_contacts(mechanism, **chosen, required=False)


def require_tree(mechanism: Mechanism) -> None:
    """Refuse what only MuJoCo's own functions treat: loops, tendons, muscles and others."""
    if mechanism.beyond:
        raise InputError(
            f"this needs a tree of joints, but the model has {mechanism.beyond[0]}; leave it out"
        )


def _is_world(scenario: Scenario, mechanism: Mechanism) -> bool:
    """Whether a mechanism itself needs MuJoCo's own functions under the law of a scenario."""
    if mechanism.beyond:
        for name in ("jump", "track"):
            if getattr(scenario, name) is not None:
                raise InputError(
                    f"`{name}` needs a tree of joints, but the model has {mechanism.beyond[0]};"
                    f" leave `{name}` out"
                )
    return bool(mechanism.beyond) or (bool(mechanism.bounds) and _may_be_world(scenario))


def _may_be_world(scenario: Scenario) -> bool:
    follows = scenario.jump is not None or scenario.track is not None
    fields = scenario.contact
    if isinstance(fields, SteppingContact) and fields.solver != "newton":
        return False
    return fields.law in (None, "hybrid", "stepping", "compliant") and not follows


def _is_smooth(fields: AnyContact) -> bool:
    """Whether the law has no friction at all, whatever the model says."""
    return isinstance(fields, CompliantFields) and fields.tangential == "none"


def _left_out(mechanism: Mechanism, points: Contacts | None, scenario: Scenario) -> bool:
    """Whether pairs may touch that the engines do not treat themselves, and a world would."""
    fields = scenario.contact
    if not _may_be_world(scenario) or fields.points is not None:
        return False
    left = [p for p in touching_table(mechanism, points) if not p.treated]
    return any(fields.pairs or p.second_body == "world" for p in left)


def build_ground(
    fields: GroundFields, mechanism: Mechanism, has_field: bool, has_points: bool = False
) -> Planes:
    """The planes of the model, tilted and moved; one through the origin if the scenario needs it.

    A tilt turns each plane about the y axis through its own point.
    """
    ground = model_planes(mechanism)
    given = has_points or fields != GroundFields(field=fields.field)
    if not ground.names and given and not has_field:
        ground = level_ground()
    n = len(ground.names)
    tilt = slope_rotation(np.deg2rad(fields.slope_deg))
    rotations = [tilt @ R for R in np.asarray(ground.rotation)]

    def each(value: Any) -> jnp.ndarray:
        return jnp.asarray(np.tile(np.asarray(value, float), (n, *[1] * np.ndim(value))))

    moves = (fields.velocity, fields.amplitude, fields.frequency, fields.phase, fields.belt)
    motion = SupportMotion(*map(each, moves))
    return planes(list(np.asarray(ground.position)), rotations, list(ground.names), motion)


def _height_field(fields: TerrainFields | None, folder: Path) -> HeightField | None:
    if fields is None:
        return None
    if isinstance(fields.heights, str):
        try:
            heights = np.loadtxt(folder / fields.heights, delimiter=",", ndmin=2)
        except (OSError, ValueError) as error:
            raise InputError(f"`ground.field.heights` cannot be read: {error}") from None
    else:
        lengths = {len(row) for row in fields.heights}
        if len(lengths) != 1:
            raise InputError("`ground.field.heights` must have rows of one length")
        heights = np.array(fields.heights)
    try:
        return height_field(heights, np.array(fields.spacing), np.array(fields.position))
    except InputError as error:
        raise InputError(str(error).replace("`", "`ground.field.", 1)) from None
