"""From a state and a law to a trajectory."""

from stiction.engines.control import HarmonicControl, no_control
from stiction.engines.free import simulate
from stiction.engines.result import RESULTS, Trajectory
from stiction.engines.solver import Solver

__all__ = ["RESULTS", "HarmonicControl", "Solver", "Trajectory", "no_control", "simulate"]
