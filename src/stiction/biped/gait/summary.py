"""The outcome of a gait analysis in a few numbers and words, as plain data."""

from typing import Any

import numpy as np

from stiction.biped.gait.trial import Gait
from stiction.biped.grf.comparison import Comparison
from stiction.biped.grf.summary import summarize
from stiction.biped.subject.subject import side_of

_SMALL = 0.02  # N·m/kg: joints whose moments are always below it are left out of the table


def summarize_gait(
    gait: Gait, comparison: Comparison | None = None, bands: np.ndarray | None = None
) -> dict[str, Any]:
    """The outcome in numbers: what `grf` says, and strides, peaks of the joints, residual.

    Args:
        gait: The outcome.
        comparison: Of ground reactions by motion and by plates.
        bands: Standard deviations of the moments, by `moment_bands` [N·m].
    """
    loads = gait.loads
    return summarize(gait.reactions, comparison) | {
        "kind": gait.kind,
        "events": [
            {"foot": s.foot, "event": word, "time": t}
            for s in gait.stances
            for word, t in (("strike", s.strike), ("off", s.off))
            if np.isfinite(t)
        ],
        "strides": gait.summary_rows,
        "every_stride": gait.stride_rows,
        "stances": gait.stance_rows,
        "flights": [
            {"from [s]": f.start, "flight [s]": f.end - f.start, "rise [m]": f.rise}
            for f in gait.flights
        ],
        "peaks": joint_peaks(gait, bands),
        "residual": dict(vars(gait.residual)),
        "loads_from_plates": {
            foot: float(loads.measured[:, k].mean()) for k, foot in enumerate(loads.feet)
        },
    }


def joint_peaks(gait: Gait, bands: np.ndarray | None = None) -> list[dict[str, Any]]:
    """A row for each joint that does something: range, and largest moment and power either way.

    Over the mean cycle of the joint's own side where there is one, else over all settled frames.
    """
    subject, joints = gait.reactions.subject, gait.joints
    settled = gait.reactions.motion.settled
    rows = []
    for k, i in enumerate(gait.coordinates):
        coordinate = subject.coordinates[i]
        side, _ = side_of(coordinate.name)
        own = [c for c in gait.cycles if c.strides and (side is None or c.foot == side)]
        if own:
            angle, moment, power = (own[0].mean(n)[:, k] for n in ("angle", "moment", "power"))
        else:
            unit = 180 / np.pi if coordinate.rotational else 1.0
            angle = unit * gait.reactions.motion.q[settled, i]
            moment, power = (x[settled, i] / subject.mass for x in (joints.moment, joints.power))
        if not np.nanmax(np.abs(moment), initial=0.0) >= _SMALL:
            continue
        row: dict[str, Any] = {
            "joint": coordinate.name,
            "angle from [deg]": float(angle.min()),
            "to [deg]": float(angle.max()),
            "moment from [N m/kg]": float(np.nanmin(moment)),
            "to [N m/kg]": float(np.nanmax(moment)),
            "power from [W/kg]": float(np.nanmin(power)),
            "to [W/kg]": float(np.nanmax(power)),
        }
        if bands is not None:
            row["moment +- [N m/kg]"] = float(np.nanmean(bands[settled, i]) / subject.mass)
        rows.append(row)
    return rows
