"""What is touched: supports, contacts, gaps, frames, Jacobians; and what may touch at all.

`touching_table` is the one table of what the model allows to touch, with what of it the engines
treat; `find_contacts` makes the contacts of a run from it, and `find_penetrations` looks for the
rest after a run.
"""

from stiction.surfaces.contacts import Contacts, Touch, find_contacts, model_planes, touching_table
from stiction.surfaces.functional import (
    Frame,
    FunctionalContact,
    FunctionalCoordinates,
    HeldContact,
    HeldImpact,
    held_contact,
    held_impact,
)
from stiction.surfaces.geometry import Places, contact_places
from stiction.surfaces.inside import MovedOut, find_inside, move_out
from stiction.surfaces.kinematics import ContactKinematics, contact_kinematics, gaps_and_velocities
from stiction.surfaces.penetration import Penetration, find_penetrations
from stiction.surfaces.supports import (
    HeightField,
    Planes,
    SupportMotion,
    height_field,
    level_ground,
    planes,
    slope_rotation,
)
from stiction.surfaces.touching import Pair, still_planes, tell_not_treated
from stiction.surfaces.world import WorldContacts, world_contacts, world_table

__all__ = [
    "ContactKinematics",
    "Contacts",
    "Frame",
    "FunctionalContact",
    "FunctionalCoordinates",
    "HeightField",
    "HeldContact",
    "HeldImpact",
    "MovedOut",
    "Pair",
    "Penetration",
    "Places",
    "Planes",
    "SupportMotion",
    "Touch",
    "WorldContacts",
    "contact_kinematics",
    "contact_places",
    "find_contacts",
    "find_inside",
    "find_penetrations",
    "gaps_and_velocities",
    "height_field",
    "held_contact",
    "held_impact",
    "level_ground",
    "model_planes",
    "move_out",
    "planes",
    "slope_rotation",
    "still_planes",
    "tell_not_treated",
    "touching_table",
    "world_contacts",
    "world_table",
]
