"""What one compliant contact does: normal laws, friction laws, and the impacts that follow.

`normal` and `tangential` hold a file a law, written for one contact (callers `vmap`), each with its
range of validity; `patch` is contact over an area. `impact` holds exact relations of a free
impact: restitution, its inverse, peaks, duration. What the numbers are called in other engines is
in `stiction.interop`.
"""

from stiction.laws import impact
from stiction.laws.normal.asymmetric import AsymmetricHuntCrossley
from stiction.laws.normal.base import AbstractNormalLaw, PowerLaw
from stiction.laws.normal.carvalho_martins import CarvalhoMartins
from stiction.laws.normal.flores import Flores
from stiction.laws.normal.gonthier import Gonthier
from stiction.laws.normal.hunt_crossley import (
    AbstractHuntCrossley,
    HuntCrossley,
    alpha_from_dissipation,
    dissipation_from_alpha,
)
from stiction.laws.normal.lankarani_nikravesh import LankaraniNikravesh
from stiction.laws.normal.restitution_given import AbstractRestitutionLaw
from stiction.laws.normal.spring_damper import LinearSpringDamper
from stiction.laws.patch import FlatPatch, SlideToRest, slide_and_spin
from stiction.laws.tangential.base import (
    AbstractSlidingLaw,
    AbstractTangentialLaw,
    FrictionLaw,
)
from stiction.laws.tangential.bristle import Bristle
from stiction.laws.tangential.coulomb import RegularizedCoulomb
from stiction.laws.tangential.stribeck import Stribeck, require_friction_pair, stribeck_coefficient

__all__ = [
    "AbstractHuntCrossley",
    "AbstractNormalLaw",
    "AbstractRestitutionLaw",
    "AbstractSlidingLaw",
    "AbstractTangentialLaw",
    "AsymmetricHuntCrossley",
    "Bristle",
    "CarvalhoMartins",
    "FlatPatch",
    "Flores",
    "FrictionLaw",
    "Gonthier",
    "HuntCrossley",
    "LankaraniNikravesh",
    "LinearSpringDamper",
    "PowerLaw",
    "RegularizedCoulomb",
    "SlideToRest",
    "Stribeck",
    "alpha_from_dissipation",
    "dissipation_from_alpha",
    "impact",
    "require_friction_pair",
    "slide_and_spin",
    "stribeck_coefficient",
]
