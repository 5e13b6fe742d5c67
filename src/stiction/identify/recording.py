"""One test as arrays in SI units: what the sensors said, each on its own clock."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from stiction._arrays import Float
from stiction._errors import InputError
from stiction.identify.setup import ContactSetup
from stiction.identify.tables import Table

_UNIT_QUATERNION = 0.02  # how far a quaternion's length may be from 1


@dataclass(frozen=True)
class Recording:
    """One test.

    Attributes:
        name: For messages and tables.
        pose_time: [s], rising.
        position: Of the body's origin, world axes [m].
        rotation: Body to world.
        wrench_time: [s], rising, on the pose's clock.
        wrench: Of the contacts on the moving body, force [N] first, in the axes of the setup.
        twist: Velocity and angular velocity, world axes, where measured.
        acceleration: Linear and angular, world axes, where measured.
    """

    name: str
    pose_time: Float[np.ndarray, " n"]
    position: Float[np.ndarray, "n 3"]
    rotation: Float[np.ndarray, "n 3 3"]
    wrench_time: Float[np.ndarray, " m"]
    wrench: Float[np.ndarray, "m 6"]
    twist: Float[np.ndarray, "n 6"] | None = None
    acceleration: Float[np.ndarray, "n 6"] | None = None

    @property
    def same_clock(self) -> bool:
        """Whether poses and wrenches were sampled together."""
        return len(self.pose_time) == len(self.wrench_time) and bool(
            np.all(self.pose_time == self.wrench_time)
        )


def recording(name: str, poses: Table, wrenches: Table, setup: ContactSetup) -> Recording:
    """A test from its tables, in SI units and the setup's frames."""
    p, w = setup.pose, setup.wrench
    time = poses.time(p.time)
    position = poses.vectors(p.position, "length")
    rotation = _orientation(poses, setup)
    twist = acceleration = None
    if p.velocity is not None and p.angular_velocity is not None:
        twist = _rates(poses, p.velocity, p.angular_velocity, rotation, p.rates_in)
    if p.acceleration is not None and p.angular_acceleration is not None:
        acceleration = _rates(poses, p.acceleration, p.angular_acceleration, rotation, p.rates_in)
    position, rotation, twist, acceleration = _to_body(
        setup, position, rotation, twist, acceleration
    )
    wrench_time = wrenches.time(w.time)
    if isinstance(w.delay, float):
        wrench_time = wrench_time - w.delay
    axes = Rotation.from_rotvec(w.rotation).as_matrix()
    sign = 1.0 if w.acts_on == "moving" else -1.0
    force = sign * wrenches.vectors(w.force, "force") @ axes.T
    moment = sign * wrenches.vectors(w.moment, "moment") @ axes.T
    wrench = np.concatenate([force, moment], axis=1)
    return Recording(name, time, position, rotation, wrench_time, wrench, twist, acceleration)


def _orientation(poses: Table, setup: ContactSetup) -> np.ndarray:
    p = setup.pose
    if p.quaternion is not None:
        q = poses.plain(p.quaternion)
        length = np.linalg.norm(q, axis=1)
        off = np.abs(length - 1) > _UNIT_QUATERNION
        if np.any(off):
            row = int(np.flatnonzero(off)[0])
            raise InputError(
                f"`pose.quaternion` must have length 1, got {length[row]:.4g} in {poses.row(row)};"
                " check the columns and `pose.quaternion_order`"
            )
        return Rotation.from_quat(q, scalar_first=p.quaternion_order == "wxyz").as_matrix()
    if p.rotation_vector is not None:
        return Rotation.from_rotvec(_angles(poses, p.rotation_vector, setup)).as_matrix()
    if p.euler is not None:
        return Rotation.from_euler(p.euler_axes, _angles(poses, p.euler, setup)).as_matrix()
    return np.broadcast_to(np.eye(3), (poses.rows, 3, 3)).copy()


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
