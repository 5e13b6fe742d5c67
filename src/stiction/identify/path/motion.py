"""The motion of a recording at any time, with its rates: through the samples or smoothed.

Noise-free poses are interpolated, so that noise-free logs give exact parameters. Noisy ones are
smoothed by a spline whose knots are as wide as the noise allows.
"""

import jax.numpy as jnp
import numpy as np
from scipy.interpolate import BSpline, make_interp_spline, make_lsq_spline

from stiction._base.arrays import Array, Float
from stiction.identify.contact.geometry import BodyState
from stiction.identify.fit.errors_in_variables import smooth
from stiction.identify.path.coordinates import motion_along, path_coordinates
from stiction.identify.path.noise import Noise
from stiction.identify.path.segments import Track, evaluate, one_of, stack
from stiction.identify.recording import Recording

_EXACT_DEGREE = 7
_FEWEST = 6  # pose samples for each knot, at least


class ExactPath:
    """The path through noise-free poses, with the measured rates where there are any."""

    def __init__(self, recording: Recording):
        time, twist = recording.pose_time, recording.twist
        self.center, x = path_coordinates(recording.position, recording.rotation)
        self._x = _through(time, x)
        self._twist = None if twist is None else _through(time, twist)

    def __call__(self, time: Float[np.ndarray, " n"]) -> BodyState:
        """Pose and velocity at these times."""
        motion = motion_along(self.center, self._x, time)[0]
        if self._twist is None:
            return motion
        twist = jnp.asarray(self._twist(time))
        return BodyState(motion.position, motion.rotation, twist[:, :3], twist[:, 3:])

    def acceleration(self, time: Float[np.ndarray, " n"]) -> Float[Array, "n 6"]:
        """Linear and angular acceleration at these times."""
        return motion_along(self.center, self._x, time)[1]


def _through(time: Float[np.ndarray, " n"], values: Float[np.ndarray, "n *k"]) -> BSpline:
    """The spline through noise-free samples; its derivatives are exact to the step's 6th power."""
    degree = min(_EXACT_DEGREE, len(time) - 1)
    degree -= 1 - degree % 2  # odd
    return make_interp_spline(time, values, k=degree, axis=0)


class SmoothPath:
    """The path along noisy poses."""

    def __init__(self, track: Track, coefficients: Float[Array, "k 6"]):
        self.track, self.coefficients = track, coefficients

    def __call__(self, time: Float[np.ndarray, " n"]) -> BodyState:
        """Pose and velocity at these times."""
        return evaluate(self.track, self.coefficients, time)[0]

    def acceleration(self, time: Float[np.ndarray, " n"]) -> Float[Array, "n 6"]:
        """Linear and angular acceleration at these times."""
        return evaluate(self.track, self.coefficients, time)[1]


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
    t = recording.pose_time
    _, x = path_coordinates(recording.position, recording.rotation)
    x = x / np.repeat([noise.position, noise.rotation / 2], 3)  # a turn is about 2 g
    count = max(1, round((t[-1] - t[0]) / spacing))
    inner = np.linspace(t[0], t[-1], count + 1)
    knots = np.concatenate([[t[0]] * 5, inner, [t[-1]] * 5])
    try:
        spline = make_lsq_spline(t, x, knots, k=5)
    except (ValueError, np.linalg.LinAlgError):
        return np.inf
    return float(np.sum((spline(t) - x) ** 2)) + 2 * 6 * (count + 5)


def smooth_path(poses: Track, noise: Noise) -> SmoothPath:
    """The path from the poses of one test alone."""
    track = stack([poses], noise)
    return SmoothPath(one_of(track, 0), smooth(track)[0])
