"""From contact velocities before an impact to those after it.

`solve_impact` works on plain arrays. The laws work on an `ImpactProblem` (what touches, how fast,
its restitution and friction) and give an `ImpactSolution`; `impact_law` finds one by name and puts
its energy under control; `given_restitution` takes a whole restitution matrix, `patch_impact` a
flat patch with moments. `friction_map`,
`impact_forces`, `tangential_ratios` and `compare_friction` explain an impact.
"""

from collections.abc import Callable
from functools import partial

from stiction.impacts.compare_friction import FrictionComparison, compare_friction
from stiction.impacts.dissipation import dissipation
from stiction.impacts.energy import scaled
from stiction.impacts.forces import impact_forces
from stiction.impacts.friction_map import FrictionMap, friction_map
from stiction.impacts.no_slip import bring_to_rest, fall_back, no_slip
from stiction.impacts.patch import PatchImpact, patch_impact
from stiction.impacts.problem import ImpactProblem, ImpactSolution
from stiction.impacts.restitution_matrix import (
    given_restitution,
    restitution_matrix,
    tangential_ratios,
)
from stiction.impacts.routh import newton, poisson, stronge
from stiction.impacts.sequence import in_sequence
from stiction.impacts.simultaneous import ImpactImpulses, lcp, solve_impact
from stiction.impacts.two_phases import RestitutionLaw, two_phases

IMPACT_LAWS = {
    "no-slip": no_slip,
    "dissipation": dissipation,
    "newton": newton,
    "poisson": poisson,
    "stronge": stronge,
    "lcp": lcp,
    "lcp-poisson": partial(lcp, restitution_law="poisson"),
    "lcp-pyramid": partial(lcp, friction="pyramid"),
    "lcp-cone": partial(lcp, friction="cone"),
    "lcp-cone-poisson": partial(lcp, friction="cone", restitution_law="poisson"),
}
ONE_CONTACT = ("newton", "poisson", "stronge")  # laws that meet several contacts in sequence only
ENERGY_METHODS = ("off", "scale", "constrain")


def impact_law(
    name: str, energy_method: str, sequence: bool = False
) -> Callable[[ImpactProblem], ImpactSolution]:
    """The law of a name, with its energy under control or not.

    A bound that a law cannot keep by itself is kept by scaling what is left.

    Args:
        name: One of `IMPACT_LAWS`.
        energy_method: One of `ENERGY_METHODS`.
        sequence: Whether several contacts are met one after the other; some laws know no other way.
    """
    law = IMPACT_LAWS[name]
    if energy_method == "constrain" and name == "dissipation":
        law = partial(dissipation, constrain_energy=True)
    if sequence or name in ONE_CONTACT:
        law = in_sequence(law, at_last=no_slip if name == "no-slip" else dissipation)
    return law if energy_method == "off" else scaled(law)


__all__ = [
    "ENERGY_METHODS",
    "IMPACT_LAWS",
    "ONE_CONTACT",
    "FrictionComparison",
    "FrictionMap",
    "ImpactImpulses",
    "ImpactProblem",
    "ImpactSolution",
    "PatchImpact",
    "RestitutionLaw",
    "bring_to_rest",
    "compare_friction",
    "fall_back",
    "friction_map",
    "given_restitution",
    "impact_forces",
    "impact_law",
    "in_sequence",
    "no_slip",
    "patch_impact",
    "restitution_matrix",
    "solve_impact",
    "tangential_ratios",
    "two_phases",
]
