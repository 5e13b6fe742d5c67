"""The body's path as a spline, and the samples of one test laid out along its segments.

The path is six functions of time x(t): position, and Rodrigues parameters g = tan(angle/2) × axis
of the turn from a mean orientation R₀. They need no trigonometry, R = R₀ C(g) with Cayley's C, and
serve turns of up to 150° either way.

What the motion sensor says about the path is linear: a pose read as (p, g_m) tells x through
(x - x_m) with the rotation's part scaled to angles at g_m, right to the square of the noise. So all
pose samples of a segment are replaced, once, by a triangular matrix of their QR factorisation,
however many there were.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._arrays import Array, Float
from stiction._errors import InputError
from stiction.identify.contacts import Motion, skew
from stiction.identify.least_squares import triangle
from stiction.identify.model import Bristles
from stiction.identify.splines import ORDER, basis, segments

# Shapes are rounded up to these, so that tests of similar length share a compiled program.
_SEGMENTS_STEP, _SAMPLES_STEP = 8, 4
_MAX_TURN = np.radians(150.0)
# Second differences of coefficients have this weight beside a pose sample's: enough to keep
# segments without samples defined, too little to bend a path.
_STIFFENING = 1e-6
WINDOW = 6 * ORDER  # path unknowns that a segment uses


class Track(eqx.Module):
    """One test's samples by segment; a further leading axis holds further tests.

    Attributes:
        spacing: Of the knots [s].
        start: Time of the first knot [s].
        center: Mean orientation R₀.
        known: What the motion sensor says: triangular rows over a segment's six coefficients (six
            entries each), then the right-hand side, in units of the noise.
        misfit: Squared residual of the pose samples that no path can remove.
        wrench_u: Local time of each wrench sample.
        wrench: Measured, force first.
        wrench_on: Weight, 0 for padding and for samples left out.
        bristles: State of the bristles at the wrench samples.
    """

    spacing: Float[Array, "*t"]
    start: Float[Array, "*t"]
    center: Float[Array, "*t 3 3"]
    known: Float[Array, "*t s 36 37"]
    misfit: Float[Array, "*t"]
    wrench_u: Float[Array, "*t s b"]
    wrench: Float[Array, "*t s b 6"]
    wrench_on: Float[Array, "*t s b"]
    bristles: Bristles | None = None


def motion_of(center: Float[Array, "3 3"], x: Float[Array, "6"], v: Float[Array, "6"]) -> Motion:
    """The motion whose path coordinates are x and their rates v.

    C(g) = I + 2 ([g]× + [g]×²) / (1 + g²) and ω = R₀ 2 (ġ + g × ġ) / (1 + g²).
    """
    g, g_dot = x[3:], v[3:]
    G = skew(g)
    scale = 2 / (1 + g @ g)
    rotation = center + center @ ((G + G @ G) * scale)
    return Motion(x[:3], rotation, v[:3], center @ (g_dot + G @ g_dot) * scale)


def acceleration_of(
    center: Float[Array, "3 3"], x: Float[Array, "6"], v: Float[Array, "6"], a: Float[Array, "6"]
) -> tuple[Array, Array]:
    """Linear and angular acceleration, world axes, of path coordinates with rates v and a."""

    def omega(x, v):
        return motion_of(center, x, v).angular_velocity

    return a[:3], jax.jvp(omega, (x, v), (v, a))[1]


def mean_orientation(rotation: Float[np.ndarray, "n 3 3"]) -> np.ndarray:
    """The rotation nearest to the samples' mean matrix."""
    u, _, vt = np.linalg.svd(np.mean(rotation, axis=0))
    return u @ np.diag([1, 1, np.linalg.det(u @ vt)]) @ vt


