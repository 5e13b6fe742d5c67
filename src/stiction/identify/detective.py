"""A log that does not fit its setup: which one mistake of units, signs or axes would explain it.

Each suspicion turns the recording into what it would be had that mistake not been made. A plain
regression on the smoothed path judges it. If one of them fits far better than the log as it is
read, the log is refused with that proposal.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np
from scipy.spatial.transform import Rotation

from stiction._base.errors import InputError
from stiction.identify.contact.geometry import skew
from stiction.identify.kinds.contact_setup import ContactSetup
from stiction.identify.recording import Recording
from stiction.tables import interpolate
from stiction.tables.units import SI

_BETTER = 0.5  # of the misfit as read: less, and the suspicion explains the log
_HARDLY_BETTER = 0.85  # of it: less, and a full fit decides
_SOUND = 1.15  # times the noise: a fit that leaves no more has nothing to explain
_MOST_TURNS = 14  # half a turn in degrees, read as radians, goes round 29 half times
_CLOSE = 0.12  # relative: a ratio of noise levels this near to a unit's factor points to it
FORCES = {unit: SI["force"][unit] for unit in ("lbf", "kgf", "kN", "mN")}
MOMENTS = {unit: SI["moment"][unit] for unit in ("lbf*in", "lbf*ft", "kgf*m", "N*mm", "kN*m")}

Suspicion = tuple[str, Recording]
Misfit = Callable[[Recording, float, float], float]


def suspicions(r: Recording, setup: ContactSetup) -> Iterator[Suspicion]:
    """What may have been mistaken, and the recording without it."""
    f, m = r.wrench[:, :3], r.wrench[:, 3:]

    def wrench(force, moment) -> Recording:
        return replace(r, wrench=np.concatenate([force, moment], axis=1))

    other = "moving" if setup.wrench.acts_on == "fixed" else "fixed"
    yield f"the wrench has the opposite sign: set wrench.acts_on = '{other}'", wrench(-f, -m)
    yield "the moment has the opposite sign of the force: check its columns", wrench(f, -m)
    for unit, factor in FORCES.items():
        yield (
            f"force looks like {unit}: factor {factor:.4g}; set units.force",
            wrench(factor * f, m),
        )
    for unit, factor in MOMENTS.items():
        yield (
            f"moment looks like {unit}: factor {factor:.4g}; set units.moment",
            wrench(f, factor * m),
        )
    for unit, arm in (("lbf", "lbf*in"), ("lbf", "lbf*ft"), ("kgf", "kgf*m"), ("kN", "kN*m")):
        factors = FORCES[unit], MOMENTS[arm]
        yield (
            f"the wrench looks like {unit} and {arm}: factors {factors[0]:.4g} and"
            f" {factors[1]:.4g}; set units.force and units.moment",
            wrench(factors[0] * f, factors[1] * m),
        )
    yield (
        "the quaternion's sense looks wrong: check whether it is body to world"
        if setup.pose.quaternion
        else "the rotation's sense looks wrong: check whether it is body to world",
        replace(r, rotation=np.swapaxes(r.rotation, 1, 2)),
    )
    if setup.pose.quaternion:
        yield (
            "the quaternion's order looks wrong: check pose.quaternion_order",
            replace(r, rotation=_reordered(r.rotation, setup)),
        )
    else:  # angles
        for word, turns in (
            *(("degrees", x * np.pi / 180) for x in _wound(r.rotation)),
            ("radians", Rotation.from_matrix(r.rotation).as_rotvec() * 180 / np.pi),
        ):
            yield (
                f"angles look like {word}: set units.angle",
                replace(r, rotation=Rotation.from_rotvec(turns).as_matrix()),
            )
    for order in list(permutations(range(3)))[1:]:
        swap = "".join("xyz"[i] for i in order)
        yield (
            f"force axes look swapped: its columns seem to be {swap}; check wrench.force",
            wrench(f[:, order], m),
        )
        yield (
            f"wrench axes look swapped: its columns seem to be {swap}; check wrench.force and"
            " wrench.moment",
            wrench(f[:, order], m[:, order]),
        )
    for i, axis in enumerate("xyz"):
        flip = np.where(np.arange(3) == i, -1.0, 1.0)
        yield (
            f"position {axis} looks mirrored: change its sign in the log",
            replace(r, position=r.position * flip),
        )
        yield (
            f"force {axis} looks mirrored: change its sign in the log",
            wrench(f * flip, m),
        )
    # The point at which moments were truly taken: m as read is m' + δ × f.
    if np.any(setup.wrench.point):
        point = np.array(setup.wrench.point)
        yield (
            "moments look as if taken at the origin: leave out wrench.point",
            wrench(f, m + np.cross(-point, f)),
        )
    else:
        away = _missing_arm(f, m, r)
        yield (
            f"moments look as if taken {1e3 * np.linalg.norm(away):.3g} mm from where the setup"
            f" says, at ({', '.join(f'{x:.4g}' for x in away)}) m: set wrench.point",
            wrench(f, m + np.cross(away, f)),
        )


def investigate(
    recording: Recording,
    suspected: Sequence[Suspicion],
    misfit: Misfit,
    again: Callable[[Recording], float] | None = None,
) -> None:
    """Refuse a log that one suspicion explains far better.

    Args:
        recording: A log that does not fit.
        suspected: From `suspicions`.
        misfit: Of a recording, by a plain regression, with the sensor's noise of force and moment
            larger by these factors.
        again: Residual of a full fit, in units of the noise. Given where the log as it is read
            leaves far more than the noise; it decides where the regression hardly does, since the
            path's own noise is in that.
    """
    size = _sizes(recording)
    as_read = misfit(recording, 1.0, 1.0)
    found = [(misfit(r, *(_sizes(r) / size)), i) for i, (_, r) in enumerate(suspected)]
    score, best = min(found)
    what, undone = suspected[best]
    left = f"misfit {score:.3g}"
    explained = score < _BETTER * as_read
    if not explained and again is not None and score < _HARDLY_BETTER * as_read:
        whole = again(undone)
        explained, left = whole < _SOUND, f"a full fit leaves {whole:.3g}"
    if explained:
        raise InputError(
            f"'{recording.name}' does not fit its setup (misfit {as_read:.3g} times the noise):"
            f" {what} ({left})"
        )


def noise_warnings(recordings: list[Recording], setup: ContactSetup) -> list[str]:
    """Readings whose own scatter is not the stated one; a known factor between them is a unit."""
    from stiction.identify.path.noise import LOUDER, vector_noise

    out, mistaken = [], []
    given, pose = setup.wrench.noise, setup.pose.noise
    said = [
        ("force", given and given.force, [r.wrench[:, :3] for r in recordings], FORCES),
        ("moment", given and given.moment, [r.wrench[:, 3:] for r in recordings], MOMENTS),
        ("position", pose and pose.position, [r.position for r in recordings], {}),
    ]
    for what, stated, readings, units in said:
        own = float(np.median([vector_noise(x) for x in readings]))
        if not stated or own <= 0 or 1 / LOUDER < own / stated < LOUDER:
            continue
        text = f"{what} scatters by {own:.3g}, the setup says {stated:.3g}: check its noise"
        unit = [u for u, k in units.items() if abs(np.log(stated / own / k)) < _CLOSE]
        if unit:
            factor = units[unit[0]]
            text += f"; {what} looks like {unit[0]}, factor {factor:.4g} (units.{what})"
            mistaken.append(text)
        else:
            text += "; was it filtered before?" if own < stated else "; the scatter counts"
        out.append(text)
    if len(mistaken) == 2:  # force and moment agree
        raise InputError(f"'{recordings[0].name}' is in other units: {'; '.join(mistaken)}")
    return out


def _sizes(r: Recording) -> np.ndarray:
    """Of force and moment: in another unit the noise grows along."""
    return np.sqrt(np.mean(r.wrench.reshape(-1, 2, 3) ** 2, axis=(0, 2)))


def _reordered(R: np.ndarray, setup: ContactSetup) -> np.ndarray:
    first = setup.pose.quaternion_order == "wxyz"
    q = Rotation.from_matrix(R).as_quat(scalar_first=first)
    return Rotation.from_quat(q, scalar_first=not first).as_matrix()


def _wound(R: np.ndarray) -> Iterator[np.ndarray]:
    """Rotation vectors of these rotations, some full turns more or less, steady in time.

    What was 30° and is read as 30 rad went round several times, which a rotation does not show.
    """
    x = Rotation.from_matrix(R).as_rotvec()
    angle = np.linalg.norm(x, axis=1)
    axis = x / np.where(angle > 0, angle, 1.0)[:, None]
    # Beyond half a turn the axis is the opposite one: keep it where it was.
    sign = np.cumprod(np.append(1.0, np.where(np.sum(axis[1:] * axis[:-1], axis=1) < 0, -1.0, 1.0)))
    axis, angle = sign[:, None] * axis, np.unwrap(sign * angle)
    for turns in range(-_MOST_TURNS, _MOST_TURNS + 1):
        yield (angle + 2 * np.pi * turns)[:, None] * axis


def _missing_arm(f: np.ndarray, m: np.ndarray, r: Recording) -> np.ndarray:
    """δ that makes moments those of forces acting at the body: m ≈ (p - δ) × f, in the mean."""
    p = interpolate(r.wrench_time, r.pose_time, r.position)
    rest = (m - np.cross(p, f)).reshape(-1)  # -δ × f = f × δ
    return np.linalg.lstsq(skew(f).reshape(-1, 3), rest, rcond=None)[0]
