"""The gallery of hard linear complementarity problems, run by every solver."""

import inspect
import tomllib
from functools import cache
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from stiction._base.errors import InputError, RunError
from stiction.complementarity import SOLVE_RESULTS, enumerate_lcp, solve_lcp
from stiction.complementarity.lcp import LcpMethod

METHODS = get_args(LcpMethod)
# The classes for which each method's docstring promises a solution (if there is one).
PROMISED = {
    "lemke": {"definite", "P", "semidefinite"},
    "interior": {"definite", "semidefinite"},
    "newton": {"definite", "P"},
    "pgs": {"definite"},
}
# The Hilbert matrix has a condition number of 1.5e10: thousands of sweeps do not finish it.
TOO_SLOW = {("pgs", "hilbert-8")}
FILE = Path(__file__).parents[1] / "gallery" / "lcp.toml"


@cache
def gallery():
    problems = tomllib.loads(FILE.read_text())["problem"]
    return {p["name"]: p for p in problems}


def arrays(name):
    problem = gallery()[name]
    solutions = np.array(problem["solutions"], float).reshape(-1, len(problem["q"]))
    return np.array(problem["M"], float), np.array(problem["q"], float), solutions


def padded(name):
    """M, q and the listed solutions with idle pairs w = 1 + z added: each method compiles once."""
    M, q, listed = arrays(name)
    n = len(q)
    size = max(len(p["q"]) for p in gallery().values())
    large = np.eye(size)
    large[:n, :n] = M
    idle = np.zeros((len(listed), size - n))
    return large, np.append(q, np.ones(size - n)), np.hstack([listed, idle])


def solvable(problem) -> bool:
    return bool(problem["solutions"]) or problem.get("continuum", False)


@pytest.mark.parametrize("name", gallery())
@pytest.mark.parametrize("method", METHODS)
def test_success_is_a_listed_solution_and_promises_are_kept(method, name):
    problem = gallery()[name]
    M, q, listed = padded(name)
    solution = solve_lcp(M, q, method=method, throw=False)
    z = np.asarray(solution.value)
    solved = bool(solution.result == SOLVE_RESULTS.successful)
    if problem["kind"] in PROMISED[method] and solvable(problem) and (method, name) not in TOO_SLOW:
        assert solved
    if not solved:
        assert SOLVE_RESULTS[solution.result]
        return
    assert solvable(problem)
    w = M @ z + q
    size = max(np.abs(q).max(), 1e-300)
    assert np.abs(np.minimum(np.abs(M).max() * z, w)).max() <= 1e-9 * size
    if not problem.get("continuum", False):
        # A residual of 1e-10 leaves an error of 1e-10 times the condition number in z.
        near = 1e-9 * np.linalg.cond(M) * (1 + np.abs(listed).max(axis=1))
        assert np.any(np.abs(listed - z).max(axis=1) <= near)


@pytest.mark.parametrize("name", [n for n, p in gallery().items() if not solvable(p)])
def test_lemke_reports_a_ray_where_nothing_can_be_found(name):
    M, q, _ = padded(name)
    solution = solve_lcp(M, q, throw=False)
    assert solution.result == SOLVE_RESULTS.ray_termination
    with pytest.raises(RunError, match="ended on a ray"):
        solve_lcp(M, q)


@pytest.mark.parametrize("name", gallery())
def test_enumeration_finds_exactly_what_is_listed(name):
    problem = gallery()[name]
    M, q, listed = arrays(name)
    every = enumerate_lcp(M, q)
    assert bool(every.faces) == problem.get("continuum", False)
    assert len(every.points) == len(listed)
    scale = 1e-9 * np.linalg.cond(M) if len(listed) else 0
    for z in listed:
        assert np.min(np.abs(every.points - z).max(axis=1)) <= scale * (1 + np.abs(z).max())


def test_murtys_problem_stays_within_its_number_of_bases():
    """A lexicographic path visits no basis twice, and there are 2^8."""
    M, q, _ = padded("murty-exponential-8")
    assert int(solve_lcp(M, q).iterations) <= 2**8


def test_too_few_iterations_are_said():
    M, q, _ = arrays("obstacle-12")
    solution = solve_lcp(M, q, max_iterations=2, throw=False)
    assert solution.result == SOLVE_RESULTS.max_iterations_reached
    assert float(solution.residual) > 1e-3


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_inf_are_said(method, bad):
    M, q, _ = padded("two-by-two")
    bad_M, bad_q = M.copy(), q.copy()
    bad_M[0, 1] = bad_q[0] = bad
    assert solve_lcp(bad_M, q, method=method, throw=False).result == SOLVE_RESULTS.nonfinite
    assert solve_lcp(M, bad_q, method=method, throw=False).result == SOLVE_RESULTS.nonfinite


def test_wrong_requests_name_the_argument():
    M, q, _ = arrays("two-by-two")
    unchecked = inspect.unwrap(solve_lcp)  # without the type check of tests
    with pytest.raises(InputError, match="no method 'simplex'"):
        unchecked(M, q, method="simplex")
    with pytest.raises(InputError, match=r"`M` must be \(n, n\)"):
        unchecked(M[None], q[None])
    with pytest.raises(InputError, match="up to n = 16"):
        enumerate_lcp(np.eye(17), np.ones(17))


@pytest.mark.parametrize("method", METHODS)
def test_single_precision_is_kept(method):
    M, q, (expected,) = arrays("two-by-two")
    solution = solve_lcp(np.float32(M), np.float32(q), method=method)
    assert solution.value.dtype == np.float32
    np.testing.assert_allclose(solution.value, expected, rtol=1e-5)
