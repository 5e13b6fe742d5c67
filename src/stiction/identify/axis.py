r"""One driven axis: mass, viscous and Coulomb friction, offset, from position and force.

$$ f = M \ddot q + F_v \dot q + F_c \,\mathrm{sign}(\dot q) + o $$

The inverse model is linear; rates come by two-way filtering and symmetric differences, without
lag; and rows and force alike pass a second low-pass and are thinned, so that what is left is nearly
white [Janot2019].
"""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from stiction._arrays import Float
from stiction._errors import InputError
from stiction.identify import least_squares
from stiction.identify.filters import central_differences, two_way_low_pass
from stiction.identify.result import Identification, parameter
from stiction.identify.setup import Fraction, Strict, Units
from stiction.identify.tables import Table

_NAMES = {"M": "kg", "viscous": "N·s/m", "coulomb": "N", "offset": "N"}
_EDGE = 2  # filter lengths cut off at both ends
_UNEVEN = 0.01  # of the step: more than this is not an even sampling


class AxisSetup(Strict):
    """Columns of a driven axis."""

    kind: Literal["axis"]
    title: str = ""
    units: Units = Units()
    time: str
    position: str
    force: str
    force_factor: Annotated[
        float | str, Field(description="force for each unit of the column, or a column holding it")
    ] = 1.0
    cutoff: Annotated[float, Field(gt=0, description="of the filter before differentiation [Hz]")]
    keep_every: Annotated[int, Field(ge=1, description="row of the thinned regression")] = 10
    loss: Literal["squares", "huber", "tukey"] = "squares"
    confidence: Fraction = 0.95

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        factor = [self.force_factor] if isinstance(self.force_factor, str) else []
        return [self.time, self.position, self.force, *factor]


def identify_axis(table: Table, setup: AxisSetup) -> Identification:
    """Mass and friction of an axis from its log."""
    time = table.time(setup.time)
    q = table.vectors([setup.position], "length")[:, 0]
    force = table.vectors([setup.force], "force")[:, 0]
    if isinstance(setup.force_factor, str):
        force = force * float(table.column(setup.force_factor)[0])
    else:
        force = force * setup.force_factor
    if not len(time) == len(q) == len(force):
        raise InputError(
            f"columns `{setup.time}`, `{setup.position}` and `{setup.force}` must be equally long,"
            f" got {len(time)}, {len(q)} and {len(force)} rows"
        )
    steps = np.diff(time)
    step = float(np.median(steps))
    uneven = np.abs(steps - step) > _UNEVEN * step
    if np.any(uneven):
        row = int(np.flatnonzero(uneven)[0]) + 1
        raise InputError(
            f"column `{setup.time}` must be evenly spaced ({step:.4g} s), got"
            f" {steps[row - 1]:.4g} s at {table.row(row)}; resample the log"
        )
    rate = 1 / step
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
    return _fit(A[rows], b[rows], time[rows], v[rows], setup)


def inverse_model_rows(
    position: Float[np.ndarray, " n"], rate: float, cutoff: float
) -> tuple[Float[np.ndarray, "n 4"], Float[np.ndarray, " n"]]:
    """Rows (q̈, q̇, sign q̇, 1), and q̇."""
    q = two_way_low_pass(position, rate=rate, cutoff=cutoff)
    v = central_differences(q, rate)
    a = central_differences(v, rate)
    return np.stack([a, v, np.sign(v), np.ones_like(v)], axis=1), v


def _fit(A, b, time, v, setup: AxisSetup) -> Identification:
    if len(b) < 5 * A.shape[1]:
        raise InputError(
            f"the log must leave at least {5 * A.shape[1]} rows after filtering, got {len(b)};"
            " lower `keep_every` or raise `cutoff`"
        )
    scale = 1.0
    if setup.loss != "squares":  # losses are tuned to residuals of unit scatter
        first = b - A @ least_squares.solve(A, b, loss="squares").x
        scale = float(np.median(np.abs(first)) / 0.6744897501960817)
    found = least_squares.solve(A / scale, b / scale, loss=setup.loss)
    r = b - A @ found.x
    variance = found.squares / (len(b) - A.shape[1])
    cov = least_squares.covariance(found.root) * variance
    std = np.sqrt(np.diag(cov))
    rms = float(np.sqrt(np.mean(r**2)))
    warnings = [
        f"{name}: not identifiable, the motion did not excite it"
        for name, s in zip(_NAMES, std, strict=True)
        if not np.isfinite(s)
    ]
    return Identification(
        parameters={
            name: parameter(x, s, unit, setup.confidence)
            for (name, unit), x, s in zip(_NAMES.items(), found.x, std, strict=True)
        },
        covariance=cov,
        residual_rms=rms,
        residuals={"force_rms": rms, "relative": rms / float(np.sqrt(np.mean(b**2)))},
        condition=least_squares.scaled_condition(found.root),
        warnings=warnings,
        method="least-squares",
        confidence=setup.confidence,
        notes={"samples": {"used": len(b)}},
        curves={"time": time, "velocity": v, "force": b, "predicted": A @ found.x},
    )
