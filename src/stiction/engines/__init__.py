"""From a state and a law to a trajectory."""

from stiction.engines.compliant import Compliant
from stiction.engines.control import (
    AbstractSwitchingControl,
    HarmonicControl,
    PhasedControl,
    no_control,
)
from stiction.engines.events import Event, events_of, rest_time
from stiction.engines.hybrid import Hybrid
from stiction.engines.index_sets import EventSets, IndexSets, index_sets
from stiction.engines.result import RESULTS, Compliance, Trajectory
from stiction.engines.simulate import default_solver, simulate
from stiction.engines.solver import Solver
from stiction.engines.stepping import Stepping
from stiction.engines.tracking import Reference, TrackingControl, make_reference

__all__ = [
    "RESULTS",
    "AbstractSwitchingControl",
    "Compliance",
    "Compliant",
    "Event",
    "EventSets",
    "HarmonicControl",
    "Hybrid",
    "IndexSets",
    "PhasedControl",
    "Reference",
    "Solver",
    "Stepping",
    "TrackingControl",
    "Trajectory",
    "default_solver",
    "events_of",
    "index_sets",
    "make_reference",
    "no_control",
    "rest_time",
    "simulate",
]
