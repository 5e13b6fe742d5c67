"""Flights: whether someone walks, runs or jumps, and how he lands."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from stiction.biped.gait.dynamics import FootLoads
from stiction.biped.gait.events import FootStance, crossing
from stiction.tables import intervals

_FLYING = 0.02  # of the time in the air: more than measuring errors give a walker
_TOGETHER = 0.5  # of the time on the ground on both feet: he jumps, and does not run
_LANDING = 0.5  # s: what counts of a landing after which he stands
_AT_ONCE = 0.04  # s: feet that leave together
_STRUCK = 0.5  # of body weight: what an impact has at least


@dataclass(frozen=True)
class Flight:
    """A time in which no foot bears anything."""

    start: float  # when the last foot left [s]
    end: float  # when the first one landed [s]
    rise: float  # of the centre of mass, from `start` to its highest place [m]


def find_flights(
    time: np.ndarray, loads: FootLoads, height: np.ndarray, up: np.ndarray, threshold: float
) -> list[Flight]:
    """The whole flights: all feet are known, and none bears more than `threshold` [N]."""
    if not loads.feet:
        return []
    load = (loads.force @ up).max(axis=1)  # nan where a foot is not known
    flights = []
    for first, after in intervals(load <= threshold):
        if first == 0 or after == len(time):
            continue
        start, end = (crossing(time, load, k - 1, threshold) for k in (first, after))
        if np.isfinite(start) and np.isfinite(end):
            rise = height[first:after].max() - np.interp(start, time, height)
            flights.append(Flight(start, end, max(float(rise), 0.0)))
    return flights


def kind_of_gait(
    time: np.ndarray,
    loads: FootLoads,
    stances: list[FootStance],
    flights: list[Flight],
    up: np.ndarray,
    threshold: float,
) -> str:
    """Walking, running, jumping (flights between stances on both feet) or standing."""
    known = loads.known.all(axis=1)
    flown = sum(f.end - f.start for f in flights)
    if flown > _FLYING * known.sum() * (time[1] - time[0]):
        down = (loads.force[known] @ up > threshold).sum(axis=1)
        together = (down > 1).sum() > _TOGETHER * (down > 0).sum()
        return "jumping" if together else "running"
    stepped = any(np.isfinite((s.strike, s.off)).any() for s in stances)
    return "walking" if stepped or not loads.feet else "standing"


def landing_table(
    stances: list[FootStance],
    flights: list[Flight],
    time: np.ndarray,
    loads: FootLoads,
    height: np.ndarray,
    up: np.ndarray,
    weight: float,
) -> list[dict[str, Any]]:
    r"""A row for each landing: peaks, loading rate, stiffness, and the flight after it.

    Impact peak: the first local maximum of the vertical load in the first third of stance, of half
    the body weight or more (less is a ripple of the filter at the strike). Loading rate: mean slope
    from 20 to 80 % of the way to it ([Milner2006]), or to 13 % of stance where there is none.
    Vertical stiffness: largest load over the fall of the centre of mass,
    $k = F_\max / \Delta y$ of all feet together ([McMahon1987]).
    """
    rows = []
    total = np.nansum(loads.force, axis=1) @ up
    for s in stances:
        if not np.isfinite(s.strike):
            continue
        k = loads.feet.index(s.foot)
        end = s.off if np.isfinite(s.off) else min(time[-1], s.strike + _LANDING)
        inside = (time >= s.strike) & (time <= end) & loads.known[:, k]
        load, t = loads.force[inside, k] @ up, time[inside] - s.strike
        if len(t) < 8:
            continue
        early = np.flatnonzero((load[1:-1] > load[:-2]) & (load[1:-1] >= load[2:])) + 1
        early = early[(t[early] < (end - s.strike) / 3) & (load[early] > _STRUCK * weight)]
        until = t[early[0]] if len(early) else 0.13 * (end - s.strike)
        ramp = [float(np.interp(x * until, t, load)) for x in (0.2, 0.8)]
        fall = np.interp(s.strike, time, height) - height[inside].min()
        after = [f for f in flights if -1e-9 <= f.start - s.off < _AT_ONCE]
        rows.append(
            {
                "foot": s.foot,
                "from [s]": s.strike,
                "contact time [s]": s.off - s.strike,
                "impact peak [BW]": float(load[early[0]]) / weight if len(early) else np.nan,
                "active peak [BW]": float(load.max()) / weight,
                "loading rate [BW/s]": (ramp[1] - ramp[0]) / (0.6 * until) / weight,
                "fall of the centre of mass [m]": float(fall),
                "vertical stiffness [kN/m]": float(total[inside].max() / fall / 1e3)
                if fall > 0
                else np.nan,
                "flight after [s]": after[0].end - after[0].start if after else np.nan,
            }
        )
    return rows