def rodrigues(center: Float[np.ndarray, "3 3"], rotation: Float[np.ndarray, "n 3 3"]) -> np.ndarray:
    """g of each orientation relative to the centre: [g]× = (C - Cᵀ) / (1 + tr C)."""
    C = np.swapaxes(center, -1, -2) @ rotation
    trace = 1 + np.trace(C, axis1=-2, axis2=-1)
    if np.any(trace < 2 * (1 + np.cos(_MAX_TURN))):
        row = int(np.argmin(trace)) + 1
        raise InputError(
            f"`pose.orientation` must stay within {np.degrees(_MAX_TURN):.0f}° of its mean, got"
            f" more in row {row}; cut the log into tests that turn less"
        )
    axial = np.stack(
        [C[:, 2, 1] - C[:, 1, 2], C[:, 0, 2] - C[:, 2, 0], C[:, 1, 0] - C[:, 0, 1]], axis=-1
    )
    return axial / trace[:, None]


def evaluate(
    track: Track, coefficients: Float[Array, "k 6"], time: Float[np.ndarray, " n"]
) -> tuple[Motion, Float[Array, "n 6"]]:
    """The motion and the accelerations (linear, angular) at any times, of one test."""
    count = track.known.shape[0]
    index, u = segments(time, float(track.start), float(track.spacing), count)
    return _evaluate(track.center, track.spacing, coefficients, jnp.asarray(index), jnp.asarray(u))


@jax.jit
def _evaluate(center, spacing, coefficients, index, u):
    def one(i, u):
        window = jax.lax.dynamic_slice_in_dim(coefficients, i, ORDER)
        x, v, a = (basis(u, d) @ window / spacing**d for d in range(3))
        return motion_of(center, x, v), jnp.concatenate(acceleration_of(center, x, v, a))

    return jax.vmap(one)(index, u)


def lay_out(
    pose_time: Float[np.ndarray, " n"],
    position: Float[np.ndarray, "n 3"],
    rotation: Float[np.ndarray, "n 3 3"],
    wrench_time: Float[np.ndarray, " m"],
    wrench: Float[np.ndarray, "m 6"],
    *,
    spacing: float,
    position_noise: float,
    rotation_noise: float,
    use: Float[np.ndarray, " m"] | None = None,
    twist: Float[np.ndarray, "n 6"] | None = None,
    twist_noise: tuple[float, float] = (1.0, 1.0),
    bristles: Bristles | None = None,
    shape: tuple[int, int] | None = None,
) -> Track:
    """Lay one test's samples out by segment, along a leading axis of one test.

    Args:
        pose_time: [s], rising.
        position: [m].
        rotation: Body to world.
        wrench_time: [s], rising, on the same clock.
        wrench: Force and moment.
        spacing: Of the knots [s].
        position_noise: Standard deviation per axis [m].
        rotation_noise: Standard deviation per axis [rad].
        use: Weight of each wrench sample; samples outside the poses' time have none.
        twist: Velocity and angular velocity (world axes) at the pose times, if measured.
        twist_noise: Their standard deviations [m/s, rad/s].
        bristles: State of the bristles at the wrench times.
        shape: Segments and wrench samples a segment, to match other tests.
    """
    start = float(pose_time[0])
    needed = max(1, int(np.ceil((pose_time[-1] - start) / spacing - 1e-9)))
    inside = (wrench_time >= start) & (wrench_time <= pose_time[-1])
    i_wrench, u_wrench = segments(wrench_time[inside], start, spacing, needed)
    if shape is None:
        most = int(np.bincount(i_wrench, minlength=1).max())
        shape = _round_up(needed, _SEGMENTS_STEP), _round_up(max(most, 1), _SAMPLES_STEP)
    count, width = shape
    weight = np.ones(len(wrench)) if use is None else np.asarray(use, dtype=float)
    put = _placer(i_wrench, count, width)
    center = mean_orientation(rotation)
    x = np.concatenate([position, rodrigues(center, rotation)], axis=1)
    i_pose, u_pose = segments(pose_time, start, spacing, needed)
    rows = _pose_rows(x, u_pose, position_noise, rotation_noise)
    if twist is not None:
        extra = _twist_rows(center, x, twist, u_pose, spacing, twist_noise)
        rows = np.concatenate([rows, extra], axis=1)
    known, misfit = _compress(rows, i_pose, count, position_noise, rotation_noise)
    parts = {
        "spacing": np.asarray(float(spacing)),
        "start": np.asarray(start),
        "center": center,
        "known": known,
        "misfit": np.asarray(misfit),
        "wrench_u": put(u_wrench),
        "wrench": put(np.asarray(wrench)[inside]),
        "wrench_on": put(weight[inside]),
    }
    if bristles is not None:
        root, sticking = (put(np.asarray(x)[inside]) for x in (bristles.root, bristles.sticking))
        parts |= {"root": root, "sticking": sticking > 0}
    # All at once: one by one they take longer than the fit.
    parts = jax.device_put({name: part[None] for name, part in parts.items()})
    if bristles is not None:
        parts["bristles"] = Bristles(parts.pop("root"), parts.pop("sticking"))
    return Track(**parts)


