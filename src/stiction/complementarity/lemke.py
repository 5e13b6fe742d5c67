"""Lemke's complementary pivoting with a lexicographic ratio test.

The dictionary after [Lemke1965], in the notation of [Cottle2009, Sec. 4.4]:

symbol  meaning
w, z    the complementary variables, w = q + M z + d z0
z0      the artificial variable, zero at the end; d > 0 its covering vector
D       dictionary: basic variables = D (nonbasic variables) + q
k       the one pair of which both variables are nonbasic
l       the row that leaves

One layout keeps every index trivial. Row i and column i of D are the *homes* of the pair
(w_i, z_i): its basic variable lives in row i, its nonbasic one in column i. The exception is pair
k, of which both are nonbasic: the one about to enter is in column k, the one that just left is the
column `spare`. The row of z0 is kept apart as `row0`; its entries of q and `spare` stand at index
k, whose row of D is not used. A pivot on row l makes l the next k: no table of positions is kept,
and D changes by one rank-1 update that reads only vectors prepared by the previous pass, so that it
is one fused, in-place loop both alone and in a batch.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from stiction._base.arrays import Array, Bool, Float, Int, Scalar
from stiction.complementarity._batching import spread
from stiction.complementarity._scaling import equilibrate

# Powers of the unit roundoff, so that single precision has tolerances of its own.
# Entries of an entering column below this share of its largest are rounding, not pivots (4e-10).
PIVOT_TOLERANCE_POWER = 0.6
# Ratios closer than this (relative, and absolute for the scaled problem) are equal (4e-10).
TIE_TOLERANCE_POWER = 0.6
# Rows up to this length are updated by products (measured on CPUs: a third faster at 24).
SHORT_ROW = 48
# Covering vectors tried before a ray, or a solution spoilt by rounding, is believed.
ATTEMPTS = 3

RUNNING, SOLVED, RAY, EXHAUSTED = 0, 1, 2, 3


class Dictionary(NamedTuple):
    """All but one pair of variables in their homes, and what is about to enter."""

    D: Float[Array, "n n"]
    row0: Float[Array, " n"]
    spare: Float[Array, " n"]
    q: Float[Array, " n"]
    z_is_basic: Bool[Array, " n"]
    """Row i holds z_i (else w_i); not meaningful for row k."""
    k: Int[Array, ""]
    z_enters: Bool[Array, ""]


class LemkeState(NamedTuple):
    """A dictionary and the pivot about to be made in it."""

    dictionary: Dictionary
    l: Int[Array, ""]
    rho: Float[Array, " n"]
    """Row of the entering variable after the pivot."""
    c: Float[Array, " n"]
    """Column of the entering variable; 1 in its own new row k, z0's entry in row l."""
    pivot: Scalar
    pivots: Int[Array, ""]
    status: Int[Array, ""]


def lemke(
    M: Float[Array, "n n"], q: Float[Array, " n"], target: Scalar, max_pivots: Int[Array, ""]
) -> tuple[Float[Array, " n"], Int[Array, ""], Int[Array, ""]]:
    """Solve w = M z + q, z ≥ 0, w ≥ 0, zᵀ w = 0 by pivoting from the ray of z0.

    Processes every copositive-plus matrix (positive semidefinite ones among them): it ends with a
    solution, or on a ray that proves there is none. For copositive matrices such as the friction
    problems of this package a solution is found whenever 0 ≤ v ⟂ M v ≥ 0 implies vᵀq ≥ 0
    [Cottle2009, Sec. 4.4]. Ties are broken lexicographically, so that no dictionary returns.
    Where rounding spoils that (hyperstatic contacts of bodies 10,000 times heavier than others) a
    second and third covering vector d are tried.

    Args:
        M, q: The problem.
        target: A further covering vector is tried while max |min(z, w)| is above this.
        max_pivots: Stop after so many pivots for one covering vector.

    Returns:
        z, the number of pivots, and the last status (`SOLVED`, `RAY` or `EXHAUSTED`).
    """
    n = q.shape[0]
    rows, columns = equilibrate(M)
    scaled_q = rows * q
    size = jnp.max(jnp.abs(scaled_q), initial=0)
    size = jnp.where(size > 0, size, 1)
    scaled_M = rows[:, None] * M * columns[None, :]

    def attempt(carry: tuple[Array, ...]) -> tuple[Array, ...]:
        _, pivots, _, _, count = carry
        # 1 at first; then spread over 1 to 2 by multiples of the golden section.
        d = 1 + (0.6180339887498949 * count * jnp.arange(n, dtype=q.dtype)) % 1
        end = _pivot_until_done(_first(scaled_M, scaled_q / size, d), max_pivots)
        # Read z off, and remove the rounding of the pivots by one step of iterative refinement: the
        # home columns of the basic z hold the inverse of their block of the scaled M.
        basic = end.dictionary.z_is_basic
        z = jnp.where(basic, columns * end.dictionary.q * size, 0)
        defect = jnp.where(basic, rows * (M @ z + q), 0)
        z = jnp.maximum(z - jnp.where(basic, columns * (end.dictionary.D @ defect), 0), 0)
        residual = jnp.max(jnp.abs(jnp.minimum(z, M @ z + q)))
        return z, pivots + end.pivots, end.status, residual > target, count + 1

    def unsolved(carry: tuple[Array, ...]) -> Bool[Array, ""]:
        _, _, _, failed, count = carry
        return failed & (count < ATTEMPTS)

    zero = jnp.zeros((), jnp.int32)
    # z = 0 solves the problem when q ≥ 0, and this loop is not entered.
    start = (jnp.zeros_like(q), zero, zero + SOLVED, jnp.min(q) < 0, jnp.zeros((), q.dtype))
    z, pivots, status, _, _ = lax.while_loop(unsolved, attempt, start)
    return z, pivots, status


