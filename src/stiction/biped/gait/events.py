"""Heel strikes and toe-offs from what the feet bear, and what follows from them.

A stance is a stretch in which a foot bears more than `threshold`; its ends are where the load
crosses it, between frames. Shorter pauses than `_PAUSE` do not end a stance, shorter stances than
`_SHORT` are none. A stance that is cut off by the record, or by frames in which nothing is known of
the foot, has only one event.
"""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from stiction.biped.axes import Axes
from stiction.biped.gait.dynamics import FootLoads
from stiction.tables import interpolate, intervals

_PAUSE, _SHORT = 0.04, 0.08  # s


@dataclass(frozen=True)
class FootStance:
    """One foot on the ground."""

    foot: str  # which
    strike: float  # when it landed [s]; nan where the record begins in the stance, or knows not
    off: float  # when it left [s]; nan where the record ends in the stance, or knows not


def find_stances(time: np.ndarray, loads: FootLoads, up: np.ndarray, threshold: float):
    """The stances of all feet, in the order of their beginning.

    A foot stands while its load is above `threshold` [N].
    """
    found = []
    for k, foot in enumerate(loads.feet):
        load = loads.force[:, k] @ up
        spans = intervals(load > threshold)
        merged: list[list[int]] = []
        for first, after in spans:
            last = merged[-1][1] if merged else 0
            pause = time[first] - time[last - 1] < _PAUSE and np.isfinite(load[last:first]).all()
            if merged and pause:
                merged[-1][1] = after
            else:
                merged.append([first, after])
        for first, after in merged:
            strike = crossing(time, load, first - 1, threshold) if first else np.nan
            off = crossing(time, load, after - 1, threshold) if after < len(time) else np.nan
            whole = np.isfinite(strike) and np.isfinite(off)
            if not whole or off - strike > _SHORT:
                found.append((time[first], FootStance(foot, strike, off)))
    return [stance for _, stance in sorted(found, key=lambda x: x[0])]


def crossing(time: np.ndarray, load: np.ndarray, k: int, level: float) -> float:
    """When the load crosses the level between frames k and k + 1; nan if one is not known."""
    part = (level - load[k]) / (load[k + 1] - load[k])
    return float(time[k] + part * (time[k + 1] - time[k]))


@dataclass(frozen=True)
class GaitStride:
    """From one strike of a foot to its next."""

    foot: str  # whose
    start: float  # first strike [s]
    end: float  # next strike [s]
    off: float  # when the foot left between them [s]
    opposite_off: float  # when the other foot left after `start` [s]; nan in a run, or if not seen
    opposite_strike: float  # when the other foot landed [s]; nan if not seen


def find_strides(stances: list[FootStance], feet: tuple[str, ...]) -> list[GaitStride]:
    """The whole strides among stances."""
    strides = []
    for foot in feet:
        own = [s for s in stances if s.foot == foot]
        others = [s for s in stances if s.foot != foot]
        for now, following in itertools.pairwise(own):
            start, end = now.strike, following.strike
            if not (np.isfinite(start) and np.isfinite(end) and np.isfinite(now.off)):
                continue
            inside = [s.strike for s in others if start < s.strike < end]
            left = [s.off for s in others if start < s.off < end]
            before = [t for t in left if not inside or t < inside[0]]
            strides.append(
                GaitStride(
                    foot,
                    start,
                    end,
                    now.off,
                    before[0] if before else np.nan,
                    inside[0] if inside else np.nan,
                )
            )
    return sorted(strides, key=lambda s: s.start)


def spatiotemporal(
    strides: list[GaitStride],
    time: np.ndarray,
    heels: dict[str, np.ndarray],
    speed: float,
    axes: Axes,
) -> list[dict[str, Any]]:
    """A row for each whole stride: times, lengths, phases.

    Step length and width are the distances of the heels when this foot lands, along and across the
    way: they hold on a belt too.

    Args:
        strides: Whole ones.
        time: Of the frames [s].
        heels: Where each foot's heel is in every frame [m].
        speed: Mean speed over the ground or belt [m/s].
        axes: Forward, left and up.
    """
    rows = []
    for s in strides:
        duration = s.end - s.start
        row: dict[str, Any] = {
            "foot": s.foot,
            "from [s]": s.start,
            "stride time [s]": duration,
            "cadence [steps/min]": 120 / duration,
            "stride length [m]": speed * duration,
            "speed [m/s]": speed,
            "stance [%]": (s.off - s.start) / duration * 100,
            "swing [%]": (s.end - s.off) / duration * 100,
        }
        double = np.nan if np.isnan(s.opposite_strike) else 0.0  # in a run none leaves before it
        if np.isfinite(s.opposite_off) and np.isfinite(s.opposite_strike):
            double = (s.opposite_off - s.start) + max(s.off - s.opposite_strike, 0.0)
        row["double support [%]"] = double / duration * 100
        other = [f for f in heels if f != s.foot]
        if len(other) == 1:
            own, its = (interpolate(s.start, time, heels[f]) for f in (s.foot, other[0]))
            apart = own - its
            row["step length [m]"] = float(apart @ axes.forward)
            row["step width [m]"] = float(abs(apart @ axes.left))
        if np.isfinite(s.opposite_strike):
            row["step time [s]"] = s.end - s.opposite_strike
        rows.append(row)
    return rows


def summarize_strides(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mean of each quantity by foot, and the symmetry index 2 |L - R| / (L + R) [%]."""
    names = [n for n in (rows[0] if rows else {}) if n not in ("foot", "from [s]")]
    table = []
    for name in names:
        row: dict[str, Any] = {"quantity": name}
        means = {}
        for foot in dict.fromkeys(r["foot"] for r in rows):
            values = [r[name] for r in rows if r["foot"] == foot and name in r]
            means[foot] = float(np.mean(values)) if values else np.nan
            row[foot] = means[foot]
        if len(means) == 2 and all(np.isfinite(v) for v in means.values()):
            a, b = means.values()
            row["asymmetry [%]"] = 200 * abs(a - b) / (abs(a) + abs(b)) if a or b else 0.0
        table.append(row)
    return table
