"""All possible motions of a body in frictional contact (erdmann).

`possible_motions` answers for a planar body, exactly; `single_contact_motions` for one contact, in
batches under `jax.vmap`; `possible_accelerations` for any mechanism and `possible_spatial_motions`
for a spatial body, by enumerating contact modes; `motions_of_mechanism` for a state of a mechanism.
`load_problem` reads the file format.
"""

import importlib
from typing import TYPE_CHECKING

from stiction.motions.classify import (
    DirectionRange,
    Response,
    classify_forces,
    direction_ranges,
)
from stiction.motions.cone import PolyhedralCone, friction_edges
from stiction.motions.enumeration import possible_accelerations
from stiction.motions.files import (
    PlanarProblem,
    SpatialProblem,
    examples,
    load_problem,
    parse_problem,
)
from stiction.motions.planar import motions_of, possible_motions
from stiction.motions.result import End, Family, Motion, Motions, Verdict
from stiction.motions.spatial import possible_spatial_motions
from stiction.motions.state import ContactState, contact_state
from stiction.motions.validity import validity_intervals

if TYPE_CHECKING:
    from stiction.motions.mechanism import motions_of_mechanism
    from stiction.motions.single import SingleContactMotions, single_contact_motions

__all__ = [
    "ContactState",
    "DirectionRange",
    "End",
    "Family",
    "Motion",
    "Motions",
    "PlanarProblem",
    "PolyhedralCone",
    "Response",
    "SingleContactMotions",
    "SpatialProblem",
    "Verdict",
    "classify_forces",
    "contact_state",
    "direction_ranges",
    "examples",
    "friction_edges",
    "load_problem",
    "motions_of",
    "motions_of_mechanism",
    "parse_problem",
    "possible_accelerations",
    "possible_motions",
    "possible_spatial_motions",
    "single_contact_motions",
    "validity_intervals",
]

# The only names that need JAX: loaded when asked for, so that the command answers at once.
_WITH_JAX = {
    "SingleContactMotions": "single",
    "motions_of_mechanism": "mechanism",
    "single_contact_motions": "single",
}


def __getattr__(name: str):
    if name not in _WITH_JAX:
        raise AttributeError(f"module 'stiction.motions' has no attribute '{name}'")
    return getattr(importlib.import_module(f"stiction.motions.{_WITH_JAX[name]}"), name)
