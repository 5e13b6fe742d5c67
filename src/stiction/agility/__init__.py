"""Agility: how a standing mechanism can accelerate, the posture that does it best, and the jump."""

from stiction.agility.capability import Capability, capability, limits_in_words
from stiction.agility.jump import JumpControl, JumpOutcome, jump_control, jump_outcome, unit_vector
from stiction.agility.optimize import Optimum, Search, best_posture, sample_postures
from stiction.agility.postures import (
    PostureLimits,
    check_posture,
    clearances,
    place,
    posture_limits,
    random_posture,
)
from stiction.agility.stance import Stance, effort_range, make_stance

__all__ = [
    "Capability",
    "JumpControl",
    "JumpOutcome",
    "Optimum",
    "PostureLimits",
    "Search",
    "Stance",
    "best_posture",
    "capability",
    "check_posture",
    "clearances",
    "effort_range",
    "jump_control",
    "jump_outcome",
    "limits_in_words",
    "make_stance",
    "place",
    "posture_limits",
    "random_posture",
    "sample_postures",
    "unit_vector",
]
