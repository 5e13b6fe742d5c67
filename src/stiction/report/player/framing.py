"""Where the camera stands at first: so that the whole motion fills the picture."""

from dataclasses import dataclass

import numpy as np

from stiction.tables import interpolate

# Azimuth and elevation of the camera as seen from what it looks at [rad]; -pi/2 is from the right
# of something that faces x.
VIEWS = {
    "side": (-np.pi / 2, 0.10),
    "front": (0.0, 0.12),
    "top": (-np.pi / 2, 1.5),
    "iso": (-1.05, 0.30),
}
SMOOTHING = 0.4  # s, over which the followed path is averaged, so that the camera does not bounce
FAR = 6.0  # a way longer than so many sizes of the mechanism is followed


@dataclass
class Framing:
    """The first view: what to look at, from where, and how much must be in the picture."""

    azimuth: float  # of the camera [rad]
    elevation: float  # of the camera [rad]
    center: np.ndarray  # middle of the whole motion [m]
    box: np.ndarray  # half sides of the whole motion to the right, up and towards the camera [m]
    path: np.ndarray  # smoothed middle of the mechanism at each time [m]. Shape (n, 3)
    follow_box: np.ndarray  # half sides of the motion as seen from the path [m]
    follow: bool  # whether to go along with the path


def frame(
    time: np.ndarray,
    centers: np.ndarray,
    spans: np.ndarray,
    *,
    view: str,
    follow: bool | None = None,
) -> Framing:
    """Frame a motion.

    Args:
        time: Times [s]. Shape (n,).
        centers: Middles of the shapes in the world [m]. Shape (n, n_shapes, 3).
        spans: Half sides of boxes around the shapes as vectors in the world: column i is the
            half side along the box's axis i [m]. Shape (n, n_shapes, 3, 3).
        view: Name of the view.
        follow: Whether to follow, or none to decide by the length of the way.
    """
    azimuth, elevation = VIEWS[view]
    axes = camera_axes(azimuth, elevation)
    middles = centers @ axes.T
    halves = np.abs(axes @ spans).sum(axis=-1)
    low, high = (middles - halves).min(axis=1), (middles + halves).max(axis=1)
    path = _smooth(time, 0.5 * (low + high))
    first, last = low.min(axis=0), high.max(axis=0)
    near = np.maximum((path - low).max(axis=0), (high - path).max(axis=0))
    if follow is None:
        way = np.linalg.norm(np.ptp(path, axis=0))
        follow = bool(way > FAR * np.linalg.norm(2 * near))
    return Framing(
        azimuth=azimuth,
        elevation=elevation,
        center=0.5 * (first + last) @ axes,
        box=0.5 * (last - first),
        path=path @ axes,
        follow_box=near,
        follow=follow,
    )


def camera_axes(azimuth: float, elevation: float) -> np.ndarray:
    """The directions to the right, up and back to the camera, as rows."""
    c, s = np.cos(azimuth), np.sin(azimuth)
    back = np.array([np.cos(elevation) * c, np.cos(elevation) * s, np.sin(elevation)])
    right = np.array([-s, c, 0.0])
    return np.stack([right, np.cross(back, right), back])


def is_planar(positions: np.ndarray, quaternions: np.ndarray) -> bool:
    """Whether every body moves only in the plane of x and z and turns only about y."""
    from scipy.spatial.transform import Rotation

    n, n_bodies = positions.shape[:2]
    if n < 2 or n_bodies == 0:
        return False
    turn = Rotation.from_quat(quaternions.reshape(-1, 4), scalar_first=True)
    first = Rotation.from_quat(np.tile(quaternions[0], (n, 1)), scalar_first=True)
    out_of_plane = np.abs((turn * first.inv()).as_rotvec()[:, [0, 2]]).max()
    across = np.ptp(positions[:, :, 1], axis=0).max()
    moved = np.ptp(positions, axis=0).max() + np.abs(quaternions - quaternions[0]).max()
    return bool(moved > 0 and out_of_plane < 1e-6 and across < 1e-6 * (1 + moved))


def _smooth(time: np.ndarray, path: np.ndarray) -> np.ndarray:
    """A running mean over `SMOOTHING`, exact on straight lines, whatever the spacing of times."""
    if time[-1] - time[0] < SMOOTHING:
        return np.tile(path.mean(axis=0), (len(path), 1))
    if time[-1] - time[0] > SMOOTHING * len(time):  # frames are farther apart than that
        return path
    width = 10  # points of an even grid each side
    grid = np.linspace(time[0], time[-1], 1 + int(2 * width * (time[-1] - time[0]) / SMOOTHING))
    even = interpolate(grid, time, path)
    # Mirrored through its ends, so that the mean follows the path out to them.
    before = 2 * even[0] - even[width:0:-1]
    after = 2 * even[-1] - even[-2 : -width - 2 : -1]
    sums = np.cumsum(np.concatenate([np.zeros((1, 3)), before, even, after]), axis=0)
    mean = (sums[2 * width + 1 :] - sums[: -2 * width - 1]) / (2 * width + 1)
    return interpolate(time, grid, mean)
