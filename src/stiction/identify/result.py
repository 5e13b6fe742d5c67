"""What an identification comes out as."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stiction._arrays import Float
from stiction.identify.contacts import Motion

UNITS = {
    "k": "N/m^λ",
    "c": "N·s/m",
    "mu": "",
    "alpha": "s/m",
    "k_f": "N/m",
    "mu_s": "",
    "lambda": "",
    "offset": "m",
    "fx": "N",
    "fy": "N",
    "fz": "N",
    "mx": "N·m",
    "my": "N·m",
    "mz": "N·m",
    "delay": "s",
}


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
    motion: Motion

    @property
    def residual(self) -> Float[np.ndarray, "n 6"]:
        """Measured less predicted."""
        return self.wrench - self.predicted


@dataclass(frozen=True)
class Identification:
    """Parameters with their errors, and what there is to say about them.

    Attributes:
        parameters: `surface.k`, … in the order of the setup.
        covariance: Of their values, same order; infinite where not identifiable.
        residual_rms: Of the measured quantity (force [N]) over the samples used.
        residuals: Further measures of fit by name.
        condition: Condition number of the weighted regression, columns of equal length.
        warnings: Plain sentences.
        method: How it was found.
        confidence: Of the intervals.
        surfaces: Names, for the columns of traces.
        traces: Sample by sample, one a test.
        tests: Estimates from each test alone, where there are several.
        notes: Further numbers by name (noise, knots, delay, compound stiffness).
        curves: Arrays by name, for figures.
    """

    parameters: dict[str, Parameter]
    covariance: Float[np.ndarray, "w w"]
    residual_rms: float
    residuals: dict[str, float]
    condition: float
    warnings: list[str]
    method: str
    confidence: float = 0.95
    surfaces: tuple[str, ...] = ()
    traces: list[Trace] = field(default_factory=list)
    tests: list[dict[str, Any]] = field(default_factory=list)
    notes: dict[str, Any] = field(default_factory=dict)
    curves: dict[str, np.ndarray] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As plain data, without the traces but with which samples touched."""
        return {
            "parameters": {n: p.to_json() for n, p in self.parameters.items()},
            "residual_rms": self.residual_rms,
            "residuals": self.residuals,
            "condition": self.condition,
            "warnings": self.warnings,
            "method": self.method,
            "confidence": self.confidence,
            "touched": {t.name: touched_rows(t, self.surfaces) for t in self.traces},
            "tests": self.tests,
            **self.notes,
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
        edges = np.flatnonzero(np.diff(np.concatenate([[0], trace.touched[:, i] > 0, [0]])))
        runs = [[int(a) + 1, int(b)] for a, b in zip(edges[::2], edges[1::2], strict=True)]
        out[name] = {"samples": int(np.sum(trace.touched[:, i] > 0)), "rows": runs}
    return out


def parameter(value: float, std: float, unit: str, confidence: float) -> Parameter:
    """A parameter with its interval from a standard error (nan: none is known)."""
    if not np.isfinite(std):
        return Parameter(float(value), None, None, unit)
    z = quantile(confidence)
    return Parameter(
        float(value), float(std), (float(value - z * std), float(value + z * std)), unit
    )


def quantile(confidence: float) -> float:
    """Half-width of a confidence interval in standard errors."""
    from scipy.stats import norm

    return float(norm.ppf(0.5 + confidence / 2))
