"""What is touched: supports, contacts, gaps, frames, Jacobians."""

from stiction.surfaces.candidates import Candidate, contact_candidates
from stiction.surfaces.contacts import Contacts, find_contacts, model_planes
from stiction.surfaces.geometry import Places, contact_places
from stiction.surfaces.kinematics import ContactKinematics, contact_kinematics, gaps_and_velocities
from stiction.surfaces.supports import (
    HeightField,
    Motion,
    Planes,
    height_field,
    planes,
    slope_rotation,
)

__all__ = [
    "Candidate",
    "ContactKinematics",
    "Contacts",
    "HeightField",
    "Motion",
    "Places",
    "Planes",
    "contact_candidates",
    "contact_kinematics",
    "contact_places",
    "find_contacts",
    "gaps_and_velocities",
    "height_field",
    "model_planes",
    "planes",
    "slope_rotation",
]
