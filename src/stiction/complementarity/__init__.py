"""Complementarity problems on plain arrays: linear ones, and Coulomb friction cones."""

from stiction.complementarity._solution import RESULTS, Solution
from stiction.complementarity.lcp import lcp_residual, solve_lcp

__all__ = ["RESULTS", "Solution", "lcp_residual", "solve_lcp"]
