"""What an identification comes out as."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stiction._base.arrays import Float
from stiction._base.display import displayed
from stiction.identify.contact.geometry import BodyState
from stiction.identify.fit.ranking import Ranking
from stiction.tables import intervals


@dataclass(frozen=True)
class Parameter:
    """An estimate, its standard error and its confidence interval; None where not identifiable."""

    value: float | None
    std: float | None
    interval: tuple[float, float] | None
    unit: str = ""

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        interval = None if self.interval is None else list(self.interval)
        return {"value": self.value, "std": self.std, "interval": interval, "unit": self.unit}


@dataclass(frozen=True)
class Trace:
    """One test, sample by sample at the wrench's times, for figures and tables.

    Attributes:
        name: Of the test.
        time: On the pose's clock [s].
        wrench: Measured, without inertia.
        predicted: By the fit.
        depth: Of each surface, its deepest candidate [m].
        depth_rate: Of the same candidate [m/s].
        slip: Its slip speed [m/s].
        normal_force: Of each surface, by the fit [N].
        touched: How many points carry force on each surface.
        used: Whether the sample took part in the fit.
        motion: Of the body, as fitted.
    """

    name: str
    time: Float[np.ndarray, " n"]
    wrench: Float[np.ndarray, "n 6"]
    predicted: Float[np.ndarray, "n 6"]
    depth: Float[np.ndarray, "n n_surfaces"]
    depth_rate: Float[np.ndarray, "n n_surfaces"]
    slip: Float[np.ndarray, "n n_surfaces"]
    normal_force: Float[np.ndarray, "n n_surfaces"]
    touched: np.ndarray
    used: np.ndarray
    motion: BodyState

    @property
    def residual(self) -> Float[np.ndarray, "n 6"]:
        """Measured less predicted."""
        return self.wrench - self.predicted


@displayed
@dataclass(frozen=True)
class Identification:
    """Parameters with their errors, and what there is to say about them.

    Attributes:
        parameters: `surface.k`, … in the order of the setup.
        covariance: Of their values, same order; infinite where not identifiable.
        residual_rms: Of the measured quantity (force [N]) over the samples used.
        residuals: Further measures of fit by name.
        condition: Condition number of the weighted regression, columns of equal length.
        warnings: Plain sentences on what is wrong.
        caveats: Plain sentences on what was taken for granted and the data could not tell.
        corrections: Plain sentences on what the data found wrong with the setup; allowed for.
        method: How it was found.
        confidence: Of the intervals.
        surfaces: Names, for the columns of traces.
        traces: Sample by sample, one a test.
        tests: Estimates from each test alone, where there are several.
        notes: Further numbers by name (noise, knots, delay, compound stiffness).
        curves: Arrays by name, for figures.
        samples: Draws by parameter, where what the data leave open is not normal.
        laws: Of contact or impact, ranked, where they were compared.
        fitted_to: The prepared rollouts of kind "rollouts", for its export.
    """

    parameters: dict[str, Parameter]
    covariance: Float[np.ndarray, "w w"]
    residual_rms: float
    residuals: dict[str, float]
    condition: float
    warnings: list[str]
    method: str
    confidence: float = 0.95
    caveats: list[str] = field(default_factory=list)
    corrections: list[str] = field(default_factory=list)
    surfaces: tuple[str, ...] = ()
    traces: list[Trace] = field(default_factory=list)
    tests: list[dict[str, Any]] = field(default_factory=list)
    notes: dict[str, Any] = field(default_factory=dict)
    curves: dict[str, np.ndarray] = field(default_factory=dict)
    samples: dict[str, Float[np.ndarray, " n"]] | None = None
    laws: Ranking | None = None
    fitted_to: Any = None

    def value_of(self, name: str) -> float:
        """A parameter's value; zero where it was not asked for, or not identifiable."""
        return (self.parameters[name].value or 0.0) if name in self.parameters else 0.0

    def draws(self, count: int, *, seed: int = 0) -> dict[str, Float[np.ndarray, " count"]]:
        """Parameters drawn from what the data leave open, for studies and randomised simulations.

        From the samples where there are any. Else normal with the covariance of the estimates;
        draws outside the bounds that an interval respects (a stiffness is not negative) are drawn
        again.
        """
        if self.samples is not None:
            have = len(next(iter(self.samples.values())))
            some = np.random.default_rng(seed).integers(0, have, count)
            return {name: x[some] for name, x in self.samples.items()}
        names = [n for n, p in self.parameters.items() if p.std is not None]
        places = [list(self.parameters).index(n) for n in names]
        mean = np.array([self.parameters[n].value for n in names], dtype=float)
        cov = self.covariance[np.ix_(places, places)]
        bounded = np.array([self.parameters[n].interval[0] == 0.0 for n in names])  # type: ignore[index]
        values, vectors = np.linalg.eigh(cov)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        random = np.random.default_rng(seed)
        out = np.zeros((0, len(names)))
        while len(out) < count:
            new = mean + random.standard_normal((count, len(names))) @ root.T
            new = new[np.all(new[:, bounded] >= 0, axis=1)]
            out = np.concatenate([out, new])
        return dict(zip(names, out[:count].T, strict=True))

    def to_json(self) -> dict[str, Any]:
        """As plain data, without the traces but with which samples touched."""
        return {
            "parameters": {n: p.to_json() for n, p in self.parameters.items()},
            "covariance": self.covariance,
            "residual_rms": self.residual_rms,
            "residuals": self.residuals,
            "condition": self.condition,
            "warnings": self.warnings,
            "caveats": self.caveats,
            "corrections": self.corrections,
            "method": self.method,
            "confidence": self.confidence,
            "touched": {t.name: touched_rows(t, self.surfaces) for t in self.traces},
            "tests": self.tests,
            **self.notes,
            **({} if self.laws is None else {"laws": vars(self.laws)}),
        }


