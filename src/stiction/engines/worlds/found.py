"""What touched in a world: from places in a list that come and go to contacts with names."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import mujoco
import numpy as np

from stiction.engines.blueprint import Run
from stiction.engines.contact_places import ContactPlaces
from stiction.engines.core import part
from stiction.engines.event_log import EventLog
from stiction.engines.given import changed, unchecked
from stiction.engines.result import Compliance, Origin, Trajectory
from stiction.engines.worlds.machine import WorldDesign
from stiction.engines.worlds.sensors import sensors_along
from stiction.mechanism import Mechanism
from stiction.surfaces import Touch, WorldContacts

_NOT_NAMED = -3  # cause of an event that changed no contact with a name


class SlotCount(NamedTuple):
    """Places in the list of pairs, in the form of contacts."""

    count: int
    dim: int = 3


class _Names:
    """Every contact that was closed at some time, in the order of its first time."""

    def __init__(self) -> None:
        self.column: dict[tuple[int, ...], int] = {}

    def add(self, keys: np.ndarray) -> np.ndarray:
        """Which contact each row of keys is."""
        known = self.column
        return np.array([known.setdefault(tuple(key), len(known)) for key in keys.tolist()], int)


def told(
    run: Trajectory,
    made: Run,
    world: WorldDesign,
    model: mujoco.MjModel,
    mechanism: Mechanism,
    contacts: WorldContacts,
) -> Trajectory:
    """A run whose contacts are places in a list as one whose contacts are named.

    Args:
        run: As the machine wrote it.
        made: What the machine was given.
        world: Its design.
        model: MuJoCo's.
        mechanism: What moved.
        contacts: What might touch.
    """
    lay = made.design.core.layout
    fixed = len(world.names)
    names = _Names()
    samples = _Entries(made.places.numpy()[0], np.asarray(run.modes) != 0, lay, fixed, names)
    log = run.log
    events = None
    if log is not None:
        count = min(int(run.n_events), len(log.time) - 1)
        moved = np.any(log.impulse != 0, axis=-1)
        involved = (log.modes_before != 0) | (log.modes_after != 0) | moved
        involved[count:] = False
        rows = made.event_places.numpy()[0]
        rows = np.concatenate([rows, np.zeros_like(rows[:1])])
        events = _Entries(rows, involved, lay, fixed, names)
    n = len(names.column)
    touches, couples = touches_of(names.column, world, model, mechanism, contacts)
    found = changed(
        contacts,
        names=tuple(map(called, touches)),
        touches=touches,
        couples=couples,
    )
    signals = run.signals
    assert signals is not None
    return changed(
        run,
        force=samples.spread(run.force, n),
        modes=samples.spread(run.modes, n),
        places=samples.places(run.places, n),
        compliance=_compliance(run.compliance, samples, n, np.isnan(run.kinetic)),
        log=None if events is None or log is None else _log(log, events, n),
        signals=changed(signals, sensor=sensors_along(model, run, made.places.numpy()[0])),
        origin=Origin(mechanism, found),
    )


def keys_of(rows: np.ndarray, slots: np.ndarray, lay: Any, fixed: int) -> np.ndarray:
    """What tells contacts apart: the place in the list of the first ones, of others the parts."""
    ids = rows[:, : int(lay.PLACE_POINT)].astype(int)
    first = slots < fixed
    ids[first] = -1
    return np.column_stack([np.where(first, slots, -1), ids])


def called(touch: Touch) -> str:
    """A contact in words."""
    return f"{touch.name} on {touch.on}" if touch.on else touch.name


class _Entries:
    """Entries (time, place in the list) at which a contact with a name is there."""

    def __init__(self, rows: np.ndarray, there: np.ndarray, lay: Any, fixed: int, names: _Names):
        self.times, self.slots = np.nonzero(there)
        self.columns = names.add(keys_of(rows[self.times, self.slots], self.slots, lay, fixed))

    def spread(self, values: Any, n: int, default: float = 0) -> np.ndarray:
        """Values of places in the list as those of contacts."""
        values = np.asarray(values)
        made = np.full((len(values), n, *values.shape[2:]), default, values.dtype)
        made[self.times, self.columns] = values[self.times, self.slots]
        return made

    def places(self, places: ContactPlaces | None, n: int) -> ContactPlaces | None:
        if places is None:
            return None
        fields = {name: self.spread(x, n) for name, x in vars(places).items()}
        return unchecked(ContactPlaces, **fields)

    def column_of(self, time: int, slot: int) -> int:
        """The contact at a place of the list at some time; `_NOT_NAMED` if there is none."""
        here = np.flatnonzero((self.times == time) & (self.slots == slot))
        return int(self.columns[here[0]]) if here.size else _NOT_NAMED


def _compliance(
    shown: Compliance | None, samples: _Entries, n: int, missing: np.ndarray
) -> Compliance | None:
    """What compliant contacts show: what a contact has lost stays lost when it is gone, and what is
    not near has no depth (minus infinity). Samples that were not reached are not numbers.
    """
    if shown is None:
        return None
    fields = {name: samples.spread(x, n, np.nan) for name, x in vars(shown).items()}
    fields["depth"] = np.where(np.isnan(fields["depth"]), -np.inf, fields["depth"])
    fields["stored"] = np.nan_to_num(fields["stored"])
    for name in ("normal_loss", "friction_loss"):
        values = fields[name]
        known = np.where(np.isnan(values), 0, np.arange(len(values))[:, None])
        last = np.maximum.accumulate(known, axis=0)
        fields[name] = np.nan_to_num(np.take_along_axis(values, last, axis=0))
    for values in fields.values():
        values[missing] = np.nan
    return unchecked(Compliance, **fields)


def _log(log: EventLog, events: _Entries, n: int) -> EventLog:
    """The log with contacts instead of places in the list."""
    by_contact = (
        "modes_before", "modes_after", "direction_before", "direction_after", "gap",
        "velocity_before", "velocity_after", "impulse", "mu", "work",
    )  # fmt: skip
    by_name = {name: events.spread(getattr(log, name), n) for name in by_contact}
    cause = np.array(log.cause.contact)
    for i in np.unique(events.times):
        if cause[i] >= 0:
            cause[i] = events.column_of(int(i), int(cause[i]))
    cause[(cause >= 0) & ~np.isin(np.arange(len(cause)), events.times)] = _NOT_NAMED
    return changed(
        log,
        **by_name,
        limit=events.spread(log.limit, n, np.nan),
        places=events.places(log.places, n),
        cause=changed(log.cause, contact=cause),
    )


def touches_of(
    column: Iterable[tuple[int, ...]],
    world: WorldDesign,
    model: mujoco.MjModel,
    mechanism: Mechanism,
    contacts: WorldContacts,
) -> tuple[tuple[Touch, ...], tuple[tuple[int, int], ...]]:
    """What each contact is, and its two bodies."""
    touches, couples = [], []
    shapes, bodies = mechanism.shapes, mechanism.tree.body_names
    shape_parts = world.blueprint.machine.shapes
    for slot, kind, one, two, first, second in column:
        if 0 <= slot < world.n_points and contacts.points is not None:
            touches.append(contacts.points.touches[slot])
            couples.append(tuple(contacts.points.bodies[slot].tolist()))
        elif slot >= 0:
            touches.append(Touch(world.names[slot], "joint", "", "", ""))
            couples.append((-1, -1))
        else:
            ends = [
                _part(shape_parts, shapes.names[g], g, p, kind, which)
                for which, (g, p) in enumerate(((one, first), (two, second)))
            ]
            body = shapes.bodies[one]
            touches.append(
                Touch(ends[0], shapes.kinds[one], shapes.names[one], bodies[body], ends[1])
            )
            pair = [shapes.bodies[g] for g in (one, two)]
            couples.append(tuple(0 if model.body_weldid[b] == 0 else b for b in pair))
    return tuple(touches), tuple(couples)


def _part(shapes: Any, name: str, geom: int, part_index: int, kind: int, which: int) -> str:
    """A geom and, where it has several, which of its parts touches."""
    kinds = part("contacts")
    family = int(shapes.family.numpy()[geom])
    rim = kind == int(kinds.CURVED) and family == int(part("parts").CYLINDER) and part_index < 0
    if kind == int(kinds.RIM_LINE) and which == 0:
        rim, part_index = True, -1 - (-15 - part_index) // 2
    if (kind == int(kinds.RIM_PLANE) and which == 0) or rim:
        return f"{name}[{'lower' if part_index == -1 else 'upper'} rim]"
    if part_index < 0:
        return name if part_index > -2 or part_index == -64 else f"{name}[end {-2 - part_index}]"
    on_edge = (int(kinds.BALL_LINE), int(kinds.RIM_LINE))
    edge = kind == int(kinds.LINE_LINE) or (kind in on_edge and which == 1)
    face = which == 1 and kind in (
        int(kinds.POINT_PLANE), int(kinds.ROUND_PLANE), int(kinds.RIM_PLANE),
    )  # fmt: skip
    if face:
        return name
    first = (shapes.first_edge if edge else shapes.first_vertex).numpy()
    if first[geom + 1] - first[geom] == 1:
        return name
    number = part_index - int(first[geom])
    return f"{name}[edge {number}]" if edge else f"{name}[{number}]"
