"""Controls: what the actuators are told to do.

A control is a function of (t, q, v, modes), or an `AbstractSwitchingControl` with a memory and
events of its own: `harmonic` (constant or swinging commands), `phased` (one phase after the other),
`tracking` (joints follow a motion). The control of a jump is in `stiction.agility`, with the stance
that it pushes from.
"""

from stiction.control.harmonic import HarmonicControl, no_control
from stiction.control.phased import PhasedControl
from stiction.control.push_off import PushOff
from stiction.control.reference import Reference, Way, make_reference, make_way
from stiction.control.switching import AbstractSwitchingControl, as_switching
from stiction.control.tracking import TrackingControl

__all__ = [
    "AbstractSwitchingControl",
    "HarmonicControl",
    "PhasedControl",
    "PushOff",
    "Reference",
    "TrackingControl",
    "Way",
    "as_switching",
    "make_reference",
    "make_way",
    "no_control",
]
