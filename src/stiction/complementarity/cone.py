"""Contact with Coulomb friction: exact cones, one door, one kind of answer."""

from functools import partial
from typing import Literal, get_args

import jax
import jax.numpy as jnp
from jax import lax

from stiction._base.arrays import Array, ArrayLike, Bool, Float, Int, Scalar, ScalarLike
from stiction._base.errors import InputError, unknown
from stiction.complementarity._batching import in_parts_on_cpu
from stiction.complementarity._solution import SOLVE_RESULTS, Solution, raise_unless_solved
from stiction.complementarity.admm import admm
from stiction.complementarity.alart_curnier import newton
from stiction.complementarity.cone_interior import PathOptions, central_path
from stiction.complementarity.friction_cone import (
    PerContact,
    UnitProblem,
    Vectors,
    cone_residual,
    coulomb_equations,
    unit_problem,
)
from stiction.complementarity.friction_lcp import pyramid_lcp
from stiction.complementarity.lemke import lemke

ConeMethod = Literal["newton", "admm"]

# Newton steps from one start: it takes three to six from a good one.
NEWTON_STEPS = 15
# Starts tried after the guess, until Newton's method meets from one of them.
# A pyramid is turned to the friction of the best point so far (and beyond, from try to try); a
# path is (coupling, least centering, share to the boundary, steps): first coupled, briskly and with
# care, then the fixed point on the slip speed, which begins at rest.
PYRAMID = (-1, 0, 0, 0)
BRISK, CAREFUL, CONVEX = (1, 1e-3, 0.99, 40), (1, 0.1, 0.9, 60), (0, 0.02, 0.95, 40)
STARTS = (PYRAMID, PYRAMID, PYRAMID, BRISK, CAREFUL, CONVEX, *(PYRAMID, CONVEX) * 8)
ADMM_STEPS = 2000
# Less friction than this does not make Newton's method look for more digits.
LEAST_FRICTION = 1e-3
# Singular values below this share of the largest belong to redundant contacts.
RANK_TOLERANCE = 1e-10

_Count = Int[Array, ""]
_Matrix = Float[Array, "n n"]
_Vector = Float[Array, " n"]


def solve_cone(
    W: Float[ArrayLike, "n n"],
    b: Float[ArrayLike, " n"],
    mu: Float[ArrayLike, " n_contacts"],
    *,
    method: ConeMethod = "newton",
    tolerance: ScalarLike | None = 1e-10,
    max_iterations: int | None = None,
    guess: Float[ArrayLike, " n"] | None = None,
    preload: Float[ArrayLike, " n_contacts"] | None = None,
    throw: bool = True,
) -> Solution:
    r"""Impulses of contacts with Coulomb friction, in exact cones,

    $$ u = W \gamma + b, \qquad 0 \le \gamma_n \perp u_n \ge 0, \qquad |\gamma_t| \le \mu \gamma_n,
       \qquad u_t \ne 0 \Rightarrow \gamma_t = -\mu \gamma_n u_t / |u_t| , $$

    in one line, $K_\mu \ni \gamma \perp u + \mu |u_t| e_n \in K_\mu^*$ [DeSaxce1998]. Contacts in
    space have rows (t1, t2, n), in the plane (t, n); which it is follows from the sizes.

    A solution exists for every μ when W = J M⁻¹ Jᵀ and b = J v is a velocity that the mechanism can
    have [Acary2011]. It need not be unique: γ is not when contacts are redundant, and when
    redundant contacts slide, or μ is large, not even u. One solution is returned.

    `"newton"` is Newton's method on the equations of Alart and Curnier from a series of starts,
    until one meets: the guess; pyramids solved by Lemke's method, which finds a solution of every
    such problem; interior paths. Most problems need the first start alone. `"admm"` is
    first-order: two matrix products a step, for large batches in single precision.

    Derivatives of `value` in `W`, `b`, `mu` and `preload` come from the implicit function theorem
    on the equations of each contact's mode, in forward and reverse mode: exact where the solution
    is regular (no contact just between two modes), the least change where redundant contacts leave
    a choice.

    Args:
        W: Delassus matrix, symmetric positive semidefinite [1/kg].
        b: Velocities without contact impulses [m/s].
        mu: Friction coefficients ≥ 0, one a contact [-].
        method: `"newton"` or `"admm"`.
        tolerance: Solved when the residual is at most this share of the largest entry of b, or of
            what the preload adds to it. None, with `"admm"`, makes exactly `max_iterations` steps;
            the residual is then only reported.
        max_iterations: Newton steps from each start, or steps of `"admm"`.
        guess: Impulses to start from, such as the last time step's [N·s].
        preload: Normal impulses π that act in any case; u_n is then complementary to γ_n - π and
            γ_n includes π [N·s].
        throw: Raise `RunError` on failure. Inside `jit`, `vmap` and `grad` nothing is raised.

    Returns:
        The solution, with `value` = γ and the residual of `cone_residual` [m/s].
    """
    if method not in get_args(ConeMethod):
        raise unknown("method", method, get_args(ConeMethod))
    _check_sizes(W, b, mu)
    fixed = None
    if tolerance is None:
        if method != "admm" or not isinstance(max_iterations, int):
            raise InputError(
                "`tolerance` may be None only with method 'admm' and a whole number of "
                f"`max_iterations`, got method '{method}' and {max_iterations!r}."
            )
        fixed, max_iterations = max_iterations, None
    problem = (W, b, mu, jnp.zeros_like(mu) if preload is None else preload)
    solution, solved = _solve(problem, guess, tolerance, max_iterations, method=method, fixed=fixed)
    if throw:
        raise_unless_solved(solution, solved)
    return solution


