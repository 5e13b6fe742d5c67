"""Ground reactions from recorded motion: in total, of each foot, at each point of its sole.

The steps: coordinates from the recording (`coordinates`), low-passed and differentiated
(`smoothing`); the total reaction from momentum (`momentum`); which points touch (`touch`); the
total shared among them (`split`, `transition`).
"""

from dataclasses import dataclass

import numpy as np

from stiction._errors import InputError, unknown
from stiction.biped.coordinates import coordinates_of
from stiction.biped.momentum import point_motion, total_reaction
from stiction.biped.recording.even import make_even
from stiction.biped.recording.table import Table
from stiction.biped.sharing import SPLITS, Axes, Shares, share
from stiction.biped.smoothing import Smoothed, smooth
from stiction.biped.subject import Subject
from stiction.biped.touch import GAP_TOLERANCE, SPEED_TOLERANCE, Touch, touching

FRICTION = 0.8
_GROUND = 0.1  # m; a floor nearer to zero than this is at zero


@dataclass(frozen=True)
class GroundReactions:
    """What the ground does to a moving subject. Forces act on the subject, in world axes.

    Attributes:
        subject: Who moved.
        motion: How, filtered.
        axes: Forward, left and up.
        force: In total [N].
        moment: About the world's origin [N·m].
        center: Centre of mass [m].
        feet: Names of the feet.
        touch: Functional coordinates of the soles' points.
        shares: What each point and each foot bears.
        friction: Coefficient of the cones.
        split: How forces were shared where mechanics does not say.
        ground: Height of the ground [m].
        notes: What was assumed, mended or left out.
    """

    subject: Subject
    motion: Smoothed
    axes: Axes
    force: np.ndarray
    moment: np.ndarray
    center: np.ndarray
    feet: tuple[str, ...]
    touch: Touch
    shares: Shares
    friction: float
    split: str
    ground: float
    notes: tuple[str, ...]

    @property
    def time(self) -> np.ndarray:
        """Of each frame [s]."""
        return self.motion.time


def ground_reactions(
    recording: Table,
    subject: Subject,
    *,
    angles: str | None = None,
    filter: str = "spline",
    cutoff: float | None = None,
    split: str = "pivot",
    friction: float = FRICTION,
    gap_tolerance: float = GAP_TOLERANCE,
    speed_tolerance: float = SPEED_TOLERANCE,
    level: float | None = None,
    start: float | None = None,
    end: float | None = None,
) -> GroundReactions:
    """Ground reactions of a recorded motion.

    Args:
        recording: Coordinates against time.
        subject: Whose coordinates; `soles.with_soles` gives it feet.
        angles: "degrees" or "radians", whatever the file says.
        filter: "spline", "butterworth" or "none".
        cutoff: Of the filter [Hz]; chosen from the data if not given.
        split: How forces are shared where mechanics does not say: "pivot", each foot's force near a
            point above the centre of mass; "least-norm"; "smooth", by [Ren2008].
        friction: Coefficient μ.
        gap_tolerance: Height from which on a point does not touch [m].
        speed_tolerance: Speed from which on a point does not touch [m/s].
        level: Height of the ground under every point [m]; none takes it from the recording, point
            by point.
        start: Leave out what is before [s].
        end: Leave out what is after [s].
    """
    _check(split, friction, gap_tolerance, speed_tolerance)
    table = make_even(recording.between(start, end))
    q, notes = coordinates_of(table, subject, angles=angles)
    motion = smooth(table.time, q, filter=filter, cutoff=cutoff)
    bodies = subject.motion(motion.q, motion.rate, motion.acceleration)
    total = total_reaction(subject.bodies, bodies)
    force, moment, center = total.force, total.moment, total.center
    notes = [*subject.notes, *table.notes, *notes]
    touch = touching(
        *point_motion(subject.soles, bodies, subject.up),
        subject.up,
        gap_tolerance=gap_tolerance,
        speed_tolerance=speed_tolerance,
        level=level,
    )
    axes = _axes(subject.up, total.center_velocity.mean(0) - touch.support_velocity)
    ground = _ground(touch.level)
    if ground:
        notes.append(f"the ground was taken to be at {ground:.3g} m, where the soles rest")
    feet = tuple(dict.fromkeys(subject.soles.feet))
    group = np.array([[f == name for name in feet] for f in subject.soles.feet], float)
    shares = share(
        motion.time,
        force,
        moment,
        center,
        touch,
        axes,
        group,
        weight=subject.weight,
        ground=ground,
        split=split,
        friction=friction,
    )
    return GroundReactions(
        subject=subject,
        motion=motion,
        axes=axes,
        force=force,
        moment=moment,
        center=center,
        feet=feet,
        touch=touch,
        shares=shares,
        friction=friction,
        split=split if feet else "none",
        ground=ground,
        notes=(*notes, *shares.notes),
    )


def _check(split: str, friction: float, gap_tolerance: float, speed_tolerance: float) -> None:
    if split not in SPLITS:
        raise unknown("split", split, SPLITS)
    for name, value, unit in (
        ("friction", friction, ""),
        ("gap_tolerance", gap_tolerance, " [m]"),
        ("speed_tolerance", speed_tolerance, " [m/s]"),
    ):
        if not (np.isfinite(value) and value > 0):
            raise InputError(f"`{name}` must be a positive number{unit}, got {value}")


def _axes(up: np.ndarray, travel: np.ndarray) -> Axes:
    """Forward is the horizontal axis of the world that is nearest to the direction of travel."""
    level = np.eye(3) - np.outer(up, up)
    along = level @ travel
    if np.linalg.norm(along) < 0.1:  # m/s: who stands faces x
        along = level @ np.array([1.0, 0.0, 0.0])
    candidates = np.concatenate([np.eye(3), -np.eye(3)]) @ level
    forward = candidates[np.argmax(candidates @ along)]
    forward = forward / np.linalg.norm(forward)
    return Axes(forward, np.cross(up, forward), up)


def _ground(level: np.ndarray) -> float:
    height = float(np.median(level)) if level.size else 0.0
    return 0.0 if abs(height) < _GROUND else height
