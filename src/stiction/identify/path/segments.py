"""The samples of a test laid out along the segments of its path's spline.

What the motion sensor says about the path is linear: a pose read as (p, g_m) tells x through
(x - x_m) with the rotation's part scaled to angles at g_m, right to the square of the noise. So all
pose samples of a segment are replaced, once, by a triangular matrix of their QR factorisation,
however many there were.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import AnyArray, Array, Float
from stiction.identify.contact.geometry import BodyState, skew
from stiction.identify.contact.mapped import sample_jit
from stiction.identify.contact.model import Bristles
from stiction.identify.fit.least_squares import triangle
from stiction.identify.path.coordinates import motion_and_acceleration, path_coordinates
from stiction.identify.path.noise import Noise
from stiction.identify.path.readings import N_SHIFTS
from stiction.identify.path.splines import ORDER, basis, segment_count, segments
from stiction.identify.recording import Recording

# Shapes are rounded up to these, so that tests of similar length share a compiled program.
_SEGMENTS_STEP, _SAMPLES_STEP = 8, 4
# Second differences of coefficients have this weight beside a pose sample's: enough to keep
# segments without samples defined, too little to bend a path.
_STIFFENING = 1e-6
WINDOW = 6 * ORDER  # path unknowns that a segment uses
_KNOWN = WINDOW + N_SHIFTS


class Track(eqx.Module):
    """One test's samples by segment; a further leading axis holds further tests.

    A track of poses alone has none of the wrench's fields.
    """

    spacing: Float[AnyArray, "*t"]  # of the knots [s]
    start: Float[AnyArray, "*t"]  # time of the first knot [s]
    center: Float[AnyArray, "*t 3 3"]  # mean orientation R₀
    home: Float[AnyArray, "*t 3"]  # where the test began [m]
    # what the motion sensor says: triangular rows over a segment's six coefficients (six entries
    # each), what may shift its readings, then the right-hand side, in units of the noise
    known: Float[AnyArray, "*t s 40 41"]
    misfit: Float[AnyArray, "*t"]  # squared residual of the pose samples that no path can remove
    length: Float[AnyArray, "*t"]  # of the test [s]
    # delay [s] and relative rate of the wrench's clock that `wrench_u` is free of
    clock: Float[AnyArray, "*t 2"]
    wrench_u: Float[AnyArray, "*t s b"] | None = None  # local time of each wrench sample
    wrench: Float[AnyArray, "*t s b 6"] | None = None  # measured, force first
    # weight, 0 for padding and for samples left out
    wrench_on: Float[AnyArray, "*t s b"] | None = None
    # time since the test's middle, in lengths of the test
    wrench_age: Float[AnyArray, "*t s b"] | None = None
    bristles: Bristles | None = None  # state of the bristles at the wrench samples


class WrenchSamples(NamedTuple):
    """The wrenches of one test, within the time of its poses."""

    time: Float[np.ndarray, " m"]  # on the pose's clock [s], rising
    wrench: Float[np.ndarray, "m 6"]  # force and moment
    use: Float[np.ndarray, " m"]  # weight of each sample
    stamps: Float[np.ndarray, " m"]  # times as recorded [s]
    clock: Float[np.ndarray, "2"]  # delay [s] and relative rate that make the one from the other
    bristles: Bristles | None = None  # their state at these times


def evaluate(
    track: Track, coefficients: Float[Array, "k 6"], time: Float[np.ndarray, " n"]
) -> tuple[BodyState, Float[Array, "n 6"]]:
    """The motion and the accelerations (linear, angular) at any times, of one test."""
    count = track.known.shape[0]
    index, u = segments(time, float(track.start), float(track.spacing), count)
    return _evaluate(track.center, track.spacing, coefficients, jnp.asarray(index), jnp.asarray(u))


@sample_jit(3)
def _evaluate(center, spacing, coefficients, index, u):
    def one(i, u):
        window = jax.lax.dynamic_slice_in_dim(coefficients, i, ORDER)
        x, v, a = (basis(u, d) @ window / spacing**d for d in range(3))
        return motion_and_acceleration(center, x, v, a)

    return jax.vmap(one)(index, u)


def lay_out_poses(
    recording: Recording,
    noise: Noise,
    spacing: float,
    shifts: Float[np.ndarray, "n 3 m"] | None = None,
) -> Track:
    """The poses of one test by segment, and its rates if measured.

    Args:
        recording: The test.
        noise: Of its sensors.
        spacing: Of the knots [s].
        shifts: What may be added to the positions read, from `readings`; nothing if left out.
    """
    if shifts is None:
        shifts = np.zeros((len(recording.pose_time), 3, N_SHIFTS))
    time = recording.pose_time
    count = segment_count(time, spacing)
    center, x = path_coordinates(recording.position, recording.rotation)
    index, u = segments(time, time[0], spacing, count)
    rows = _pose_rows(x, u, shifts, noise)
    if recording.twist is not None and noise.velocity > 0 and noise.angular_velocity > 0:
        moving = np.gradient(shifts, time, axis=0)
        extra = _twist_rows(center, x, u, spacing, recording.twist, moving, noise)
        rows = np.concatenate([rows, extra], axis=1)
    most = int(np.bincount(index, minlength=count).max())
    known = _triangles(_placer(index, count, most)(rows).reshape(count, -1, _KNOWN + 1), noise)
    # The last entry of each triangle is the residual that no path removes.
    misfit = np.sum(known[:, _KNOWN, _KNOWN] ** 2)
    number = partial(np.asarray, dtype=float)
    return Track(
        spacing=number(spacing),
        start=number(time[0]),
        center=center,
        home=number(recording.position[0]),
        known=known[:, :_KNOWN],
        misfit=number(misfit),
        length=number(np.ptp(time)),
        clock=np.zeros(2),
    )


def stack(
    tracks: Sequence[Track], noise: Noise, wrenches: Sequence[WrenchSamples] | None = None
) -> Track:
    """Tests in one shape along a leading axis, with their wrenches by segment if these are given.

    Args:
        tracks: Poses of each test, from `lay_out_poses`.
        noise: The one with which they were laid out.
        wrenches: Of each test.
    """
    count = _round_up(max(len(t.known) for t in tracks), _SEGMENTS_STEP)
    empty = _triangles(np.zeros((1, 0, _KNOWN + 1)), noise)[:, :_KNOWN]
    parts = [{}] * len(tracks)
    if wrenches is not None:
        parts = _by_segment(tracks, wrenches, count)
    out = []
    for t, part in zip(tracks, parts, strict=True):
        rest = np.repeat(empty, count - len(t.known), axis=0)
        out.append(replace(t, known=np.concatenate([t.known, rest]), **part))
    # All at once: one by one they take longer than the fit.
    return jax.device_put(jax.tree.map(lambda *leaves: np.stack(leaves), *out))


def _by_segment(tracks, wrenches: Sequence[WrenchSamples], count: int) -> list[dict[str, Any]]:
    """The wrench's fields of each track."""
    places = [
        segments(w.time, float(t.start), float(t.spacing), len(t.known))
        for t, w in zip(tracks, wrenches, strict=True)
    ]
    most = max(int(np.bincount(index, minlength=1).max()) for index, _ in places)
    width = _round_up(max(most, 1), _SAMPLES_STEP)
    out = []
    for t, w, (index, u) in zip(tracks, wrenches, places, strict=True):
        put = _placer(index, count, width)
        part: dict[str, Any] = {
            "wrench_u": put(u),
            "wrench": put(w.wrench),
            "wrench_on": put(w.use),
            "wrench_age": put((w.stamps - t.start) / t.length - 0.5),
            "clock": np.asarray(w.clock, dtype=float),
        }
        if w.bristles is not None:
            root, sticking = (put(np.asarray(x)) for x in (w.bristles.root, w.bristles.sticking))
            part["bristles"] = Bristles(root, sticking > 0)
        out.append(part)
    return out


