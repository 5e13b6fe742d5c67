r"""Fit the numbers of a contact's law so that rollouts follow what was measured.

The distance of row k of rollout i is a vector $r_{ik}(\theta)$ whose length is that of the bodies'
mass points, in the mean [m]; its derivative by θ goes forwards through the engine, events included.
Levenberg-Marquardt on a robust loss,

$$ \sum_{ik} \rho(|r_{ik}| / \sigma_k) \to \min , $$

by orthogonal factors. (Robust losses of SciPy and optimistix take numbers one by one; here a row is
judged by its length, and its scale is found on the way.) Errors grow along a rollout, since every
impact magnifies them: $\sigma_k$ is their usual size k rows after the first touch, a median over
the rollouts, found along with θ. Without it the last rows, which tell least, would weigh most.

Rows of one rollout are not independent. So the covariance is that of whole rollouts,
$H^{-1} (\sum_i g_i g_i^T) H^{-1}$ with $g_i$ the gradient of rollout i and H the curvature of the
sum [Liang1986].
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Bool, Float, Int
from stiction.identify.fit import least_squares, robust
from stiction.identify.kinds.rollouts.engine import Lanes, RolloutEngine, distances
from stiction.identify.kinds.rollouts.parameters import PARAMETERS

_ROUNDS = 30
_ENOUGH = 0.1  # standard errors: a smaller step says nothing
_CLOSE = 1e-9  # relative: a smaller step is rounding
_FIRST, _HARDEST = 1e-2, 1e4  # damping: the least, and that beyond which no step makes it better
_TINY = 1e-12  # m: no two configurations agree better


@dataclass(frozen=True)
class RolloutFit:
    """What a fit comes out as.

    Attributes:
        values: θ.
        covariance: Of θ, rollouts being independent of each other.
        spread: σ, row by row after the first touch [m].
        size: |r| of every row, not a number where it was not compared [m].
        condition: Condition number of the weighted derivatives, columns of equal length.
        rounds: Evaluations of all rollouts.
        early: Which rollouts ended before their last row.
    """

    values: Float[np.ndarray, " p"]
    covariance: Float[np.ndarray, "p p"]
    spread: Float[np.ndarray, " k"]
    size: Float[np.ndarray, "n rows"]
    condition: float
    rounds: int
    early: Bool[np.ndarray, " n"]


class RolloutComparison(NamedTuple):
    """Rollouts at one θ."""

    theta: np.ndarray
    r: np.ndarray  # zero where not compared, as J is
    J: np.ndarray
    size: np.ndarray  # of r, not a number where not compared


def fit(
    engine: RolloutEngine,
    lanes: Lanes,
    theta: Float[np.ndarray, " p"],
    *,
    compared: Bool[np.ndarray, "n rows"],
    since_touch: Int[np.ndarray, "n rows"],
    loss: robust.Loss,
    tell: Callable[[str], None] = lambda text: None,
) -> RolloutFit:
    """The numbers with which rollouts follow their measurements best.

    Args:
        engine: What carries a rollout out.
        lanes: Starts and measurements.
        theta: Where the search begins.
        compared: Which rows count, all from the first touch on.
        since_touch: Rows since the first touch.
        loss: "squares", "huber" or "tukey".
        tell: Called with what is being done.
    """
    bounds = [PARAMETERS[name] for name in engine.wanted]
    lower, upper = np.array([b.lower for b in bounds]), np.array([b.upper for b in bounds])
    rounds = 0

    def at(theta: np.ndarray) -> RolloutComparison:
        nonlocal rounds
        rounds += 1
        now = ", ".join(f"{n} {x:.4g}" for n, x in zip(engine.wanted, theta, strict=True))
        tell(f"rolling out, round {rounds}: {now}")
        return _compare(*distances(engine, lanes, theta), theta, compared)

    here, damping = at(np.clip(theta, lower, upper)), 0.0
    while True:
        sigma = usual_size(here.size, since_touch)
        scale = sigma[np.clip(since_touch, 0, len(sigma) - 1)]
        R, z = _weighted(here, scale, loss)
        cov = _covariance(here, scale, loss)
        std = np.sqrt(np.diag(cov))
        least = np.maximum(_ENOUGH * std, _CLOSE * np.abs(here.theta))
        before = here
        while rounds < _ROUNDS and damping <= _HARDEST:
            step = _damped_step(R, z, damping)
            theta = np.clip(here.theta + step, lower, upper)
            if np.all(np.abs(theta - here.theta) <= least):
                break
            there = at(theta)
            if _is_better(there, here, scale, loss):
                here, damping = there, damping / 10 if damping > _FIRST else 0.0
                break
            damping = max(10 * damping, _FIRST)
        if here is before:
            break
    return RolloutFit(
        values=here.theta,
        covariance=cov,
        spread=sigma,
        size=here.size,
        condition=least_squares.scaled_condition(R),
        rounds=rounds,
        early=np.any(np.isnan(here.size) & compared, axis=1),
    )


def usual_size(
    size: Float[np.ndarray, "n rows"], since_touch: Int[np.ndarray, "n rows"]
) -> Float[np.ndarray, " k"]:
    """σ: the median of |r| over the rollouts, row by row after the first touch [m]."""
    known = np.isfinite(size)
    rows = int(since_touch[known].max()) + 1
    sigma = np.full(rows, np.nan)
    for k in range(rows):
        sigma[k] = np.median(size[known & (since_touch == k)])
    # Where few are left, and in a fit without noise, no row may outweigh all others.
    return np.maximum(sigma, max(1e-3 * float(np.nanmax(sigma)), _TINY))


def _compare(
    r: np.ndarray, J: np.ndarray, theta: np.ndarray, compared: np.ndarray
) -> RolloutComparison:
    # A derivative across a rollout that is about to fail may be infinite: that row is out.
    good = compared & np.isfinite(r).all(axis=-1) & np.isfinite(J).all(axis=(-1, -2))
    r = np.where(good[..., None], r, 0.0)
    J = np.where(good[..., None, None], J, 0.0)
    return RolloutComparison(theta, r, J, np.where(good, np.linalg.norm(r, axis=-1), np.nan))


def _weighted(
    here: RolloutComparison, scale: np.ndarray, loss: robust.Loss
) -> tuple[np.ndarray, np.ndarray]:
    """Triangular factor of the weighted derivatives, and the right-hand side of a step."""
    s = np.nan_to_num(here.size) / scale
    root = np.sqrt(robust.weight(s, loss)) / scale
    A = (here.J * root[..., None, None]).reshape(-1, here.J.shape[-1])
    return least_squares.orthogonal_factor(A, -(here.r * root[..., None]).ravel())


def _damped_step(R: np.ndarray, z: np.ndarray, damping: float) -> np.ndarray:
    """Levenberg-Marquardt: the damping is a part of each column's own size."""
    size = np.linalg.norm(R, axis=0)
    size[size == 0] = 1.0
    A = np.concatenate([R / size, np.sqrt(damping) * np.eye(len(z))])
    b = np.concatenate([z, np.zeros(len(z))])
    return np.linalg.lstsq(A, b, rcond=least_squares.RANK)[0] / size


