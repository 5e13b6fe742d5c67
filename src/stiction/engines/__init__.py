"""From a state and a law to a trajectory."""

from stiction.engines.control import AbstractSwitchingControl, HarmonicControl, no_control
from stiction.engines.events import Event, events_of, rest_time
from stiction.engines.hybrid import Hybrid
from stiction.engines.index_sets import EventSets, IndexSets, index_sets
from stiction.engines.result import RESULTS, Trajectory
from stiction.engines.simulate import simulate
from stiction.engines.solver import Solver
from stiction.engines.stepping import Stepping

__all__ = [
    "RESULTS",
    "AbstractSwitchingControl",
    "Event",
    "EventSets",
    "HarmonicControl",
    "Hybrid",
    "IndexSets",
    "Solver",
    "Stepping",
    "Trajectory",
    "events_of",
    "index_sets",
    "no_control",
    "rest_time",
    "simulate",
]
