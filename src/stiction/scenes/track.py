"""From the `track` of a scenario to the control that follows it."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np

from stiction._arrays import Array
from stiction._errors import InputError, unknown
from stiction.engines import Hybrid, Reference, Stepping, TrackingControl, make_reference
from stiction.mechanism import Mechanism
from stiction.mechanism.forces import scalar_entries
from stiction.mechanism.tree import HINGE
from stiction.scenes.scenario import Scenario, TrackFields
from stiction.surfaces import Contacts


def build_track(
    scenario: Scenario,
    folder: Path,
    mechanism: Mechanism,
    contacts: Contacts | None,
    law: object,
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
    reference = _reference(fields, folder, mechanism, names, np.asarray(q)[at_q])
    start = scenario.start
    r, r_dot = _beginning(reference)
    q = q.at[at_q].set(np.where(_named(start.q, names), np.asarray(q)[at_q], r))
    v = v.at[at_v].set(np.where(_named(start.v, names), np.asarray(v)[at_v], r_dot))
    mu = np.zeros(0)
    if contacts is not None:
        known = law.mu_dynamic if isinstance(law, (Hybrid, Stepping)) else 0.5
        mu = np.broadcast_to(np.asarray(known), (contacts.count,))
    numbers = (jnp.asarray(x) for x in (fields.frequency, fields.damping, fields.balance))
    return q, v, TrackingControl(mechanism, contacts, jnp.asarray(mu), reference, *numbers)


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
    frames = {name: np.array(q)[at_q] for name, q, _ in mechanism.keyframes}
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
    from stiction.biped.recording import read_text_table

    table = read_text_table(path)
    known = set(mechanism.tree.coordinate_names)
    for name in table.names:
        if name not in known:
            raise unknown(f"column in `track.file` '{table.source}'", name, sorted(known))
    values = np.tile(start, (len(table), 1))
    hinges = np.array([k == HINGE for k in mechanism.tree.joint_types], bool)
    (joints, _), _ = scalar_entries(mechanism.tree)
    for i, (name, joint) in enumerate(zip(names, joints, strict=True)):
        if name in table.names:
            column = table.column(name)
            values[:, i] = np.radians(column) if table.degrees and hinges[joint] else column
    if not np.isfinite(values).all():
        raise InputError(f"`track.file` '{table.source}' must have no gaps; fill them first")
    return make_reference(table.time, values, at_rest=False)
