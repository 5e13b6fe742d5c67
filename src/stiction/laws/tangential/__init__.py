"""Tangential laws of one compliant contact: velocity, normal force and memory in, friction out."""

from stiction.laws.tangential.base import AbstractSlidingLaw, AbstractTangentialLaw
from stiction.laws.tangential.bristle import Bristle
from stiction.laws.tangential.coulomb import RegularizedCoulomb
from stiction.laws.tangential.stribeck import Stribeck, stribeck_coefficient

__all__ = [
    "AbstractSlidingLaw",
    "AbstractTangentialLaw",
    "Bristle",
    "RegularizedCoulomb",
    "Stribeck",
    "stribeck_coefficient",
]
