"""A push that the engines can carry out by themselves: motors draw a point to a goal."""

from typing import Any, NamedTuple


class PushOff(NamedTuple):
    """Computed torque on contacts that hold, in the phases of `stiction.agility.JumpControl`."""

    contacts: Any  # that the mechanism stands on, a `Contacts`
    body: int  # of the point
    offset: Any  # the point in the frame of its body [m]
    goal: Any  # [m]
    frequency: Any  # [rad/s]
    lifted: Any  # height at which the push ends [m]
    away: Any  # height at which the mechanism counts as flying [m]