def _is_better(
    there: RolloutComparison, here: RolloutComparison, scale: np.ndarray, loss: robust.Loss
) -> bool:
    """Whether the loss is less, over the rows that both have."""
    both = np.isfinite(there.size) & np.isfinite(here.size)
    a, b = (float(np.sum(robust.cost(x.size[both] / scale[both], loss))) for x in (there, here))
    return a < b


def _covariance(here: RolloutComparison, scale: np.ndarray, loss: robust.Loss) -> np.ndarray:
    r"""Of whole rollouts, with the exact curvature of the loss.

    $\rho(|u|)/2$ has the curvature w along all directions but that of u, and
    $w + |u| w'$ along u, with w the weight.
    """
    s = jnp.asarray(np.nan_to_num(here.size) / scale)
    w = np.asarray(robust.weight(s, loss)) / scale**2
    slope = jax.grad(lambda s: jnp.sum(robust.weight(s, loss)))(s)
    radial = np.asarray(s * slope) / scale**2
    u = here.r / np.maximum(np.linalg.norm(here.r, axis=-1, keepdims=True), _TINY)
    along = np.einsum("nki,nkip->nkp", u, here.J)
    H = np.einsum("nk,nkip,nkiq->pq", w, here.J, here.J)
    H += np.einsum("nk,nkp,nkq->pq", radial, along, along)
    g = np.einsum("nk,nki,nkip->np", w, here.r, here.J)
    size = np.sqrt(np.abs(np.diag(H)))
    lost = size == 0  # no rollout depends on these
    kept = np.flatnonzero(~lost)
    cov = np.diag(np.where(lost, np.inf, 0.0))
    scaled = H[np.ix_(kept, kept)] / size[kept] / size[kept][:, None]
    if len(kept) and np.linalg.cond(scaled) > 1 / least_squares.RANK:
        return np.diag(np.full(len(size), np.inf))
    inverse = np.linalg.inv(scaled) / size[kept] / size[kept][:, None]
    n = len(g)
    cov[np.ix_(kept, kept)] = inverse @ (g.T @ g)[np.ix_(kept, kept)] @ inverse * n / max(n - 1, 1)
    return cov
