"""Plates beside a computed motion: on its frames, by foot, and checked for being in its frame."""

from dataclasses import dataclass, replace

import numpy as np

from stiction._base.errors import InputError
from stiction.biped.axes import axes_that_turn
from stiction.biped.grf.plates import ForcePlate, ForcePlates
from stiction.biped.grf.reactions import GroundReactions
from stiction.tables import interpolate, intervals

TOUCHED = 20.0  # N: more than a plate's noise
_FAR = 0.3  # m; a centre of pressure so far from every foot belongs to another frame
_ALIGNED = 0.8  # cosine between the mean force and up
_SLOW = 1.5  # frames; a larger lag is worth a note


@dataclass(frozen=True)
class Measured:
    """What plates measured, on the frames of a motion."""

    time: np.ndarray  # time of the frames that both cover [s]
    frames: slice  # which frames of the motion these are
    total: np.ndarray  # force [N]
    feet: np.ndarray  # force of each foot [N], shape (n, n_feet, 3)
    pressure: np.ndarray  # centre of pressure of each foot [m], nan where not loaded or not known
    free_moment: np.ndarray  # about the vertical through it [N·m], shape (n, n_feet)
    # whether a foot's force was measured: it may have stepped beside the plates, or both feet on
    # one
    known: np.ndarray
    complete: np.ndarray  # whether all of the total was measured
    notes: tuple[str, ...]  # what was found


def measured_on_frames(plates: ForcePlates, reactions: GroundReactions) -> Measured:
    """Bring plates to the frames of a motion and find out whose foot was on them."""
    time = reactions.time
    inside = np.flatnonzero((time >= plates.time[0] - 1e-9) & (time <= plates.time[-1] + 1e-9))
    if inside.size < 2:
        raise InputError(
            f"`{plates.source}` covers {plates.time[0]:.4g} to {plates.time[-1]:.4g} s, the motion"
            f" {time[0]:.4g} to {time[-1]:.4g} s: they must overlap; check which trial it is"
        )
    frames = slice(int(inside[0]), int(inside[-1]) + 1)
    notes = list(plates.notes)
    if inside.size < len(time):
        notes.append(f"plates cover {inside.size} of {len(time)} frames")
    plates, turned = _pushing_up(plates, reactions)
    notes += turned
    t = time[frames]
    period = (time[-1] - time[0]) / (len(time) - 1)
    total = _averaged(plates.time, plates.total, t, period)
    notes += _lag(total, reactions, frames, period)
    feet = np.zeros((len(t), len(reactions.feet), 3))
    about = np.zeros_like(feet)  # moments about the world's origin
    height = np.zeros(feet.shape[:2])
    far, up = [], reactions.axes.up
    for plate in plates.plates:
        force = _averaged(plates.time, plate.force, t, period)
        moment, level = _moment(plate, plates.time, t, period, up)
        point = None if moment is None else pressure_point(force, moment, up, level)[0]
        owner, near = _owner(plate, force, point, reactions, frames)
        if not near:
            far.append(plate.name)
            moment = None
        for foot in range(len(reactions.feet)):
            mine = (owner == foot)[:, None]
            feet[:, foot] += np.where(mine, force, 0.0)
            about[:, foot] += np.where(mine, np.nan if moment is None else moment, 0.0)
            height[:, foot] += np.where(mine[:, 0], level * (force @ up), 0.0)
    load = feet @ up
    loaded = load > TOUCHED
    height = height / np.where(loaded, load, 1.0)
    pressure, free = pressure_point(feet, about, up, height)
    pressure = np.where(loaded[..., None], pressure, np.nan)
    free = np.where(loaded & np.isfinite(free), free, 0.0)
    if far:
        notes.append(
            f"the centre of pressure of {', '.join(repr(n) for n in far)} is nowhere near the feet:"
            " it is in another frame and was not compared"
        )
    known, shared = _known(load, reactions, frames)
    if shared.any():
        notes.append("both feet stood on one plate: their forces are compared in total only")
    complete = known.all(axis=1) | shared
    if not reactions.feet:
        complete = total @ up > 0.6 * (reactions.force[frames] @ up)
    if not complete.all():
        notes.append("some steps were beside the plates and are not compared")
    notes += _weights(total[complete] @ up, reactions.force[frames][complete] @ up, reactions)
    return Measured(t, frames, total, feet, pressure, free, known, complete, tuple(notes))


