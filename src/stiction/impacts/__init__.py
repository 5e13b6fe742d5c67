"""Velocities before to velocities after."""

from collections.abc import Callable
from functools import partial

from stiction.impacts.dissipation import dissipation
from stiction.impacts.energy import scaled
from stiction.impacts.friction_map import FrictionMap, friction_map
from stiction.impacts.no_slip import no_slip
from stiction.impacts.problem import ImpactProblem, ImpactSolution

IMPACT_LAWS = {"no-slip": no_slip, "dissipation": dissipation}
ENERGY_METHODS = ("off", "scale", "constrain")


def impact_law(name: str, energy_method: str) -> Callable[[ImpactProblem], ImpactSolution]:
    """The law of a name, with its energy under control or not.

    A bound that a law cannot keep by itself is kept by scaling what is left.
    """
    law = IMPACT_LAWS[name]
    if energy_method == "constrain" and name == "dissipation":
        return scaled(partial(dissipation, constrain_energy=True))
    return law if energy_method == "off" else scaled(law)


__all__ = [
    "ENERGY_METHODS",
    "IMPACT_LAWS",
    "FrictionMap",
    "ImpactProblem",
    "ImpactSolution",
    "friction_map",
    "impact_law",
]
