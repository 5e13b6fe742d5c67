"""The motion of a recording at any time, with its rates: through the samples or smoothed.

Noise-free poses are interpolated, so that noise-free logs give exact parameters. Noisy ones are
smoothed by a spline whose knots are as wide as the noise allows.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from stiction._arrays import Array, Float
from stiction.identify.contacts import Motion
from stiction.identify.errors_in_variables import smooth
from stiction.identify.filters import through
from stiction.identify.model import Bristles
from stiction.identify.noise import vector_noise
from stiction.identify.recording import Recording
from stiction.identify.setup import ContactSetup
from stiction.identify.trajectory import (
    Track,
    acceleration_of,
    evaluate,
    lay_out,
    mean_orientation,
    motion_of,
    one_of,
    rodrigues,
)

_NEGLIGIBLE = 1e-9  # noise below this part of the travel is rounding
_FEWEST = 6  # pose samples for each knot, at least
_SMALLEST = 1e-12


@dataclass(frozen=True)
class Noise:
    """Standard deviations of the sensors, per axis, given in the setup or estimated."""

    position: float
    rotation: float
    force: float
    moment: float
    velocity: float
    angular_velocity: float
    exact_motion: bool  # whether the motion has no noise worth naming

    @property
    def wrench(self) -> np.ndarray:
        """Of the six entries of a wrench."""
        return np.repeat([self.force, self.moment], 3)


def sensor_noise(recordings: list[Recording], setup: ContactSetup) -> Noise:
    """What the setup says of the noise, and for the rest what the readings say themselves."""
    rms = lambda values: float(np.sqrt(np.mean(np.square(values))))  # noqa: E731
    given, wrench = setup.pose.noise, setup.wrench.noise
    travel = max(float(np.ptp(r.position, axis=0).max()) for r in recordings)
    if given is None:
        position = rms([vector_noise(r.position) for r in recordings])
        rotation = rms(
            [
                vector_noise(2 * rodrigues(mean_orientation(r.rotation), r.rotation))
                for r in recordings
            ]
        )
        twist = [r.twist for r in recordings if r.twist is not None]
        velocity = rms([vector_noise(t[:, :3]) for t in twist]) if twist else 0.0
        angular = rms([vector_noise(t[:, 3:]) for t in twist]) if twist else 0.0
    else:
        position, rotation = given.position, given.rotation
        velocity, angular = given.velocity, given.angular_velocity
    force = wrench.force if wrench else rms([vector_noise(r.wrench[:, :3]) for r in recordings])
    moment = wrench.moment if wrench else rms([vector_noise(r.wrench[:, 3:]) for r in recordings])
    exact = position <= _NEGLIGIBLE * max(travel, _SMALLEST) and rotation <= _NEGLIGIBLE
    # A sensor without noise still rounds; and rows must have some finite weight. Of forces and
    # moments without noise a moment weighs as a force on an arm of the travel's order.
    top_force = max(float(np.abs(r.wrench[:, :3]).max()) for r in recordings)
    top_moment = max(float(np.abs(r.wrench[:, 3:]).max()) for r in recordings)
    return Noise(
        position=max(position, _NEGLIGIBLE * max(travel, _SMALLEST)),
        rotation=max(rotation, _NEGLIGIBLE),
        force=max(force, 1e-6 * top_force, _SMALLEST),
        moment=max(moment, 1e-6 * top_moment, 1e-6 * top_force * travel, _SMALLEST),
        velocity=velocity,
        angular_velocity=angular,
        exact_motion=exact,
    )


class ExactPath:
    """The path through noise-free poses, with the measured rates where there are any."""

    def __init__(self, recording: Recording):
        r = recording
        self.center = mean_orientation(r.rotation)
        x = np.concatenate([r.position, rodrigues(self.center, r.rotation)], axis=1)
        self._x = through(r.pose_time, x)
        self._v, self._a = self._x.derivative(1), self._x.derivative(2)
        self._recording = r
        self._twist = None if r.twist is None else through(r.pose_time, r.twist)

    def __call__(self, time: Float[np.ndarray, " n"]) -> Motion:
        """Pose and velocity at these times."""
        r = self._recording
        motion = _motions(jnp.asarray(self.center), *_arrays(self._x(time), self._v(time)))
        if self._twist is None:
            return motion
        same = len(time) == len(r.pose_time) and np.array_equal(time, r.pose_time)
        twist = jnp.asarray(r.twist if same else self._twist(time))
        return Motion(motion.position, motion.rotation, twist[:, :3], twist[:, 3:])

    def acceleration(self, time: Float[np.ndarray, " n"]) -> Float[Array, "n 6"]:
        """Linear and angular acceleration at these times."""
        states = _arrays(self._x(time), self._v(time), self._a(time))
        return _accelerations(jnp.asarray(self.center), *states)


class SmoothPath:
    """The path along noisy poses."""

    def __init__(self, track: Track, coefficients: Float[Array, "k 6"]):
        self.track, self.coefficients = track, coefficients

    def __call__(self, time: Float[np.ndarray, " n"]) -> Motion:
        """Pose and velocity at these times."""
        return evaluate(self.track, self.coefficients, time)[0]

    def acceleration(self, time: Float[np.ndarray, " n"]) -> Float[Array, "n 6"]:
        """Linear and angular acceleration at these times."""
        return evaluate(self.track, self.coefficients, time)[1]


def _arrays(*values):
    return tuple(jnp.asarray(v) for v in values)


@jax.jit
def _motions(center, x, v):
    return jax.vmap(lambda x, v: motion_of(center, x, v))(x, v)


@jax.jit
def _accelerations(center, x, v, a):
    one = lambda x, v, a: jnp.concatenate(acceleration_of(center, x, v, a))  # noqa: E731
    return jax.vmap(one)(x, v, a)


def track_of(
    recording: Recording,
    noise: Noise,
    spacing: float,
    *,
    use: np.ndarray | None = None,
    bristles: Bristles | None = None,
    shape: tuple[int, int] | None = None,
) -> Track:
    """A recording laid out along a spline."""
    r = recording
    twist = r.twist if noise.velocity > 0 and noise.angular_velocity > 0 else None
    return lay_out(
        r.pose_time,
        r.position,
        r.rotation,
        r.wrench_time,
        r.wrench,
        spacing=spacing,
        position_noise=noise.position,
        rotation_noise=noise.rotation,
        use=use,
        bristles=bristles,
        twist=twist,
        twist_noise=(noise.velocity, noise.angular_velocity),
        shape=shape,
    )


def widest_spacing(recording: Recording, noise: Noise) -> float:
    """The widest knots [s] along which the poses still lie within their noise.

    Halved from the whole test down, until Akaike's criterion no longer falls.
    """
    r = recording
    span = float(r.pose_time[-1] - r.pose_time[0])
    best, chosen = np.inf, span
    spacing = span / 4
    while spacing >= _FEWEST * span / len(r.pose_time):
        score = _akaike(r, noise, spacing)
        if score < best:
            best, chosen = score, spacing
        elif spacing < chosen / 3:
            break
        spacing /= 2
    return chosen


def _akaike(recording: Recording, noise: Noise, spacing: float) -> float:
    """Squared pose residuals of the smoothed path, plus twice its degrees of freedom."""
    from scipy.interpolate import make_lsq_spline

    r = recording
    x = np.concatenate(
        [
            r.position / noise.position,
            2 * rodrigues(mean_orientation(r.rotation), r.rotation) / noise.rotation,
        ],
        axis=1,
    )
    t = r.pose_time
    count = max(1, round((t[-1] - t[0]) / spacing))
    inner = np.linspace(t[0], t[-1], count + 1)
    knots = np.concatenate([[t[0]] * 5, inner, [t[-1]] * 5])
    try:
        spline = make_lsq_spline(t, x, knots, k=5)
    except (ValueError, np.linalg.LinAlgError):
        return np.inf
    return float(np.sum((spline(t) - x) ** 2)) + 2 * 6 * (count + 5)


def smooth_path(recording: Recording, noise: Noise, spacing: float) -> SmoothPath:
    """The path from the poses alone, with knots of a given spacing."""
    track = track_of(recording, noise, spacing)
    coefficients = smooth(track)
    return SmoothPath(one_of(track, 0), coefficients[0])
