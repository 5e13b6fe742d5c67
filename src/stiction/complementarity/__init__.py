"""Complementarity problems on plain arrays, and their solvers; no bodies and no impacts.

`solve_lcp` solves linear problems by several methods, `enumerate_lcp` finds all their solutions.
`solve_cone` solves contact with exact Coulomb cones; `square_lcp` and `pyramid_lcp` make linear
problems of it. Everything is compiled, batched and differentiable. A solver inside a loop of its
own can take the parts: `unit_problem` scales a friction problem, `admm` and `cone_newton` improve
its impulses; `maximize_over_cones` solves linear programs over friction cones.
"""

from stiction.complementarity._solution import SOLVE_RESULTS, Solution
from stiction.complementarity.admm import admm
from stiction.complementarity.alart_curnier import newton as cone_newton
from stiction.complementarity.cone import solve_cone
from stiction.complementarity.cone_linear import Maximum, maximize_over_cones
from stiction.complementarity.enumeration import Face, LcpSolutions, enumerate_lcp
from stiction.complementarity.friction_cone import (
    cone_errors,
    cone_projection_derivative,
    cone_residual,
    project_to_cone,
    project_to_dual_cone,
    unit_problem,
)
from stiction.complementarity.friction_lcp import FrictionLcp, pyramid_lcp, square_lcp
from stiction.complementarity.lcp import lcp_residual, solve_lcp

__all__ = [
    "SOLVE_RESULTS",
    "Face",
    "FrictionLcp",
    "LcpSolutions",
    "Maximum",
    "Solution",
    "admm",
    "cone_errors",
    "cone_newton",
    "cone_projection_derivative",
    "cone_residual",
    "enumerate_lcp",
    "lcp_residual",
    "maximize_over_cones",
    "project_to_cone",
    "project_to_dual_cone",
    "pyramid_lcp",
    "solve_cone",
    "solve_lcp",
    "square_lcp",
    "unit_problem",
]
