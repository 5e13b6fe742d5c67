"""From a state and a law to a trajectory.

`simulate` is the door; the law chooses the engine: `Hybrid` (rigid, exact events), `Stepping`
(rigid, fixed steps) or `Compliant` (springs and dampers). What comes out is a `Trajectory`, which
knows its mechanism and contacts, its events and the reactions of the ground.
"""

from stiction.engines.compliant import Compliant
from stiction.engines.events import Event, rest_time
from stiction.engines.hybrid import Hybrid
from stiction.engines.index_sets import EventSets, IndexSets, index_sets
from stiction.engines.places import places_at, poses_at
from stiction.engines.reactions import Reactions, reactions_of, world_forces
from stiction.engines.result import RESULTS, Compliance, Origin, Trajectory
from stiction.engines.simulate import default_solver, require_quaternions, simulate
from stiction.engines.solver import Solver
from stiction.engines.stepping import Stepping

__all__ = [
    "RESULTS",
    "Compliance",
    "Compliant",
    "Event",
    "EventSets",
    "Hybrid",
    "IndexSets",
    "Origin",
    "Reactions",
    "Solver",
    "Stepping",
    "Trajectory",
    "default_solver",
    "index_sets",
    "places_at",
    "poses_at",
    "reactions_of",
    "require_quaternions",
    "rest_time",
    "simulate",
    "world_forces",
]
