"""A virtual testbed: a robot moves a peg against spring plates; two sensors record it.

The robot follows a smooth path through waypoints. The plates push back by the setup's own contact
law with known parameters, and with the faults of real ones where the setup has them
(`imperfections`). The motion sensor reads poses, the force-torque sensor wrenches, each at
its rate and with its noise: logs with a known answer (ma Sec. 3).
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline
from scipy.spatial.transform import Rotation

from stiction._base.arrays import Array, Float
from stiction._base.errors import InputError
from stiction.identify.bench.imperfections import has_imperfections, imperfect_wrench
from stiction.identify.contact.along import bristles_along, inertial_along, wrenches_along
from stiction.identify.contact.from_setup import carried_inertia, contact_model
from stiction.identify.contact.geometry import BodyState
from stiction.identify.contact.model import ContactModel
from stiction.identify.contact.parameters import model_values
from stiction.identify.kinds.contact_setup import ContactSetup, Testbed
from stiction.identify.path.coordinates import motion_along
from stiction.identify.recording import Recording
from stiction.tables import SI


@dataclass(frozen=True)
class VirtualTest:
    """One virtual test: what the sensors recorded, and what was true."""

    recording: Recording  # as a log would give it, with noise
    motion: BodyState  # true motion at the wrench's times
    wrench: Float[np.ndarray, "m 6"]  # true wrench at these times


class RobotPath:
    """A path with continuous accelerations through waypoints, at rest at both ends."""

    def __init__(self, waypoints: Float[np.ndarray, "w 7"]):
        w = np.asarray(waypoints, dtype=float)
        turns = np.radians(w[:, 4:])
        angle = np.linalg.norm(turns, axis=1, keepdims=True)
        # Rodrigues parameters tan(angle/2) × axis
        half = np.where(angle > 0, np.tan(angle / 2) / np.where(angle > 0, angle, 1.0), 0.5)
        x = np.concatenate([w[:, 1:4], turns * half], axis=1)
        rest = [(1, np.zeros(6)), (2, np.zeros(6))]
        self.start, self.end = float(w[0, 0]), float(w[-1, 0])
        self._x: BSpline = make_interp_spline(w[:, 0], x, k=5, bc_type=(rest, rest))

    def __call__(self, time: Float[np.ndarray, " n"]) -> tuple[BodyState, Float[Array, "n 6"]]:
        """The motion and the accelerations at these times."""
        t = np.clip(time, self.start, self.end)
        return motion_along(np.eye(3), self._x, t)


def _truth(model: ContactModel, bed: Testbed) -> tuple[Array, np.ndarray]:
    """The true parameters of the model, and s_max of each material."""
    lacking = [m for m in model.materials if m.bristle and f"{m.name}.s_max" not in bed.truth]
    if lacking:
        raise InputError("`testbed.truth` lacks `surface.s_max` [m] of a surface with bristles")
    limits = [bed.truth.get(f"{m.name}.s_max", 0.0) for m in model.materials]
    return model_values(model, bed.truth), np.array(limits)


def testbed_of(setup: ContactSetup) -> Testbed:
    """The setup's `testbed`, which must be there."""
    if setup.testbed is None:
        raise InputError("the setup has no `testbed`; add one to make virtual logs")
    return setup.testbed


def _as_it_is(setup: ContactSetup) -> ContactSetup:
    """The setup with the terms that the truth has and identification may not ask for: bristles,
    which stick (22)."""
    truth = testbed_of(setup).truth
    surfaces = [
        s.model_copy(update={"wanted": [*s.wanted, "k_f"]})
        if f"{s.material or s.name}.k_f" in truth and "k_f" not in s.wanted
        else s
        for s in setup.surfaces
    ]
    return setup.model_copy(update={"surfaces": surfaces})


