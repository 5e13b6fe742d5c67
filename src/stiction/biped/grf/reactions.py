"""Ground reactions from recorded motion: in total, of each foot, at each point of its sole.

The steps: coordinates from the recording (`coordinates`), low-passed and differentiated
(`smoothing`); the total reaction from momentum (`momentum`); which points touch (`touch`); the
total shared among them (`sharing`, by `split` or `transition`). Beside force plates (`plates`), the
plates' forces are brought to the same frames and feet (`measured`) and compared (`comparison`).
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from stiction._base.display import displayed
from stiction._base.errors import unknown
from stiction.biped.axes import Axes, axes_of_travel
from stiction.biped.grf.momentum import (
    TotalReaction,
    center_of_mass,
    point_motion,
    total_reaction,
)
from stiction.biped.grf.sharing import SPLITS, Shares, share
from stiction.biped.grf.smoothing import Smoothed, smooth
from stiction.biped.grf.touch import FootTouch, Ground, touching
from stiction.biped.subject.coordinates import coordinates_of
from stiction.biped.subject.subject import BodyMotion, Subject
from stiction.tables import Table, make_even

if TYPE_CHECKING:
    import xarray as xr

_GROUND = 0.1  # m; a floor nearer to zero than this is at zero


@displayed
@dataclass(frozen=True)
class GroundReactions:
    """What the ground does to a moving subject. Forces act on the subject, in world axes.

    Attributes:
        subject: Who moved.
        motion: How, filtered.
        bodies: The poses that go with it, and their derivatives.
        axes: Forward, left and up.
        total: Force and moment of all contacts together, and the centre of mass.
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
    bodies: BodyMotion
    axes: Axes
    total: TotalReaction
    feet: tuple[str, ...]
    touch: FootTouch
    shares: Shares
    friction: float
    split: str
    ground: float
    notes: tuple[str, ...]

    @property
    def time(self) -> np.ndarray:
        """Time of each frame [s]."""
        return self.motion.time

    @property
    def force(self) -> np.ndarray:
        """Force of all contacts together [N]."""
        return self.total.force

    @property
    def moment(self) -> np.ndarray:
        """Moment of all contacts together, about the world's origin [N·m]."""
        return self.total.moment

    @property
    def planar(self) -> bool:
        """Whether nothing moves across the way: then nothing is known of forces there."""
        return bool(np.abs(self.total.center_velocity @ self.axes.left).max() < 1e-9)

    @property
    def center(self) -> np.ndarray:
        """Centre of mass [m]."""
        return self.total.center

    def to_dataset(self) -> "xr.Dataset":
        """Everything that was computed, with names and units."""
        import xarray as xr

        axis = ["x", "y", "z"]
        motion, subject, shares = self.motion, self.subject, self.shares
        coordinates = [c.name for c in subject.coordinates]
        variables = {
            "force": (("time", "axis"), self.force, {"units": "N"}),
            "moment": (("time", "axis"), self.moment, {"units": "N m", "about": "origin"}),
            "center_of_mass": (("time", "axis"), self.center, {"units": "m"}),
            "q": (("time", "coordinate"), motion.q),
            "q_rate": (("time", "coordinate"), motion.rate),
            "q_acceleration": (("time", "coordinate"), motion.acceleration),
            "settled": (("time",), motion.settled),
        }
        coords = {
            "time": ("time", self.time, {"units": "s"}),
            "axis": axis,
            "coordinate": coordinates,
        }
        if self.feet:
            touch = self.touch
            variables |= {
                "foot_force": (("time", "foot", "axis"), shares.foot_force, {"units": "N"}),
                "center_of_pressure": (("time", "foot", "axis"), shares.pressure, {"units": "m"}),
                "free_moment": (("time", "foot"), shares.free_moment, {"units": "N m"}),
                "down": (("time", "foot"), shares.down),
                "point_force": (("time", "point", "axis"), shares.point_force, {"units": "N"}),
                "point_position": (("time", "point", "axis"), touch.position, {"units": "m"}),
                "gap": (("time", "point"), touch.gap, {"units": "m"}),
                "rate": (("time", "point", "axis"), touch.rate, {"units": "m/s"}),
                "nearness": (("time", "point"), touch.nearness),
                "determined": (("time", "axis"), shares.determined),
                "moment_error": (("time", "axis"), shares.moment_error, {"units": "N m"}),
                "needed_friction": (("time",), shares.needed_friction),
            }
            coords |= {"foot": list(self.feet), "point": list(subject.soles.names)}
        attributes = {
            "subject": subject.name,
            "mass": subject.mass,
            "filter": motion.filter,
            "cutoff_hz": motion.cutoff,
            "split": self.split,
            "friction": self.friction,
            "notes": "\n".join(self.notes),
        }
        return xr.Dataset(variables, coords, attributes)


def ground_reactions(
    recording: Table,
    subject: Subject,
    *,
    angles: str | None = None,
    filter: str = "spline",
    cutoff: float | None = None,
    split: str = "pivot",
    ground: Ground | None = None,
) -> GroundReactions:
    """Ground reactions of a recorded motion.

    Args:
        recording: Coordinates against time; `recording.between(start, end)` is a part of it.
        subject: Whose coordinates; `with_soles` gives it feet.
        angles: "degrees" or "radians", whatever the file says.
        filter: "spline", "butterworth" or "none".
        cutoff: Cut-off of the filter [Hz]; chosen from the data if not given.
        split: How forces are shared where mechanics does not say: "pivot", each foot's force near a
            point above the centre of mass; "least-norm"; "smooth", by [Ren2008].
        ground: Its friction and level, and when a point touches it.
    """
    if split not in SPLITS:
        raise unknown("split", split, SPLITS)
    ground = ground or Ground()
    table = make_even(recording)
    q, notes = coordinates_of(table, subject, angles=angles)
    # The cut-off is chosen by the centre of mass, whose acceleration is what the ground must give.
    path = None if cutoff else center_of_mass(subject.bodies, subject.poses(q))
    motion = smooth(table.time, q, filter=filter, cutoff=cutoff, path=path)
    notes += _ends(motion)
    bodies = subject.motion(motion.q, motion.rate, motion.acceleration)
    total = total_reaction(subject.bodies, bodies)
    position, velocity = point_motion(subject.soles, bodies, subject.up)
    touch = touching(position, velocity, subject.up, ground)
    axes = axes_of_travel(subject.up, total.center_velocity.mean(0) - touch.support_velocity)
    height = float(np.median(touch.level)) if touch.level.size else 0.0
    height = 0.0 if abs(height) < _GROUND else height
    if height:
        notes.append(f"the ground was taken to be at {height:.3g} m, where the soles rest")
    shares = share(
        motion.time,
        total,
        touch,
        axes,
        subject.soles.membership,
        weight=subject.weight,
        ground=replace(ground, level=height),
        split=split,
    )
    feet = subject.soles.foot_names
    return GroundReactions(
        subject=subject,
        motion=motion,
        bodies=bodies,
        axes=axes,
        total=total,
        feet=feet,
        touch=touch,
        shares=shares,
        friction=ground.friction,
        split=split if feet else "none",
        ground=height,
        notes=(*subject.notes, *table.notes, *notes, *shares.notes),
    )


def _ends(motion: Smoothed) -> list[str]:
    edge = int(np.argmax(motion.settled))
    if edge < 2:  # a splined record without noise
        return []
    return [
        f"the first and last {edge} frames ({edge * (motion.time[1] - motion.time[0]):.2g} s) are"
        " marked (`settled` is false): near its ends a record says little of accelerations"
    ]