def one_of(track: Track, i: int) -> Track:
    """The track of one of several tests."""
    return jax.tree.map(lambda leaf: np.asarray(leaf)[i], track)


def _angles_by_g(g: np.ndarray) -> np.ndarray:
    """The small turn (body axes) that goes with a change of g: 2 (I - [g]×) / (1 + g²)."""
    square = np.sum(g * g, axis=1)[:, None, None]
    return 2 * (np.eye(3) - skew(g)) / (1 + square)


def _spread(J: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Rows over x as rows over the six coefficients that make x."""
    return np.einsum("nij,nk->nikj", J, B).reshape(len(J), J.shape[1], WINDOW)


def _with_shifts(rows, shifts, size: float, rhs) -> np.ndarray:
    """Rows over the path, then over what is added to readings of positions [m, or m/s]."""
    by_shift = np.zeros((*rows.shape[:2], N_SHIFTS))
    by_shift[:, :3] = shifts / size
    return np.concatenate([rows, by_shift, rhs[..., None]], axis=-1)


def _pose_rows(x, u, shifts, noise: Noise) -> np.ndarray:
    J = np.zeros((len(x), 6, 6))
    J[:, :3, :3] = np.eye(3) / noise.position
    J[:, 3:, 3:] = _angles_by_g(x[:, 3:]) / noise.rotation
    B = np.asarray(basis(u))
    return _with_shifts(_spread(J, B), shifts, noise.position, np.einsum("nij,nj->ni", J, x))


def _twist_rows(center, x, u, spacing, twist, moving, noise: Noise) -> np.ndarray:
    """Velocities; ω = R₀ 2 (I + [g]×) ġ / (1 + g²), with the measured g."""
    J = np.zeros((len(x), 6, 6))
    J[:, :3, :3] = np.eye(3) / noise.velocity
    J[:, 3:, 3:] = center @ np.swapaxes(_angles_by_g(x[:, 3:]), 1, 2) / noise.angular_velocity
    B = np.asarray(basis(u, 1)) / spacing
    rhs = twist / np.repeat([noise.velocity, noise.angular_velocity], 3)
    return _with_shifts(_spread(J, B), moving, noise.velocity, rhs)


def _triangles(rows: Float[np.ndarray, "s m 41"], noise: Noise) -> np.ndarray:
    """Triangular rows of each segment, stiffened so that segments without samples have a path."""
    scale = _STIFFENING / np.repeat([noise.position, noise.rotation], 3)
    second = np.zeros((2, ORDER))
    second[0, :3] = second[1, -3:] = 1.0, -2.0, 1.0
    bend = np.einsum("ik,jl->ijkl", second, np.diag(scale)).reshape(12, WINDOW)
    bend = np.concatenate([bend, np.zeros((12, N_SHIFTS + 1))], axis=1)
    stiff = np.broadcast_to(bend, (len(rows), *bend.shape))
    padding = np.zeros((len(rows), _KNOWN + 1, _KNOWN + 1))  # at least as many rows as columns
    return triangle(np.concatenate([rows, stiff, padding], axis=1))


def _round_up(n: int, step: int) -> int:
    return -(-n // step) * step


def _placer(index: np.ndarray, count: int, width: int):
    """A function that puts values, by their segment, into rows of `width` padded with zeros."""
    order = np.argsort(index, kind="stable")
    first = np.searchsorted(index[order], np.arange(count))
    slot = np.arange(len(index)) - first[index[order]]

    def put(values: np.ndarray) -> np.ndarray:
        values = np.asarray(values, dtype=float)
        out = np.zeros((count, width, *values.shape[1:]))
        out[index[order], slot] = values[order]
        return out

    return put
