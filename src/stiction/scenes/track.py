"""From the `track` of a scenario to the control that follows it."""

from pathlib import Path

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array
from stiction._base.errors import InputError, unknown
from stiction.control import Reference, TrackingControl, Way, make_reference, make_way
from stiction.engines import Compliant, Hybrid, Stepping
from stiction.mechanism import (
    HINGE,
    Mechanism,
    add_velocity,
    link_kinematics,
    scalar_entries,
)
from stiction.scenes.scenario import Scenario, TrackFields
from stiction.surfaces import Contacts, contact_kinematics
from stiction.tables import Table, read_table

_OFF_GROUND = 1e-4  # [m]: the beginning of a motion is put on the ground from so far


def build_track(
    scenario: Scenario,
    folder: Path,
    mechanism: Mechanism,
    contacts: Contacts | None,
    law: Hybrid | Stepping | Compliant | None,
    q: Array,
    v: Array,
) -> tuple[Array, Array, TrackingControl]:
    """The control that follows the scenario's motion, and the start put on that motion.

    Hinges and slides that `start` does not name begin where the motion does, and as fast.
    """
    fields = scenario.track
    assert fields is not None
    if scenario.control or scenario.jump is not None:
        raise InputError("`track` commands all actuators; leave `control` and `jump` out")
    if not mechanism.nu:
        raise InputError(
            "`track` needs actuators, and the mechanism has none; add motors to the model"
        )
    (joints, at_q), at_v = scalar_entries(mechanism.tree)
    names = [mechanism.tree.joint_names[j] for j in joints]
    start = scenario.start
    way = None
    if fields.file is not None and contacts is not None:
        way = _way(folder / fields.file, mechanism, contacts, np.asarray(q))
    if way is not None:
        reference, first = way
        if start.q is not None or start.v is not None:
            raise InputError(
                "`track.file` gives the base too, so the motion begins there; leave `start` out"
            )
        q = jnp.asarray(first)
    else:
        reference = _reference(fields, folder, mechanism, names, np.asarray(q)[at_q])
        r, r_dot = _beginning(reference)
        q = q.at[at_q].set(np.where(_named(start.q, names), np.asarray(q)[at_q], r))
        v = v.at[at_v].set(np.where(_named(start.v, names), np.asarray(v)[at_v], r_dot))
    mu = np.zeros(0)
    if contacts is not None and law is not None:
        slides = law.tangential.friction_law() if isinstance(law, Compliant) else law
        mu = np.broadcast_to(np.asarray(slides.mu_dynamic), (contacts.count,))
    numbers = (jnp.asarray(x) for x in (fields.frequency, fields.damping, fields.balance))
    held = 0.0 if fields.rate is None else 1 / fields.rate
    control = TrackingControl(
        mechanism, contacts, jnp.asarray(mu), reference, *numbers, period=held
    )
    return q, v if way is None else control.velocity_at(jnp.asarray(0.0)), control


def _beginning(reference: Reference) -> tuple[np.ndarray, np.ndarray]:
    """Position and velocity at time zero; by SciPy, since to compile it would take a second."""
    from scipy.interpolate import PPoly

    time = np.asarray(reference.curve.ts)
    curve = PPoly(np.stack([np.asarray(x) for x in reference.curve.coeffs]), time)
    at = np.clip(0.0, time[0], time[-1])
    return curve(at), (time[0] <= 0.0 < time[-1]) * curve(at, nu=1)


def _named(given: object, names: list[str]) -> np.ndarray:
    """Which joints a start gives: all of a list, those of a table."""
    if isinstance(given, dict):
        return np.array([name in given for name in names], bool)
    return np.full(len(names), given is not None)


