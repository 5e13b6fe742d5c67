r"""When contacts set in, as the wrench shows it: what that says of places and sizes.

A damped contact that closes at a speed sets in with a jump of $c \dot d$, far above the sensor's
noise. So of two samples in turn the one without the jump had $d \le 0$, the one with it $d \ge 0$,
and halfway between them $d = 0$ to within their distance. The fit leaves such samples out, since
its model is not smooth there; here each touch is one row over parameters and nuisances,

$$ \frac{d(x(t), z)}{\sigma}, \qquad \sigma^2 = \tfrac1{12} (d_2 - d_1)^2 + \sigma_x^2, $$

with σ_x the error of the smoothed path. It tells a plate that is off from stiffness where a test
touches but once.
"""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Float
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

    Args:
        problem: What is asked.
        tests: The samples.
        paths: As fitted.
        theta: Parameters at which contacts are judged.
        z: Nuisances there.
        spacing: Of the paths' knots [s].

    Returns:
        Derivatives, and residuals.
    """
    model = calibrated(problem, z).model
    both = jnp.asarray(np.concatenate([theta, z]))
    reach = noise_of_a_point(problem)
    rows, rhs = [np.zeros((0, len(both)))], []
    for s, path in zip(tests, paths, strict=True):
        time = on_pose_clock(s.recording, z[-2:])
        motion = path(time)
        found = contacts_along(model, jnp.asarray(theta), motion)
        depth, rate = np.asarray(found.depth), np.asarray(found.depth_rate)
        middle = float(np.mean(s.recording.pose_time[[0, -1]]))
        step = float(np.median(np.diff(s.recording.pose_time)))
        of_path = reach * np.sqrt(min(step / spacing, 1.0))
        at_brink = np.asarray(found.near) & (np.abs(depth) < _REACH * reach)
        alone = at_brink.sum(axis=(1, 2)) == 1
        measured = _contact_wrench(problem, model, s, path, time, z)
        for plate, point in np.argwhere(at_brink.any(axis=0)):
            closing = at_brink[:, plate, point] & alone & (rate[:, plate, point] > 0)
            if closing.sum() < 2:
                continue
            opened, closed = (
                np.asarray(w)
                for w in _either_way(
                    model, jnp.asarray(theta), jnp.asarray(plate), jnp.asarray(point), motion
                )
            )
            jump = (closed - opened) / problem.noise.wrench
            seen = np.sum(jump * (measured - opened) / problem.noise.wrench, axis=1)
            size = np.sum(jump**2, axis=1)
            part = np.where(closing & (size > _JUMP**2), seen / np.maximum(size, 1e-300), np.nan)
            for i in np.flatnonzero((part[:-1] < _OPEN) & (part[1:] > _CLOSED)):
                when = 0.5 * (time[i] + time[i + 1])
                at = jax.tree.map(lambda a: a[0], path(np.array([when])))
                d, by = _depth(problem.model, at, both, jnp.asarray(plate), jnp.asarray(point))
                speed = np.mean(rate[i : i + 2, plate, point])
                row = np.array(by)
                row[-2:] -= speed * np.array([1.0, when - middle])
                apart = depth[i + 1, plate, point] - depth[i, plate, point]
                error = np.sqrt(apart**2 / 12 + of_path**2)
                rows.append(row[None] / error)
                rhs.append(float(d) / error)
    return np.concatenate(rows), np.array(rhs)


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


@eqx.filter_jit
def _depth(model: ContactModel, motion, both, plate, point):
    """Depth of one candidate at one sample, and its derivative by parameters and nuisances."""

    def depth(both):
        theta, z = both[: len(model.names)], both[len(model.names) :]
        calibration = calibration_of(z, len(model.material_of))
        at = eqx.tree_at(lambda m: m.calibration, model, calibration)
        return find_contacts(at, theta, motion).depth[plate, point]

    return jax.value_and_grad(depth)(both)
