"""Velocities before to velocities after."""

from stiction.impacts.no_slip import no_slip
from stiction.impacts.problem import ImpactProblem, ImpactSolution

# name -> a function of the energy method that gives the law
IMPACT_LAWS = {"no-slip": lambda energy_method: no_slip, "dissipation": lambda m: no_slip}

__all__ = ["IMPACT_LAWS", "ImpactProblem", "ImpactSolution", "no_slip"]
