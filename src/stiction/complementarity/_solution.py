"""What every solver of this folder returns, and how a failure is said."""

import equinox as eqx

from stiction._base.arrays import Array, Float, Int, Scalar, is_traced
from stiction._base.errors import RunError


class SOLVE_RESULTS(eqx.Enumeration):
    """How a solve ended. The value is the message; `SOLVE_RESULTS[solution.result]` reads it."""

    successful = ""
    ray_termination = (
        "Lemke's method ended on a ray: no solution was found. If the matrix is positive "
        "semidefinite (or copositive-plus) the problem has none; otherwise try another `method`."
    )
    max_iterations_reached = (
        "The solver used all its iterations before the residual came below `tolerance`. "
        "Try a larger `max_iterations`, or another `method`."
    )
    stalled = (
        "The solver could not bring the residual below `tolerance`: the problem may have no "
        "solution, be singular, or be scaled too badly for this precision. Try another `method`."
    )
    nonfinite = "The problem holds nan or inf: check its matrix and vectors."


class Solution(eqx.Module):
    """The outcome of one solve, good or bad."""

    # the unknown: `z` of a linear complementarity problem, the impulses of a cone problem
    value: Float[Array, " n"]
    result: SOLVE_RESULTS  # how the solve ended, one of `SOLVE_RESULTS`
    # how far `value` is from solving the problem, in the units of the problem's vector (see
    # `lcp_residual` and `cone_residual`). Always computed from the original data, never from a
    # solver's own books.
    residual: Scalar
    iterations: Int[Array, ""]  # pivots, sweeps or linear solves that were used


def raise_unless_solved(solution: Solution, solved: Array) -> None:
    """Turn a failed solve into a `RunError`, if there is a value to look at (not inside `jit`)."""
    if not is_traced(solved) and not solved:
        message = SOLVE_RESULTS[solution.result]
        raise RunError(
            f"{message} (residual {float(solution.residual):.3g}; `throw=False` returns it)"
        )