def _check_sizes(W: ArrayLike, b: ArrayLike, mu: ArrayLike) -> None:
    n, count = jnp.shape(b)[0], jnp.shape(mu)[0] if jnp.ndim(mu) == 1 else 0
    if count == 0 or n not in (2 * count, 3 * count) or jnp.shape(W) != (n, n):
        raise InputError(
            "`W` must be (n, n), `b` (n,) and `mu` (n_contacts,) with n = 3 n_contacts (space) or "
            f"2 n_contacts (plane), got {jnp.shape(W)}, {jnp.shape(b)} and {jnp.shape(mu)}: "
            "solve a batch with `jax.vmap`."
        )


@partial(jax.jit, static_argnames=("method", "fixed"))
def _solve(
    problem: tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike],
    guess: ArrayLike | None,
    tolerance: ArrayLike | None,
    max_iterations: _Count | int | None,
    *,
    method: ConeMethod,
    fixed: int | None,
) -> tuple[Solution, Bool[Array, ""]]:
    """The solution of a problem (W, b, μ, preload), and whether it solves it."""
    dtype = jnp.result_type(*problem[:3])
    W, b, mu, preload = (jnp.asarray(a, dtype) for a in problem)
    frozen = lax.stop_gradient((W, b, mu, preload))
    unit = unit_problem(*frozen)
    x = jnp.zeros_like(unit.b)
    if guess is not None:
        beyond = lax.stop_gradient(jnp.asarray(guess, dtype)) - _normal(frozen[3], b.shape[0])
        x = unit.unknown(beyond)
    eps = float(jnp.finfo(dtype).eps)
    bound = jnp.asarray(0 if tolerance is None else tolerance, dtype)
    bound = jnp.maximum(bound, 4 * b.shape[0] * eps)

    if method == "newton":
        most = jnp.asarray(NEWTON_STEPS if max_iterations is None else max_iterations, jnp.int32)
        # The residual is measured again in the original units, in which slip is larger by 1/μ.
        least = jnp.min(jnp.where(frozen[2] > LEAST_FRICTION, frozen[2], 1.0), initial=1.0)
        target = jnp.maximum(least * bound / 10, jnp.minimum(bound / 10, 4 * b.shape[0] * eps))
        x, iterations = _from_many_starts(unit, x, target, most)
        stop = SOLVE_RESULTS.stalled
    else:
        most = fixed or (ADMM_STEPS if max_iterations is None else max_iterations)
        x, iterations = admm(unit, x, None if fixed else bound / 10, most)
        stop = SOLVE_RESULTS.max_iterations_reached

    loaded = _normal(frozen[3], b.shape[0])
    gamma = unit.impulse(x) + loaded
    residual = cone_residual(*frozen[:3], gamma, frozen[3])
    finite = jnp.all(jnp.isfinite(frozen[0])) & jnp.all(jnp.isfinite(frozen[1]))
    scale = jnp.maximum(jnp.max(jnp.abs(frozen[1])), jnp.max(jnp.abs(frozen[0] @ loaded)))
    solved = finite & ((residual <= bound * scale) | (fixed is not None))
    result = SOLVE_RESULTS.where(solved, SOLVE_RESULTS.successful, stop)
    result = SOLVE_RESULTS.where(finite, result, SOLVE_RESULTS.nonfinite)
    value = _implicit(W, b, mu, preload, gamma)
    return Solution(value, result, residual, iterations), solved


