"""From a state and a law to a trajectory."""

from stiction.engines.control import HarmonicControl, no_control
from stiction.engines.hybrid import Hybrid
from stiction.engines.result import RESULTS, Trajectory
from stiction.engines.simulate import simulate
from stiction.engines.solver import Solver

__all__ = ["RESULTS", "HarmonicControl", "Hybrid", "Solver", "Trajectory", "no_control", "simulate"]
