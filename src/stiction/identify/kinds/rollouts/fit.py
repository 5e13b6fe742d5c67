r"""Fit the numbers of a contact's law so that rollouts follow what was measured.

The distance of row k of rollout i is a vector $r_{ik}(\theta)$ whose length is that of the bodies'
mass points, in the mean [m]. As a function of θ it is smooth in pieces only: where the order of two
impacts changes it jumps, and its derivative there says nothing of what a larger step does. So θ is
changed within a region, as wide as its own uncertainty, and every row is regressed on the change,

$$ r_{ik}(\theta + \delta) \approx \bar r_{ik} + J_{ik} \delta , $$

with $e_{ik}$ what this leaves; the step solves $\sum_{ik} \rho(|\bar r_{ik} + J_{ik} \delta| /
\sigma_{ik}) \to \min$ with $\sigma_{ik}^2 = \sigma_k^2 + e_{ik}^2$. Errors grow along a rollout,
since every impact magnifies them: $\sigma_k$ is their usual size k rows after the first touch, a
median over the rollouts. Without it the last rows, which tell least, would weigh most; and what
jumps within the region weighs little. Then the region moves, and shrinks to what the data leave
open. It begins at the best of some points spread over what is possible.
Where rollouts jump often, the minimum that a region gives is itself uncertain, by more than the
standard error. From when the regions no longer shrink, their minima are therefore averaged, until
the mean is known better than that; its own error is added.

Rows of one rollout are not independent. So the covariance is that of whole rollouts,
$H^{-1} (\sum_i g_i g_i^T) H^{-1}$ with $g_i$ the gradient of rollout i and H the curvature of the
sum [Liang1986].
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import qmc

from stiction._base.arrays import Bool, Float, Int
from stiction.identify.fit import least_squares, robust
from stiction.identify.kinds.rollouts.engine import Lanes, RolloutEngine
from stiction.identify.kinds.rollouts.parameters import PARAMETERS, reach
from stiction.identify.kinds.rollouts.told import as_good

_SPINS, _NEARER, _ZOOM = 12, 3, 0.2  # spins tried first, for each not seen; then nearer ones
_SPREAD, _FEW = 24, 32  # points that are tried first, with at most so many rollouts
_PAIRS = 2  # pairs of points in a region, for each number
_STAGES = 20
_ATTEMPTS = 3  # at finding a better point far away, where spins were not seen
_SWEPT = 9  # values of each number that are tried for that
_SOLVES = 8  # of one region, weights in turn
_FIRST = 0.3  # of what is possible: the first region
_SHRINK = 0.2  # of a region, to the next
_WIDE = 2.5  # standard errors that a region spans, either way
_ENOUGH = 0.25  # standard errors: a smaller step says nothing
_FEWEST, _AVERAGED = 3, 8  # regions whose minima are averaged
_ROUGH = 0.5  # standard errors: how well their mean is to be known
_NARROW = 0.02  # of the usual spin: the narrowest region of spins
_CLOSE = 1e-7  # of a number: a narrower region is rounding
_TINY = 1e-12  # m: no two configurations agree better


@dataclass(frozen=True)
class RolloutFit:
    """What a fit comes out as."""

    values: Float[np.ndarray, " p"]  # θ: the wanted numbers, then what the setup may have wrong
    covariance: Float[np.ndarray, "p p"]  # of θ, rollouts being independent of each other
    # |r| of every row, not a number where it was not compared [m]
    size: Float[np.ndarray, "n rows"]
    condition: float  # condition number of the weighted derivatives, columns of equal length
    rounds: int  # evaluations of all rollouts
    settled: bool  # whether the last step was smaller than its error
    early: Bool[np.ndarray, " n"]  # which rollouts ended before their last row
    own: Float[np.ndarray, "n u"]  # turn rates at the start that were not seen, by rollout [rad/s]
    # between which values each wanted number follows the recordings as well, where that is more
    # than the interval says
    as_good: Float[np.ndarray, "w 2"]


class Region(NamedTuple):
    """Rows as linear functions of θ about a centre."""

    r: Float[np.ndarray, "n rows nv"]  # zero where not compared, as J is
    J: Float[np.ndarray, "n rows nv p"]
    jumps: Float[np.ndarray, "n rows"]  # e: size of what is left [m]
    good: Bool[np.ndarray, "n rows"]


def fit(
    engine: RolloutEngine,
    lanes: Lanes,
    theta: Float[np.ndarray, " p"],
    *,
    compared: Bool[np.ndarray, "n rows"],
    since_touch: Int[np.ndarray, "n rows"],
    loss: robust.Loss,
    prior: Float[np.ndarray, " p"],
    spin: float = 1.0,
    half_width: float = 1.96,
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
        prior: Standard deviation of each number about `theta`; infinite for those wanted.
        spin: Standard deviation about zero of each rollout's turn rates that were not seen [rad/s].
        half_width: Of intervals, in standard errors.
        tell: Called with what is being done.
    """
    start, wanted = theta, len(engine.wanted)
    bounds = [PARAMETERS[name] for name in engine.wanted]
    free = np.full(len(theta) - wanted, np.inf)
    lower = np.concatenate([[b.lower for b in bounds], -free])
    upper = np.concatenate([[b.upper for b in bounds], free])
    low, high = reach(engine.wanted, theta)
    possible = np.concatenate([high - low, 2 * prior[wanted:]])
    rounds = 0

    own = np.zeros((len(compared), len(engine.unobserved)))

    def at(
        theta: np.ndarray,
        some: Lanes = lanes,
        rows: np.ndarray = compared,
        more: float | np.ndarray = 0.0,
    ) -> np.ndarray:
        """r; not numbers where it is not compared. `more` is added to the spins of all."""
        nonlocal rounds
        rounds += 1
        spins = None
        if engine.unobserved:
            spins = (own if rows is compared else np.zeros((len(rows), own.shape[1]))) + more
        return np.where(rows[..., None], engine.distances(theta, some, spins), np.nan)

    def told(stage: str, theta: np.ndarray) -> None:
        now = ", ".join(f"{n} {x:.4g}" for n, x in zip(engine.wanted, theta, strict=False))
        tell(f"{stage}: {now}")

    told("trying what is possible", theta)
    search = _Search(at, engine, lanes, compared, since_touch, spin)
    theta = search.best_of_many(theta)
    for attempt in range(_ATTEMPTS):
        if engine.unobserved:
            _, own = search.best_spins(theta, lanes, compared)
        wide, settled, turning = _FIRST * possible, False, _FIRST * spin
        minima, rough = [], np.zeros(len(theta))
        for stage in range(_STAGES):
            told(f"rolling out, region {stage + 1}", theta)
            region = _region(at, theta, wide, lower, upper, len(engine.unobserved) * [turning])
            step, cov, condition, spins = _step(
                region, theta - start, prior, since_touch, loss, own, spin
            )
            own = own + np.clip(spins, -1.5 * turning, 1.5 * turning)
            turning = max(_SHRINK * turning, _NARROW * spin)
            step = np.clip(np.clip(step, -1.5 * wide, 1.5 * wide), lower - theta, upper - theta)
            theta = theta + step
            std = np.sqrt(np.diag(cov))
            known = np.isfinite(std)
            narrow = wide <= np.maximum(2 * _WIDE * std, _CLOSE * np.maximum(np.abs(theta), 1e-3))
            small = np.abs(step) <= np.maximum(_ENOUGH * std, _CLOSE * np.abs(theta))
            settled = bool(np.all((narrow & small) | ~known))
            if settled:
                break
            minima = [*minima, theta][-_AVERAGED:] if np.all(narrow | ~known) else []
            if len(minima) >= _FEWEST:
                rough = np.std(minima, axis=0, ddof=1) / np.sqrt(len(minima))
                settled = bool(np.all((rough <= _ROUGH * std) | ~known))
                if settled:
                    theta = np.mean(minima, axis=0)
                    break
            next_wide = np.maximum(_SHRINK * wide, 2 * np.abs(step))
            next_wide = np.maximum(next_wide, _WIDE * np.where(known, std, 0.0))
            wide = np.where(np.abs(step) > 0.7 * wide, wide, np.minimum(next_wide, wide))
        # Spins of their own can make up for a wrong number: is there a better one far away?
        other = search.elsewhere(theta) if engine.unobserved and attempt + 1 < _ATTEMPTS else None
        if other is None:
            break
        theta = other
    size = np.linalg.norm(at(theta), axis=-1)
    told("trying what is far away", theta)

    def sizes(theta: np.ndarray) -> np.ndarray:
        if engine.unobserved:
            return search.best_spins(theta, lanes, compared)[0]
        return np.linalg.norm(at(theta), axis=-1)

    half = half_width * np.sqrt(np.diag(cov)[:wanted] + rough[:wanted] ** 2)
    scale = usual_size(size, since_touch)
    ends = as_good(sizes, theta, half, (low, high), scale, compared, loss, half_width)
    return RolloutFit(
        values=theta,
        covariance=cov + np.diag(rough**2),
        size=size,
        condition=condition,
        rounds=rounds,
        settled=settled,
        early=np.any(np.isnan(size) & compared, axis=1),
        own=own,
        as_good=ends,
    )