def _averaged(time: np.ndarray, values: np.ndarray, at: np.ndarray, period: float) -> np.ndarray:
    """The mean over the time of one frame: what a frame of motion can know of a faster signal."""
    steps = np.diff(time)[:, None] * (values[1:] + values[:-1]) / 2
    integral = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(steps, axis=0)])
    ends = [np.clip(at + side * period / 2, time[0], time[-1]) for side in (-1, 1)]
    low, high = (interpolate(e, time, integral) for e in ends)
    return (high - low) / (ends[1] - ends[0])[:, None]


def _pushing_up(plates: ForcePlates, reactions: GroundReactions) -> tuple[ForcePlates, list[str]]:
    """Plates push up. If theirs is another axis, say which, and how to turn them."""
    up, total = reactions.axes.up, plates.total
    strong = np.linalg.norm(total, axis=1) > 0.2 * reactions.subject.weight
    if not strong.any():
        raise InputError(
            f"`{plates.source}` never reaches a fifth of the body weight"
            f" ({reactions.subject.weight:.0f} N); is its unit newton?"
        )
    mean = total[strong].mean(axis=0)
    mean = mean / np.linalg.norm(mean)
    if mean @ up > _ALIGNED:
        return plates, []
    if mean @ up < -_ALIGNED:
        turned = tuple(
            replace(p, force=-p.force, torque=None if p.torque is None else -p.torque)
            for p in plates.plates
        )
        note = f"'{plates.source}' holds the forces on the plates: their signs were turned round"
        as_ever = plates.source.lower().endswith(".c3d")  # by the format's definition
        return replace(plates, plates=turned), [] if as_ever else [note]
    theirs, vertical, axes = axes_that_turn(up, mean)
    raise InputError(
        f"`{plates.source}` pushes along {theirs}, but up is {vertical} in the model: the plates"
        f" are in another frame; add --plate-axes {axes}"
    )


