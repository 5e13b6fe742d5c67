"""One stride out of a recorded walk: periodic, the same to the left and to the right.

A stride begins when the right heel strikes (phase 0); the left one strikes at phase 1/2. Every
quantity is a Fourier series in the phase, fitted to all frames of the record; what the left side
does is mirrored and shifted by half a stride, and both sides are fitted together. Slow drifts (on a
treadmill people wander) are fitted beside it and left out.
"""

from dataclasses import dataclass, replace

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from stiction._base.errors import InputError

_HARMONICS = 9
_FLAT = (0.2, 0.4)  # phases in which a sole lies on the ground
_LATE = 0.012  # of a stride: the toes are farthest behind so much after the load has gone
SIDES = ("left", "right")
TRUNK = ("waist_flexion", "waist_bending", "waist_rotation")
# Of a mirrored body: pelvis (x, y, z, roll, pitch, yaw), then the trunk's joints.
_MIRROR = np.array([1, -1, 1, -1, 1, -1, 1, -1, -1])


@dataclass(frozen=True)
class RecordedStride:
    """A periodic walk along x on ground at z = 0."""

    origin: float  # when a right heel strikes in the record [s]
    period: float  # [s]
    speed: float  # [m/s]
    toe_off: float  # phase at which a foot leaves, counted from its own heel strike
    width: float  # between the ankles of both feet [m]
    # Fourier coefficients of pelvis and trunk, less the way that was gone. Shape (k, 9)
    body: np.ndarray
    foot: np.ndarray  # of a foot at its own phase: pitch [rad], and x of its ankle, less the way

    def at_speed(self, speed: float | None) -> "RecordedStride":
        """The same stride in more or less time [m/s]; itself without a speed."""
        if speed is None:
            return self
        if not 0 < speed < np.inf:
            raise InputError(f"`speed` must be positive, not {speed:g}; give it in m/s")
        return replace(self, period=self.period * self.speed / speed, speed=speed)

    def body_at(self, phase: np.ndarray) -> np.ndarray:
        """Pelvis (x, y, z, roll, pitch, yaw) and trunk joints. Shape (n, 9)."""
        return _basis(phase) @ self.body

    def pitch(self, phase: np.ndarray) -> np.ndarray:
        """Of a foot at its own phase; positive with the heel up [rad]."""
        return _basis(phase) @ self.foot[:, 0]

    def ankle(self, phase: np.ndarray) -> np.ndarray:
        """x of an ankle on its way, at the foot's own phase [m]."""
        return _basis(phase) @ self.foot[:, 1] + self.speed * self.period * np.asarray(phase)


def recorded_stride(model: mujoco.MjModel, time: np.ndarray, q: np.ndarray) -> RecordedStride:
    """The stride of a walk on a treadmill (or on the ground), facing x."""
    data = mujoco.MjData(model)
    feet = [model.body(f"{side}_foot").id for side in SIDES]
    ankle, tip = np.zeros((2, len(q), 3)), np.zeros((2, len(q), 3))
    pitch = np.zeros((2, len(q)))
    for i, row in enumerate(q):
        data.qpos[:] = row
        mujoco.mj_kinematics(model, data)
        for k, foot in enumerate(feet):
            ankle[k, i], R = data.xpos[foot], data.xmat[foot].reshape(3, 3)
            tip[k, i] = data.site(f"{SIDES[k]}_toe_inner").xpos
            pitch[k, i] = np.arcsin(-R[2, 0])
    pelvis = q[:, :3]
    # The ankle is farthest before the hips at heel strike, the toes farthest behind at toe-off.
    strikes = [_peaks(time, a[:, 0] - pelvis[:, 0]) for a in ankle]
    leaves = [_peaks(time, pelvis[:, 0] - a[:, 0]) for a in tip]
    if min(map(len, strikes)) < 2:
        raise InputError("the recording must hold at least two strides; record longer")
    origin, period = _clock(strikes)
    phase = (time - origin) / period
    own = [phase + 0.5, phase]  # of the left and the right foot
    off = [((t - origin) / period + (0.5, 0.0)[k]) % 1.0 for k in (0, 1) for t in leaves[k]]

    flat = [(p % 1 > _FLAT[0]) & (p % 1 < _FLAT[1]) for p in own]
    speed = -float(np.mean([_slope(time, ankle[k, :, 0], flat[k]) for k in (0, 1)]))
    ground = float(np.mean([ankle[k][f, 2].mean() for k, f in enumerate(flat)]))
    height = _ankle_height(model)
    width = float(np.mean(ankle[0][flat[0], 1]) - np.mean(ankle[1][flat[1], 1]))

    turn = Rotation.from_quat(q[:, 3:7], scalar_first=True).as_euler("ZYX")[:, ::-1]
    trunk = q[:, [model.joint(name).qposadr[0] for name in TRUNK]]
    level = pelvis - [0.0, 0.0, ground - height]
    body = np.concatenate([level, turn, trunk], axis=1)
    series = _fit(np.concatenate([phase, phase + 0.5]), np.concatenate([body, body * _MIRROR]),
                  np.concatenate([time, time]))  # fmt: skip
    series[0, [1, 3, 5]] = 0.0  # straight ahead
    foot = np.stack([np.concatenate(pitch), np.concatenate(ankle[..., 0])], axis=1)
    fitted = _fit(np.concatenate(own), foot, np.concatenate([time, time]))
    return RecordedStride(
        origin, period, speed, float(np.median(off)) - _LATE, width, series, fitted
    )


def _ankle_height(model: mujoco.MjModel) -> float:
    site = model.site("right_heel_inner")
    return -float(site.pos[2])


def _basis(phase: np.ndarray) -> np.ndarray:
    angle = 2 * np.pi * np.asarray(phase, float)[..., None] * np.arange(1, _HARMONICS + 1)
    one = np.ones((*np.shape(phase), 1))
    return np.concatenate([one, np.cos(angle), np.sin(angle)], axis=-1)


def _fit(phase: np.ndarray, values: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Coefficients of the series by least squares, beside a drift in time."""
    drift = (time - time.mean())[:, None]
    basis = np.concatenate([_basis(phase), drift], axis=1)
    return np.linalg.lstsq(basis, values, rcond=None)[0][:-1]


def _peaks(time: np.ndarray, x: np.ndarray) -> np.ndarray:
    """When a curve has its maxima, between frames by a parabola."""
    inner = np.flatnonzero((x[1:-1] > x[:-2]) & (x[1:-1] >= x[2:])) + 1
    inner = inner[x[inner] > x.mean() + 0.5 * (x.max() - x.mean())]
    a, b, c = x[inner - 1], x[inner], x[inner + 1]
    shift = 0.5 * (a - c) / (a - 2 * b + c)
    return time[inner] + shift * np.median(np.diff(time))


def _clock(strikes: list[np.ndarray]) -> tuple[float, float]:
    """When a right heel strikes, and the period: a line through all strikes, the left between."""
    left, right = strikes
    period = float(np.mean(np.concatenate([np.diff(left), np.diff(right)])))
    t = np.concatenate([left, right])
    half = np.round(2 * (t - right[0]) / period)
    slope, origin = np.polyfit(half, t, 1)
    return float(origin), float(2 * slope)


def _slope(time: np.ndarray, x: np.ndarray, where: np.ndarray) -> float:
    """Mean rate over the stretches where something holds."""
    rate = np.gradient(x, time)
    return float(rate[where].mean())
