"""Heel strikes and toe-offs from what the feet bear, and what follows from them.

A stance is a stretch in which a foot bears more than `threshold`; its ends are where the load
crosses it, between frames. Shorter pauses than `_PAUSE` do not end a stance, shorter stances than
`_SHORT` are none. A stance that is cut off by the record has only one event.
"""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from stiction.biped.axes import Axes
from stiction.biped.gait.dynamics import FootLoads
from stiction.tables import intervals

_PAUSE, _SHORT = 0.04, 0.08  # s
FLIGHT = 0.02  # of the time in the air: it is a run


@dataclass(frozen=True)
class FootStance:
    """One foot on the ground.

    Attributes:
        foot: Which.
        strike: When it landed [s]; nan where the record begins in the stance.
        off: When it left [s]; nan where the record ends in the stance.
    """

    foot: str
    strike: float
    off: float


def find_stances(time: np.ndarray, loads: FootLoads, up: np.ndarray, threshold: float):
    """The stances of all feet, in the order of their beginning.

    Args:
        time: Of the frames [s].
        loads: What the feet bear.
        up: Unit vector.
        threshold: Load of a foot that stands [N].
    """
    found = []
    for k, foot in enumerate(loads.feet):
        load = np.nan_to_num(loads.force[:, k] @ up)
        spans = intervals(load > threshold)
        merged: list[list[int]] = []
        for first, after in spans:
            if merged and time[first] - time[merged[-1][1] - 1] < _PAUSE:
                merged[-1][1] = after
            else:
                merged.append([first, after])
        for first, after in merged:
            strike = _crossing(time, load, first - 1, threshold) if first else np.nan
            off = _crossing(time, load, after - 1, threshold) if after < len(time) else np.nan
            whole = np.isfinite(strike) and np.isfinite(off)
            if not whole or off - strike > _SHORT:
                found.append((time[first], FootStance(foot, strike, off)))
    return [stance for _, stance in sorted(found, key=lambda x: x[0])]


def _crossing(time: np.ndarray, load: np.ndarray, k: int, level: float) -> float:
    part = (level - load[k]) / (load[k + 1] - load[k])
    return float(time[k] + part * (time[k + 1] - time[k]))


@dataclass(frozen=True)
class GaitStride:
    """From one strike of a foot to its next.

    Attributes:
        foot: Whose.
        start: First strike [s].
        end: Next strike [s].
        off: When the foot left between them [s].
        opposite_off: When the other foot left after `start` [s]; nan in a run, or if not seen.
        opposite_strike: When the other foot landed [s]; nan if not seen.
    """

    foot: str
    start: float
    end: float
    off: float
    opposite_off: float
    opposite_strike: float


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
        double = 0.0
        if np.isfinite(s.opposite_off) and np.isfinite(s.opposite_strike):
            double = (s.opposite_off - s.start) + max(s.off - s.opposite_strike, 0.0)
        row["double support [%]"] = double / duration * 100
        other = [f for f in heels if f != s.foot]
        if len(other) == 1:
            apart = _at(s.start, time, heels[s.foot]) - _at(s.start, time, heels[other[0]])
            row["step length [m]"] = float(apart @ axes.forward)
            row["step width [m]"] = float(abs(apart @ axes.left))
        if np.isfinite(s.opposite_strike):
            row["step time [s]"] = s.end - s.opposite_strike
        rows.append(row)
    return rows


def _at(when: float, time: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.array([np.interp(when, time, column) for column in values.T])


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


def running_table(
    stances: list[FootStance],
    time: np.ndarray,
    loads: FootLoads,
    height: np.ndarray,
    up: np.ndarray,
    weight: float,
) -> list[dict[str, Any]]:
    r"""A row for each whole stance: peaks, loading rate, stiffness, and the flight after it.

    Impact peak: the first local maximum of the vertical load in the first third of stance. Loading
    rate: mean slope from 20 to 80 % of the way to it ([Milner2006]), or to 13 % of stance where
    there is none. Vertical stiffness: largest load over the fall of the centre of mass,
    $k = F_\max / \Delta y$ ([McMahon1987]).

    Args:
        stances: Of all feet.
        time: Of the frames [s].
        loads: What the feet bear.
        height: Of the centre of mass [m].
        up: Unit vector.
        weight: Of the body [N].
    """
    rows = []
    whole = [s for s in stances if np.isfinite(s.strike) and np.isfinite(s.off)]
    for s in whole:
        k = loads.feet.index(s.foot)
        inside = (time >= s.strike) & (time <= s.off)
        load, t = loads.force[inside, k] @ up, time[inside] - s.strike
        if len(t) < 8:
            continue
        early = np.flatnonzero((load[1:-1] > load[:-2]) & (load[1:-1] >= load[2:])) + 1
        early = early[t[early] < (s.off - s.strike) / 3]
        until = t[early[0]] if len(early) else 0.13 * (s.off - s.strike)
        ramp = [float(np.interp(x * until, t, load)) for x in (0.2, 0.8)]
        fall = np.interp(s.strike, time, height) - height[inside].min()
        after = [x.strike for x in stances if x.strike > s.off]
        rows.append(
            {
                "foot": s.foot,
                "from [s]": s.strike,
                "contact time [s]": s.off - s.strike,
                "impact peak [BW]": float(load[early[0]]) / weight if len(early) else np.nan,
                "active peak [BW]": float(load.max()) / weight,
                "loading rate [BW/s]": (ramp[1] - ramp[0]) / (0.6 * until) / weight,
                "fall of the centre of mass [m]": float(fall),
                "vertical stiffness [kN/m]": float(load.max() / fall / 1e3) if fall > 0 else np.nan,
                "flight after [s]": min(after) - s.off if after else np.nan,
            }
        )
    return rows
