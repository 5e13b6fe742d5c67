r"""Parameters averaged over which of the setup's numbers are off.

The data say of wanted parameters θ and nuisances z, near the fit,
$\log p = -\tfrac12 |R_{11} \delta\theta + R_{12} z - b_1|^2 - \tfrac12 |R_{22} z - c|^2$.
A hypothesis S says which groups of z are off: $z_S \sim N(0, T)$, the others zero. Its evidence is

$$ \log p(S) = \tfrac12 c^T A C A^T c - \tfrac12 \log\det(I + T A^T A) + \log \pi(S), \qquad
   A = R_{22,S}, \; C = (A^T A + T^{-1})^{-1}, $$

and θ is averaged over hypotheses by it, with the spread between them [Hoeting1999]. Hypotheses are
looked for from the best one to its neighbours, and those far less likely left out, as Occam's
window does [MadiganRaftery1994]. What the data do not demand costs next to nothing; what they
demand is estimated and marginalised; in between the interval is in between.

The prior probability π of a group is at most `SUSPICION`, and less where the data can hardly tell
the group from a wanted parameter: so little that suspecting it widens no interval of a clean log by
more than `PRICE`. What such a test takes for granted is said (`Average.alone`), and counted
in full where the setup declares its tolerance. Evidence would have to be strong to overcome so low
a price; a hint is enough to pay more: where the likelihood ratio of such a group is one that sound
setups exceed in the share `HINT` of logs only, its hypothesis weighs no less than the best. What is
averaged so is not normal: intervals are its quantiles (`mixture_quantile`).
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from stiction._base.arrays import Float
from stiction.identify.fit.least_squares import triangle
from stiction.identify.fit.nuisances import Nuisances

SUSPICION = 0.05  # π: prior probability that a group is off at all
PRICE = 0.02  # share by which one suspicion may widen an interval that needs none
HINT = 0.15  # share of sound logs of which a priced group may be thought to be off
_WINDOW = 6.0  # log odds below the best at which a hypothesis is left out
_MOST_OFF = 6  # groups at once


@dataclass(frozen=True)
class Hypothesis:
    """What the data say if just these groups are off."""

    weight: float
    change: Float[np.ndarray, " n"]  # as in `Average`
    covariance: Float[np.ndarray, "n n"]


@dataclass(frozen=True)
class Average:
    """Parameters and nuisances, averaged."""

    # of the parameters, then the nuisances, from where the data were linearised
    change: Float[np.ndarray, " n"]
    covariance: Float[np.ndarray, "n n"]  # of both
    hypotheses: tuple[Hypothesis, ...]  # that were averaged; their weights sum to 1
    probability: dict[str, float]  # that each group of nuisances is off, by name
    best: frozenset[str]  # the likeliest hypothesis
    # groups that explain the data as well as one of the best hypothesis, by its name
    instead: dict[str, list[str]]
    # groups that were given weight for a hint: their numbers and standard errors
    hinted: dict[str, tuple[np.ndarray, np.ndarray]]
    # covariance of the parameters if no group were off but the declared ones
    clean: Float[np.ndarray, "p p"]
    alone: dict[str, Float[np.ndarray, "p p"]]  # the same if one group were surely off, by name


def average(
    root: Float[np.ndarray, "n n"],
    rhs: Float[np.ndarray, " n"],
    z0: Float[np.ndarray, " q"],
    nuisances: Nuisances,
    seen: np.ndarray,
    misfit: float,
    wanted: Float[np.ndarray, "w p"],
    hints: Collection[str] | None = None,
) -> Average:
    """Average over hypotheses.

    Args:
        root: R of the data's rows over parameters and nuisances: their residual is R δ + rhs.
        rhs: Its right-hand side.
        z0: The nuisances at which they were linearised.
        nuisances: Groups and tolerances.
        seen: Which parameters the data know at all.
        misfit: Variance of the residuals in units of the noise's, at least 1.
        wanted: Derivative of what is asked for by the parameters, to price suspicions by.
        hints: Groups to give weight for a hint, where that was decided before.
    """
    n, q = len(root), len(z0)
    p = n - q
    keep = np.concatenate([np.flatnonzero(seen), np.arange(p, n)])
    m = int(np.sum(seen))
    packed = triangle(np.column_stack([root[:, keep], rhs]))[: m + q] / np.sqrt(misfit)
    R11, R12, b1 = packed[:m, :m], packed[:m, m:-1], -packed[:m, -1]
    R22, c = packed[m:, m:-1], -packed[m:, -1]
    c = c + R22 @ z0
    # Rounding leaves a parameter that nothing tells with a tiny pivot, not a zero.
    solve = np.linalg.pinv(R11, rcond=1e-12)
    G, base = solve @ R12, solve @ solve.T
    tolerance = nuisances.tolerance
    names = [g.name for g in nuisances.suspects]
    place = {g.name: g.place for g in nuisances.suspects}
    known: dict[frozenset[str], tuple] = {}
    asked = wanted[:, seen]

    def posterior(off: frozenset[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray, float, float]:
        """Which nuisances are free, their mean and covariance; evidence by fit, and Occam's."""
        on = np.flatnonzero(nuisances.mask(off))
        t = tolerance[on]
        flat = np.isinf(t)
        unit = np.where(flat, 1.0, t)  # in units of the tolerance; flat priors have none
        A = R22[:, on] * unit
        H = A.T @ A + np.diag(np.where(flat, 1e-12, 1.0))
        C = np.linalg.inv(H)
        mean = C @ (A.T @ c)
        fits, occam = 0.5 * (A.T @ c) @ mean, -0.5 * np.linalg.slogdet(H)[1]
        return on, unit * mean, unit[:, None] * C * unit, float(fits), float(occam)

    def spread_of(on: np.ndarray, C: np.ndarray) -> np.ndarray:
        """Covariance of the parameters, these nuisances free."""
        return base + G[:, on] @ C @ G[:, on].T

    def of_all(spread: np.ndarray) -> np.ndarray:
        """A covariance with zeros for what the data do not know."""
        out = np.zeros((p, p))
        out[np.ix_(seen, seen)] = spread
        return out

    none = posterior(frozenset())
    unsuspecting = spread_of(none[0], none[2])
    clean = _variances(asked, unsuspecting)
    told, odds, alone, priced = np.isfinite(clean), {}, {}, []
    for name in names:
        on, _, C, _, occam = posterior(frozenset({name}))
        spread = spread_of(on, C)
        alone[name] = of_all(spread)
        dearest = np.max(_variances(asked, spread)[told] / clean[told], initial=1.0)
        cost = np.exp(occam - none[4]) * dearest  # of a clean log, for odds of 1
        odds[name] = np.log(min(SUSPICION, 2 * PRICE / cost))
        if 2 * PRICE / cost < SUSPICION:
            priced.append(name)

    def judge(off: frozenset[str]) -> float:
        if off not in known:
            on, mean, C, fits, occam = posterior(off)
            known[off] = fits + occam + sum(odds[name] for name in off), on, mean, C, fits
        return known[off][0]

    best = frozenset()
    judge(best)
    while True:  # uphill, one group in or out
        near = [best ^ {name} for name in names]
        near += [best - {a} | {b} for a in best for b in names if b not in best]
        near = [s for s in near if len(s) <= _MOST_OFF]
        top = max(near, key=judge, default=best)
        if judge(top) <= judge(best):
            break
        best = top
    scores = {s: v[0] for s, v in known.items() if v[0] > judge(best) - _WINDOW}
    hinted = {}
    for name in priced:
        with_it = best | {name}
        judge(with_it)
        _, on, mean, C, fits = known[with_it]
        own = np.isin(on, np.arange(q)[place[name]])
        likelier = 2 * (fits - known[best][4]) > chi2.isf(HINT, own.sum())
        if name not in best and (likelier if hints is None else name in hints):
            hinted[name] = mean[own], np.sqrt(np.diag(C)[own])
    for with_it in (best | {name} for name in hinted):  # as likely together as the best
        scores[with_it] = max(judge(with_it), judge(best) - np.log(len(hinted)))
    weights = {s: float(np.exp(v - judge(best))) for s, v in scores.items()}

    def fits_without(gone: str, other: str) -> float:
        swapped = best - {gone} | {other}
        judge(swapped)
        return known[swapped][4]

    as_well = known[best][4] - 0.5 * chi2.isf(HINT, 1)
    others = [n for n in names if n not in best]
    instead = {g: [n for n in others if fits_without(g, n) > as_well] for g in best}
    total = sum(weights.values())
    hypotheses = []
    for s, weight in weights.items():
        _, on, mean, C, _ = known[s]
        z, cov_z = np.zeros(q), np.zeros((q, q))
        z[on] = mean
        cov_z[np.ix_(on, on)] = C
        delta = solve @ b1 - G @ (z - z0)
        change, spread = np.zeros(n), np.zeros((n, n))
        change[keep] = np.concatenate([delta, z - z0])
        spread[np.ix_(keep, keep)] = np.block(
            [[base + G @ cov_z @ G.T, -G @ cov_z], [-cov_z @ G.T, cov_z]]
        )
        hypotheses.append(Hypothesis(weight / total, change, spread))
    mean = sum((h.weight * h.change for h in hypotheses), np.zeros(n))
    covariance = np.zeros((n, n))
    for h in hypotheses:
        apart = h.change - mean
        covariance += h.weight * (h.covariance + np.outer(apart, apart))
    likely = {g: sum(x for s, x in weights.items() if g in s) / total for g in names}
    return Average(
        mean,
        covariance,
        tuple(hypotheses),
        likely,
        best,
        instead,
        hinted,
        of_all(unsuspecting),
        alone,
    )


def mixture_quantile(
    part: float,
    weight: Float[np.ndarray, " h"],
    mean: Float[np.ndarray, " h"],
    std: Float[np.ndarray, " h"],
) -> float:
    """Below which a part of a weighted sum of normal densities lies."""
    from scipy.optimize import brentq
    from scipy.stats import norm

    ends = norm.ppf(part) * std + mean
    if np.ptp(ends) == 0:
        return float(ends[0])
    below = lambda x: float(weight @ norm.cdf((x - mean) / std)) - part  # noqa: E731
    root = brentq(below, ends.min(), ends.max(), xtol=1e-6 * float(std.min()))
    return float(root)  # type: ignore[arg-type]


def _variances(wanted: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Of those of the wanted quantities that have any."""
    out = np.einsum("wi,ij,wj->w", wanted, covariance, wanted)
    return np.where(out > 0, out, np.inf)
