r"""Markers of motion capture, and the coordinates that explain them.

The pose of each frame has its markers nearest to those seen, within the joints' ranges:

$$ \min_{q_\min \le q \le q_\max} \sum_k w_k |x_k(q) - y_k|^2 $$

over the markers that were seen, with weights w. Gauss and Newton's method with Levenberg's damping,
each frame starting from the one before; a coordinate that stands at the end of its range and would
go on is held there while the others move (projected steps). The base is free of ranges.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float, Int
from stiction._base.compile import quick_jit
from stiction._base.errors import InputError, unknown
from stiction._base.spatial import rotate
from stiction.biped.axes import axes_matrix, axes_that_turn
from stiction.biped.opensim import document
from stiction.biped.subject.subject import Subject, SubjectBodies, carried, padded
from stiction.tables import Table, read_table

_STEPS = 60  # at most, of one frame
_SMALL = 1e-5  # rad or m: a step that does not matter
_DAMPING = 1e-5  # m² per unit of q²: holds what no marker shows where it was
WORST = 0.05  # m, root mean square: the markers are not this subject's, or turned


@dataclass(frozen=True)
class Markers:
    """Positions of markers against time."""

    source: str  # the file's name
    time: np.ndarray  # time of each frame [s]
    names: tuple[str, ...]  # names of the markers
    # in the laboratory [m], nan where a marker was not seen. Shape (n, n_markers, 3).
    position: np.ndarray


def read_markers(
    path: str | Path, *, axes: str | None = None, subject: str | None = None
) -> Markers:
    """Markers from a .trc or .c3d file.

    Args:
        path: The file.
        axes: What the model's x, y and z are in the markers' axes, as "x,z,-y".
        subject: Whose markers, where the names in a file begin with 'Ann:' or 'Bob:'.
    """
    table = read_table(path)
    position = table.values.reshape(len(table), -1, 3)
    if axes is not None:
        position = position @ axes_matrix(axes).T
    names = [name.removesuffix(".x") for name in table.names[::3]]
    people = list(dict.fromkeys(n.split(":")[0] for n in names if ":" in n))
    if subject is not None and subject not in people:
        raise unknown(f"subject in `{path}`", subject, people)
    if len(people) > 1 and subject is None:
        listed = ", ".join(f"'{p}'" for p in people)
        count = {2: "two"}.get(len(people), str(len(people)))
        raise InputError(
            f"`{path}` holds markers of {count} subjects: {listed}; add --subject NAME"
        )
    if people:
        who = subject or people[0]
        own = [k for k, n in enumerate(names) if n.startswith(f"{who}:")]
        names, position = [names[k].removeprefix(f"{who}:") for k in own], position[:, own]
    return Markers(table.source, table.time, tuple(names), position)


def read_weights(path: str | Path) -> dict[str, float]:
    """Weights of markers: OpenSim's IK setup or task set (.xml), or .csv with marker, weight."""
    if Path(path).suffix.lower() == ".xml":
        weights = {
            document.name_of(task): document.number(task, "weight", 1.0)
            * document.flag(task, "apply", True)
            for task in document.parse(path).iter("IKMarkerTask")
        }
    else:
        table = read_table(path)
        weights = dict(zip(table.words("marker"), table.column("weight"), strict=True))
    if not weights or not all(np.isfinite(w) and w >= 0 for w in weights.values()):
        raise InputError(
            f"`{path}` must give markers weights of 0 or more, got {weights or 'none'}"
        )
    return {name: float(w) for name, w in weights.items()}


def coordinates_from_markers(
    markers: Markers, subject: Subject, weights: dict[str, float] | None = None
) -> Table:
    """The motion of a subject from its markers.

    Arguments as of `fit_markers`; a weight of 0 leaves a marker out.

    Returns:
        A table of all free coordinates (radians, metres), with the marker error in its notes.
    """
    fit = fit_markers(markers, subject, weights)
    free = [i for i, c in enumerate(subject.coordinates) if not (c.locked or c.follows)]
    names = tuple(subject.coordinates[i].name for i in free)
    return Table.recording(
        markers.source, markers.time, names, fit.q[:, free], degrees=False, notes=fit.notes
    )


