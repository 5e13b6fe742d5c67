"""Problems as flat keywords: what belongs to the body, what to its contacts and what is applied."""

from stiction.motions import (
    ContactState,
    Motions,
    PlanarBody,
    SpatialBody,
    contact_state,
    contact_terms,
    possible_motions,
    possible_spatial_motions,
    single_contact_motions,
    spatial_state,
)

BODY = ("mass", "inertia", "center", "velocity", "angular_velocity")
APPLIED = ("force", "torque", "directions")
CONTACT = ("arm", "normal", "curvature_body", "curvature_obstacle")


def _split(options: dict, *groups: tuple[str, ...]) -> list[dict]:
    """The options of each group of names, then the rest."""
    named = [{k: v for k, v in options.items() if k in names} for names in groups]
    known = {name for names in groups for name in names}
    return [*named, {k: v for k, v in options.items() if k not in known}]


def planar_state(**options) -> ContactState:
    body, contacts = _split(options, BODY)
    return contact_state(PlanarBody(**body), **contacts)


def planar(**options) -> Motions:
    applied, rest = _split(options, APPLIED)
    return possible_motions(planar_state(**rest), **({"force": (0.0, 0.0)} | applied))


def spatial(**options) -> Motions:
    body, applied, contacts = _split(options, BODY, APPLIED)
    return possible_spatial_motions(spatial_state(SpatialBody(**body), **contacts), **applied)


def single(**options):
    contact, rest = _split(options, CONTACT)
    shared = {k: rest[k] for k in ("gyration_radius", "velocity")}
    return single_contact_motions(contact_terms(**contact, **shared), **rest)
