"""What is touched: contact points, surfaces, gaps."""

from stiction.surfaces.candidates import Candidate, contact_candidates

__all__ = ["Candidate", "contact_candidates"]
