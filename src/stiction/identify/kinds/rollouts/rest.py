"""What bodies that come to rest tell of the recording: how high and how level its ground is.

A body at rest touches. If recorded bodies rest above or below the ground, all positions are off by
as much; if a body that lies on a face lies aslant, its angle is. Both are corrected, and the height
stays a nuisance of the fit, known as well as the resting bodies agree.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float
from stiction._base.compile import quick_jit
from stiction.identify.kinds.rollouts.record import Rollouts, angles_of, lengths_of
from stiction.identify.path.noise import NORMAL_MEDIAN
from stiction.mechanism import Mechanism, world_poses
from stiction.surfaces import Contacts, contact_places

_RESTING, _STILL = 10, 2e-3  # rows at the end that differ by less [m, rad]: at rest
_FEWEST = 5  # rollouts that come to rest: fewer tell nothing of the frame
_SURE = 4.0  # standard errors beyond which a correction is made
_FAR = 0.02  # m: who rests further away lies on something else
_USUAL = 5e-4  # m: how well a ground is known that no body rested on
_STEP = 1e-6  # m, rad: of a difference
_PLANAR = 3  # degrees of freedom


class Rest(NamedTuple):
    """How bodies come to rest."""

    count: int  # of rollouts that do
    height: float  # of their lowest points above the ground, the median [m]
    height_std: float  # its standard error; the usual doubt where too few rest
    tilt: float  # by which their angle is recorded too large [rad]; 0 where it is not known
    tilt_std: float  # its standard error


def at_rest(rollouts: Rollouts, mechanism: Mechanism, contacts: Contacts) -> Rest:
    """Height and tilt of the bodies that end at rest."""
    q, times = [], []
    for path, end in zip(rollouts.q, rollouts.seen.sum(axis=1), strict=True):
        last = path[max(end - _RESTING, 0) : end]
        if len(last) == _RESTING and np.ptp(last, axis=0).max() < _STILL:
            q.append(np.median(last, axis=0))
            times.append((end - 1) / rollouts.rate)
    if len(q) < _FEWEST:
        return Rest(len(q), 0.0, _USUAL, 0.0, np.inf)
    poses, at = np.array(q), np.array(times)

    def gaps(q: np.ndarray) -> np.ndarray:
        return np.asarray(_gaps(mechanism, contacts, q, at))

    tilt, tilt_std = 0.0, np.inf
    hinges = np.flatnonzero(angles_of(mechanism))
    if mechanism.nv == _PLANAR and len(hinges) == 1 and gaps(poses).shape[1] > 1:
        turned = poses + _STEP * np.eye(poses.shape[1])[hinges[0]]
        two = np.argsort(gaps(poses), axis=1)[:, :2]
        first, after = (np.take_along_axis(gaps(x), two, axis=1) for x in (poses, turned))
        aslant, slope = first[:, 1] - first[:, 0], np.diff(after - first, axis=1)[:, 0] / _STEP
        # On a corner, or against another body, it is not the frame.
        lies = (np.abs(aslant) < _FAR) & (np.abs(slope) > _STEP)
        if lies.sum() >= _FEWEST:
            tilt, tilt_std = _median(aslant[lies] / slope[lies])
    level = poses.copy()
    if abs(tilt) > _SURE * tilt_std:
        level[:, hinges] -= tilt
    lowest = gaps(level).min(axis=1)
    lowest = lowest[np.abs(lowest) < _FAR]
    if len(lowest) < _FEWEST:
        return Rest(len(q), 0.0, _USUAL, tilt, tilt_std)
    return Rest(len(q), *_median(lowest), tilt, tilt_std)


def _median(x: Float[np.ndarray, " n"]) -> tuple[float, float]:
    """The median and its standard error, by the scatter of the middle half."""
    middle = float(np.median(x))
    scatter = float(np.median(np.abs(x - middle))) / NORMAL_MEDIAN
    return middle, 1.2533 * scatter / np.sqrt(len(x))


def upwards(rollouts: Rollouts, mechanism: Mechanism) -> Float[np.ndarray, " nq"] | None:
    """By how much each coordinate changes when everything is lifted by 1 m; None if it cannot."""
    lengths = np.flatnonzero(lengths_of(mechanism))
    gravity = np.asarray(mechanism.gravity, dtype=float)
    if not len(lengths) or not gravity.any():
        return None
    up = -gravity / np.linalg.norm(gravity)
    moving = np.array(mechanism.tree.body_links) > 0
    q = rollouts.q[0, [0, rollouts.seen[0].sum() - 1]]
    place = np.asarray(_places(mechanism, q))[:, moving]
    moved = [
        np.asarray(_places(mechanism, q + np.eye(q.shape[1])[i]))[:, moving] - place
        for i in lengths
    ]
    A = np.stack(moved, axis=-1).reshape(-1, len(lengths))
    b = np.broadcast_to(up, place.shape).ravel()
    by, *_ = np.linalg.lstsq(A, b, rcond=None)
    if np.abs(A @ by - b).max() > 1e-9:
        return None
    out = np.zeros(q.shape[1])
    out[lengths] = by
    return out


def levelled(
    rollouts: Rollouts, mechanism: Mechanism, rest: Rest, up: Float[np.ndarray, " nq"] | None
) -> tuple[Rollouts, list[str]]:
    """The rollouts with the ground where bodies rest, and what was done."""
    from dataclasses import replace

    q, said = rollouts.q.copy(), []
    if abs(rest.tilt) > _SURE * rest.tilt_std:
        q[..., angles_of(mechanism)] -= rest.tilt
        said.append(f"turned by {-np.rad2deg(rest.tilt):.3g}°")
    if up is not None and abs(rest.height) > _SURE * rest.height_std:
        q = q - rest.height * up
        said.append(f"{'lowered' if rest.height > 0 else 'raised'} by"
                    f" {1e3 * abs(rest.height):.3g} mm")  # fmt: skip
    if not said:
        return rollouts, []
    return replace(rollouts, q=q), [
        f"all poses were {' and '.join(said)}: {rest.count} rollouts come to rest so;"
        " the frame, the markers or the ground of the setup are off by as much (`level = false`"
        " takes them as recorded)"
    ]


@quick_jit
def _places(mechanism, q):
    return jax.vmap(lambda q: world_poses(mechanism, q).position)(q)


@quick_jit
def _gaps(mechanism, contacts, q, times):
    def all_of(q: Array, t: Array) -> Array:
        return contact_places(contacts, world_poses(mechanism, q), t).gap.reshape(-1)

    return jax.vmap(all_of)(jnp.asarray(q), jnp.asarray(times))