def _first(M: Float[Array, "n n"], q: Float[Array, " n"], d: Float[Array, " n"]) -> LemkeState:
    """Let z0 enter at the row that first becomes feasible."""
    n = q.shape[0]
    row = jnp.arange(n, dtype=jnp.int32)
    # Of equal rows the last: the others then stay lexicographically positive.
    k = (n - 1 - jnp.argmin((q / d)[::-1])).astype(jnp.int32)
    # z0 = (w_k - M_k z - q_k) / d_k, and the same in all other rows.
    row0 = -M[k] / d[k]
    own = jnp.where(row == k, 1, d)
    base = jnp.where(row == k, 0, q) - own * (q[k] / d[k])
    zero = jnp.zeros((), jnp.int32)
    dictionary = Dictionary(
        D=M + own[:, None] * row0[None, :],
        row0=row0,
        spare=own / d[k],
        q=base,
        z_is_basic=jnp.zeros(n, bool),
        k=k,
        z_enters=jnp.array(True),
    )
    return _plan(dictionary, pivots=zero, status=zero + RUNNING)


def _plan(dictionary: Dictionary, *, pivots: Int[Array, ""], status: Int[Array, ""]) -> LemkeState:
    """Choose the leaving row for the variable in column k, and prepare the vectors of the pivot."""
    D, row0, spare, k = dictionary.D, dictionary.row0, dictionary.spare, dictionary.k
    n = D.shape[0]
    row = jnp.arange(n, dtype=jnp.int32)
    e = lax.dynamic_index_in_dim(D, k, 1, keepdims=False)
    e = jnp.where(row == k, row0[k], e)
    l, blocked = _leaving_row(dictionary, e)
    status = jnp.where((status == RUNNING) & ~blocked, RAY, status).astype(jnp.int32)

    # The leaving variable takes the spare column, whose old content goes home to column k.
    D_l = jnp.where(l == k, row0, lax.dynamic_index_in_dim(D, l, 0, keepdims=False))
    pivot = e[l]
    rho = -jnp.where(row == k, spare[l], D_l) / pivot
    c = jnp.where(row == k, 1, jnp.where(row == l, e[k], e))

    # A finished lane makes the pivot that changes nothing, so that a batch needs no selection.
    run = status == RUNNING
    nowhere = jnp.full((), n, jnp.int32)
    return LemkeState(
        dictionary=dictionary._replace(k=jnp.where(run, k, nowhere)),
        l=jnp.where(run, l, nowhere),
        rho=jnp.where(run, rho, 0),
        c=jnp.where(run, c, 0),
        pivot=jnp.where(run, pivot, 1),
        pivots=pivots,
        status=status,
    )


def _leaving_row(
    dictionary: Dictionary, e: Float[Array, " n"]
) -> tuple[Int[Array, ""], Bool[Array, ""]]:
    """The row that first blocks the entering variable (its column is e), and whether any does."""
    D, q, k = dictionary.D, dictionary.q, dictionary.k
    n = D.shape[0]
    row = jnp.arange(n, dtype=jnp.int32)
    eps = float(jnp.finfo(D.dtype).eps)
    falls = e < -(eps**PIVOT_TOLERANCE_POWER) * jnp.max(jnp.abs(e))
    e = jnp.where(falls, e, -1)
    ratio = jnp.where(falls, jnp.maximum(q, 0) / -e, jnp.inf)
    least = jnp.min(ratio)
    tied = falls & (ratio <= least + eps**TIE_TOLERANCE_POWER * (1 + least))
    # Row k is z0's: when it is among the tied, its leaving ends the search.
    tied = jnp.where(tied[k], row == k, tied)
    tied = _break_ties(dictionary, e, tied)
    l = jnp.min(jnp.where(tied, row, n - 1))
    return l, least < jnp.inf


