r"""Vertical jumps on a force plate: how long the flight, how high, by two roads.

From the flight time T, if the body lands as it left, $h = g T^2 / 8$. From the impulse before
take-off, $v = \int (F/m - g) \, dt$ and $h = v^2 / 2g$; this one stands or falls with the weight.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from stiction._base.errors import InputError
from stiction.tables import Table, intervals, is_number, make_even, read_lines, read_table

GRAVITY = 9.81  # m/s²
AIRBORNE = 10.0  # N: below it nobody stands on the plate
_NEARLY = 0.05  # of body weight: a flight is looked for below this, and its ends below AIRBORNE
_SHORTEST, _LONGEST = 0.08, 1.2  # s
_QUIET = 0.5  # s of standing still that make a weight
_STILL = 0.03  # of the weight: how much the force may waver meanwhile


@dataclass(frozen=True)
class Jump:
    """One flight."""

    takeoff: float  # first sample in the air [s]
    landing: float  # last sample in the air [s]
    flight_time: float  # between the two [s]; up to two sampling periods too short
    height: float  # rise of the centre of mass after take-off, from the flight time [m]
    takeoff_speed: float  # from the impulse [m/s]; nan where no rest came before
    impulse_height: float  # from that speed [m]
    peak_force: float  # before take-off [N]
    landing_force: float  # largest within half a second after landing [N]


@dataclass(frozen=True)
class JumpRecord:
    """A record of jumps."""

    time: np.ndarray  # [s]
    force: np.ndarray  # vertical, on the person [N]
    weight: float  # weight of the person [N]
    weighed: str  # how it was found
    jumps: tuple[Jump, ...]  # in order


def read_vertical_force(
    path: str | Path, *, rate: float | None = None, column: str | None = None
) -> Table:
    """A vertical force from a table with a time column, or from one column at a given rate.

    Args:
        path: .txt, .csv, .mot or .sto.
        rate: Sampling rate [Hz] of a file of one column, which may have a heading.
        column: Which column, if there are several.
    """
    path = Path(path)
    cells = [line.strip() for _, line in read_lines(path)[0]]
    name = "force"
    if rate is not None and len(cells) > 1 and not is_number(cells[0]) and is_number(cells[1]):
        name, *cells = cells
    if cells and is_number(cells[0]):
        if rate is None:
            raise InputError(f"`{path}` is one column of numbers: add --rate with its rate in Hz")
        if not rate > 0:
            raise InputError(f"`rate` must be a positive number [Hz], got {rate}")
        values = np.array([float(c) if is_number(c) else np.nan for c in cells])[:, None]
        table = Table.recording(path, np.arange(len(values)) / rate, (name,), values)
    else:
        table = read_table(path).by_time()
    if column is None and len(table.names) != 1:
        raise InputError(
            f"`{path}` must have one column beside the time, has {len(table.names)}"
            f" ({', '.join(table.names[:6])}): add --column with the name of the vertical force"
        )
    name = column or "".join(table.names)
    return make_even(Table.recording(path, table.time, (name,), table.column(name)[:, None]))


def find_jumps(time: np.ndarray, force: np.ndarray, *, gravity: float = GRAVITY) -> JumpRecord:
    """The jumps in a record of vertical force.

    Args:
        time: Evenly spaced [s].
        force: On the person, upwards [N].
        gravity: [m/s²]
    """
    loaded = force > max(AIRBORNE, 0.1 * np.quantile(force, 0.9))
    if not loaded.any():
        raise InputError("the force never rises: is its unit newton, and is up positive?")
    usual = float(np.median(force[loaded]))
    flights = _flights(time, force, usual)
    if not flights:
        raise InputError(
            f"no flight found: the force must fall below {_NEARLY:.0%} of the weight"
            f" (about {usual:.0f} N) and return"
        )
    weight, weighed, start = _weigh(time, force, flights[0][0], usual)
    jumps = tuple(
        _jump(time, force, first, last, weight, start if k == 0 else None, gravity)
        for k, (first, last) in enumerate(flights)
    )
    return JumpRecord(time, force, weight, weighed, jumps)


def _flights(time: np.ndarray, force: np.ndarray, usual: float) -> list[tuple[int, int]]:
    """First and last sample of every stretch in the air that lies between two on the plate."""
    found = []
    for first, after in intervals(force < _NEARLY * usual):
        duration = time[after - 1] - time[first]
        inside = np.flatnonzero(force[first:after] < AIRBORNE)
        between = first > 0 and after < len(force)
        if between and _SHORTEST < duration < _LONGEST and inside.size:
            found.append((int(first + inside[0]), int(first + inside[-1])))
    return found


def _weigh(time, force, takeoff: int, usual: float) -> tuple[float, str, int | None]:
    """The weight, how it was found, and a sample at which the person stood still before jumping."""
    period = time[1] - time[0]
    width = max(2, round(_QUIET / period))
    best = None
    if takeoff > width:
        windows = np.lib.stride_tricks.sliding_window_view(force[:takeoff], width)
        spread = windows.std(axis=1) / usual
        standing = np.abs(windows.mean(axis=1) - usual) < 0.2 * usual
        quiet = np.flatnonzero((spread < _STILL) & standing)
        if quiet.size:
            best = int(quiet[np.argmin(spread[quiet])])
    if best is not None:
        return float(force[best : best + width].mean()), "standing still before the jump", best
    ends = [force[: width // 5], force[-(width // 5) :]]
    means = [float(e.mean()) for e in ends]
    still = all(e.std() < _STILL * m for e, m in zip(ends, means, strict=True))
    if still and min(means) > 0.9 * max(means) > 0.3 * usual:
        # At rest at both ends: all impulse together is the weight's.
        mean = np.trapezoid(force, time) / (time[-1] - time[0])
        return float(mean), "mean force of a record that begins and ends at rest", 0
    return usual, "median force on the plate; uncertain", None


def _jump(time, force, first, last, weight, start, gravity) -> Jump:
    duration = float(time[last] - time[first])
    speed = np.nan
    if start is not None:
        part = slice(start, first + 1)
        mass = weight / gravity
        speed = float(np.trapezoid(force[part] - weight, time[part]) / mass)
    before = force[start or 0 : first] if first else force[:1]
    after = force[last : last + round(0.5 / (time[1] - time[0])) + 1]
    return Jump(
        takeoff=float(time[first]),
        landing=float(time[last]),
        flight_time=duration,
        height=gravity * duration**2 / 8,
        takeoff_speed=speed,
        impulse_height=speed**2 / (2 * gravity),
        peak_force=float(before.max()),
        landing_force=float(after.max()),
    )
