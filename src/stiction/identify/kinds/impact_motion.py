r"""Velocities before and after impacts, from the recorded motion of a planar body.

Between impacts the body flies: x and the angle are straight lines of time, the height a parabola of
known gravity. Straight lines fitted to the rows on either side of an impact give the velocities
just before and just after it, without differences across it. The time of the impact is where the
path before it brings the lowest corner to the ground.

An impact counts where the same corner is the lowest on both sides, by a margin, and where the two
paths meet: otherwise two corners struck between two rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import numpy as np
from pydantic import Field

from stiction._base.arrays import Float
from stiction._base.errors import InputError
from stiction._base.files import Fields
from stiction.identify.fields import Columns3, Positive
from stiction.identify.path.noise import NORMAL_MEDIAN
from stiction.tables import Table, intervals

_ROWS = 4, 12  # of a flight that are fitted, at least and at most
_RESTING, _STILL = 10, 2e-3  # rows at the end that differ by less [m, rad]: at rest
_FEWEST_AT_REST = 5
_LEVEL = 0.2  # rad: who rests more aslant leans on something
_MEET = 4.0  # times the noise by which the paths may miss each other
_NEAR = 0.6  # of the way between two rows
_ROOM = 1e-3  # m: lower, and a corner may touch


class PlanarMotion(Fields):
    """Columns of a body that moves in a vertical plane, one log each."""

    coordinates: Annotated[Columns3, Field(description="x, height, angle (from x upwards)")]
    rate: Annotated[Positive, Field(description="[Hz]")]
    corners: Annotated[
        list[Annotated[list[float], Field(min_length=2, max_length=2)]],
        Field(min_length=1, description="x and y in the body, from its centre of mass [m]"),
    ]
    skip: Annotated[int, Field(ge=0, description="rows at the start of each log")] = 0
    gravity: Annotated[Positive, Field(description="[m/s²]")] = 9.81


@dataclass(frozen=True)
class ImpactPairs:
    """Impacts, one a row."""

    before: Float[np.ndarray, "n 3"]  # velocity x, y and spin
    after: Float[np.ndarray, "n 3"]  # the same
    arm: Float[np.ndarray, "n 2"]  # contact less centre of mass [m]
    said: list[str]  # what was done to the poses, and what was left out


def pairs_from_motion(tables: Sequence[Table], motion: PlanarMotion) -> ImpactPairs:
    """The single impacts of all logs."""
    paths = []
    for table in tables:
        x = table.vectors(motion.coordinates[:2], "length")
        angle = np.unwrap(table.vectors(motion.coordinates[2:], "angle")[:, 0])
        paths.append(np.column_stack([x, angle])[motion.skip :])
    corners = np.array(motion.corners)
    paths, said = _levelled(paths, corners)
    rows, seen = [], 0
    for path in paths:
        flights = _flights(path, corners, motion)
        for a, b in pairwise(flights):
            if b.first - a.last > _ROWS[0]:
                continue  # it slid, rocked or rested
            seen += 1
            pair = _impact(a, b, corners, motion)
            if pair is not None:
                rows.append(pair)
    if not rows:
        raise InputError(
            f"the logs must hold impacts between flights of {_ROWS[0]} rows or more, got none in"
            f" {len(tables)} logs; check motion.corners, motion.rate and the units"
        )
    if seen > len(rows):
        said.append(f"{seen - len(rows)} of {seen} impacts are not of one corner alone; left out")
    v, v2, arm = (np.array(part) for part in zip(*rows, strict=True))
    return ImpactPairs(v, v2, arm, said)


def _heights(path: np.ndarray, corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of every corner above the ground, and its place ahead of the centre of mass."""
    c, s = np.cos(path[:, 2:]), np.sin(path[:, 2:])
    x, y = corners.T
    return path[:, 1:2] + s * x + c * y, c * x - s * y