def _break_ties(
    dictionary: Dictionary, e: Float[Array, " n"], tied: Bool[Array, " n"]
) -> Bool[Array, " n"]:
    """Keep the row that is least lexicographically in B⁻¹/|e|; costs nothing where no rows tie.

    Column j of B⁻¹ is how the basic variables answer to q_j: the unit vector of row j while w_j is
    basic, else minus w_j's own column. Row k never ties here: `_leaving_row` has taken it.
    """
    D, k = dictionary.D, dictionary.k
    n = D.shape[0]
    row = jnp.arange(n, dtype=jnp.int32)
    near = float(jnp.finfo(D.dtype).eps) ** TIE_TOLERANCE_POWER

    def undecided(carry: tuple[Array, Array]) -> Bool[Array, ""]:
        tied, j = carry
        return (jnp.sum(tied) > 1) & (j < n)

    def compare(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        tied, j = carry
        D_j = lax.dynamic_index_in_dim(D, j, 1, keepdims=False)
        D_j = jnp.where((j == k) & dictionary.z_enters, dictionary.spare, D_j)
        nonbasic = (j == k) | dictionary.z_is_basic[j]
        answer = jnp.where(nonbasic, -D_j, (row == j).astype(D.dtype)) / -e
        answer = jnp.where(tied, answer, jnp.inf)
        least = jnp.min(answer)
        return tied & (answer <= least + near * (1 + jnp.abs(least))), j + 1

    return lax.while_loop(undecided, compare, (tied, jnp.zeros((), jnp.int32)))[0]


def _pivot(state: LemkeState, max_pivots: Int[Array, ""]) -> LemkeState:
    """Make the planned pivot and plan the next: the complement of what left enters."""
    old, l, c, rho = state.dictionary, state.l, state.c, state.rho
    k = old.k
    row = jnp.arange(old.q.shape[0], dtype=jnp.int32)
    run = state.status == RUNNING
    D = _with_column(old.D, row == k, old.spare)
    D = jnp.where((row == k)[:, None], 0, D) + c[:, None] * rho[None, :]
    # z0's row: nothing special but its place.
    row0 = jnp.where(row == k, old.spare[k], old.row0) + c[l] * rho
    # Constants: the entering variable's in row k, z0's moves from k to l.
    rho_q = -old.q[l] / state.pivot
    q = jnp.where(row == k, 0, jnp.where(row == l, old.q[k], old.q)) + c * rho_q

    pivots = state.pivots + run.astype(jnp.int32)
    status = jnp.where(run & (l == k), SOLVED, state.status)
    status = jnp.where((status == RUNNING) & (pivots >= max_pivots), EXHAUSTED, status)
    new = Dictionary(
        D=D,
        row0=jnp.where(run, row0, old.row0),
        spare=jnp.where(run, c / state.pivot, old.spare),
        q=jnp.where(run, q, old.q),
        z_is_basic=jnp.where(row == k, old.z_enters, old.z_is_basic),
        k=l,
        z_enters=~old.z_is_basic[l],
    )
    return _plan(new, pivots=pivots, status=status)


def _with_column(
    D: Float[Array, "n n"], here: Bool[Array, " n"], column: Float[Array, " n"]
) -> Float[Array, "n n"]:
    """D with the column marked by `here` replaced."""
    if D.shape[1] > SHORT_ROW:
        return jnp.where(here[None, :], column[:, None], D)
    # The compiler does not vectorize a selection within short rows; products it does.
    here = here.astype(D.dtype)
    return D * (1 - here)[None, :] + column[:, None] * here[None, :]


@jax.custom_batching.custom_vmap
def _pivot_until_done(state: LemkeState, max_pivots: Int[Array, ""]) -> LemkeState:
    return lax.while_loop(lambda s: s.status == RUNNING, lambda s: _pivot(s, max_pivots), state)


@_pivot_until_done.def_vmap
def _(
    axis_size: int, in_batched: Any, state: LemkeState, max_pivots: Any
) -> tuple[LemkeState, Any]:
    """A batch pivots together until all are done; finished lanes stay as they are (`_plan`)."""
    state, max_pivots = spread((state, max_pivots), tuple(in_batched), axis_size)
    step = jax.vmap(_pivot)
    end = lax.while_loop(
        lambda s: jnp.any(s.status == RUNNING), lambda s: step(s, max_pivots), state
    )
    return end, jax.tree.map(lambda _: True, end)