@dataclass(frozen=True)
class MarkerFit:
    """A pose for every frame of markers."""

    q: np.ndarray  # coordinates, one row a frame
    error: np.ndarray  # distance of each marker from the model's [m], nan where it was not seen
    names: tuple[str, ...]  # the markers
    notes: tuple[str, ...]  # how near they are, and what is odd


def fit_markers(
    markers: Markers,
    subject: Subject,
    weights: dict[str, float] | None = None,
    *,
    worst: float = WORST,
) -> MarkerFit:
    """The poses nearest to markers: see the head of this file.

    Args:
        markers: As measured, along the model's axes.
        subject: A model with markers of the same names.
        weights: Of markers by name, 1 where not given.
        worst: A larger median error [m] is refused.
    """
    ours, seen, w = shared_markers(markers, subject, weights)
    model = subject.markers
    if (other := axes_of_markers(markers, subject)) is not None:
        raise InputError(
            f"markers of `{markers.source}` have up along {other[0]}, the model along {other[1]}:"
            f" they are in another frame; add --marker-axes {other[2]}"
        )
    visible = np.isfinite(seen).all(axis=-1)
    begin = int(np.argmax(visible.sum(axis=1)))
    starts = subject.defaults[None] if subject.base == () else _starts(subject)
    low, high = pose_bounds(subject)
    problem = jax.device_put(
        (
            model.position[ours],
            padded(np.nan_to_num(seen)),
            padded(visible * w),
            begin,
            np.clip(starts, low, high),
            np.stack([low, high]),
        )
    )
    carriers = tuple(int(model.bodies[i]) for i in ours)
    q = np.asarray(_fit(subject.bodies, carriers, *problem))[: len(seen)]
    pose = subject.poses(q)
    error = np.linalg.norm(carried(pose, model.bodies[ours], model.position[ours]) - seen, axis=-1)
    frame = np.sqrt(np.nanmean(np.where(visible & (w > 0), error, np.nan) ** 2, axis=1))
    if np.nanmedian(frame) > worst:
        refuse_misfit(markers, subject, float(np.nanmedian(frame)), np.nanmean(error, axis=0))
    names = tuple(model.names[i] for i in ours)
    return MarkerFit(q, error, names, _fit_notes(frame, error, names, q, subject))


def refuse_misfit(markers: Markers, subject: Subject, error: float, each: np.ndarray) -> NoReturn:
    """Say what is wrong with markers that do not fit: by so much [m], and each of them."""
    ours, seen, _ = shared_markers(markers, subject, None)
    farthest = subject.markers.names[ours[int(np.nanargmax(each))]]
    why = (
        "they are a mirror image: left and right are swapped, or one axis is turned round"
        if _turn_of(seen, ours, subject)[1]
        else f"is it this subject's model, are two names swapped (the worst is '{farthest}'), and"
        " are the axes the model's (--marker-axes)?"
    )
    raise InputError(
        f"markers of `{markers.source}` fit '{subject.name}' to {error * 1e3:.0f} mm only: {why}"
    )


def shared_markers(
    markers: Markers, subject: Subject, weights: dict[str, float] | None
) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Which of the model's markers the file has, where they were seen, and their weights."""
    model = subject.markers
    if not model:
        raise InputError(
            f"'{subject.name}' has no markers; give joint angles, or a model with some"
        )
    weights = weights or {}
    once = np.asarray(np.isfinite(markers.position).all(axis=-1).any(axis=0))
    there = [n for k, n in enumerate(markers.names) if once[k]]
    common = [n for n in model.names if n in there]
    if sum(weights.get(n, 1.0) > 0 for n in common) < 4:
        raise InputError(
            f"`{markers.source}` and '{subject.name}' must share at least four names of markers"
            f" that were seen and have a weight, they share {len(common)}; the model's are"
            f" {', '.join(model.names[:8])} …, the file's {', '.join(markers.names[:8])} …"
            f" ({len(there)} were ever seen)"
        )
    ours = [model.names.index(n) for n in common]
    seen = markers.position[:, [markers.names.index(n) for n in common]]
    return ours, seen, np.array([weights.get(n, 1.0) for n in common])


