"""Where a scene begins: the fields of `start` as a state, and starts that cannot be."""

from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array
from stiction._base.checks import require_moderate
from stiction._base.errors import InputError, unknown
from stiction.engines import RESULTS, Compliant, Trajectory, require_quaternions
from stiction.mechanism import COORDINATES, FREEDOMS, Keyframe, Mechanism, total_mass
from stiction.scenes.scenario import Scenario
from stiction.surfaces import Contacts, find_contacts

if TYPE_CHECKING:
    from stiction.agility import JumpControl

_SQUEEZED = 20.0  # times the weight: springs that push harder at the start are in the ground


class StartWarning(UserWarning):
    """The start is not quite the one that was asked for."""


def initial_state(scenario: Scenario, mechanism: Mechanism) -> tuple[Array, Array]:
    """q and v at time zero."""
    start, tree = scenario.start, mechanism.tree
    q, v = np.array(mechanism.q_reference), np.zeros(mechanism.nv)
    frame = keyframe_of(scenario, mechanism)
    if frame is not None:
        q, v = np.array(frame.q), np.array(frame.v)
    q = _fill("start.q", q, start.q, mechanism, tree.q_address, COORDINATES)
    v = _fill("start.v", v, start.v, mechanism, tree.v_address, FREEDOMS)
    require_moderate("start.q", q)
    require_moderate("start.v", v)
    require_quaternions("start.q", jnp.asarray(q), mechanism)
    return jnp.asarray(q), jnp.asarray(v)


def keyframe_of(scenario: Scenario, mechanism: Mechanism) -> Keyframe | None:
    """The named state of the model that a scenario begins with, if it does."""
    if scenario.start.keyframe is None:
        return None
    frames = {frame.name: frame for frame in mechanism.keyframes}
    if scenario.start.keyframe not in frames:
        raise unknown("keyframe", scenario.start.keyframe, frames)
    return frames[scenario.start.keyframe]


def _fill(field: str, values, given, mechanism: Mechanism, address, sizes):
    """Overwrite `values` by what a scenario gives: all of it, or some joints by name."""
    if given is None:
        return values
    tree = mechanism.tree
    if isinstance(given, list):
        if len(given) != len(values):
            names = tree.coordinate_names if field.endswith("q") else tree.freedom_names
            raise InputError(
                f"`{field}` must have {len(values)} entries ({', '.join(names[:8])}"
                f"{', …' if len(names) > 8 else ''}), got {len(given)}"
            )
        return np.array(given, float)
    for name, value in given.items():
        joint = mechanism.joint(name)
        size = sizes[tree.joint_types[joint]]
        entries = np.atleast_1d(np.array(value, float))
        if entries.size != size:
            raise InputError(f"`{field}.{name}` must have {size} entries, got {entries.size}")
        values[address[joint] : address[joint] + size] = entries
    return values


def build_jump(
    scenario: Scenario, mechanism: Mechanism, contacts: Contacts | None, q: Array
) -> tuple[Array, "JumpControl"]:
    """The start put on the ground, and the control of the jump."""
    from stiction.agility import check_posture, jump_control, make_stance, place

    fields = scenario.jump
    if contacts is None or fields is None:
        raise InputError(
            "`jump` needs contacts to push with; set `contact.law` and `contact.points`"
        )
    if scenario.control:
        raise InputError("`jump` commands all actuators; leave `control` out")
    if not mechanism.nu:
        raise InputError(
            "`jump` needs actuators, and the mechanism has none; add motors to the model"
        )
    feet = contacts
    if fields.feet is not None:
        feet = find_contacts(mechanism, points=fields.feet, ground=contacts.planes, pairs=False)
    stance = make_stance(mechanism, contacts=feet, point=fields.point)
    q, _ = place(stance, q)
    check_posture(stance, q)
    control = jump_control(
        stance,
        q,
        fields.direction,
        distance=fields.distance,
        frequency=fields.frequency,
        lifted=fields.lifted,
        away=fields.away,
    )
    return q, control


def refuse_inside(run: Trajectory, *, keep: bool) -> None:
    """Refuse a run that began inside of what it touches.

    Compliant contacts may be compressed at the start: that is a state of theirs, and its energy is
    booked. But springs that push with many times the weight are a model in the ground.

    With `keep` compliant contacts may begin at any depth.
    """
    if np.any(run.result == RESULTS.began_inside):
        raise InputError(f"`start.q`: {run.message}")
    if keep or run.compliance is None or run.contacts is None or not isinstance(run.law, Compliant):
        return
    depth = np.maximum(np.nan_to_num(np.asarray(run.compliance.depth)[0]), 0.0)
    spring = run.law.normal.power_law()
    push = np.sum(np.asarray(spring.stiffness) * depth ** np.asarray(spring.exponent))
    weight = float(total_mass(run.mechanism)) * np.linalg.norm(run.mechanism.gravity)
    if 0 < _SQUEEZED * weight < push:
        deepest = run.contacts.touches[int(np.argmax(depth))]
        raise InputError(
            f"`start.q`: {deepest.name} is {depth.max():.3g} m inside of {deepest.on}, where the"
            f" contacts push with {push / weight:.3g} times the weight; change the start, let"
            " `start.resolve = true` move it out, or keep it so with `start.resolve = false`"
        )
