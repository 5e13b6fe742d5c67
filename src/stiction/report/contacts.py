"""What a run tells of its contacts: its events as rows, and the extremes of compliant ones."""

from typing import Any

import numpy as np

from stiction.engines import Event, Trajectory
from stiction.report.page import number, numbers
from stiction.report.run_charts import IMPULSIVE

MAX_ROWS = 200  # of events on the page; the file has them all


def event_cells(events: list[Event]) -> list[dict[str, Any]]:
    """All events as rows of a file: vectors become columns t, s (in space) and n."""
    return [_flat(e.as_row()) for e in events]


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    flat = {}
    for name, value in row.items():
        if isinstance(value, tuple):
            axes = ("t", "n") if len(value) == 2 else ("t", "s", "n")
            flat |= {f"{name}_{axis}": x for axis, x in zip(axes, value, strict=False)}
        else:
            flat[name] = value
    return flat


def event_rows(events: list[Event]) -> list[dict[str, Any]]:
    """Events as rows for people, the first `MAX_ROWS`."""
    return [
        {
            "t [s]": f"{e.time:.6f}",
            "event": e.kind,
            "contact": e.contact,
            "velocity before [m/s]": numbers(e.velocity_before),
            "after": numbers(e.velocity_after) if e.kind in IMPULSIVE else "",
            "impulse [N·s]": numbers(e.impulse) if e.kind in IMPULSIVE else "",
            "friction used": f"{e.mu:.3f}" if e.kind in IMPULSIVE else "",
            "kinetic energy [J]": f"{number(e.kinetic_before, 6)} → {number(e.kinetic_after, 6)}"
            if e.kind in IMPULSIVE
            else number(e.kinetic_before, 6),
            "note": e.note,
        }
        for e in events[:MAX_ROWS]
    ]


def compliance_summary(run: Trajectory) -> dict[str, Any]:
    """For each contact the extremes and the end, as plain data; nothing for rigid contacts."""
    t = run
    c = t.compliance
    kept = [] if c is None else np.flatnonzero(np.isfinite(c.depth).all(axis=1))
    if c is None or len(kept) == 0:
        return {}
    last = int(kept[-1])
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
