r"""A slider on a plane: bristle stiffness, kinetic friction and break-away (ma 22) from one column
each of normal force, position and friction.

$$ f = -k_f s \;\;(|s| < s_\max), \qquad f = -\mu N \,\mathrm{sign}(s) \;\;(|s| \ge s_\max), $$

with s the bristle's stretch, which follows the position and stays within s_max. Kinetic friction
needs motion (ma 4), so rows at rest take no part. Strokes repeat each other's misfit, so standard
errors are those of independent strokes, not of independent rows.
"""

from typing import Annotated, Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from pydantic import Field

from stiction._base.arrays import Array, Float
from stiction._base.errors import InputError
from stiction.identify.fields import Fraction, Setup
from stiction.identify.fit import least_squares
from stiction.identify.result import Identification, parameter
from stiction.tables import Table

_GRID = 60
_SHORTEST = 5  # rows of a stroke that count as sliding


class SlidingSetup(Setup):
    """Columns of a friction rig."""

    kind: Literal["sliding"]
    time: str
    normal: Annotated[str, Field(description="normal force")]
    position: str
    friction: Annotated[str, Field(description="force on the slider")]
    after: Annotated[float, Field(description="rows before this time are left out [s]")] = -np.inf
    min_normal: Annotated[
        float, Field(ge=0, lt=1, description="of the median normal force; less is not in contact")
    ] = 0.9
    moving: Annotated[
        Fraction, Field(description="of the typical sliding speed; less is at rest")
    ] = 0.1
    confidence: Fraction = 0.95

    model_config = Setup.model_config | {"allow_inf_nan": True}

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        return [self.time, self.normal, self.position, self.friction]


@jax.jit
def stretch(position: Float[Array, " n"], limit: Float[Array, ""]) -> Float[Array, " n"]:
    """The bristle's stretch along a motion: it follows, and stays within the limit."""

    def step(s, moved):
        s = jnp.clip(s + moved, -limit, limit)
        return s, s

    moved = jnp.diff(position, prepend=position[:1])
    return jax.lax.scan(step, jnp.zeros(()), moved)[1]


def identify(table: Table, setup: SlidingSetup) -> Identification:
    """Friction parameters of a slider from its log."""
    time = table.clock(setup.time)
    x = table.vectors([setup.position], "length")[:, 0]
    N, F = table.vectors([setup.normal, setup.friction], "force").T
    if np.ptp(x) == 0:
        raise InputError(
            f"column `{setup.position}` never changes (rows 1 to {len(x)}): nothing slid"
        )
    late = time >= setup.after
    if late.sum() < 10:
        raise InputError(
            f"`after` must leave rows to work with, got {setup.after} s of {time[-1]:.4g} s"
        )
    typical = float(np.median(N[late]))
    keep = late & (setup.min_normal * typical < N)
    if typical <= 0 or keep.sum() < 10:
        raise InputError(
            f"no contact at all: column `{setup.normal}` must be positive while sliding, its median"
            f" is {typical:.3g} N (row {int(np.flatnonzero(late)[0]) + 1} on)"
        )
    time, x, N, F = time[keep], x[keep], N[keep], F[keep]
    v = np.gradient(x, time)
    moving = np.abs(v) > setup.moving * np.percentile(np.abs(v), 95)
    return _fit(time, x, N, F, moving, setup)


def _fit(time, x, N, F, moving, setup: SlidingSetup) -> Identification:
    from scipy.optimize import minimize_scalar

    def rows(limit: float):
        s = np.asarray(stretch(jnp.asarray(x), jnp.asarray(limit)))
        slides = np.abs(s) >= limit * (1 - 1e-9)
        held = np.where(slides, 0.0, -s)
        slid = np.where(slides, -N * np.sign(s), 0.0)
        return np.stack([held, slid, np.ones_like(s)], axis=1), s, slides

    def cost(limit: float) -> float:
        A, _, _ = rows(limit)
        return least_squares.solve(A[moving], F[moving]).squares

    span = float(np.ptp(x))
    grid = np.geomspace(span / 100, span / 2, _GRID)
    costs = [cost(s) for s in grid]
    i = int(np.clip(np.argmin(costs), 1, _GRID - 2))
    found: Any = minimize_scalar(cost, bounds=(grid[i - 1], grid[i + 1]), method="bounded")
    limit = float(found.x)
    A, s, slides = rows(limit)
    found = least_squares.solve(A[moving], F[moving])
    r = F - A @ found.x
    strokes = _strokes(moving, x)
    cov = _clustered(found.root, A, r, moving, strokes)
    k_f, mu, offset = found.x
    std = np.sqrt(np.diag(cov))
    peaks, kinetic = _peaks(F - offset, N, moving & slides, strokes)
    several = max(len(peaks), 1)
    peak = float(np.mean(peaks)) if len(peaks) else float("nan")
    peak_std = float(np.std(peaks, ddof=1) / np.sqrt(several)) if len(peaks) > 1 else float("nan")
    warnings = []
    if len(peaks) < 3:
        warnings.append("break-away: fewer than three strokes slid; the peak is only indicative")
    rms = float(np.sqrt(np.mean(r[moving] ** 2)))
    values = {
        "k_f": parameter(k_f, std[0], "N/m", setup.confidence),
        "mu": parameter(mu, std[1], "", setup.confidence),
        "mu_s": parameter(peak, peak_std, "", setup.confidence),
        "s_max": parameter(limit, np.nan, "m", setup.confidence),
        "offset": parameter(offset, std[2], "N", setup.confidence),
    }
    return Identification(
        parameters=values,
        covariance=cov,
        residual_rms=rms,
        residuals={"force_rms": rms, "relative": rms / float(np.sqrt(np.mean(F[moving] ** 2)))},
        condition=least_squares.scaled_condition(found.root),
        warnings=warnings,
        method="least-squares",
        confidence=setup.confidence,
        notes={
            "samples": {"used": int(moving.sum()), "left_out": int((~moving).sum())},
            "strokes": len(peaks),
            "breakaway_peak": peak,
            "stroke_scatter_of_mu": float(np.std(kinetic)) if len(kinetic) else None,
        },
        curves={"time": time, "position": x, "normal": N, "force": F, "predicted": A @ found.x,
                "stretch": s, "moving": moving, "peaks": peaks},
    )  # fmt: skip


def _strokes(moving: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The number of the stroke of each row: a new one whenever motion starts or turns round."""
    direction = np.sign(np.gradient(x)) * moving
    change = np.diff(direction, prepend=0) != 0
    return np.cumsum(change & (direction != 0))


def _clustered(root, A, r, moving, strokes) -> np.ndarray:
    """Covariance with strokes as independent units: (AᵀA)⁻¹ Σ gᵢ gᵢᵀ (AᵀA)⁻¹, gᵢ = Aᵢᵀ rᵢ."""
    g = A[moving] * r[moving, None]
    labels = strokes[moving]
    sums = np.stack([np.bincount(labels, weights=column) for column in g.T], axis=1)
    bread = least_squares.covariance(root)
    n = int(np.sum(np.any(sums != 0, axis=1)))
    return bread @ (sums.T @ sums) @ bread * (n / max(n - 1, 1))


def _peaks(F, N, sliding, strokes) -> tuple[np.ndarray, np.ndarray]:
    """For each stroke that slides for a while: the largest |F|/N, and its mean."""
    ratio, labels = np.abs(F / N)[sliding], strokes[sliding]
    count = np.bincount(labels)
    top = np.zeros(len(count))
    np.maximum.at(top, labels, ratio)
    long = count >= _SHORTEST
    return top[long], (np.bincount(labels, weights=ratio)[long] / count[long])