def under_load(
    traces: list[Trace], columns: list[int], *names: str
) -> tuple[Float[np.ndarray, " _"], ...]:
    """Quantities of some surfaces at the samples used at which these carry force."""
    on = [(t.touched[:, columns] > 0) & t.used[:, None] for t in traces]
    return tuple(
        np.concatenate([getattr(t, n)[:, columns][m] for t, m in zip(traces, on, strict=True)])
        for n in names
    )


def rms_under_load(
    traces: list[Trace], residuals: list[Float[np.ndarray, "_ 6"]]
) -> tuple[float, float]:
    """Size of force [N] and moment [N·m] residuals over the samples used that carry force."""
    loaded = [t.used & np.any(t.touched > 0, axis=1) for t in traces]
    r = np.concatenate([part[on] for part, on in zip(residuals, loaded, strict=True)])
    force, moment = np.sqrt(np.sum(r.reshape(-1, 2, 3) ** 2, axis=(0, 2)) / max(len(r), 1))
    return float(force), float(moment)


def touched_rows(trace: Trace, surfaces: tuple[str, ...]) -> dict[str, Any]:
    """For each surface the runs of wrench rows (from 1, both ends included) that touched it."""
    out = {}
    for i, name in enumerate(surfaces):
        touched = trace.touched[:, i] > 0
        runs = [[first + 1, after] for first, after in intervals(touched)]
        out[name] = {"samples": int(np.sum(touched)), "rows": runs}
    return out


def parameter(
    value: float, std: float, unit: str, confidence: float, *, least: float = -np.inf
) -> Parameter:
    """A parameter with its interval, which does not reach below `least`.

    A standard error that is not finite is none: then only the value is known.
    """
    if not np.isfinite(std):
        return Parameter(float(value), None, None, unit)
    half = quantile(confidence) * std
    interval = float(max(value - half, least)), float(value + half)
    return Parameter(float(value), float(std), interval, unit)


def parameters(
    units: Mapping[str, str],
    values: Float[np.ndarray, " w"],
    covariance: Float[np.ndarray, "w w"],
    confidence: float,
) -> dict[str, Parameter]:
    """Parameters by name from their units, values and covariance, in the same order."""
    std = np.sqrt(np.diag(covariance))
    return {
        name: parameter(x, s, unit, confidence)
        for (name, unit), x, s in zip(units.items(), values, std, strict=True)
    }


def quantile(confidence: float) -> float:
    """Half-width of a confidence interval in standard errors."""
    from scipy.stats import norm

    return float(norm.ppf(0.5 + confidence / 2))
