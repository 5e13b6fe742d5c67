"""From the fields of a scenario to what may touch, and what is touched."""

from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from stiction._base.errors import InputError
from stiction.mechanism import Mechanism
from stiction.scenes.scenario import GroundFields, Scenario, TerrainFields
from stiction.surfaces import (
    Contacts,
    HeightField,
    Planes,
    SupportMotion,
    find_contacts,
    height_field,
    level_ground,
    model_planes,
    planes,
    slope_rotation,
)


def contacts_of(
    scenario: Scenario, mechanism: Mechanism, ground: Planes, folder: Path
) -> Contacts | None:
    """What may touch; None if nothing can, or if the scenario says so."""
    fields = scenario.contact
    if fields.law == "none":
        return None
    field = _height_field(scenario.ground.field, folder)
    wanted = fields.law is not None or fields.points is not None or field is not None
    return find_contacts(
        mechanism,
        points=fields.points,
        ground=ground,
        field=field,
        pairs=fields.pairs,
        required=wanted,
    )


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
