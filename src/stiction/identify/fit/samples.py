"""What a test says, sample by sample: motion and wrench at the same times, and what may be judged.

A sample is left out where its model is in doubt: while a damped contact may or may not touch, while
the direction of slip is uncertain, while a contact may or may not have let go.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Bool, Float
from stiction.identify.contact.along import contacts_along, inertial_along
from stiction.identify.contact.geometry import BodyState, Candidates
from stiction.identify.contact.inertia import CarriedInertia
from stiction.identify.contact.model import Bristles, ContactModel, Material
from stiction.identify.fit import robust
from stiction.identify.fit.nuisances import Nuisances, calibration_of
from stiction.identify.path.motion import ExactPath, SmoothPath
from stiction.identify.path.noise import Noise
from stiction.identify.path.segments import Track, WrenchSamples
from stiction.identify.recording import Recording
from stiction.tables import interpolate

_MARGIN = 3.0  # standard deviations within which a sample is in doubt
_LEAST_SLIDING = 10, 0.1  # samples, and part of those in contact, that must slide surely


@dataclass(frozen=True)
class ContactProblem:
    """What is asked of the samples."""

    model: ContactModel  # contacts and their terms
    noise: Noise  # of the sensors
    nuisances: Nuisances  # what the setup may have slightly wrong
    inertia: CarriedInertia | None = None  # of what hangs on a moving sensor
    loss: robust.Loss = "squares"  # of the wrench residuals
    positive: bool = True  # whether no linear parameter may be negative

    @property
    def signs(self) -> Bool[np.ndarray, " n_linear"]:
        """Which linear parameters must not be negative; a sensor's offset always may."""
        names = self.model.linear_names
        return np.array([self.positive and not n.startswith("bias.") for n in names])


def calibrated(problem: ContactProblem, z: Float[np.ndarray, " q"]) -> ContactProblem:
    """The problem with the model's frames, places and sizes as the nuisances say."""
    calibration = calibration_of(jnp.asarray(z), len(problem.model.material_of))
    model = eqx.tree_at(lambda m: m.calibration, problem.model, calibration)
    return replace(problem, model=model)


@dataclass(frozen=True)
class Samples:
    """One test at the times of its wrenches."""

    recording: Recording  # cut to the wrenches within the time of the poses
    path: ExactPath | SmoothPath  # the motion at any time
    # the poses laid out along a spline of a given knot spacing [s], each spacing once
    poses: Callable[[float], Track]
    motion: BodyState  # the path at the wrench's times
    wrench: Float[np.ndarray, "m 6"]  # measured, without what measured accelerations explain
    use: Float[np.ndarray, " m"]  # weight of each sample; 0 where it cannot be judged
    # delay [s] and relative rate of the wrench's clock that were taken off its times
    clock: Float[np.ndarray, "2"]

    @property
    def time(self) -> Float[np.ndarray, " m"]:
        """Of the wrenches, on the pose's clock [s]."""
        return on_pose_clock(self.recording, self.clock)

    def contact_wrench(self, inertia: CarriedInertia | None, model: ContactModel) -> np.ndarray:
        """The wrench without inertia, by the path's accelerations if these were not measured."""
        if inertia is None or self.recording.acceleration is not None:
            return self.wrench
        added = inertial_along(model, inertia, self.motion, self.path.acceleration(self.time))
        return self.wrench - added

    def by_segment(self, bristles: Bristles | None = None) -> WrenchSamples:
        """The wrenches as they are laid out along the path's spline."""
        return WrenchSamples(
            self.time, self.wrench, self.use, self.recording.wrench_time, self.clock, bristles
        )


def on_pose_clock(recording: Recording, clock: Float[np.ndarray, "2"]) -> Float[np.ndarray, " m"]:
    """The wrench's times without the clock's delay and rate, which count from the test's middle."""
    late, fast = clock
    middle = np.mean(recording.pose_time[[0, -1]])
    return recording.wrench_time - late - fast * (recording.wrench_time - middle)


def take_samples(
    problem: ContactProblem,
    recording: Recording,
    path: ExactPath | SmoothPath,
    poses: Callable[[float], Track],
    spacing: float | None,
    clock: Float[np.ndarray, "2"],
) -> Samples:
    """Motion and wrench at the wrench's times.

    Args:
        problem: What is asked.
        recording: The test, its wrench on the pose's clock.
        path: Its motion.
        poses: As in `Samples`.
        spacing: Of the knots of the path [s]; None for a path without noise, with no doubts.
        clock: Delay and rate of the wrench's clock.
    """
    model, inertia, time = problem.model, problem.inertia, on_pose_clock(recording, clock)
    inside = (time >= recording.pose_time[0]) & (time <= recording.pose_time[-1])
    recording = replace(
        recording,
        wrench_time=recording.wrench_time[inside],
        wrench=recording.wrench[inside],
    )
    time, wrench = time[inside], recording.wrench
    motion = path(time)
    if inertia is not None and recording.acceleration is not None:
        measured = interpolate(time, recording.pose_time, recording.acceleration)
        wrench = wrench - inertial_along(model, inertia, motion, measured)
    use = np.ones(len(time))
    if spacing is not None:
        found = contacts_along(model, model.unloaded(), motion)
        use = certain(problem, found, recording, spacing).astype(float)
    return Samples(recording, path, poses, motion, wrench, use, clock)


