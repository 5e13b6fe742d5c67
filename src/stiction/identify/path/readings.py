r"""What may be added to the positions that a motion sensor reads: bending and play of the tool.

A tool that yields by s times its load F leaves the tracked frame behind, and one with play follows
on the far side of it: the position read is

$$ y = x - s F - b \circ h, \qquad h = v / \sqrt{v^2 + v_0^2} $$

by axis, with b half of the play and h the side on which it is taken up, that of the motion. Loads
and velocities are known well enough from the readings themselves, so both are linear.
"""

import numpy as np
from scipy.interpolate import make_lsq_spline

from stiction._base.arrays import Float
from stiction.identify.path.noise import Noise
from stiction.identify.recording import Recording

SHIFTS = {"bending": 1, "play": 3}  # groups, and how many numbers each has
N_SHIFTS = sum(SHIFTS.values())


def shifts_of(
    recording: Recording, noise: Noise, spacing: float, *, in_body: bool
) -> Float[np.ndarray, "n 3 m"]:
    """What a unit of each number adds to the residual of each position read.

    Args:
        recording: The test.
        noise: Of its sensors.
        spacing: Of the knots [s] along which the motion is smooth.
        in_body: Whether the wrench is in the body's axes.
    """
    time = recording.pose_time
    force = [np.interp(time, recording.wrench_time, f) for f in recording.wrench[:, :3].T]
    force = np.stack(force, axis=1)
    if in_body:
        force = np.einsum("nij,nj->ni", recording.rotation, force)
    span = np.ptp(time)
    knots = np.linspace(time[0], time[-1], max(2, round(span / spacing) + 1))
    knots = np.concatenate([[time[0]] * 5, knots, [time[-1]] * 5])
    velocity = make_lsq_spline(time, recording.position, knots, k=5).derivative()(time)
    side = side_of_play(velocity, noise, spacing)
    return -np.concatenate([force[..., None], side[:, :, None] * np.eye(3)], axis=2)


def side_of_play(
    velocity: Float[np.ndarray, "*n 3"], noise: Noise, spacing: float
) -> Float[np.ndarray, "*n 3"]:
    """On which side play is taken up, by axis: 1 or -1, less where the motion turns round."""
    uncertain = noise.position / spacing  # m/s
    return velocity / np.hypot(velocity, uncertain)
