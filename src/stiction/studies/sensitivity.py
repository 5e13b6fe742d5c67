"""Which of the drawn numbers matters: Sobol indices, with intervals.

The variance of an outcome is split [Sobol1993]: the first-order index of a number is the share
that goes away on average when it alone is known, its total index the share that stays when all
others are known. Both are 0 to 1; a total index above the first-order one is interaction. From the
matrices A, B and AB_i (A with its column i from B) of `saltelli` designs, f centred [Saltelli2010]:

    S_i = mean(f_B (f_AB_i - f_A)) / V    (b of their Table 2)
    T_i = mean((f_A - f_AB_i)²) / (2 V)   (f of the same, Jansen's)

with V the variance of all f_A and f_B. These are the estimators of `scipy.stats.sobol_indices`,
which does not take rows left out. Intervals are percentiles of a bootstrap over rows.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from stiction._base.errors import InputError, RunError
from stiction.studies.design import MATRIX, SAMPLE

_CONFIDENCE = 0.95
_RESAMPLES = 999
_FEWEST = 8  # rows of each matrix
_ROUNDING = 1e-9  # relative
_SEED = 0  # of the bootstrap: the same results give the same intervals


@dataclass(frozen=True)
class SobolIndex:
    """How much one number matters for one outcome.

    Attributes:
        number: The drawn number.
        first: Its first-order index.
        first_interval: Of the same.
        total: Its total index.
        total_interval: Of the same.
        rows: How many rows of the matrices it rests on: those without a failed case.
    """

    number: str
    first: float
    first_interval: tuple[float, float]
    total: float
    total_interval: tuple[float, float]
    rows: int


def sobol_indices(
    outcome: Any, numbers: list[str], *, confidence: float = _CONFIDENCE
) -> list[SobolIndex]:
    """The indices of an outcome of a `saltelli` study, the most important number first.

    Args:
        outcome: A data array with the dimensions matrix and sample, of failed cases nan: rows in
            which any case failed are left out.
        numbers: Names of the drawn numbers, in the order of the design.
        confidence: Of the intervals, by bootstrap.
    """
    if set(outcome.dims) != {MATRIX, SAMPLE}:
        raise InputError("Sobol indices need `--sampler saltelli`, and one number of each case")
    values = np.asarray(outcome.transpose(MATRIX, SAMPLE).values, float)
    whole = np.isfinite(values).all(axis=0)
    values = values[:, whole]
    if values.shape[1] < _FEWEST:
        raise RunError(f"only {values.shape[1]} rows of {whole.size} have an outcome in all cases")
    scale = max(np.abs(values).max(), outcome.attrs.get("scale", 0.0))
    least = (_ROUNDING * scale) ** 2  # a variance that is rounding
    if not np.var(values[:2]) > least:
        raise RunError("the outcome is the same in nearly all cases: nothing matters for it")
    found = _estimate(values, least)
    rng = np.random.default_rng(_SEED)
    rows = rng.integers(0, values.shape[1], (_RESAMPLES, values.shape[1]))
    again = np.array(
        [_estimate(values[:, chosen], least) for chosen in rows]
    )  # resample, kind, number
    tail = 50 * (1 - confidence)
    low, high = np.nanpercentile(again, [tail, 100 - tail], axis=0)
    indices = [
        SobolIndex(
            name,
            float(found[0, i]),
            (float(low[0, i]), float(high[0, i])),
            float(found[1, i]),
            (float(low[1, i]), float(high[1, i])),
            values.shape[1],
        )
        for i, name in enumerate(numbers)
    ]
    return sorted(indices, key=lambda index: -index.total)


def _estimate(values: Float[np.ndarray, "m n"], least: float) -> Float[np.ndarray, "2 d"]:
    """First-order and total indices from the rows of A, B and AB_i; nan without any variance."""
    f = values - values[:2].mean()
    A, B, AB = f[0], f[1], f[2:]
    V = np.var(f[:2])
    found = np.array([(B * (AB - A)).mean(axis=1), 0.5 * ((A - AB) ** 2).mean(axis=1)])
    return found / V if least < V else np.full_like(found, np.nan)