def _reference(
    fields: TrackFields, folder: Path, mechanism: Mechanism, names: list[str], start: np.ndarray
) -> Reference:
    if fields.file is not None:
        return _recorded(folder / fields.file, mechanism, names, start)
    (_, at_q), _ = scalar_entries(mechanism.tree)
    frames = {frame.name: np.array(frame.q)[at_q] for frame in mechanism.keyframes}
    time, rows = [0.0], [start]
    for k, posture in enumerate(fields.postures):
        row = rows[-1].copy()
        if posture.keyframe is not None:
            if posture.keyframe not in frames:
                raise unknown("keyframe", posture.keyframe, frames)
            row = frames[posture.keyframe].copy()
        for name, value in posture.q.items():
            if name not in names:
                raise unknown(f"hinge or slide in `track.postures.{k}.q`", name, names)
            row[names.index(name)] = value
        time.append(posture.time)
        rows.append(row)
    if len(time) > 1 and time[1] == 0.0:  # a posture at the start replaces the start's
        time, rows = time[1:], rows[1:]
    return make_reference(time, np.array(rows))


def _recorded(path: Path, mechanism: Mechanism, names: list[str], start: np.ndarray) -> Reference:
    """A motion from a file; joints without a column stay at the start."""
    table = _table(path, mechanism)
    hinges = np.array([k == HINGE for k in mechanism.tree.joint_types], bool)
    (joints, _), _ = scalar_entries(mechanism.tree)
    return make_reference(table.time, _columns(table, names, hinges[joints], start), at_rest=False)


def _way(
    path: Path, mechanism: Mechanism, contacts: Contacts, start: np.ndarray
) -> tuple[Way, np.ndarray] | None:
    """The motion of a file that gives a free base as well, and its beginning; else None."""
    tree, table = mechanism.tree, _table(path, mechanism)
    (joints, at_q), _ = scalar_entries(tree)
    names = list(tree.coordinate_names)
    base = [n for i, n in enumerate(names) if i not in set(np.asarray(at_q).tolist())]
    if not base or not set(base) & set(table.names):
        return None
    if absent := [n for n in base if n not in table.names]:
        raise InputError(
            f"`track.file` '{table.source}' gives a part of the base, without {', '.join(absent)};"
            " give all of it, or none"
        )
    hinges = np.zeros(len(names), bool)
    hinges[at_q] = [tree.joint_types[j] == HINGE for j in joints]
    q = _columns(table, names, hinges, start)
    return make_way(mechanism, contacts, table.time, q), _on_the_ground(mechanism, contacts, q[0])


def _on_the_ground(mechanism: Mechanism, contacts: Contacts, q: np.ndarray) -> np.ndarray:
    """The beginning of a motion, with all points that stand exactly on what they touch.

    Rounded numbers leave them some micrometres off. Newton's method for their gaps, by the least
    change of all coordinates.
    """

    first = jnp.asarray(q)
    stands = np.abs(np.asarray(_gaps(mechanism, contacts, first)[0])) < _OFF_GROUND
    for _ in range(3):
        gap, J = (np.asarray(x)[stands] for x in _gaps(mechanism, contacts, first))
        first = _moved(mechanism, first, jnp.asarray(-np.linalg.pinv(J, rcond=1e-9) @ gap))
    return np.asarray(first)


@eqx.filter_jit
def _gaps(mechanism: Mechanism, contacts: Contacts, q: Array) -> tuple[Array, Array]:
    """The gaps at time zero, and their rows of the Jacobian."""
    state = link_kinematics(mechanism, q)
    found = contact_kinematics(mechanism, contacts, state, jnp.zeros(mechanism.nv), 0.0 * q[0])
    return found.gap, found.jacobian[:, -1]


@eqx.filter_jit
def _moved(mechanism: Mechanism, q: Array, step: Array) -> Array:
    return add_velocity(mechanism, q, step)


def _table(path: Path, mechanism: Mechanism) -> Table:
    table = read_table(path).by_time()
    known = set(mechanism.tree.coordinate_names)
    for name in table.names:
        if name not in known:
            raise unknown(f"column in `track.file` '{table.source}'", name, sorted(known))
    return table


def _columns(table: Table, names: list[str], hinges: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The named coordinates at every time; those without a column stay at the start."""
    values = np.tile(start, (len(table), 1))
    for i, name in enumerate(names):
        if name in table.names:
            column = table.column(name)
            values[:, i] = np.radians(column) if table.degrees and hinges[i] else column
    if not np.isfinite(values).all():
        raise InputError(f"`track.file` '{table.source}' must have no gaps; fill them first")
    return values
