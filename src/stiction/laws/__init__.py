"""What one contact does: normal laws, friction laws, and the impacts that follow from them.

Written for one contact; callers `vmap`. `impact` holds the exact relations, `translate` what the
numbers are called in other engines.
"""

from stiction.laws import impact
from stiction.laws.normal import (
    AbstractHuntCrossley,
    AbstractNormalLaw,
    AbstractRestitutionLaw,
    AsymmetricHuntCrossley,
    CarvalhoMartins,
    Flores,
    Gonthier,
    HuntCrossley,
    LankaraniNikravesh,
    LinearSpringDamper,
    alpha_from_dissipation,
    dissipation_from_alpha,
)
from stiction.laws.tangential import (
    AbstractSlidingLaw,
    AbstractTangentialLaw,
    Bristle,
    RegularizedCoulomb,
    Stribeck,
    stribeck_coefficient,
)

__all__ = [
    "AbstractHuntCrossley",
    "AbstractNormalLaw",
    "AbstractRestitutionLaw",
    "AbstractSlidingLaw",
    "AbstractTangentialLaw",
    "AsymmetricHuntCrossley",
    "Bristle",
    "CarvalhoMartins",
    "Flores",
    "Gonthier",
    "HuntCrossley",
    "LankaraniNikravesh",
    "LinearSpringDamper",
    "RegularizedCoulomb",
    "Stribeck",
    "alpha_from_dissipation",
    "dissipation_from_alpha",
    "impact",
    "stribeck_coefficient",
]
