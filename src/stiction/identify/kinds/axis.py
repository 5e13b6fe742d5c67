r"""One driven axis: mass, viscous and Coulomb friction, offset, from position and force.

$$ f = M \ddot q + F_v \dot q + F_c \,\mathrm{sign}(\dot q) + o $$

The inverse model is linear; rates come by two-way filtering and symmetric differences, without
lag; and rows and force alike pass a second low-pass and are thinned, so that what is left is nearly
white [Janot2019].
"""

from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from stiction._base.arrays import Float
from stiction._base.errors import InputError
from stiction.identify.columns import even_rate, number
from stiction.identify.fields import Fraction, Positive, RobustLoss, Setup
from stiction.identify.fit import least_squares
from stiction.identify.path.noise import NORMAL_MEDIAN
from stiction.identify.result import Identification, parameters
from stiction.tables import Table

_UNITS = {"M": "kg", "viscous": "N·s/m", "coulomb": "N", "offset": "N"}
_BLOCKS = 10  # parts of a record that are left out in turn
_EDGE = 2  # filter lengths cut off at both ends


class AxisSetup(Setup):
    """Columns of a driven axis."""

    kind: Literal["axis"]
    time: str
    position: str
    force: str
    force_factor: Annotated[
        float | str, Field(description="force for each unit of the column, or a column holding it")
    ] = 1.0
    cutoff: Annotated[Positive, Field(description="of the filter before differentiation [Hz]")]
    keep_every: Annotated[int, Field(ge=1, description="row of the thinned regression")] = 10
    loss: RobustLoss = "squares"
    confidence: Fraction = 0.95

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        factor = [self.force_factor] if isinstance(self.force_factor, str) else []
        return [self.time, self.position, self.force, *factor]


def identify(table: Table, setup: AxisSetup) -> Identification:
    """Mass and friction of an axis from its log."""
    return _fit(*_rows(table, setup), setup)


def validate(
    table: Table, setup: AxisSetup, folder: Path, found: Identification
) -> dict[str, float]:
    """How well another log is foretold: what the prediction misses of its force."""
    del folder
    A, b, *_ = _rows(table, setup)
    missed = b - A @ np.array([p.value for p in found.parameters.values()])
    return {
        "force_rms": float(np.sqrt(np.mean(missed**2))),
        "force_relative": float(np.linalg.norm(missed) / np.linalg.norm(b)),
    }


