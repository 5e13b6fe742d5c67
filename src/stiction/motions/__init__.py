"""All possible motions of a body or a mechanism in frictional contact (erdmann).

The data go one way. `load_problem` reads a file; its `state` is the body with its contacts, which
depends on no applied force; `possible_motions` cuts the accelerations of a planar state into cells
and keeps what each allows: exact. `possible_spatial_motions` (a spatial body),
`possible_accelerations` (mass matrix and contact Jacobians) and `motions_of_mechanism` (a state of
a mechanism) search over contact modes instead. All answer with `Motions`: a verdict and the
motions, contact forces tangential first. `single_contact_motions` answers for one contact in closed
form, in batches under `jax.vmap`; `classify_forces` and `direction_ranges` tell which of many
forces jam, slide, tip or lift a planar body. Pictures are in `report`.
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
    PlanarContact,
    PlanarProblem,
    SpatialContact,
    SpatialProblem,
    examples,
    load_problem,
    parse_problem,
)
from stiction.motions.kinematics import ContactTerms, contact_terms
from stiction.motions.planar import possible_motions
from stiction.motions.result import (
    BREAK,
    End,
    Family,
    Motions,
    PossibleMotion,
    Verdict,
    describe_family,
)
from stiction.motions.spatial import (
    SpatialBody,
    SpatialState,
    contact_tangents,
    possible_spatial_motions,
    spatial_state,
)
from stiction.motions.state import ContactState, PlanarBody, contact_state
from stiction.motions.validity import validity_intervals

if TYPE_CHECKING:
    from stiction.motions.mechanism import motions_of_mechanism
    from stiction.motions.single import SingleContactMotions, single_contact_motions

__all__ = [
    "BREAK",
    "ContactState",
    "ContactTerms",
    "DirectionRange",
    "End",
    "Family",
    "Motions",
    "PlanarBody",
    "PlanarContact",
    "PlanarProblem",
    "PolyhedralCone",
    "PossibleMotion",
    "Response",
    "SingleContactMotions",
    "SpatialBody",
    "SpatialContact",
    "SpatialProblem",
    "SpatialState",
    "Verdict",
    "classify_forces",
    "contact_state",
    "contact_tangents",
    "contact_terms",
    "describe_family",
    "direction_ranges",
    "examples",
    "friction_edges",
    "load_problem",
    "motions_of_mechanism",
    "parse_problem",
    "possible_accelerations",
    "possible_motions",
    "possible_spatial_motions",
    "single_contact_motions",
    "spatial_state",
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
