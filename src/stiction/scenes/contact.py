"""From the fields of a scenario to what may touch, and to the law that holds there."""

from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from stiction._errors import InputError
from stiction.engines import Compliant, Hybrid, Stepping
from stiction.mechanism import Mechanism
from stiction.scenes.compliant import compliant_law
from stiction.scenes.per_contact import per_contact
from stiction.scenes.scenario import ContactFields, FieldFields, GroundFields, Scenario
from stiction.surfaces import (
    Contacts,
    HeightField,
    Motion,
    Planes,
    find_contacts,
    height_field,
    model_planes,
    planes,
    slope_rotation,
)


def build_contacts(scenario: Scenario, mechanism: Mechanism, folder: Path) -> Contacts | None:
    """What may touch; None if nothing can, or if the scenario says so."""
    fields = scenario.contact
    if fields.law == "none":
        return None
    field = _height_field(scenario.ground.field, folder)
    ground = build_ground(scenario.ground, mechanism, field is not None, fields.points is not None)
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
        ground = planes([np.zeros(3)], [np.eye(3)], ["ground"])
    n = len(ground.names)
    tilt = slope_rotation(np.deg2rad(fields.slope_deg))
    rotations = [tilt @ R for R in np.asarray(ground.rotation)]

    def each(value: Any) -> jnp.ndarray:
        return jnp.asarray(np.tile(np.asarray(value, float), (n, *[1] * np.ndim(value))))

    moves = (fields.velocity, fields.amplitude, fields.frequency, fields.phase, fields.belt)
    motion = Motion(*map(each, moves))
    return planes(list(np.asarray(ground.position)), rotations, list(ground.names), motion)


def build_law(scenario: Scenario, contacts: Contacts) -> Hybrid | Compliant | Stepping:
    """The law that a scenario names."""
    fields = scenario.contact
    if fields.law == "stepping":
        return stepping_law(fields, scenario.solver.dt, contacts)
    if fields.law == "compliant":
        return compliant_law(fields, contacts)
    return hybrid_law(fields, contacts)


def hybrid_law(fields: ContactFields, contacts: Contacts) -> Hybrid:
    """The hybrid law of a scenario."""
    names = (
        "restitution", "mu_static", "mu_dynamic", "rest_speed", "stribeck_speed",
        "stribeck_exponent",
    )  # fmt: skip
    controlled = fields.energetic != "off"
    method = fields.energy_method or ("scale" if controlled else "off")
    return Hybrid(
        **_numbers(fields, contacts, names),
        energetic=fields.energetic if controlled else 1.0,
        impact=fields.impact,
        energy_method=method if controlled else "off",
        sequence=fields.sequence,
    )


def stepping_law(fields: ContactFields, dt: float, contacts: Contacts) -> Stepping:
    """The law of a scenario that goes in fixed steps of dt [s]."""
    return Stepping(
        dt=dt,
        **_numbers(fields, contacts, ("restitution", "mu_static", "mu_dynamic", "rest_speed")),
        energetic=None if fields.energetic == "off" else fields.energetic,
        tolerance=fields.tolerance,
        solver=fields.solver,
        restitution_law=fields.restitution_law,
        iterations=fields.iterations,
        sides=fields.sides,
    )


def _numbers(fields: ContactFields, contacts: Contacts, names: tuple[str, ...]) -> dict[str, Any]:
    """Numbers of a law, one for each contact."""
    defaults = ContactFields()
    return {
        name: per_contact(name, getattr(fields, name), getattr(defaults, name), contacts)
        for name in names
    }


def _height_field(fields: FieldFields | None, folder: Path) -> HeightField | None:
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
        return height_field(heights, fields.spacing, fields.position)
    except InputError as error:
        raise InputError(str(error).replace("`", "`ground.field.", 1)) from None