def _levelled(paths: list[np.ndarray], corners: np.ndarray) -> tuple[list[np.ndarray], list[str]]:
    """The paths with the ground where bodies come to rest."""
    last = [p[-_RESTING:] for p in paths]
    still = [np.median(p, axis=0) for p in last if np.ptp(p, axis=0).max() < _STILL]
    if len(still) < _FEWEST_AT_REST or len(corners) < 2:
        return paths, []
    rest = np.array(still)
    high, ahead = _heights(rest, corners)
    two = np.argsort(high, axis=1)[:, :2]
    (h, x) = (np.take_along_axis(a, two, axis=1) for a in (high, ahead))
    aslant = np.arctan2(h[:, 1] - h[:, 0], x[:, 1] - x[:, 0])
    aslant = (aslant + np.pi / 2) % np.pi - np.pi / 2
    tilt = float(np.median(aslant[np.abs(aslant) < _LEVEL]))
    turned = [p - [0, 0, tilt] for p in paths]
    lift = float(np.median(_heights(rest - [0, 0, tilt], corners)[0].min(axis=1)))
    said = (
        f"all poses were turned by {-np.rad2deg(tilt):.3g}° and moved by {-1e3 * lift:.3g} mm"
        f" upwards: {len(rest)} bodies come to rest so"
    )
    return [p - [0, lift, 0] for p in turned], [said]


@dataclass(frozen=True)
class _Flight:
    """Rows of free motion: positions and rates at time 0 of straight lines, gravity taken off."""

    first: int
    last: int
    begin: np.ndarray  # at the flight's first rows
    end: np.ndarray  # at its last rows
    noise: float

    def at(self, time: float, line: np.ndarray, gravity: float) -> tuple[np.ndarray, np.ndarray]:
        """Place and velocity."""
        fall = np.array([0.0, gravity, 0.0])
        return line[0] + line[1] * time - fall * time**2 / 2, line[1] - fall * time


def _flights(path: np.ndarray, corners: np.ndarray, motion: PlanarMotion) -> list[_Flight]:
    """Runs of rows in which no corner is at the ground."""
    high = _heights(path, corners)[0].min(axis=1)
    # A row that is more than half a row's way off touches nothing, nor does it hide an impact: of
    # two rows about one, the nearer in time is less.
    way = np.abs(np.diff(high, prepend=high[:1], append=high[-1:]))
    free = high > _ROOM + _NEAR * np.maximum(way[:-1], way[1:])
    out = []
    for a, b in intervals(free):
        if b - a < _ROWS[0]:
            continue
        n = min(b - a, _ROWS[1])
        begin, end = (_line(path, r, motion) for r in (np.arange(a, a + n), np.arange(b - n, b)))
        out.append(_Flight(a, b, begin[0], end[0], max(begin[1], end[1])))
    return out


def _line(path: np.ndarray, rows: np.ndarray, motion: PlanarMotion) -> tuple[np.ndarray, float]:
    t = rows / motion.rate
    straight = path[rows] + np.outer(motion.gravity * t**2 / 2, [0, 1, 0])
    A = np.column_stack([np.ones(len(t)), t])
    line, *_ = np.linalg.lstsq(A, straight, rcond=None)
    off = np.abs(A @ line - straight)[:, :2]
    return line, float(np.median(off)) / NORMAL_MEDIAN


def _impact(a: _Flight, b: _Flight, corners: np.ndarray, motion: PlanarMotion):
    """Velocities before and after, and the arm; None where it was not one corner's impact."""
    times = np.linspace(a.last - 1, b.first, 41) / motion.rate
    before = np.array([a.at(t, a.end, motion.gravity)[0] for t in times])
    low = _heights(before, corners)[0].min(axis=1)
    when = times[int(np.argmin(np.abs(low)))]
    (q, v), (q2, v2) = (f.at(when, x, motion.gravity) for f, x in ((a, a.end), (b, b.begin)))
    high, ahead = (x[0] for x in _heights(q[None], corners))
    high2 = _heights(q2[None], corners)[0][0]
    i = int(np.argmin(high))
    others = np.delete(high, i)
    # An impact that lasts half a row moves the two paths apart by as much.
    room = _MEET * max(a.noise, b.noise) + np.abs(v2 - v)[:2].max() / motion.rate / 2
    if i != int(np.argmin(high2)) or (len(others) and others.min() - high[i] < room):
        return None
    if np.abs(q2 - q)[:2].max() > room:
        return None
    return v, v2, np.array([ahead[i], high[i] - q[1]])