def _fit_notes(frame, error, names, q, subject: Subject) -> tuple[str, ...]:
    worst = int(np.nanargmax(np.nanmean(error, axis=0)))
    notes = [
        f"coordinates from {len(names)} markers, root mean square error"
        f" {np.sqrt(np.nanmean(frame**2)) * 1e3:.1f} mm,"
        f" worst frame {np.nanmax(frame) * 1e3:.1f} mm;"
        f" '{names[worst]}' is farthest off, {np.nanmean(error[:, worst]) * 1e3:.0f} mm on average"
    ]
    low, high = pose_bounds(subject)
    held = [
        c.name
        for i, c in enumerate(subject.coordinates)
        if not (c.locked or c.follows)
        and np.mean((q[:, i] <= low[i] + 1e-9) | (q[:, i] >= high[i] - 1e-9)) > 0.05
    ]
    if held:
        notes.append(f"at the end of their range in some frames: {', '.join(held)}")
    return tuple(notes)


def pose_bounds(subject: Subject) -> tuple[np.ndarray, np.ndarray]:
    """The least and largest value of each coordinate: what is locked or follows cannot move."""
    low, high = np.array([c.range for c in subject.coordinates], float).T
    base = np.array([c.name in subject.base for c in subject.coordinates])
    still = np.array([c.locked or bool(c.follows) for c in subject.coordinates])
    free = base | ~(low < high)  # a range of no width says nothing
    low, high = np.where(free, -np.inf, low), np.where(free, np.inf, high)
    q = subject.defaults
    return np.where(still, q, low), np.where(still, q, high)


@quick_jit
def _fit(
    bodies: SubjectBodies,
    carriers: tuple[int, ...],
    local: Float[Array, "k 3"],
    seen: Float[Array, "n k 3"],
    weight: Float[Array, "n k"],
    begin: Int[Array, ""],
    starts: Float[Array, "s nq"],
    bounds: Float[Array, "2 nq"],
) -> Float[Array, "n nq"]:
    """The poses of all frames; the first to be found is `begin`, which has most markers."""
    index = np.array(carriers)
    low, high = bounds

    def residual(q, y, w):
        pose = bodies.poses(q)
        x = pose.position[index] + rotate(pose.rotation[index], local)
        return ((x - y) * jnp.sqrt(w)[:, None]).ravel()

    def step(q, y, w):
        r = residual(q, y, w)
        J = jax.jacfwd(residual)(q, y, w)
        slope = J.T @ r
        # Who stands at an end and would go on is held; who meets an end on the way stops there,
        # and the others step again without it.
        held = ((q <= low) & (slope > 0)) | ((q >= high) & (slope < 0))
        move = _step(J, slope, held)
        met = held | (q + move < low) | (q + move > high)
        stopped = jnp.where(met & ~held, jnp.clip(q + move, low, high) - q, 0.0)
        move = stopped + _step(J, slope + J.T @ (J @ stopped), met)
        # A turn of more than half a radian at once leaves the region where the model is linear.
        move = move * jnp.minimum(1.0, 0.5 / jnp.maximum(jnp.max(jnp.abs(move)), 1e-12))
        return jnp.clip(q + move, low, high)

    def settle(q, y, w):
        def go_on(state):
            _, change, count = state
            return (change > _SMALL) & (count < _STEPS)

        def improve(state):
            q, _, count = state
            new = step(q, y, w)
            return new, jnp.max(jnp.abs(new - q)), count + 1

        start = (q, jnp.asarray(jnp.inf, q.dtype), jnp.asarray(0))
        return jax.lax.while_loop(go_on, improve, start)[0]

    first = jax.vmap(lambda q: settle(q, seen[begin], weight[begin]))(starts)
    errors = jax.vmap(lambda q: jnp.sum(residual(q, seen[begin], weight[begin]) ** 2))(first)
    # Of poses that fit alike (turns by different angles) the one nearest to the first start.
    apart = jnp.sum(jnp.abs(first - starts[:1]), axis=1)
    alike = errors < 1.01 * jnp.min(errors) + 1e-12
    chosen = first[jnp.argmin(jnp.where(alike, apart, jnp.inf))]

    def frame(q, now):
        q = settle(q, *now)
        return q, q

    return jax.lax.scan(frame, chosen, (seen, weight))[1]