def certain(
    problem: ContactProblem, found: Candidates, recording: Recording, spacing: float
) -> Bool[np.ndarray, " m"]:
    """Which samples can be judged: no damped contact at its brink, no slip near a reversal."""
    model, reach = problem.model, noise_of_a_point(problem)
    depth, near = np.asarray(found.depth), np.asarray(found.near)
    plates = model.material_of
    damped = np.array([model.materials[i].damping for i in plates])
    brink = near & (np.abs(depth) < _MARGIN * reach) & damped[:, None]
    rubbing = np.array(
        [_friction_follows_slip(model.materials[i]) and model.materials[i].slides for i in plates]
    )
    slow = _slow(found, reach, recording, spacing)
    turning = near & (depth > 0) & slow & rubbing[:, None]
    return ~np.any(brink | turning, axis=(1, 2))


def _friction_follows_slip(material: Material) -> bool:
    """Whether its friction has the direction of slip."""
    return material.friction != "none" and not material.bristle


def noise_of_a_point(problem: ContactProblem) -> float:
    """Noise of a point of the body [m]."""
    noise, arm = problem.noise, max(s.arm for s in problem.model.body)
    return float(np.hypot(noise.position, arm * noise.rotation))


def _slow(found: Candidates, reach: float, recording: Recording, spacing: float) -> np.ndarray:
    """Whether the direction of slip is uncertain."""
    speed = np.linalg.norm(np.asarray(found.slip), axis=-1)
    return speed < _MARGIN * _speed_noise(reach, recording, spacing)


def _speed_noise(reach: float, recording: Recording, spacing: float) -> float:
    """Velocity of a quintic smoothed over knots of m samples: about 2 σ / (spacing √m)."""
    step = float(np.median(np.diff(recording.pose_time)))
    return 2 * reach / spacing / np.sqrt(max(spacing / step, 1.0))


def without_idle_friction(
    problem: ContactProblem, tests: list[Samples], spacing: float
) -> ContactProblem:
    """The problem without the friction of materials that hardly ever slid.

    Samples at which the direction of slip is uncertain are left out for friction's sake. Where that
    would leave next to nothing, all are kept for stiffness and damping, and friction is given up.
    """
    model = problem.model
    touching, sliding = np.zeros(len(model.materials)), np.zeros(len(model.materials))
    for s in tests:
        found = contacts_along(model, model.unloaded(), s.motion)
        on = np.asarray(found.touching)
        sure = on & ~_slow(found, noise_of_a_point(problem), s.recording, spacing)
        np.add.at(touching, np.array(model.material_of), on.any(axis=2).sum(axis=0))
        np.add.at(sliding, np.array(model.material_of), sure.any(axis=2).sum(axis=0))
    least, share = _LEAST_SLIDING
    enough = (sliding >= least) & (sliding >= share * touching)
    materials = tuple(
        replace(m, slides=bool(ok) or not _friction_follows_slip(m))
        for m, ok in zip(model.materials, enough, strict=True)
    )
    return replace(problem, model=replace(model, materials=materials))


def without_letting_go(
    problem: ContactProblem, samples: Samples, theta: Float[np.ndarray, " p"], spacing: float
) -> Samples:
    """The test without the samples at which a contact may or may not have let go.

    A contact lets go when its normal force would turn into a pull; friction on the elastic part
    (ma 6) then ends with a jump.
    """
    model = problem.model
    if model.may_pull:
        return samples
    found = contacts_along(model, jnp.asarray(theta), samples.motion)
    k, c, h, exponent = (
        model.plate_values(name, theta)[:, None] for name in ("k", "c", "h", "lambda")
    )
    depth, rate = np.asarray(found.depth), np.asarray(found.depth_rate)
    touching = np.asarray(found.touching)
    e = np.where(touching, np.maximum(depth, 0.0), 0.0) ** exponent
    force = k * e + (c + h * e) * rate
    reach = noise_of_a_point(problem)
    slope = exponent * k * np.maximum(depth, reach) ** (exponent - 1)
    doubt = slope * reach + (c + h * e) * _speed_noise(reach, samples.recording, spacing)
    leaving = touching & (np.abs(force) < _MARGIN * doubt) & (rate < 0)
    return replace(samples, use=samples.use * ~np.any(leaving, axis=(1, 2)))
