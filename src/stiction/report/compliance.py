"""What a run shows of compliant contacts besides forces: depth, and energy held and lost."""

from typing import Any

import numpy as np

from stiction.report.contacts import MAX_CONTACTS
from stiction.report.figures import COLORS, legend_above, new_figure
from stiction.scenes.run import Run


def compliance_summary(run: Run) -> dict[str, Any]:
    """For each contact the extremes and the end, as plain data; nothing for rigid contacts."""
    t = run.trajectory
    if t.compliance is None:
        return {}
    c = t.compliance
    last = int(np.flatnonzero(np.isfinite(c.depth).all(axis=1))[-1])
    return {
        "compliance": [
            {
                "contact": name,
                "max_depth": float(max(np.nanmax(c.depth[:, i]), 0.0)),
                "final_depth": float(max(c.depth[last, i], 0.0)),
                "max_force": float(np.nanmax(t.force[:, i, -1])),
                "stored": float(c.stored[last, i]),
                "normal_loss": float(c.normal_loss[last, i]),
                "friction_loss": float(c.friction_loss[last, i]),
            }
            for i, name in enumerate(run.contact_names)
        ]
    }


def depth_figure(run: Run):
    """Depth of each contact; what it holds, and what it has lost along and across the normal."""
    t, c = run.trajectory, run.trajectory.compliance
    assert c is not None
    figure, (top, bottom) = new_figure(2, sharex=True, figsize=(6.8, 5.0))
    for i, name in enumerate(run.contact_names[:MAX_CONTACTS]):
        color = COLORS[i % len(COLORS)]
        top.plot(t.time, 1e3 * np.maximum(c.depth[:, i], 0.0), color=color, label=name)
        bottom.plot(t.time, c.stored[:, i], color=color, lw=1.0)
        bottom.plot(t.time, c.normal_loss[:, i], "--", color=color)
        bottom.plot(t.time, c.friction_loss[:, i], ":", color=color)
    for style, what in (("-", "held"), ("--", "lost along the normal"), (":", "lost by friction")):
        bottom.plot([], [], style, color="0.3", label=what)
    top.set_ylabel("depth [mm]")
    legend_above(top, 4)
    bottom.set_ylabel("energy [J]")
    legend_above(bottom, 3)
    bottom.set_xlabel("time [s]")
    return figure
