"""One test as arrays in SI units: what the sensors said, each on its own clock."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from stiction._base.arrays import Float
from stiction._base.errors import InputError
from stiction.identify.columns import unit_quaternions
from stiction.identify.kinds.contact_setup import ContactSetup
from stiction.tables import Table, read_table


@dataclass(frozen=True)
class Recording:
    """One test."""

    name: str  # for messages and tables
    pose_time: Float[np.ndarray, " n"]  # [s], rising
    position: Float[np.ndarray, "n 3"]  # of the body's origin, world axes [m]
    rotation: Float[np.ndarray, "n 3 3"]  # body to world
    wrench_time: Float[np.ndarray, " m"]  # [s], rising, on the pose's clock
    # of the contacts on the moving body, force [N] first, in the axes of the setup
    wrench: Float[np.ndarray, "m 6"]
    # velocity and angular velocity, world axes, where measured
    twist: Float[np.ndarray, "n 6"] | None = None
    # linear and angular, world axes, where measured
    acceleration: Float[np.ndarray, "n 6"] | None = None


def read_recording(log: str | Path, setup: ContactSetup) -> Recording:
    """One test from a file, or from a directory with one file for poses and one for wrenches."""
    log = Path(log)
    p, w = setup.pose, setup.wrench
    pose_columns = [p.time, *p.position]
    for names in (p.quaternion, p.rotation_vector, p.euler, p.velocity, p.angular_velocity,
                  p.acceleration, p.angular_acceleration):  # fmt: skip
        pose_columns += names or []
    wrench_columns = [w.time, *w.force, *w.moment]
    if log.is_dir() and p.file is not None and w.file is not None:
        poses = read_table(log / p.file, setup.units, pose_columns)
        wrenches = read_table(log / w.file, setup.units, wrench_columns)
    elif p.file is not None or w.file is not None:
        raise InputError(
            f"`LOG` must be a directory that holds '{p.file}' and '{w.file}', as `pose.file` and"
            f" `wrench.file` say, got '{log}'"
        )
    else:
        poses = wrenches = read_table(log, setup.units, pose_columns + wrench_columns)
    return recording(log.stem, poses, wrenches, setup)


def recording(name: str, poses: Table, wrenches: Table, setup: ContactSetup) -> Recording:
    """A test from its tables, in SI units and the setup's frames."""
    p, w = setup.pose, setup.wrench
    time = poses.clock(p.time)
    position = poses.vectors(p.position, "length")
    rotation = _orientation(poses, setup, len(time))
    twist = acceleration = None
    if p.velocity is not None and p.angular_velocity is not None:
        twist = _rates(poses, p.velocity, p.angular_velocity, rotation, p.rates_in)
    if p.acceleration is not None and p.angular_acceleration is not None:
        acceleration = _rates(poses, p.acceleration, p.angular_acceleration, rotation, p.rates_in)
    _require_rows("pose", time, position, rotation, twist, acceleration)
    position, rotation, twist, acceleration = _to_body(
        setup, position, rotation, twist, acceleration
    )
    wrench_time = wrenches.clock(w.time)
    if isinstance(w.delay, float):
        wrench_time = wrench_time - w.delay
    axes = Rotation.from_rotvec(w.rotation).as_matrix()
    sign = 1.0 if w.acts_on == "moving" else -1.0
    force = sign * wrenches.vectors(w.force, "force") @ axes.T
    moment = sign * wrenches.vectors(w.moment, "moment") @ axes.T
    _require_rows("wrench", wrench_time, force, moment)
    wrench = np.concatenate([force, moment], axis=1)
    return Recording(name, time, position, rotation, wrench_time, wrench, twist, acceleration)


def _require_rows(table: str, time: np.ndarray, *columns: np.ndarray | None) -> None:
    """Columns that end before or after their clock: the log was cut off, or a sensor was."""
    for values in columns:
        if values is not None and len(values) != len(time):
            raise InputError(
                f"columns of `{table}` must end together, but `{table}.time` has {len(time)} rows"
                f" and others have {len(values)}; cut the log after row"
                f" {min(len(values), len(time))}"
            )


def _orientation(poses: Table, setup: ContactSetup, rows: int) -> np.ndarray:
    p = setup.pose
    if p.quaternion is not None:
        hint = "; check the columns and `pose.quaternion_order`"
        q = unit_quaternions(poses, p.quaternion, "pose.quaternion", hint)
        return Rotation.from_quat(q, scalar_first=p.quaternion_order == "wxyz").as_matrix()
    if p.rotation_vector is not None:
        return Rotation.from_rotvec(_angles(poses, p.rotation_vector, setup)).as_matrix()
    if p.euler is not None:
        return Rotation.from_euler(p.euler_axes, _angles(poses, p.euler, setup)).as_matrix()
    return np.broadcast_to(np.eye(3), (rows, 3, 3)).copy()


def _angles(poses: Table, names: list[str], setup: ContactSetup) -> np.ndarray:
    angles = poses.vectors(names, "angle")
    large = np.max(np.abs(angles), axis=1) > 4 * np.pi
    if np.any(large):
        row = int(np.flatnonzero(large)[0])
        raise InputError(
            f"`pose` angles must lie within two turns, got {np.max(np.abs(angles[row])):.4g} rad in"
            f" {poses.row(row)}; are they in degrees? set units.angle"
            f" (now '{setup.units.angle}')"
        )
    return angles


def _rates(poses, linear, angular, rotation, frame) -> np.ndarray:
    both = np.stack([poses.vectors(linear, "length"), poses.vectors(angular, "angle")], axis=1)
    if frame == "body":
        both = np.einsum("nij,nkj->nki", rotation, both)
    return both.reshape(-1, 6)


def _to_body(setup, position, rotation, twist, acceleration):
    """From the tracked frame to the body's."""
    offset = np.array(setup.pose.body_position)
    turn = Rotation.from_rotvec(setup.pose.body_rotation).as_matrix()
    if not offset.any() and np.allclose(turn, np.eye(3)):
        return position, rotation, twist, acceleration
    arm = rotation @ offset
    if twist is not None:
        w = twist[:, 3:]
        if acceleration is not None:
            a = acceleration[:, :3] + np.cross(acceleration[:, 3:], arm)
            a += np.cross(w, np.cross(w, arm))
            acceleration = np.concatenate([a, acceleration[:, 3:]], axis=1)
        twist = np.concatenate([twist[:, :3] + np.cross(w, arm), w], axis=1)
    elif acceleration is not None:
        raise InputError(
            "`pose.body_position` beside `pose.acceleration` also needs `pose.velocity`;"
            " give the accelerations of the body's own origin"
        )
    return position + arm, rotation @ turn, twist, acceleration
