"""What acts on the feet: plates where a foot stands on one, the motion's own reactions elsewhere.

A foot that stepped beside the plates, or onto one together with the other foot, was not measured;
there the reactions that the motion needs (`grf`) stand in. The two are never mixed within a stance:
whether a foot was measured is decided stance by stance (`measured`).
"""

import numpy as np

from stiction._base.errors import InputError, unknown
from stiction.biped.gait.dynamics import FootLoads
from stiction.biped.grf.measured import Measured
from stiction.biped.grf.reactions import GroundReactions

SOURCES = ("auto", "plates", "motion")


def foot_loads(
    reactions: GroundReactions, measured: Measured | None, source: str = "auto"
) -> FootLoads:
    """The loads on the feet in every frame of the motion.

    Args:
        reactions: By the motion.
        measured: By plates; none where there are none.
        source: "motion"; "plates", nothing (nan) where plates say nothing; or "auto", plates where
            they know and the motion elsewhere.
    """
    if source not in SOURCES:
        raise unknown("source of the loads", source, SOURCES)
    if source == "plates" and measured is None:
        raise InputError("`loads` from plates need plates; give --plates, or --loads motion")
    soles, shares = reactions.subject.soles, reactions.shares
    up = reactions.axes.up
    force, point = shares.foot_force.copy(), shares.pressure.copy()
    moment = shares.free_moment[..., None] * up
    by_plate = np.zeros(force.shape[:2], bool)
    if measured is not None and source != "motion":
        by_plate[measured.frames] = measured.known
        use = measured.known[..., None]
        placed = np.isfinite(measured.pressure)
        part = (force[measured.frames], point[measured.frames], moment[measured.frames])
        force[measured.frames] = np.where(use, measured.feet, part[0])
        # A plate without a centre of pressure leaves it to the motion.
        point[measured.frames] = np.where(use & placed, measured.pressure, part[1])
        free = measured.free_moment[..., None] * up
        moment[measured.frames] = np.where(use, np.where(placed, free, part[2]), part[2])
        if source == "plates":
            force[~by_plate] = np.nan
    return FootLoads(
        feet=reactions.feet,
        bodies=tuple(int(soles.bodies[soles.feet.index(foot)]) for foot in reactions.feet),
        force=force,
        point=point,
        moment=moment,
        measured=by_plate,
    )
