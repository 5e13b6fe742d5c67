"""People on two legs: a human model for contact and impact (rodic)."""

from stiction.biped.human import human

__all__ = ["human"]
