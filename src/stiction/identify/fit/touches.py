r"""When contacts set in, as the wrench shows it: what that says of places and sizes.

A damped contact that closes at a speed sets in with a jump of $c \dot d$, far above the sensor's
noise. So of two samples in turn the one without the jump had $d \le 0$, the one with it $d \ge 0$,
and halfway between them $d = 0$ to within their distance. The fit leaves such samples out, since
its model is not smooth there; here each touch is one row over parameters and nuisances,

$$ \frac{d(x(t), z)}{\sigma}, \qquad \sigma^2 = \tfrac1{12} (d_2 - d_1)^2 + \sigma_x^2, $$

with σ_x the error of the smoothed path. It tells a plate that is off from stiffness where a test
touches but once.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Float
from stiction._base.compile import quick_jit
from stiction.identify.contact.along import contacts_along
from stiction.identify.contact.mapped import sample_jit
from stiction.identify.contact.model import ContactModel, carrying, columns, find_contacts
from stiction.identify.fit.nuisances import added_reading, calibration_of
from stiction.identify.fit.samples import (
    ContactProblem,
    Samples,
    calibrated,
    noise_of_a_point,
    on_pose_clock,
)
from stiction.identify.path.motion import SmoothPath
from stiction.identify.path.readings import side_of_play

_REACH = 10.0  # noise levels of a point within which a touch is looked for
_JUMP = 12.0  # noise levels of the wrench that tell a touch surely
_OPEN, _CLOSED = 0.3, 0.7  # parts of the jump that was read: below it is open, above it touches


def touch_rows(
    problem: ContactProblem,
    tests: Sequence[Samples],
    paths: Sequence[SmoothPath],
    theta: Float[np.ndarray, " p"],
    z: Float[np.ndarray, " q"],
    spacing: float,
) -> tuple[Float[np.ndarray, "n pq"], Float[np.ndarray, " n"]]:
    """Rows of the touches over parameters and nuisances, in units of their errors.

    Contacts are judged at `theta` and `z`, along the paths as fitted.

    Returns:
        Derivatives, and residuals.
    """
    both = jnp.asarray(np.concatenate([theta, z]))
    rows, rhs = [np.zeros((0, len(both)))], []
    p = len(theta)
    for s, path, place in zip(tests, paths, problem.nuisances.places, strict=True):
        mine = np.concatenate([np.arange(p), p + place])
        middle = float(np.mean(s.recording.pose_time[[0, -1]]))
        step = float(np.median(np.diff(s.recording.pose_time)))
        of_path = noise_of_a_point(problem) * np.sqrt(min(step / spacing, 1.0))
        for touch in _touches(problem, s, path, theta, z[place]):
            at = jax.tree.map(lambda a: a[0], path(np.array([touch.time])))
            which = jnp.asarray(touch.plate), jnp.asarray(touch.point)
            depth, by = _depth(problem.model, at, both[mine], *which)
            row = np.array(by)
            # Play moves the path itself; before a touch there is no load to bend the tool.
            side = side_of_play(np.asarray(at.velocity), problem.noise, spacing)
            row[-5:-2] -= np.asarray(problem.model.plates.normal)[touch.plate] * side
            row[-2:] -= touch.speed * np.array([1.0, touch.time - middle])
            error = np.sqrt(touch.apart**2 / 12 + of_path**2)
            of_all = np.zeros((1, len(both)))
            of_all[0, mine] = row / error
            rows.append(of_all)
            rhs.append(float(depth) / error)
    return np.concatenate(rows), np.array(rhs)


class _Touch(NamedTuple):
    """A touch between two samples: halfway, how far apart in depth they are, how fast it closes."""

    plate: int
    point: int
    time: float
    apart: float
    speed: float


def _touches(problem: ContactProblem, s: Samples, path: SmoothPath, theta, z) -> Iterator[_Touch]:
    """Where a contact that closes sets in, while no other is near its brink."""
    model, noise = calibrated(problem, z).model, problem.noise.wrench
    time, held = on_pose_clock(s.recording, z[-2:]), jnp.asarray(theta)
    motion = path(time)
    found = contacts_along(model, held, motion)
    depth, rate = np.asarray(found.depth), np.asarray(found.depth_rate)
    near = np.abs(depth) < _REACH * noise_of_a_point(problem)
    at_brink = np.asarray(found.near) & near
    alone = at_brink.sum(axis=(1, 2)) == 1
    measured = _contact_wrench(problem, model, s, path, time, z)
    for plate, point in np.argwhere(at_brink.any(axis=0)):
        d, closes = depth[:, plate, point], rate[:, plate, point]
        closing = at_brink[:, plate, point] & alone & (closes > 0)
        if closing.sum() < 2:
            continue
        which = jnp.asarray(plate), jnp.asarray(point)
        opened, closed = (np.asarray(w) for w in _either_way(model, held, *which, motion))
        jump = (closed - opened) / noise
        size = np.sum(jump**2, axis=1)
        read = np.sum(jump * (measured - opened) / noise, axis=1)
        part = np.where(closing & (size > _JUMP**2), read / np.maximum(size, 1e-300), np.nan)
        for i in np.flatnonzero((part[:-1] < _OPEN) & (part[1:] > _CLOSED)):
            pair = slice(i, i + 2)
            middle, speed = float(np.mean(time[pair])), float(np.mean(closes[pair]))
            yield _Touch(int(plate), int(point), middle, float(d[i + 1] - d[i]), speed)


def _contact_wrench(problem, model: ContactModel, s: Samples, path, time, z) -> np.ndarray:
    """The wrench of the contacts alone."""
    age = (s.recording.wrench_time - time.mean()) / np.ptp(s.recording.pose_time)
    way = np.asarray(path(time).position) - s.recording.position[0]
    return s.contact_wrench(problem.inertia, model) - added_reading(z, age, way)


@sample_jit(4)
def _either_way(model, theta, plate, point, motion):
    """The wrenches of many samples if one candidate is open, and if it touches."""

    def one(motion):
        found = find_contacts(model, theta, motion)
        on = carrying(model, theta, found)
        linear, _ = model.split(theta)
        as_if = lambda x: columns(  # noqa: E731
            model, theta, motion, found, on.at[plate, point].set(x)
        )
        return as_if(False) @ linear, as_if(True) @ linear

    return jax.vmap(one)(motion)


@quick_jit
def _depth(model: ContactModel, motion, both, plate, point):
    """Depth of one candidate at one sample, and its derivative by parameters and nuisances."""

    def depth(both):
        theta, z = both[: len(model.names)], both[len(model.names) :]
        calibration = calibration_of(z, len(model.material_of))
        at = eqx.tree_at(lambda m: m.calibration, model, calibration)
        return find_contacts(at, theta, motion).depth[plate, point]

    return jax.value_and_grad(depth)(both)