def _lag(total, reactions, frames, period) -> list[str]:
    """A note if the measured vertical force runs ahead of or behind the computed one."""
    up = reactions.axes.up
    a, b = total @ up, reactions.force[frames] @ up
    a, b = a - a.mean(), b - b.mean()
    reach = min(len(a) // 2, round(0.3 / period))
    if reach < 2 or not (a.any() and b.any()):
        return []
    lags = np.arange(-reach, reach + 1)
    n = len(a)
    match = [np.dot(a[max(0, k) : n + min(0, k)], b[max(0, -k) : n - max(0, k)]) for k in lags]
    lag = int(lags[int(np.argmax(match))])
    if abs(lag) < _SLOW:
        return []
    word = "behind" if lag > 0 else "ahead of"
    return [
        f"the plates run {abs(lag) * period * 1e3:.0f} ms {word} the motion: are the two in step?"
    ]


def _moment(plate: ForcePlate, time, at, period, up) -> tuple[np.ndarray | None, float]:
    """The plate's moment about the world's origin on frames [N·m], and the height of its face [m].

    Force at a point far off, as unloaded plates report it, is but a moment: averaging moments is
    sound where averaging points is not.
    """
    if plate.point is None:
        return None, 0.0
    good = (plate.force @ up > TOUCHED) & np.isfinite(plate.point).all(axis=1)
    if good.sum() < 2:
        return None, 0.0
    moment = np.cross(np.nan_to_num(plate.point), plate.force)
    if plate.torque is not None:
        moment = moment + plate.torque
    return _averaged(time, moment, at, period), float(np.median(plate.point[good] @ up))


def pressure_point(force, moment, up, height) -> tuple[np.ndarray, np.ndarray]:
    """Centre of pressure at a height, and the free moment, of a force and its moment about zero.

    Args:
        force: [N], any leading shape.
        moment: About the world's origin [N·m].
        up: Unit vector.
        height: Of the face along `up` [m].
    """
    above = np.asarray(height)[..., None] * up
    load = force @ up
    # A force too small to place does not matter.
    safe = np.where(np.abs(load) > 1e-6, load, np.inf)[..., None]
    point = above + np.cross(up, moment - np.cross(above, force)) / safe
    return point, (moment - np.cross(point, force)) @ up


def _owner(plate, force, point, reactions, frames) -> tuple[np.ndarray, bool]:
    """The foot on a plate in each frame (-1: none), and whether any foot was near the plate."""
    up, n_feet = reactions.axes.up, len(reactions.feet)
    owner = np.full(len(force), -1)
    if n_feet == 0:
        return owner, True
    distance = _distance(point, reactions, frames)
    named = _named(plate, reactions)
    near = []
    for first, after in intervals(force @ up > TOUCHED):
        part = slice(first, after)
        if distance is not None:
            mean = np.median(distance[part], axis=0)
            near.append(mean.min() < _FAR)
        if named is not None:
            owner[part] = named
        elif distance is not None and near[-1]:
            owner[part] = int(np.argmin(mean))
        else:  # nothing but the load itself tells the feet apart
            loads = reactions.shares.foot_force[frames][part] @ up
            owner[part] = int(np.argmin(np.sum((loads - (force[part] @ up)[:, None]) ** 2, axis=0)))
    if named is not None:
        owner[:] = named
    return owner, not near or bool(np.mean(near) > 0.5)


def _distance(point, reactions, frames) -> np.ndarray | None:
    """From the centre of pressure to the nearest point of each foot, along the ground [m]."""
    if point is None:
        return None
    level = np.eye(3) - np.outer(reactions.axes.up, reactions.axes.up)
    apart = (reactions.touch.position[frames] - point[:, None]) @ level
    gaps = np.linalg.norm(apart, axis=-1)
    feet = np.array(reactions.subject.soles.feet)
    return np.stack([gaps[:, feet == name].min(axis=1) for name in reactions.feet], axis=1)


def _named(plate: ForcePlate, reactions: GroundReactions) -> int | None:
    """The foot that the file itself names."""
    subject = reactions.subject
    if plate.body not in subject.body_names:
        return None
    body = subject.body_names.index(plate.body)
    for carrier, foot in zip(subject.soles.bodies, subject.soles.feet, strict=True):
        if carrier == body:
            return reactions.feet.index(foot)
    return None


def _known(
    load: np.ndarray, reactions: GroundReactions, frames: slice
) -> tuple[np.ndarray, np.ndarray]:
    """Whether each foot was measured, stance by stance, and the frames of two feet on one plate.

    A stance in which the plates felt nothing was beside them, or on the plate of another foot: then
    that one's load is nearer to what both bear than to its own.
    """
    known, shared = np.ones(load.shape, bool), np.zeros(len(load), bool)
    weight = reactions.subject.weight
    computed = reactions.shares.foot_force[frames] @ reactions.axes.up
    stances = [intervals(column > 0.0) for column in computed.T]
    for foot, own in enumerate(stances):
        for first, after in own:
            part = slice(first, after)
            if computed[part, foot].max() < 0.3 * weight or load[part, foot].max() > 0.1 * weight:
                continue
            known[max(first - 1, 0) : after + 1, foot] = False  # plates are means over a frame
            for other in range(len(stances)):
                if other == foot:
                    continue
                for start, end in stances[other]:
                    both = slice(max(first, start), max(first, start, min(after, end)))
                    felt, his, mine = load[both, other], computed[both, other], computed[both, foot]
                    if np.sum((felt - his - mine) ** 2) < np.sum((felt - his) ** 2):
                        known[start:end, other] = False
                        shared[both] = True
    return known, shared


def _weights(measured: np.ndarray, computed: np.ndarray, reactions: GroundReactions) -> list[str]:
    """A note if the plates bear another weight than the model has."""
    if (
        len(measured) < 10
        or abs(measured.mean() - computed.mean()) < 0.1 * reactions.subject.weight
    ):
        return []
    return [
        f"the plates bear {measured.mean():.0f} N on average, the model {computed.mean():.0f} N:"
        " does the model have the subject's mass?"
    ]
