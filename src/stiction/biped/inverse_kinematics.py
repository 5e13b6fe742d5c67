r"""Coordinates from markers: the pose whose markers are nearest to those seen.

Frame by frame, $\min_q \sum_k |x_k(q) - y_k|^2$ over the markers that were seen, by Gauss and
Newton's method with Levenberg's damping, each frame starting from the one before.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._arrays import Array, Bool, Float
from stiction._errors import InputError
from stiction.biped.recording.markers import Markers
from stiction.biped.recording.table import Table
from stiction.biped.subject import Bodies, Subject, padded
from stiction.mechanism.spatial import rotate

_FIRST_STEPS, _STEPS = 60, 4
_DAMPING = 1e-5  # m² per unit of q²: holds what no marker shows where it was
_WORST = 0.05  # m, root mean square: the markers are not this subject's, or turned


def coordinates_from_markers(markers: Markers, subject: Subject) -> Table:
    """The motion of a subject from its markers.

    Args:
        markers: As measured, along the model's axes.
        subject: A model with markers of the same names.

    Returns:
        A table of all free coordinates (radians, metres), with the marker error in its notes.
    """
    model = subject.markers
    if not model:
        raise InputError(
            f"'{subject.name}' has no markers; give joint angles, or a model with some"
        )
    common = [n for n in model.names if n in markers.names]
    if len(common) < 4:
        raise InputError(
            f"`{markers.source}` and '{subject.name}' must share at least four marker names, they"
            f" share {len(common)}; the model's are {', '.join(model.names[:8])} …"
        )
    ours = [model.names.index(n) for n in common]
    seen = markers.position[:, [markers.names.index(n) for n in common]]
    _refuse_other_axes(seen, ours, markers, subject)
    free = np.array([not (c.locked or c.follows) for c in subject.coordinates])
    carriers = tuple(int(model.bodies[i]) for i in ours)
    visible = np.asarray(np.isfinite(seen).all(axis=-1))
    data = (
        model.position[ours],
        padded(np.nan_to_num(seen)),
        padded(visible),
        _starts(subject),
        free.astype(float),
    )
    q, error = _fit(subject.bodies, carriers, *jax.device_put(data))
    q, error = (np.asarray(x)[: len(seen)] for x in (q, error))
    if np.median(error) > _WORST:
        raise InputError(
            f"markers of `{markers.source}` fit '{subject.name}' to {np.median(error) * 1e3:.0f} mm"
            " only: is it this subject's model, and are the axes the model's (--marker-axes)?"
        )
    notes = (
        f"coordinates from {len(common)} markers, root mean square error"
        f" {np.sqrt(np.mean(error**2)) * 1e3:.1f} mm, worst frame {error.max() * 1e3:.1f} mm",
    )
    names = tuple(c.name for c, f in zip(subject.coordinates, free, strict=True) if f)
    return Table(markers.source, markers.time, names, q[:, free], degrees=False, notes=notes)


@eqx.filter_jit
def _fit(
    bodies: Bodies,
    carriers: tuple[int, ...],
    local: Float[Array, "k 3"],
    seen: Float[Array, "n k 3"],
    visible: Bool[Array, "n k"],
    starts: Float[Array, "s nq"],
    free: Float[Array, "nq"],
) -> tuple[Float[Array, "n nq"], Float[Array, "n"]]:
    index = np.array(carriers)

    def residual(q, y, shown):
        pose = bodies.poses(q)
        x = pose.position[index] + rotate(pose.rotation[index], local)
        return ((x - y) * shown[:, None].astype(y.dtype)).ravel()

    def step(q, y, shown, damping):
        r = residual(q, y, shown)
        J = jax.jacfwd(residual)(q, y, shown) * free[None]
        H = J.T @ J + damping * jnp.eye(len(q), dtype=q.dtype)
        move = jnp.linalg.solve(H, -J.T @ r)
        # A turn of more than half a radian at once leaves the region where the model is linear.
        return q + move * jnp.minimum(1.0, 0.5 / jnp.maximum(jnp.max(jnp.abs(move)), 1e-12))

    def size(q, y, shown):
        count = jnp.maximum(jnp.sum(shown), 1).astype(y.dtype)
        return jnp.sqrt(jnp.sum(residual(q, y, shown) ** 2) / count)

    def settle(q, y, shown, steps):
        return jax.lax.fori_loop(0, steps, lambda _, q: step(q, y, shown, _DAMPING), q)

    first = jax.vmap(lambda q: settle(q, seen[0], visible[0], _FIRST_STEPS))(starts)
    errors = jax.vmap(lambda q: size(q, seen[0], visible[0]))(first)

    def frame(q, now):
        y, shown = now
        q = settle(q, y, shown, _STEPS)
        return q, (q, size(q, y, shown))

    _, found = jax.lax.scan(frame, first[jnp.argmin(errors)], (seen, visible))
    return found


def _starts(subject: Subject) -> np.ndarray:
    """Where to begin: the default pose, as it is and turned in quarters about each axis."""
    q = subject.defaults.copy()
    names = [c.name for c in subject.coordinates]
    base = [(names.index(n), subject.coordinates[names.index(n)]) for n in subject.base]
    starts = [q]
    for i, c in base:
        if c.rotational:
            for quarter in (1, 2, 3):
                turned = q.copy()
                turned[i] += quarter * np.pi / 2
                starts.append(turned)
    return np.stack(starts)


def _refuse_other_axes(seen, ours, markers: Markers, subject: Subject) -> None:
    """Fit the default pose to the first whole frame by a turn; it must leave up where it is."""
    model, pose = subject.markers, subject.poses(subject.defaults[None])
    bodies = model.bodies[ours]
    turned = np.einsum("kij,kj->ki", pose.rotation[0, bodies], model.position[ours])
    x = pose.position[0, bodies] + turned
    frame = seen[int(np.argmax(np.isfinite(seen).all(axis=-1).sum(axis=1)))]
    good = np.isfinite(frame).all(axis=-1)
    a, b = x[good] - x[good].mean(0), frame[good] - frame[good].mean(0)
    U, _, V = np.linalg.svd(a.T @ b)
    flip = np.diag([1.0, 1.0, np.sign(np.linalg.det(U @ V))])
    turn = (U @ flip @ V).T  # takes the model's directions to the measured ones
    up = turn @ subject.up
    if up @ subject.up > 0.7:
        return
    letters = "xyz"
    theirs, vertical = int(np.argmax(np.abs(up))), int(np.argmax(np.abs(subject.up)))
    axes = list(letters)
    sign = "-" if up[theirs] < 0 else ""
    axes[vertical] = f"{sign}{letters[theirs]}"
    if theirs != vertical:
        axes[theirs] = f"{'' if sign else '-'}{letters[vertical]}"
    raise InputError(
        f"markers of `{markers.source}` have up along {sign}{letters[theirs]}, the model along"
        f" {letters[vertical]}: they are in another frame; add --marker-axes {','.join(axes)}"
    )