def _step(J: Float[Array, "r nq"], slope: Float[Array, "nq"], held) -> Float[Array, "nq"]:
    """Gauss and Newton's damped step of the coordinates that are not held."""
    J = jnp.where(held[None], 0.0, J)
    H = J.T @ J + _DAMPING * jnp.eye(len(slope), dtype=slope.dtype)
    return jnp.linalg.solve(H, jnp.where(held, 0.0, -slope))


def _starts(subject: Subject) -> np.ndarray:
    """Where to begin: the default pose, as it is and turned in quarters about the vertical."""
    q = subject.defaults
    names = [c.name for c in subject.coordinates]
    if quaternion := [i for i, n in enumerate(names) if n in subject.base and n.endswith(".qw")]:
        from scipy.spatial.transform import Rotation

        first = slice(quaternion[0], quaternion[0] + 4)
        now = Rotation.from_quat(q[first], scalar_first=True)
        starts = np.tile(q, (4, 1))
        for k in range(4):
            turned = Rotation.from_rotvec(k * np.pi / 2 * subject.up) * now
            starts[k, first] = turned.as_quat(scalar_first=True)
        return starts
    starts = [q]
    for i, c in enumerate(subject.coordinates):
        if c.name in subject.base and c.rotational:
            # A half turn either way is the same; the angle stays within one.
            starts += [_changed(q, i, quarter * np.pi / 2) for quarter in (1, 2, -1)]
    return np.stack(starts)


def _changed(q: np.ndarray, i: int, by: float) -> np.ndarray:
    changed = q.copy()
    changed[i] += by
    return changed


def axes_of_markers(markers: Markers, subject: Subject) -> tuple[str, str, str] | None:
    """How to turn markers whose up is not the model's; none if it is.

    Returns:
        The markers' axis that is up, the model's, and axes for `read_markers` such as "x,z,-y".
    """
    ours, seen, _ = shared_markers(markers, subject, None)
    turn, _ = _turn_of(seen, ours, subject)
    up = turn @ subject.up
    return None if up @ subject.up > 0.7 else axes_that_turn(subject.up, up)


def _turn_of(seen, ours, subject: Subject) -> tuple[np.ndarray, bool]:
    """The turn of the default pose that is nearest to the fullest frame; if a mirror is nearer."""
    model, pose = subject.markers, subject.poses(subject.defaults[None])
    x = carried(pose, model.bodies[ours], model.position[ours])[0]
    frame = seen[int(np.argmax(np.isfinite(seen).all(axis=-1).sum(axis=1)))]
    good = np.isfinite(frame).all(axis=-1)
    a, b = x[good] - x[good].mean(0), frame[good] - frame[good].mean(0)
    U, _, V = np.linalg.svd(a.T @ b)
    hand = np.sign(np.linalg.det(U @ V))
    # Takes the model's directions to the measured ones.
    return (U @ np.diag([1.0, 1.0, hand]) @ V).T, bool(hand < 0)
