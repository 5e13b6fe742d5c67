"""Normal laws of one compliant contact: depth and its rate in, force out."""

from stiction.laws.normal.asymmetric import AsymmetricHuntCrossley
from stiction.laws.normal.base import AbstractNormalLaw
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

__all__ = [
    "AbstractHuntCrossley",
    "AbstractNormalLaw",
    "AbstractRestitutionLaw",
    "AsymmetricHuntCrossley",
    "CarvalhoMartins",
    "Flores",
    "Gonthier",
    "HuntCrossley",
    "LankaraniNikravesh",
    "LinearSpringDamper",
    "alpha_from_dissipation",
    "dissipation_from_alpha",
]