def one_of(track: Track, i: int) -> Track:
    """One of several tests."""
    return jax.tree.map(lambda leaf: np.asarray(leaf)[i], track)


def set_weights(
    track: Track, wrench_time: Float[np.ndarray, " m"], use: Float[np.ndarray, "t m"]
) -> Track:
    """Tracks of equal times with other weights of their wrench samples."""
    start, spacing = float(track.start[0]), float(track.spacing[0])
    count, width = track.wrench_u.shape[1:]
    index, _ = segments(wrench_time, start, spacing, count)
    put = _placer(index, count, width)
    weights = jnp.asarray(np.moveaxis(put(np.asarray(use).T), -1, 0))
    return eqx.tree_at(lambda t: t.wrench_on, track, weights)


def _angles_by_g(g: np.ndarray) -> np.ndarray:
    """The small turn (body axes) that goes with a change of g: 2 (I - [g]×) / (1 + g²)."""
    square = np.sum(g * g, axis=1)[:, None, None]
    return 2 * (np.eye(3) - skew(g)) / (1 + square)


def _spread(J: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Rows over x as rows over the six coefficients that make x."""
    return np.einsum("nij,nk->nikj", J, B).reshape(len(J), J.shape[1], WINDOW)


def _pose_rows(x, u, position_noise, rotation_noise) -> np.ndarray:
    J = np.zeros((len(x), 6, 6))
    J[:, :3, :3] = np.eye(3) / position_noise
    J[:, 3:, 3:] = _angles_by_g(x[:, 3:]) / rotation_noise
    B = np.asarray(basis(u))
    return np.concatenate([_spread(J, B), np.einsum("nij,nj->ni", J, x)[..., None]], axis=-1)


def _twist_rows(center, x, twist, u, spacing, noise) -> np.ndarray:
    """Velocities; ω = R₀ 2 (I + [g]×) ġ / (1 + g²), with the measured g."""
    J = np.zeros((len(x), 6, 6))
    J[:, :3, :3] = np.eye(3) / noise[0]
    J[:, 3:, 3:] = center @ np.swapaxes(_angles_by_g(x[:, 3:]), 1, 2) / noise[1]
    B = np.asarray(basis(u, 1)) / spacing
    rhs = twist / np.repeat(np.asarray(noise), 3)
    return np.concatenate([_spread(J, B), rhs[..., None]], axis=-1)


def _compress(rows, index, count, position_noise, rotation_noise) -> tuple[np.ndarray, float]:
    """Triangular rows of each segment, and the squared residual that is left over."""
    most = int(np.bincount(index, minlength=count).max())
    put = _placer(index, count, most)
    stacked = put(rows).reshape(count, -1, WINDOW + 1)
    scale = _STIFFENING / np.repeat([position_noise, rotation_noise], 3)
    second = np.zeros((2, ORDER))
    second[0, :3] = second[1, -3:] = 1.0, -2.0, 1.0
    bend = np.einsum("ik,jl->ijkl", second, np.diag(scale)).reshape(12, WINDOW)
    bend = np.concatenate([bend, np.zeros((12, 1))], axis=1)
    stiff = np.broadcast_to(bend, (count, *bend.shape))
    padding = np.zeros((count, WINDOW + 1, WINDOW + 1))  # at least as many rows as columns
    R = triangle(np.concatenate([stacked, stiff, padding], axis=1))
    return R[:, :WINDOW], float(np.sum(R[:, WINDOW, WINDOW] ** 2))


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
