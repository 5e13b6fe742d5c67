"""How near computed ground reactions are to measured ones: errors, correlation, peaks, timing."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from stiction.biped.grf.measured import TOUCHED, Measured
from stiction.biped.grf.reactions import GroundReactions
from stiction.tables import intervals


@dataclass(frozen=True)
class Comparison:
    """Computed beside measured."""

    measured: Measured  # on the frames of the motion
    components: list[dict[str, Any]]  # a row for each of the total and the feet, and each direction
    stances: list[dict[str, Any]]  # a row for each stance that was measured whole
    pressure: list[dict[str, Any]]  # a row for each foot: error of the centre of pressure [mm]


def compare(reactions: GroundReactions, measured: Measured) -> Comparison:
    """Compare computed with measured reactions, frames at the ends of the record left out."""
    frames, weight = measured.frames, reactions.subject.weight
    settled = reactions.motion.settled[frames]
    axes = reactions.axes
    directions = {"forward": axes.forward, "vertical": axes.up}
    if not reactions.planar:
        directions["lateral"] = axes.left
    rows, pressures, stances = [], [], []
    for name, along in directions.items():
        a, b = reactions.force[frames] @ along, measured.total @ along
        errors = _errors(a, b, measured.complete & settled, np.zeros(len(a), bool), weight)
        rows.append({"of": "total", "direction": name, **errors})
    for k, foot in enumerate(reactions.feet):
        computed = reactions.shares.foot_force[frames, k]
        known = measured.known[:, k] & settled
        single = _alone(measured, k, axes.up)
        for name, along in directions.items():
            a, b = computed @ along, measured.feet[:, k] @ along
            errors = _errors(a, b, known, known & single, weight)
            rows.append({"of": foot, "direction": name, **errors})
        apart = reactions.shares.pressure[frames, k] - measured.pressure[:, k]
        loaded = measured.feet[:, k] @ axes.up > 0.1 * weight
        apart = apart[loaded & np.isfinite(apart).all(axis=1)]
        if len(apart):
            pressures.append({"foot": foot, **_spread(apart, axes)})
        stances += _stances(foot, measured, computed, k, axes.up)
    return Comparison(measured, rows, stances, pressures)


def _alone(measured: Measured, foot: int, up: np.ndarray) -> np.ndarray:
    """Frames in which the plates feel this foot and no other."""
    touched = measured.feet @ up > TOUCHED
    return touched[:, foot] & (touched.sum(axis=1) == 1)


def _rmse(a: np.ndarray, b: np.ndarray, use: np.ndarray) -> float:
    return float(np.sqrt(np.mean((a - b)[use] ** 2))) if use.any() else float("nan")


def _errors(
    a: np.ndarray, b: np.ndarray, use: np.ndarray, single: np.ndarray, weight: float
) -> dict[str, float]:
    """Root mean square errors and correlation, over the frames used and in single support."""
    spread = use.sum() > 2 and a[use].std() > 1e-9 * weight and b[use].std() > 1e-9 * weight
    return {
        "RMSE [% BW]": _rmse(a, b, use) / weight * 100,
        "single support [% BW]": _rmse(a, b, single) / weight * 100,
        "RMSE [N]": _rmse(a, b, use),
        "correlation": float(np.corrcoef(a[use], b[use])[0, 1]) if spread else float("nan"),
        "largest measured [N]": _largest(b, use),
        "largest computed [N]": _largest(a, use),
    }


def _largest(values: np.ndarray, use: np.ndarray) -> float:
    """The value of largest size, with its sign."""
    return float(values[use][np.argmax(np.abs(values[use]))]) if use.any() else float("nan")


def _spread(apart: np.ndarray, axes) -> dict[str, float]:
    row = {}
    for name, along in (("forward", axes.forward), ("lateral", axes.left)):
        row[f"{name} mean [mm]"] = float((apart @ along).mean() * 1e3)
        row[f"{name} RMSE [mm]"] = float(np.sqrt(np.mean((apart @ along) ** 2)) * 1e3)
    return row


def _stances(foot: str, measured: Measured, computed, k: int, up) -> list[dict[str, Any]]:
    """Times and sizes of the vertical force's two peaks and its valley, stance by stance."""
    load = measured.feet[:, k] @ up
    rows = []
    for first, after in intervals(load > TOUCHED):
        whole = first > 0 and after < len(load)
        if not whole or after - first < 10 or not measured.known[first:after, k].all():
            continue
        part = slice(first, after)
        t = measured.time[part]
        row: dict[str, Any] = {"foot": foot, "from [s]": float(t[0]), "to [s]": float(t[-1])}
        theirs, ours = m_shape(t, load[part]), m_shape(t, (computed @ up)[part])
        for name in ("first peak", "valley", "second peak"):
            for who, shape in (("measured", theirs), ("computed", ours)):
                time, value = shape[name] if shape else (np.nan, np.nan)
                row[f"{name} {who} [N]"], row[f"{name} {who} [s]"] = value, time
        rows.append(row)
    return rows


def m_shape(time: np.ndarray, load: np.ndarray) -> dict[str, tuple[float, float]] | None:
    """The two peaks of a walking step's vertical force and the valley between them, as (s, N).

    The peaks are the largest values in each half of the stance, so that ripples do not count.

    Returns:
        None where the force does not fall by a hundredth between them.
    """
    late = time >= (time[0] + time[-1]) / 2
    first = int(np.argmax(np.where(late, -np.inf, load)))
    second = int(np.argmax(np.where(late, load, -np.inf)))
    valley = first + int(np.argmin(load[first : second + 1]))
    if load[valley] > 0.99 * min(load[first], load[second]):
        return None
    return {
        name: (float(time[i]), float(load[i]))
        for name, i in (("first peak", first), ("valley", valley), ("second peak", second))
    }