def _rows(table: Table, setup: AxisSetup) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows and forces, filtered and thinned; their times and speeds."""
    time = table.clock(setup.time)
    q = table.vectors([setup.position], "length")[:, 0]
    force = table.vectors([setup.force], "force")[:, 0] * number(table, setup.force_factor)
    if not len(time) == len(q) == len(force):
        raise InputError(
            f"columns `{setup.time}`, `{setup.position}` and `{setup.force}` must be equally long,"
            f" got {len(time)}, {len(q)} and {len(force)} rows"
        )
    rate = even_rate(table, setup.time)
    if np.ptp(q) == 0:
        raise InputError(
            f"column `{setup.position}` never changes (rows 1 to {len(q)}): nothing moved"
        )
    if not setup.cutoff < rate / 2:
        raise InputError(f"`cutoff` must be below half the rate {rate:.4g} Hz, got {setup.cutoff}")
    A, v = inverse_model_rows(q, rate, setup.cutoff)
    keep = setup.keep_every
    b = force
    if keep > 1:
        band = 0.4 * rate / keep
        A = two_way_low_pass(A, rate=rate, cutoff=band)
        b = two_way_low_pass(force, rate=rate, cutoff=band)
    edge = int(_EDGE * rate / setup.cutoff * max(keep, 1)) + 1
    rows = slice(edge, len(b) - edge, keep)
    return A[rows], b[rows], time[rows], v[rows]


def inverse_model_rows(
    position: Float[np.ndarray, " n"], rate: float, cutoff: float
) -> tuple[Float[np.ndarray, "n 4"], Float[np.ndarray, " n"]]:
    """Rows (q̈, q̇, sign q̇, 1), and q̇."""
    q = two_way_low_pass(position, rate=rate, cutoff=cutoff)
    v = np.gradient(q, 1 / rate, edge_order=2)
    a = np.gradient(v, 1 / rate, edge_order=2)
    return np.stack([a, v, np.sign(v), np.ones_like(v)], axis=1), v


def two_way_low_pass(
    values: Float[np.ndarray, "n *k"], *, rate: float, cutoff: float
) -> Float[np.ndarray, "n *k"]:
    """A Butterworth low-pass of order 4 run forwards and backwards, so that it has no lag.

    One run loses 3 dB at the cut-off [Hz].
    """
    from scipy.signal import butter, sosfiltfilt

    return sosfiltfilt(butter(4, cutoff, fs=rate, output="sos"), values, axis=0)


def _fit(A, b, time, v, setup: AxisSetup) -> Identification:
    if len(b) < 5 * A.shape[1]:
        raise InputError(
            f"the log must leave at least {5 * A.shape[1]} rows after filtering, got {len(b)};"
            " lower `keep_every` or raise `cutoff`"
        )
    scale = 1.0
    if setup.loss != "squares":  # losses are tuned to residuals of unit scatter
        first = b - A @ least_squares.solve(A, b, loss="squares").x
        scale = float(np.median(np.abs(first)) / NORMAL_MEDIAN)
    found = least_squares.solve(A / scale, b / scale, loss=setup.loss)
    predicted = A @ found.x
    variance = found.squares / (len(b) - A.shape[1])
    cov = least_squares.covariance(found.root) * variance
    spread, unseen = _between_blocks(A / scale, b / scale, setup.loss)
    if spread is not None:
        # What changes along a record is no white noise: the larger of the two errors counts.
        larger = np.maximum(np.sqrt(spread / np.diag(cov)), 1.0)
        cov = cov * np.outer(larger, larger)
    rms = float(np.sqrt(np.mean((b - predicted) ** 2)))
    estimated = parameters(_UNITS, found.x, cov, setup.confidence)
    return Identification(
        parameters=estimated,
        covariance=cov,
        residual_rms=rms,
        residuals={
            "force_rms": rms,
            "relative": rms / float(np.sqrt(np.mean(b**2))),
            **({} if spread is None else {"relative_cross_validated": unseen}),
        },
        condition=least_squares.scaled_condition(found.root),
        warnings=[
            f"{name}: not identifiable, the motion did not excite it"
            for name, p in estimated.items()
            if p.std is None
        ],
        method="least-squares",
        confidence=setup.confidence,
        notes={"samples": {"used": len(b)}},
        curves={"time": time, "velocity": v, "force": b, "predicted": predicted},
    )


def _between_blocks(A, b, loss) -> tuple[Float[np.ndarray, " p"] | None, float]:
    """Variances by leaving out one part of the record in turn, and how well it was foretold.

    The jackknife of contiguous blocks counts correlation and what drifts within the record
    [Kunsch1989]. None where a part determines too little.
    """
    parts = np.array_split(np.arange(len(b)), _BLOCKS)
    if min(len(part) for part in parts) < A.shape[1]:
        return None, float("nan")
    estimates, missed = [], 0.0
    for part in parts:
        rest = np.ones(len(b), dtype=bool)
        rest[part] = False
        found = least_squares.solve(A[rest], b[rest], loss=loss)
        if found.blind.shape[1]:
            return None, float("nan")
        estimates.append(found.x)
        missed += float(np.sum((b[part] - A[part] @ found.x) ** 2))
    apart = np.array(estimates) - np.mean(estimates, axis=0)
    variance = (_BLOCKS - 1) / _BLOCKS * np.sum(apart**2, axis=0)
    return variance, float(np.sqrt(missed / (b @ b)))
