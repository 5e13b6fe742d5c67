"""What is left after the fit: does it look like noise?

A residual that is no larger than the noise may still say that the model is wrong: it keeps its sign
over many samples, it is there in free air, a few samples stand out. Each is tested by itself and
named. Correlated residuals carry less information than their number; intervals grow accordingly.
"""

from dataclasses import dataclass

import numpy as np

from stiction._base.arrays import Bool, Float
from stiction.tables import intervals

_OUTLYING = 6.0  # standard deviations
_LONGEST_RUN = 2.5  # samples: outliers stand alone; longer runs are a model that is wrong
_MOST_OUTLYING = 0.25  # share of samples: more are no outliers
_IN_AIR = 5.0  # standard errors of the mean force in free air
_FEWEST = 12
_CORRELATED = 4.0  # standard errors of the lag-one correlation
_LAGS = 10


@dataclass(frozen=True)
class ResidualVerdict:
    """What the residuals of a fit say."""

    inflation: float  # by how much correlation makes variances larger
    warnings: list[str]  # plain sentences


def outliers(residual: Float[np.ndarray, "n 6"], used: Bool[np.ndarray, " n"]) -> np.ndarray:
    """Which samples stand out alone, of residuals in units of the noise."""
    size = np.max(np.abs(residual), axis=1)
    typical = float(np.median(size[used])) / 1.9 if used.any() else 1.0  # of the largest of six
    out = used & (size > _OUTLYING * max(typical, 1.0))
    runs = [after - first for first, after in intervals(out)]
    if not runs or np.mean(runs) > _LONGEST_RUN or out.sum() > _MOST_OUTLYING * used.sum():
        return np.zeros(len(out), dtype=bool)
    return out


def judge_residuals(
    residuals: list[Float[np.ndarray, "n 6"]],
    used: list[Bool[np.ndarray, " n"]],
    in_air: list[Bool[np.ndarray, " n"]],
) -> ResidualVerdict:
    """Judge the residuals of several tests, in units of the noise."""
    warnings: list[str] = []
    top, names = 0.0, ("force x", "force y", "force z", "moment x", "moment y", "moment z")
    inflation = 1.0
    for i, name in enumerate(names):
        r = [x[u, i] for x, u in zip(residuals, used, strict=True)]
        n = sum(len(x) for x in r)
        if n < _FEWEST:
            continue
        lags = _correlations(r)
        if lags[0] * np.sqrt(n) > _CORRELATED and lags[0] > top:
            top = lags[0]
            warnings = [
                f"the residual of {name} keeps its sign from sample to sample (correlation"
                f" {lags[0]:.2f}): drift, a filter, play or a law that does not hold; intervals are"
                " widened by it"
            ]
        # Geyer's initial sequence: as long as the correlation stays above its noise.
        size = np.sum(np.concatenate(r) ** 2) / n
        first = int(np.argmax(np.append(lags, -1) < 2 / np.sqrt(n)))
        inflation = max(inflation, (1 + 2 * np.sum(lags[:first])) * max(size, 1.0))
    air = [x[u] for x, u in zip(residuals, in_air, strict=True)]
    air = np.concatenate(air) if air else np.zeros((0, 6))
    if len(air) >= _FEWEST:
        z = air.mean(axis=0) * np.sqrt(len(air))
        worst = int(np.argmax(np.abs(z)))
        if abs(z[worst]) > _IN_AIR:
            warnings.append(
                f"{names[worst]} is not zero in free air: {air[:, worst].mean():+.2g} times the"
                f" noise over {len(air)} samples ({abs(z[worst]):.0f} standard errors); an offset,"
                " a cable, the tool's weight, or a plate nearer than the setup says"
            )
    return ResidualVerdict(float(inflation), warnings)


def _correlations(parts: list[np.ndarray]) -> np.ndarray:
    """Of a residual with itself, one to ten samples later; not about its mean, which is to be 0."""
    square = sum(float(x @ x) for x in parts)
    return np.array(
        [sum(float(x[:-k] @ x[k:]) for x in parts if len(x) > k) for k in range(1, _LAGS + 1)]
    ) / max(square, 1e-300)