def _normal(preload: PerContact, n: int) -> _Vector:
    """Impulses of all rows from those of the normals."""
    dim = n // preload.shape[0]
    return jnp.zeros((preload.shape[0], dim), preload.dtype).at[:, -1].set(preload).reshape(-1)


@in_parts_on_cpu
def _from_many_starts(
    problem: UnitProblem, x: Vectors, target: Scalar, max_steps: _Count
) -> tuple[Vectors, _Count]:
    """Newton from the guess, then from one start after the other while none has met."""
    dtype = problem.b.dtype
    coupling, centering, share, steps = (jnp.asarray(c, dtype) for c in zip(*STARTS, strict=True))

    def attempt(carry: tuple[Array, ...]) -> tuple[Array, ...]:
        best, residual, slip, iterations, tries = carry
        pyramid = coupling[tries] < 0
        x_pyramid, pivots = _pyramid_start(problem, best, tries, pyramid, target)
        most = steps[tries].astype(jnp.int32)
        options = PathOptions(coupling[tries], centering[tries], share[tries], most)
        path = central_path(problem, slip, target, options)
        # The convex problem is solved at its end, the coupled one at its best point.
        convex = coupling[tries] == 0
        x_path = jnp.where(convex, path.x, path.best)
        speed = jnp.sqrt(jnp.sum(problem.velocity(x_path)[:, :-1] ** 2, axis=1))
        state = newton(problem, jnp.where(pyramid, x_pyramid, x_path), target, max_steps)
        better = state.residual < residual
        return (
            jnp.where(better, state.best, best),
            jnp.where(better, state.residual, residual),
            jnp.where(convex, speed, slip),
            iterations + pivots + path.steps + state.steps,
            tries + 1,
        )

    def unfinished(carry: tuple[Array, ...]) -> Bool[Array, ""]:
        _, residual, _, _, tries = carry
        return (residual > target) & (tries < len(STARTS))

    first = newton(problem, x, target, max_steps)
    slip = jnp.zeros(problem.b.shape[0], dtype)
    start = (first.best, first.residual, slip, first.steps, jnp.zeros((), jnp.int32))
    best, _, _, iterations, _ = lax.while_loop(unfinished, attempt, start)
    return best, iterations


def _pyramid_start(
    problem: UnitProblem, best: Vectors, tries: _Count, wanted: Bool[Array, ""], target: Scalar
) -> tuple[Vectors, _Count]:
    """The solution of the problem with four-sided pyramids, by Lemke's method (if `wanted`)."""
    count, dim = problem.b.shape
    angle = None
    if dim == 3:
        # An edge along the friction that the best point's sliding wants; then a turn of its own.
        u = problem.velocity(best)
        turn = (
            0.6180339887498949 * tries.astype(u.dtype) * jnp.arange(1, count + 1, dtype=u.dtype)
        ) % 1
        angle = jnp.arctan2(-u[:, 1], -u[:, 0]) + turn * (jnp.pi / 2)
    unit = jnp.ones(count, problem.b.dtype)
    lcp = pyramid_lcp(problem.W, problem.b.reshape(-1), unit, n_sides=4, angle=angle)
    # The preload's push is in b already; only its share of the friction limit is missing.
    q = lcp.q.reshape(count, -1).at[:, -1].add(problem.preload).reshape(-1)
    # Nothing is to be done for q = 0.
    most = jnp.asarray(100 * (q.shape[0] + 10), jnp.int32)
    z, pivots, _ = lemke(lcp.M, jnp.where(wanted, q, 0), target, most)
    return lcp.impulse(z).reshape(count, dim), pivots


@jax.custom_jvp
def _implicit(
    W: _Matrix, b: _Vector, mu: PerContact, preload: PerContact, gamma: _Vector
) -> _Vector:
    """γ as a function of the problem, by the implicit function theorem."""
    del W, b, mu, preload
    return gamma


@_implicit.defjvp
def _(primals: tuple, tangents: tuple) -> tuple[_Vector, _Vector]:
    W, b, mu, preload, gamma = primals

    def residual(W: Array, b: Array, mu: Array, preload: Array) -> _Vector:
        return coulomb_equations(W, b, mu, preload, gamma)

    _, change = jax.jvp(residual, (W, b, mu, preload), tangents[:-1])
    K = jax.jacfwd(lambda gamma: coulomb_equations(W, b, mu, preload, gamma))(gamma)
    # Least squares: redundant contacts leave K singular.
    return gamma, -jnp.linalg.pinv(K, rtol=RANK_TOLERANCE) @ change
