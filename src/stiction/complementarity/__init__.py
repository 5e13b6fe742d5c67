"""Complementarity problems on plain arrays: linear ones, and Coulomb friction cones."""

from stiction.complementarity._solution import RESULTS, Solution
from stiction.complementarity.compare import FrictionComparison, compare_friction
from stiction.complementarity.cone import solve_cone
from stiction.complementarity.enumeration import Face, LcpSolutions, enumerate_lcp
from stiction.complementarity.friction_cone import (
    cone_errors,
    cone_residual,
    project_to_cone,
    project_to_dual_cone,
)
from stiction.complementarity.friction_lcp import FrictionLcp, pyramid_lcp, square_lcp
from stiction.complementarity.impact import Impact, solve_impact
from stiction.complementarity.lcp import lcp_residual, solve_lcp

__all__ = [
    "RESULTS",
    "Face",
    "FrictionComparison",
    "FrictionLcp",
    "Impact",
    "LcpSolutions",
    "Solution",
    "compare_friction",
    "cone_errors",
    "cone_residual",
    "enumerate_lcp",
    "lcp_residual",
    "project_to_cone",
    "project_to_dual_cone",
    "pyramid_lcp",
    "solve_cone",
    "solve_impact",
    "solve_lcp",
    "square_lcp",
]
