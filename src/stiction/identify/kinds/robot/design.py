r"""The motion of a robot that tells most of its inertias and friction, within its limits.

Every joint follows a finite Fourier series [Swevers1997], periodic and smooth, scaled to the first
of its limits of position, speed and acceleration. Of the torques' regressor Y, rows divided by each
joint's usual torque, the determinant over all that can be told is made largest: from random series,
then by small changes of the best.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stiction._base.arrays import Float
from stiction._base.errors import InputError
from stiction.identify.kinds.robot.identify import own_columns, spec_of
from stiction.identify.kinds.robot.regressor import Chain, chain_of, parameters_of, regressor
from stiction.identify.kinds.robot.setup import RobotDesign, RobotSetup

_TRIED, _CHANGED = 60, 600  # random motions, and changes of the best
_SAMPLES = 80  # of a cycle, that are judged
_RANK = 1e-6
_STEP = 0.35  # of a coefficient's size: the first change; it shrinks


@dataclass(frozen=True)
class RobotMotion:
    """One cycle of a proposed motion."""

    time: Float[np.ndarray, " n"]  # [s], from 0; the cycle's end is its beginning
    joints: tuple[str, ...]  # their names
    position: Float[np.ndarray, "n j"]  # of the joints [rad, m]
    velocity: Float[np.ndarray, "n j"]  # [rad/s, m/s]
    acceleration: Float[np.ndarray, "n j"]  # [rad/s², m/s²]
    gain: float  # by what factor errors are smaller than with the usual random motion, in the mean
    condition: float  # of the regressor over all that can be told
    usual_condition: float  # the same of the usual random motion

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "cycle": float(self.time[-1] + self.time[1]),
            "gain": self.gain,
            "condition": self.condition,
            "usual_condition": self.usual_condition,
            "joints": {
                name: {
                    "position": [
                        float(self.position[:, j].min()),
                        float(self.position[:, j].max()),
                    ],
                    "speed": float(np.abs(self.velocity[:, j]).max()),
                    "acceleration": float(np.abs(self.acceleration[:, j]).max()),
                }
                for j, name in enumerate(self.joints)
            },
        }


def design_robot(setup: RobotSetup, folder: Path = Path(), *, rate: float = 100.0) -> RobotMotion:
    """The most telling motion of a robot with a `[design]` table.

    Args:
        setup: Mechanism, terms, limits.
        folder: The setup's, for the mechanism's file.
        rate: At which the motion is given [Hz].
    """
    if setup.design is None:
        raise InputError(
            "`--design` of a robot needs a [design] table: max_speed, max_acceleration, and"
            " max_position or joint ranges in the model"
        )
    design, chain = setup.design, chain_of(spec_of(setup, folder).compile())
    joints, limits = len(chain.joints), _limits(chain, setup.design)
    random = np.random.default_rng(design.seed)
    told = _told(chain, setup, random, limits)
    scale = _torque_scale(chain, random, limits)

    def judge(series: np.ndarray) -> tuple[float, float]:
        """Mean logarithm of the information on one direction, and the condition number."""
        q, v, a = _motion(series, design, limits, _SAMPLES)
        W = _rows(chain, setup, q, v, a, scale) @ told
        values = np.linalg.svd(W, compute_uv=False)
        floor = values[0] * 1e-12
        return float(np.mean(np.log(np.maximum(values, floor)))), float(
            values[0] / max(values[-1], floor)
        )

    tried = [random.standard_normal((2, design.harmonics, joints)) for _ in range(_TRIED)]
    scores = [judge(series) for series in tried]
    order = np.argsort([score for score, _ in scores])
    best, (top, condition) = tried[order[-1]], scores[order[-1]]
    usual, usual_condition = scores[order[len(order) // 2]]
    for i in range(_CHANGED):
        step = _STEP * (1 - i / _CHANGED) + 0.02
        new = best + step * random.standard_normal(best.shape)
        score, number = judge(new)
        if score > top:
            best, top, condition = new, score, number
    count = round(design.seconds * rate)
    q, v, a = _motion(best, design, limits, count)
    time = np.arange(count) / rate
    gain = float(np.exp(top - usual))
    return RobotMotion(time, chain.joints, q, v, a, gain, condition, usual_condition)


def _limits(chain: Chain, design: RobotDesign) -> dict[str, np.ndarray]:
    """Middle and half range of each joint, and its largest speed and acceleration."""
    n, model = len(chain.joints), chain.model
    half = np.full(n, np.inf if design.max_position is None else design.max_position)
    middle = np.zeros(n)
    limited = np.asarray(model.jnt_limited, dtype=bool)
    low, high = model.jnt_range.T
    middle[limited] = ((low + high) / 2)[limited]
    half = np.where(limited, np.minimum(half, (high - low) / 2 * design.margin), half)
    if not np.all(np.isfinite(half)):
        joint = chain.joints[int(np.argmax(~np.isfinite(half)))]
        raise InputError(
            f"joint '{joint}' has no range in the model: set `design.max_position` [rad, m], how"
            " far joints may go from their middle"
        )
    return {
        "middle": middle,
        "half": half,
        "speed": np.full(n, design.max_speed),
        "acceleration": np.full(n, design.max_acceleration),
    }


def _motion(series: np.ndarray, design: RobotDesign, limits, count: int):
    """Positions, speeds and accelerations of a series, as large as the limits allow."""
    w = 2 * np.pi * np.arange(1, design.harmonics + 1) / design.seconds
    t = np.arange(count) * design.seconds / count
    sine, cosine = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    a, b = series
    q = sine @ a + cosine @ b
    v = (cosine * w) @ a - (sine * w) @ b
    acc = -(sine * w**2) @ a - (cosine * w**2) @ b
    offset = (q.max(axis=0) + q.min(axis=0)) / 2
    # Between samples a series may go a little further.
    room = 0.98 * np.minimum.reduce(
        [
            limits["half"] / np.maximum(np.ptp(q, axis=0) / 2, 1e-12),
            limits["speed"] / np.maximum(np.abs(v).max(axis=0), 1e-12),
            limits["acceleration"] / np.maximum(np.abs(acc).max(axis=0), 1e-12),
        ]
    )
    return limits["middle"] + room * (q - offset), room * v, room * acc


def _states(random, limits, count: int = 300):
    n = len(limits["half"])
    u = random.uniform(-1, 1, (3, count, n))
    return (
        limits["middle"] + limits["half"] * u[0],
        limits["speed"] * u[1],
        limits["acceleration"] * u[2],
    )


def _torque_scale(chain: Chain, random, limits) -> np.ndarray:
    tau = regressor(chain, *_states(random, limits)) @ parameters_of(chain).ravel()
    return np.maximum(np.sqrt(np.mean(tau**2, axis=0)), 1e-9)


def _rows(chain: Chain, setup: RobotSetup, q, v, a, scale) -> np.ndarray:
    Y = np.concatenate([regressor(chain, q, v, a), *own_columns(setup, q, v, a)], axis=2)
    return (Y / scale[:, None]).reshape(-1, Y.shape[-1])


def _told(chain: Chain, setup: RobotSetup, random, limits) -> np.ndarray:
    """Directions of the parameters that can be told at all, each of unit torque."""
    W = _rows(chain, setup, *_states(random, limits), np.ones(len(chain.joints)))
    _, values, vt = np.linalg.svd(W, full_matrices=False)
    kept = values > _RANK * values[0]
    return vt[kept].T / values[kept] * np.sqrt(len(W))
