"""The list of events of a run, as people read it: one row for each contact that an event changed.

kind       what happened at the contact
impact     its velocity jumped
zeno       an impact slower than the rest speed, with which an endless sequence of ever smaller ones
           was ended; `limit` is when they would have ended
jam        an impact without collision: no motion was consistent while the contact slid (Painlevé)
touch      it closed without an impact
lift-off   it opened
stick      its sliding came to an end
slip       it began to slide
reversal   its sliding changed direction through zero
ambiguous  other motions may be possible, and nothing changed (contact empty)
overlap    it began inside of what it touches
rest       everything came to rest with this event (contact empty)
switch     a guard of the control came to zero (contact empty)
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from stiction.engines.event_log import GUARD, START, EventLog
from stiction.engines.forces import OPEN, SLIP, STICK
from stiction.engines.result import Trajectory
from stiction.engines.tolerances import REST_ACCELERATION, REST_SPEED, TOUCH

ROUNDING = 1e-12  # of the largest impulse of an event: what is smaller is none


@dataclass(frozen=True)
class Event:
    """What an event did to one contact."""

    time: float  # [s]
    kind: str
    contact: str
    velocity_before: tuple[float, ...] = ()  # tangents, then normal [m/s]
    velocity_after: tuple[float, ...] = ()
    impulse: tuple[float, ...] = ()  # [N·s]
    mu: float = float("nan")  # coefficient of friction that was used, |p_t| / p_n
    kinetic_before: float = float("nan")  # of everything [J]
    kinetic_after: float = float("nan")
    removed: float = 0.0  # by energy control, and as a sequence is cut short [J]
    limit: float = float("nan")  # [s]
    note: str = ""
    index: int = field(default=-1, compare=False)  # in the trajectory's list

    def as_row(self) -> dict[str, Any]:
        """As plain data, under the names that files and `--json` have."""
        row = {"t": self.time, **vars(self)}
        del row["time"], row["index"]
        return row


def list_events(trajectory: Trajectory) -> list[Event]:
    """The events of one run (not of a batch), in order; free motion has none."""
    if trajectory.log is None:
        return []
    count = min(int(trajectory.n_events), len(trajectory.log.time) - 1)
    log = _arrays(trajectory.log, count)
    changed, names = _may_change(SimpleNamespace(**log)), trajectory.contact_names
    events: list[Event] = []
    resting = False
    for i in range(count):
        row = SimpleNamespace(**{name: values[i] for name, values in log.items()})
        changes = _changes(row, names, np.flatnonzero(changed[i]), i)
        events += changes
        if row.suspicious and not changes:
            events.append(_plain(row, "ambiguous", i, _note(row)))
        if row.cause == GUARD:
            events.append(_plain(row, "switch", i, f"guard {int(row.function)}"))
        rests = row.speed <= REST_SPEED and row.acceleration <= REST_ACCELERATION
        if rests and not resting:
            events.append(_plain(row, "rest", i))
        resting = bool(rests)
    told = trajectory.origin.notes() if trajectory.origin and trajectory.origin.notes else {}
    return [replace(e, note=f"{e.note}; {told[e.index]}") if e.index in told else e for e in events]


def rest_time(trajectory: Trajectory) -> float | None:
    """When everything came to rest for good [s]; None if it did not.

    Exact with rigid contacts; with compliant ones to the distance of two samples.
    """
    v = np.asarray(trajectory.v)
    ended = np.flatnonzero(np.isfinite(v).all(axis=1))
    if ended.size == 0 or np.abs(v[ended[-1]]).max(initial=0.0) > REST_SPEED:
        return None
    if trajectory.log is None or int(trajectory.n_events) == 0:
        return 0.0 if np.nanmax(np.abs(v), initial=0.0) <= REST_SPEED else None
    if trajectory.compliance is not None:
        # They come to rest little by little: the first sample from which all is still.
        moving = np.flatnonzero(np.abs(v[: ended[-1] + 1]).max(axis=1) > REST_SPEED)
        first = moving[-1] + 1 if moving.size else 0
        return float(trajectory.time[first])
    last = min(int(trajectory.n_events), len(trajectory.log.time) - 1) - 1
    log = trajectory.log
    rests = log.speed[last] <= REST_SPEED and log.acceleration[last] <= REST_ACCELERATION
    return float(log.time[last]) if rests else None


def _plain(row: Any, kind: str, index: int, note: str = "") -> Event:
    return Event(
        time=float(row.time),
        kind=kind,
        contact="",
        kinetic_before=float(row.kinetic_before),
        kinetic_after=float(row.kinetic_after),
        note=note,
        index=index,
    )


def _arrays(log: EventLog, count: int) -> dict[str, np.ndarray]:
    """The first events of a log, field by field."""
    fields: dict[str, Any] = {**vars(log)}
    cause = fields.pop("cause")
    del fields["places"]
    fields |= {"cause": cause.contact, "function": cause.function}
    found = {name: np.asarray(values)[:count] for name, values in fields.items()}
    return found | {"hit": found["impact"][:, None] & pushed(found["impulse"])}


def pushed(impulse: np.ndarray) -> np.ndarray:
    """Which contacts events have pushed, by more than the rounding of the largest impulse.

    Args:
        impulse: Of events and contacts. Shape (n_events, n, dim).
    """
    size = np.abs(impulse).max(axis=-1, initial=0.0)
    return size > ROUNDING * size.max(axis=-1, initial=0.0, keepdims=True)


def _may_change(log: Any) -> np.ndarray:
    """Which events may have changed which contacts; `_kind` tells which did."""
    slides = (log.modes_before == SLIP) & (log.modes_after == SLIP)
    return log.hit | slides | (log.modes_before != log.modes_after) | (log.cause == START)[:, None]


def _changes(row: Any, names: Sequence[str], changed: np.ndarray, index: int) -> list[Event]:
    events = []
    for c in map(int, changed):
        kind = _kind(row, c)
        if kind is None:
            continue
        events.append(
            Event(
                time=float(row.time),
                kind=kind,
                contact=names[c],
                velocity_before=tuple(row.velocity_before[c].tolist()),
                velocity_after=tuple(row.velocity_after[c].tolist()),
                impulse=tuple(row.impulse[c].tolist()),
                mu=float(row.mu[c]),
                kinetic_before=float(row.kinetic_before),
                kinetic_after=float(row.kinetic_after),
                removed=float(row.removed),
                limit=float(row.limit[c]),
                note=_inside(row, c) or _note(row),
                index=index,
            )
        )
    return events


def _kind(row: Any, c: int) -> str | None:
    """What happened to a contact; None if nothing did."""
    before, after = int(row.modes_before[c]), int(row.modes_after[c])
    if row.hit[c]:
        if row.tangential:
            return "jam"
        return "zeno" if np.isfinite(row.limit[c]) else "impact"
    if row.cause == START:
        if row.gap[c] < -TOUCH.double:
            return "overlap"
        touches = before == OPEN != after and row.velocity_before[c, -1] < 0 and not row.impact
        return "touch" if touches else None
    if before == OPEN:
        return None if after == OPEN else "touch"
    if after == OPEN:
        return "lift-off"
    if before == SLIP and after == STICK:
        return "stick"
    if before == STICK and after == SLIP:
        return "slip"
    turned = float(np.sum(row.direction_before[c] * row.direction_after[c])) < 0
    return "reversal" if before == after == SLIP and turned else None


def _inside(row: Any, c: int) -> str:
    if row.cause != START or not row.gap[c] < -TOUCH.double:
        return ""
    return f"began {-float(row.gap[c]):.3g} m inside of what it touches"


def _note(row: Any) -> str:
    if row.tangential:
        return "no consistent motion while sliding; stopped by an impact without collision"
    if not row.consistent:
        return "no consistent motion was found; the nearest was taken"
    return "other motions may be possible; contact was kept" if row.suspicious else ""
