"""The outcome of `ground_reactions` in a few numbers and words, as plain data."""

from typing import Any

import numpy as np

from stiction.biped.grf.comparison import Comparison
from stiction.biped.grf.reactions import GroundReactions
from stiction.tables import intervals


def summarize(reactions: GroundReactions, comparison: Comparison | None) -> dict[str, Any]:
    """The outcome in numbers, as plain data."""
    subject, motion, shares = reactions.subject, reactions.motion, reactions.shares
    time = reactions.time
    summary: dict[str, Any] = {
        "subject": subject.name,
        "mass": subject.mass,
        "weight": subject.weight,
        "frames": len(time),
        "rate": float(1 / (time[1] - time[0])),
        "start": float(time[0]),
        "end": float(time[-1]),
        "filter": motion.filter if np.isfinite(motion.cutoff) else "none",
        "cutoff": float(motion.cutoff) if np.isfinite(motion.cutoff) else None,
        "cutoff_chosen": motion.chosen,
        "split": reactions.split,
        "friction": reactions.friction,
        "forward": reactions.axes.forward,
        "up": reactions.axes.up,
        "feet": {},
    }
    if reactions.feet:
        both = shares.down.sum(axis=1) > 1
        summary |= {
            "pivot_height": shares.pivot_height,
            "support_velocity": reactions.touch.support_velocity,
            "ground": reactions.ground,
            "soles": subject.soles.source,
            "double_support_frames": int(both.sum()),
            "frames_not_determined": int((both & ~shares.determined.all(axis=1)).sum()),
            "moment_error_rms": np.sqrt(np.mean(shares.moment_error**2, axis=0)),
            "feet": {
                foot: {
                    "down": float(shares.down[:, k].mean()),
                    "largest_vertical": float((shares.foot_force[:, k] @ reactions.axes.up).max()),
                    "stances": _stances(reactions, k),
                }
                for k, foot in enumerate(reactions.feet)
            },
        }
    notes = list(reactions.notes)
    if comparison is not None:
        notes += comparison.measured.notes
        summary["comparison"] = {
            "components": comparison.components,
            "stances": comparison.stances,
            "pressure": comparison.pressure,
        }
    return summary | {"notes": notes}


def describe_filter(summary: dict[str, Any]) -> str:
    """The filter in words."""
    if summary["cutoff"] is None:
        why = " (the recording is smooth already)" if summary["cutoff_chosen"] else ""
        return f"none{why}"
    how = "chosen from the noise" if summary["cutoff_chosen"] else "as asked"
    return f"{summary['filter']}, cut-off {summary['cutoff']:.3g} Hz, {how}"


def _stances(reactions: GroundReactions, foot: int) -> list[list[float]]:
    """From when to when a foot bears a twentieth of the weight."""
    load = reactions.shares.foot_force[:, foot] @ reactions.axes.up
    down = load > 0.05 * reactions.subject.weight
    time = reactions.time
    return [[float(time[a]), float(time[b - 1])] for a, b in intervals(down)]