def usual_size(
    size: Float[np.ndarray, "n rows"], since_touch: Int[np.ndarray, "n rows"]
) -> Float[np.ndarray, "n rows"]:
    """σ: the median of |r| over the rollouts, row by row after the first touch [m]."""
    known = np.isfinite(size)
    rows = int(since_touch[known].max(initial=0)) + 1
    sigma = np.full(rows, np.nan)
    for k in range(rows):
        here = size[known & (since_touch == k)]
        if len(here):
            sigma[k] = np.median(here)
    # Where few are left, and in a fit without noise, no row may outweigh all others.
    least = max(1e-3 * float(np.nanmax(sigma)), _TINY)
    sigma = np.where(np.isnan(sigma), np.nanmax(sigma), np.maximum(sigma, least))
    return sigma[np.clip(since_touch, 0, rows - 1)]


class _Search:
    """Where the regions begin: by the likelihood of errors whose size is unknown, row by row.

    It is the sum of the logarithms of their medians. Few rollouts will do. Of spins that were not
    seen each rollout has the one, of those tried, that suits it best.
    """

    def __init__(self, at, engine: RolloutEngine, lanes: Lanes, compared, since_touch, spin: float):
        from scipy.stats import norm

        some = np.zeros(len(compared), dtype=bool)
        some[:: -(-len(compared) // _FEW)] = True
        self.at, self.engine = at, engine
        self.lanes, self.rows = lanes.part(some, compared.shape[1]), compared[some]
        self.since_touch = since_touch[some]
        count = len(engine.unobserved)
        spread = qmc.Halton(max(count, 1), scramble=False).random(_SPINS * count + 1)[1:, :count]
        self.tried = np.concatenate([np.zeros((1, count)), spin * norm.ppf(spread)])

    def best_spins(self, theta, some: Lanes, rows) -> tuple[np.ndarray, np.ndarray]:
        """|r| with the spin that suits each rollout best, nearer and nearer; and these spins."""
        spins, reach = np.zeros((len(rows), self.tried.shape[1])), 1.0
        for _ in range(_NEARER if self.engine.unobserved else 1):
            many = [spins + reach * s for s in self.tried]
            size = np.stack([np.linalg.norm(self.at(theta, some, rows, s), axis=-1) for s in many])
            size = np.where(rows & np.isnan(size), 1e3, size)  # ended early
            # The median of its rows: late ones must not decide alone.
            best = np.argmin(np.nanmedian(np.where(rows, size, np.nan), axis=2), axis=0)
            spins = np.stack(many)[best, np.arange(len(rows))]
            reach *= _ZOOM
        return size[best, np.arange(len(rows))], spins

    def cost(self, theta: np.ndarray) -> float:
        """Minus the logarithm of the likelihood, up to a number."""
        size, _ = self.best_spins(theta, self.lanes, self.rows)
        return float(np.sum(np.log(usual_size(size, self.since_touch)[self.rows])))

    def best_of_many(self, theta: np.ndarray) -> np.ndarray:
        """The likeliest of some points spread over what is possible, the given one among them."""
        low, high = reach(self.engine.wanted, theta)
        logarithmic = np.array([PARAMETERS[n].most is None for n in self.engine.wanted])
        trials = [theta]
        for u in qmc.Halton(len(low), scramble=False).random(_SPREAD + 1)[1:]:
            trial = theta.copy()
            even = low + u * (high - low)
            with np.errstate(divide="ignore", invalid="ignore"):
                trial[: len(low)] = np.where(logarithmic, low * (high / low) ** u, even)
            trials.append(trial)
        return min(trials, key=self.cost)

    def elsewhere(self, theta: np.ndarray) -> np.ndarray | None:
        """A likelier point with one number changed; none if there is none."""
        low, high = reach(self.engine.wanted, theta)
        trials = []
        for i, (a, b) in enumerate(zip(low, high, strict=True)):
            for x in np.linspace(a, b, _SWEPT + 2)[1:-1]:
                trials.append(theta.copy())
                trials[-1][i] = x
        best = min(trials, key=self.cost)
        return best if self.cost(best) < self.cost(theta) else None


def _region(at, theta, wide, lower, upper, turning=()) -> Region:
    """Every row regressed on θ, and on spins that were not seen, about the middle of a region.

    Points come in pairs. Beside the slopes goes one column for curvature, which would else shift
    the middle.
    """
    wide = np.append(wide, turning)
    n, p = len(theta), len(wide)
    u = 2 * qmc.Halton(p, scramble=False).random(_PAIRS * p + 1)[1:] - 1
    points = np.concatenate([np.zeros((1, p)), u, -u]) * wide
    points[:, :n] = np.clip(theta + points[:, :n], lower, upper) - theta
    values = np.stack([at(theta + d[:n], more=d[n:]) for d in points])
    good = np.asarray(np.isfinite(values).all(axis=(0, -1)))
    unit = points / wide
    A = np.column_stack([np.ones(len(unit)), unit, np.sum(unit**2, axis=1)])
    values = np.where(good[..., None], values, 0.0)
    fitted = np.tensordot(np.linalg.pinv(A), values, axes=1)
    left = values - np.tensordot(A, fitted, axes=1)
    freedom = max(len(A) - A.shape[1], 1)
    jumps = np.sqrt(np.sum(left**2, axis=(0, -1)) / freedom)
    J = np.moveaxis(fitted[1 : 1 + p], 0, -1) / wide
    return Region(fitted[0], J, jumps, good)


def _step(
    region: Region, already, prior, since_touch, loss: robust.Loss, own: np.ndarray, spin: float
) -> tuple[np.ndarray, np.ndarray, float, np.ndarray]:
    """The step to the minimum within a region, its covariance, the condition number, and spins.

    What belongs to one rollout alone, its spins `own`, known to ± `spin` about zero, is eliminated
    from its rows by orthogonal factors, so that only θ is left.
    """
    whole, full, jumps, good = region
    p = full.shape[-1] - own.shape[1]
    believed = np.where(np.isfinite(prior), 1 / prior, 0.0)
    step, spins = np.zeros(p), np.zeros_like(own)
    for _ in range(_SOLVES):
        now = whole + full[..., :p] @ step + np.einsum("nkiu,nu->nki", full[..., p:], spins)
        size = np.where(good, np.linalg.norm(now, axis=-1), np.nan)
        scale = np.hypot(usual_size(size, since_touch), jumps)
        root = good * np.sqrt(robust.weight(np.nan_to_num(size) / scale, loss)) / scale
        r, J, spins_of = _without_own(whole, full, root, p, own, spin)
        A = np.concatenate([(J * root[..., None, None]).reshape(-1, p), np.diag(believed)])
        b = np.concatenate([(r * root[..., None]).ravel(), believed * already])
        R, z = least_squares.orthogonal_factor(A, -b)
        columns = least_squares.column_sizes(R)
        before, step = step, np.linalg.lstsq(R / columns, z, rcond=least_squares.RANK)[0] / columns
        spins = spins_of(step)
        if np.linalg.norm(R @ (step - before)) < 1e-3 * _ENOUGH:
            break
    now = r + J @ step
    cov = covariance_of_rollouts(now, J, np.where(good, scale, np.inf), believed, loss)
    return step, cov, least_squares.scaled_condition(R), spins


def _without_own(r, J, root, p: int, own: np.ndarray, spin: float):
    """Rows from which the spins are eliminated, and the spins that go with a step of θ."""
    n, u = own.shape
    if u == 0:
        return r, J, lambda step: own
    weight = root[..., None, None]
    A = (J[..., p:] * weight).reshape(n, -1, u)
    prior = np.broadcast_to(np.eye(u) / spin, (n, u, u))
    Q, R = np.linalg.qr(np.concatenate([A, prior], axis=1))
    rows = np.concatenate([J[..., :p], r[..., None]], axis=-1)
    b = (rows * weight).reshape(n, -1, p + 1)
    last = np.concatenate([np.zeros((n, u, p)), own[..., None] / spin], axis=-1)
    known = np.concatenate([b, last], axis=1)
    inside = np.einsum("nau,nap->nup", Q, known)
    left = (known - np.einsum("nau,nup->nap", Q, inside))[:, : b.shape[1]].reshape(rows.shape)
    left = np.divide(left, weight, out=np.zeros_like(left), where=weight > 0)

    def spins_of(step: np.ndarray) -> np.ndarray:
        rhs = inside[..., :p] @ step + inside[..., p]
        return -np.linalg.solve(R, rhs[..., None])[..., 0]

    return left[..., p], left[..., :p], spins_of


def covariance_of_rollouts(
    r: Float[np.ndarray, "n rows nv"],
    J: Float[np.ndarray, "n rows nv p"],
    scale: Float[np.ndarray, "n rows"],
    believed: Float[np.ndarray, " p"],
    loss: robust.Loss,
) -> Float[np.ndarray, "p p"]:
    r"""Of whole rollouts, with the exact curvature of the loss.

    $\rho(|u|)/2$ has the curvature w along all directions but that of u, and
    $w + |u| w'$ along u, with w the weight.
    """
    s = np.linalg.norm(r, axis=-1) / scale
    w = robust.weight(s, loss) / scale**2
    radial = s * robust.slope(s, loss) / scale**2
    u = r / np.maximum(np.linalg.norm(r, axis=-1, keepdims=True), _TINY)
    along = np.einsum("nki,nkip->nkp", u, J)
    H = np.einsum("nk,nkip,nkiq->pq", w, J, J) + np.diag(believed**2)
    H += np.einsum("nk,nkp,nkq->pq", radial, along, along)
    g = np.einsum("nk,nki,nkip->np", w, r, J)
    n, p = g.shape
    spread = g.T @ g * n / max(n - p, 1) + np.diag(believed**2)
    size = np.sqrt(np.abs(np.diag(H)))
    lost = size == 0  # no rollout depends on these
    kept = np.flatnonzero(~lost)
    cov = np.diag(np.where(lost, np.inf, 0.0))
    scaled = H[np.ix_(kept, kept)] / size[kept] / size[kept][:, None]
    if len(kept) and np.linalg.cond(scaled) > 1 / least_squares.RANK:
        return np.diag(np.full(p, np.inf))
    inverse = np.linalg.inv(scaled) / size[kept] / size[kept][:, None]
    cov[np.ix_(kept, kept)] = inverse @ spread[np.ix_(kept, kept)] @ inverse
    return cov
