"""Agility: how a standing mechanism can accelerate, the posture that does it best, and the jump.

A `Stance` (what stands, on what, and the point that counts) is made by `make_stance`; `stance_maps`
turns it at a state into affine maps from efforts and contact forces to accelerations. On these rest
`capability` (the largest acceleration along a direction), `acceleration_set` (all of them),
`best_posture` (the posture of largest capability), `capability_field` and `jump_study` (capability
over postures, and jumps from them). `PostureLimits` say which postures there are.
"""

from stiction.agility.capability import Capability, capability, limits_in_words
from stiction.agility.directions import AccelerationSet, acceleration_set, capability_in
from stiction.agility.jump import JumpControl, JumpOutcome, jump_control, jump_outcome, unit_vector
from stiction.agility.optimize import Optimum, PostureSearch, best_posture, sample_postures
from stiction.agility.postures import (
    PostureLimits,
    check_posture,
    clearances,
    place,
    posture_limits,
    random_posture,
    stance_gaps,
)
from stiction.agility.stance import Stance, effort_range, make_stance, stance_maps
from stiction.agility.study import (
    CapabilityField,
    Correlation,
    JumpSettings,
    JumpStudy,
    capability_field,
    correlation,
    hold,
    jump_study,
)

__all__ = [
    "AccelerationSet",
    "Capability",
    "CapabilityField",
    "Correlation",
    "JumpControl",
    "JumpOutcome",
    "JumpSettings",
    "JumpStudy",
    "Optimum",
    "PostureLimits",
    "PostureSearch",
    "Stance",
    "acceleration_set",
    "best_posture",
    "capability",
    "capability_field",
    "capability_in",
    "check_posture",
    "clearances",
    "correlation",
    "effort_range",
    "hold",
    "jump_control",
    "jump_outcome",
    "jump_study",
    "limits_in_words",
    "make_stance",
    "place",
    "posture_limits",
    "random_posture",
    "sample_postures",
    "stance_gaps",
    "stance_maps",
    "unit_vector",
]
