"""The linear complementarity problem: one door, several methods, one kind of answer.

symbol  meaning
M, q    the problem
z, w    w = M z + q ≥ 0, z ≥ 0, zᵀ w = 0
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, get_args

import jax
import jax.numpy as jnp
from jax import lax

from stiction._base.arrays import Array, ArrayLike, Bool, Float, Int, Scalar
from stiction._base.errors import InputError, unknown
from stiction.complementarity._batching import in_parts_on_cpu
from stiction.complementarity._solution import SOLVE_RESULTS, Solution, raise_unless_solved
from stiction.complementarity.gauss_seidel import projected_gauss_seidel
from stiction.complementarity.interior_point import interior_point
from stiction.complementarity.lemke import EXHAUSTED, RAY, lemke
from stiction.complementarity.newton import fischer_burmeister_newton

LcpMethod = Literal["lemke", "newton", "interior", "pgs"]
# Singular values below this share of the largest belong to directions the problem leaves open.
RANK_TOLERANCE = 1e-10
# Of problems that pivot together on a CPU: more than one to share the cost of each operation, few
# enough to stay in a core's cache. The best of a scan over sizes 8 to 200.
CACHE_BYTES = 2**17

_Matrix = Float[Array, "n n"]
_Vector = Float[Array, " n"]
_Count = Int[Array, ""]
# M, q, start, target, most iterations -> z, iterations, and the result if z is no solution
_Run = Callable[[_Matrix, _Vector, _Vector, Scalar, _Count], tuple[_Vector, _Count, SOLVE_RESULTS]]


def solve_lcp(
    M: Float[ArrayLike, "n n"],
    q: Float[ArrayLike, " n"],
    *,
    method: LcpMethod = "lemke",
    tolerance: float = 1e-10,
    max_iterations: int | None = None,
    guess: Float[ArrayLike, " n"] | None = None,
    throw: bool = True,
) -> Solution:
    r"""Solve a linear complementarity problem,

    $$ w = M z + q, \qquad z \ge 0, \quad w \ge 0, \quad z^\mathsf{T} w = 0 . $$

    - `"lemke"`: pivoting, for any matrix. Copositive-plus ones (positive semidefinite ones among
      them): a solution, or a ray that proves there is none. The friction problems of this package:
      a solution.
    - `"interior"`: positive semidefinite matrices, also unsymmetric; ten to thirty linear solves.
    - `"newton"`: P-matrices, or a good guess; fast near a solution, says so when it stalls.
    - `"pgs"`: symmetric positive definite matrices; cheap sweeps, slow convergence.

    The derivative of `value` in `M` and `q` is that of the implicit function theorem on the
    variables that are positive, in forward and reverse mode. It is the derivative where the
    solution is regular ($z + w > 0$, the block of `M` nonsingular); a one-sided one at a kink; and
    the least change, of the many, where a block is singular.

    Args:
        M: The matrix, (n, n).
        q: The vector, (n,).
        method: See the table.
        tolerance: The solve succeeds when the residual is at most this share of max |q|.
        max_iterations: Pivots, linear solves or sweeps; by default as many as the method needs.
        guess: Where `"newton"` and `"pgs"` start; zero by default. The others do not use it.
        throw: Raise `RunError` on failure. Inside `jit`, `vmap` and `grad` nothing is raised:
            look at `result`.

    Returns:
        The solution, with `value` = z and the residual of `lcp_residual`.
    """
    if method not in get_args(LcpMethod):
        raise unknown("method", method, get_args(LcpMethod))
    n = jnp.shape(q)[0] if jnp.ndim(q) == 1 else None
    if n is None or jnp.shape(M) != (n, n):
        raise InputError(
            f"`M` must be (n, n) and `q` (n,), got {jnp.shape(M)} and {jnp.shape(q)}: "
            "solve a batch with `jax.vmap`."
        )
    solution, solved = _solve(M, q, tolerance, max_iterations, guess, method=method)
    if throw:
        raise_unless_solved(solution, solved)
    return solution


def lcp_residual(
    M: Float[ArrayLike, "n n"], q: Float[ArrayLike, " n"], z: Float[ArrayLike, " n"]
) -> Scalar:
    r"""How far z is from a solution, $\max_i |\min(m z_i, w_i)|$ with $m = \max |M|$.

    Zero exactly at the solutions. The factor m gives both sides the units of q.
    """
    M, q, z = (jnp.asarray(a) for a in (M, q, z))
    m = _size(M)
    return jnp.max(jnp.abs(jnp.minimum(jnp.where(m > 0, m, 1) * z, M @ z + q)), initial=0)


def _size(M: _Matrix) -> Scalar:
    """max |M|, by rows first: `equilibrate` needs those too, and the compiler shares them."""
    return jnp.max(jnp.max(jnp.abs(M), axis=1, initial=0), initial=0)


@partial(jax.jit, static_argnames="method")
def _solve(
    M: ArrayLike,
    q: ArrayLike,
    tolerance: ArrayLike,
    max_iterations: ArrayLike | None,
    guess: ArrayLike | None,
    *,
    method: LcpMethod,
) -> tuple[Solution, Bool[Array, ""]]:
    dtype = jnp.result_type(M, q) if _is_float(M, q) else jnp.result_type(float, M, q)
    M, q = jnp.asarray(M, dtype), jnp.asarray(q, dtype)
    n = q.shape[0]
    start = jnp.zeros(n, dtype) if guess is None else jnp.asarray(guess, dtype)
    run, default, lanes = _METHODS[method]
    most = default(n) if max_iterations is None else max_iterations
    solve = in_parts_on_cpu(partial(_solve_one, run), lanes(n, dtype))
    frozen = lax.stop_gradient((M, q, start, jnp.asarray(tolerance, dtype)))
    z, residual, iterations, result, solved = solve(*frozen, jnp.asarray(most, jnp.int32))
    return Solution(_implicit(M, q, z), result, residual, iterations), solved


def _solve_one(
    run: _Run, M: _Matrix, q: _Vector, start: _Vector, tolerance: Scalar, max_iterations: _Count
) -> tuple[_Vector, Scalar, _Count, SOLVE_RESULTS, Bool[Array, ""]]:
    n = q.shape[0]
    bound = jnp.maximum(tolerance, 4 * n * float(jnp.finfo(q.dtype).eps))
    size = jnp.max(jnp.abs(q), initial=0)
    target = bound * size
    z, iterations, stop = run(M, q, start, target, max_iterations)
    z, residual = _polish(M, q, z, target)
    # A maximum is nan where an entry is.
    finite = jnp.isfinite(_size(M)) & jnp.isfinite(size)
    solved = finite & (residual <= target)
    result = SOLVE_RESULTS.where(solved, SOLVE_RESULTS.successful, stop)
    result = SOLVE_RESULTS.where(finite, result, SOLVE_RESULTS.nonfinite)
    return z, residual, iterations, result, solved


def _is_float(*arrays: ArrayLike) -> bool:
    return all(jnp.issubdtype(jnp.result_type(a), jnp.floating) for a in arrays)


def _by_lemke(
    M: _Matrix, q: _Vector, start: _Vector, target: Scalar, max_iterations: _Count
) -> tuple[_Vector, _Count, SOLVE_RESULTS]:
    del start
    z, pivots, status = lemke(M, q, target, max_iterations)
    stop = SOLVE_RESULTS.where(
        status == EXHAUSTED, SOLVE_RESULTS.max_iterations_reached, SOLVE_RESULTS.stalled
    )
    return z, pivots, SOLVE_RESULTS.where(status == RAY, SOLVE_RESULTS.ray_termination, stop)


def _iterative(
    solver: Callable[..., tuple[_Vector, _Count, Bool[Array, ""]]], *, scaled: bool = True
) -> _Run:
    """A solver that improves z until max |min(z, w)| is at most the target.

    It takes M, q, the start, the target and the most iterations, and gives z, the iterations, and
    whether they were used up. Where it is `scaled` no entry of its problem is larger than 1.
    """

    def run(
        M: _Matrix, q: _Vector, start: _Vector, target: Scalar, max_iterations: _Count
    ) -> tuple[_Vector, _Count, SOLVE_RESULTS]:
        unit = 1.0
        if scaled:
            scale = jnp.where(jnp.max(jnp.abs(M)) > 0, jnp.max(jnp.abs(M)), 1)
            size = jnp.max(jnp.abs(q), initial=1e-30)
            unit = size / scale
            M, q, target, start = M / scale, q / size, target / size, start * (scale / size)
        z, iterations, exhausted = solver(M, q, start, target, max_iterations)
        stop = SOLVE_RESULTS.where(
            exhausted, SOLVE_RESULTS.max_iterations_reached, SOLVE_RESULTS.stalled
        )
        return z * unit, iterations, stop

    return run


def _in_cache(n: int, dtype: Any) -> int:
    """As many problems as stay in a core's cache together."""
    return max(1, CACHE_BYTES // (n * (n + 2) * jnp.dtype(dtype).itemsize + 1))


def _one(n: int, dtype: Any) -> int:
    del n, dtype
    return 1


# name: the method, its usual limit of iterations, and how many lanes of a batch share a CPU.
# Lemke's pivots are about n; the worst case (Murty's) is 2^n.
_METHODS = {
    "lemke": (_by_lemke, lambda n: 100 * (n + 10), _in_cache),
    "newton": (_iterative(fischer_burmeister_newton), lambda n: 100, _one),
    "interior": (_iterative(interior_point), lambda n: 100, _one),
    "pgs": (_iterative(projected_gauss_seidel, scaled=False), lambda n: 10_000, _in_cache),
}


def _positive_block(M: _Matrix, active: Bool[Array, " n"]) -> _Matrix:
    """M on the rows and columns of `active`, the identity on the others."""
    both = active[:, None] & active[None, :]
    return jnp.where(both, M, jnp.eye(M.shape[0], dtype=M.dtype))


def _polish(M: _Matrix, q: _Vector, z: _Vector, target: Scalar) -> tuple[_Vector, Scalar]:
    """Where the residual is above target, solve exactly for the variables that z takes as positive.

    A loop of at most one pass rather than a `cond`: in a batch a `cond` would always be paid.
    """

    def solve(carry: tuple[_Vector, Scalar, Any]) -> tuple[_Vector, Scalar, Any]:
        z, residual, _ = carry
        active = z > M @ z + q
        block = _positive_block(M, active)
        step = jnp.linalg.solve(block, -jnp.where(active, q, 0))
        better = jnp.maximum(
            step - jnp.linalg.solve(block, block @ step + jnp.where(active, q, 0)), 0
        )
        less = lcp_residual(M, q, better)
        improved = less < residual  # false for nan
        return jnp.where(improved, better, z), jnp.where(improved, less, residual), False

    residual = lcp_residual(M, q, z)
    z, residual, _ = lax.while_loop(lambda c: c[2], solve, (z, residual, residual > target))
    return z, residual


@jax.custom_jvp
def _implicit(M: _Matrix, q: _Vector, z: _Vector) -> _Vector:
    """z as a function of M and q, by the implicit function theorem."""
    del M, q
    return z


@_implicit.defjvp
def _(primals: tuple, tangents: tuple) -> tuple[_Vector, _Vector]:
    M, q, z = primals
    M_dot, q_dot, _ = tangents
    # On the positive variables M_aa z_a + q_a = 0; the others stay zero.
    active = z > M @ z + q
    block = _positive_block(M, active)
    z_dot = jnp.linalg.pinv(block, rtol=RANK_TOLERANCE) @ -jnp.where(active, M_dot @ z + q_dot, 0)
    return z, jnp.where(active, z_dot, 0)