def virtual_test(
    setup: ContactSetup, folder: Path = Path(), *, number: int = 0, quiet: bool = False
) -> VirtualTest:
    """Run one virtual test of a setup that has a `testbed`.

    Args:
        setup: With `testbed`.
        folder: Where mesh files of the setup lie.
        number: Of the test; with the setup's seed it fixes all noise.
        quiet: Without any noise.
    """
    bed = testbed_of(setup)
    model, inertia = contact_model(_as_it_is(setup), folder), carried_inertia(setup)
    theta, limits = _truth(model, bed)
    random = np.random.default_rng([bed.seed, number])
    waypoints = np.array(bed.waypoints)
    waypoints[:, 1:4] += bed.repeatability * random.standard_normal((len(waypoints), 3))
    path = RobotPath(waypoints)
    pose_time, wrench_time = (
        np.arange(path.start, path.end + 1e-9, keep / rate)
        for keep, rate in zip(bed.keep_every, (bed.motion_rate, bed.wrench_rate), strict=True)
    )
    motion, _ = path(pose_time)
    at_wrench, acceleration = path(wrench_time)
    bristles = bristles_along(model, theta, at_wrench, limits) if model.has_bristles else None
    w = np.asarray(wrenches_along(model, theta, at_wrench, bristles))
    if has_imperfections(setup):
        w = w + imperfect_wrench(setup, model, theta, at_wrench)
    if inertia is not None:
        w = w + inertial_along(model, inertia, at_wrench, acceleration)
    loud = 0.0 if quiet else 1.0
    position = np.asarray(motion.position)
    position = position + loud * bed.position_noise * random.standard_normal(position.shape)
    shake = loud * bed.rotation_noise * random.standard_normal(position.shape)
    rotation = np.asarray(motion.rotation) @ Rotation.from_rotvec(shake).as_matrix()
    size = np.repeat([bed.force_noise, bed.moment_noise], 3)
    measured = w + loud * size * random.standard_normal(w.shape)
    twist = None
    if setup.pose.velocity is not None:
        twist = np.concatenate([motion.velocity, motion.angular_velocity], axis=1)
    name = f"test-{number + 1:02d}"
    recording = Recording(
        name, pose_time, position, rotation, wrench_time + bed.delay, measured, twist
    )
    return VirtualTest(recording, at_wrench, w)


def log_columns(recording: Recording, setup: ContactSetup) -> dict[str, np.ndarray]:
    """A recording as the columns, units and axes of the setup's log."""
    p, w, units = setup.pose, setup.wrench, setup.units
    if p.quaternion is None and p.rotation_vector is None and p.euler is None:
        raise InputError("`pose` must name columns of the orientation to write a log")
    out: dict[str, np.ndarray] = {p.time: recording.pose_time / SI["time"][units.time]}
    turn = Rotation.from_rotvec(p.body_rotation).as_matrix()
    R = recording.rotation @ turn.T
    position = recording.position - R @ np.array(p.body_position)
    out |= dict(zip(p.position, position.T / SI["length"][units.length], strict=True))
    rotations = Rotation.from_matrix(R)
    if p.quaternion is not None:
        q = rotations.as_quat(scalar_first=p.quaternion_order == "wxyz")
        out |= dict(zip(p.quaternion, q.T, strict=True))
    elif p.rotation_vector is not None:
        angles = rotations.as_rotvec() / SI["angle"][units.angle]
        out |= dict(zip(p.rotation_vector, angles.T, strict=True))
    elif p.euler is not None:
        angles = rotations.as_euler(p.euler_axes) / SI["angle"][units.angle]
        out |= dict(zip(p.euler, angles.T, strict=True))
    if recording.twist is not None and p.velocity is not None and p.angular_velocity is not None:
        twist = recording.twist.reshape(-1, 2, 3)
        if p.rates_in == "body":
            twist = np.einsum("nji,nkj->nki", R, twist)
        out |= dict(zip(p.velocity, twist[:, 0].T / SI["length"][units.length], strict=True))
        out |= dict(zip(p.angular_velocity, twist[:, 1].T / SI["angle"][units.angle], strict=True))
    axes = Rotation.from_rotvec(w.rotation).as_matrix()
    sign = 1.0 if w.acts_on == "moving" else -1.0
    force, moment = (sign * part @ axes for part in np.split(recording.wrench, 2, axis=1))
    out[w.time] = recording.wrench_time / SI["time"][units.time]
    out |= dict(zip(w.force, force.T / SI["force"][units.force], strict=True))
    out |= dict(zip(w.moment, moment.T / SI["moment"][units.moment], strict=True))
    return out


def write_log(recording: Recording, setup: ContactSetup, path: Path) -> None:
    """Write a log as CSV; the shorter of two streams ends in empty cells."""
    import pandas as pd

    columns = log_columns(recording, setup)
    pd.DataFrame({k: pd.Series(v) for k, v in columns.items()}).to_csv(
        path, index=False, float_format="%.17g"
    )
