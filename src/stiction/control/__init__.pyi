"""What the folder has for others."""

from stiction.control.harmonic import HarmonicControl as HarmonicControl
from stiction.control.harmonic import no_control as no_control
from stiction.control.phased import PhasedControl as PhasedControl
from stiction.control.push_off import PushOff as PushOff
from stiction.control.reference import Reference as Reference
from stiction.control.reference import Way as Way
from stiction.control.reference import make_reference as make_reference
from stiction.control.reference import make_way as make_way
from stiction.control.switching import AbstractSwitchingControl as AbstractSwitchingControl
from stiction.control.switching import as_switching as as_switching
from stiction.control.tracking import TrackingControl as TrackingControl
