"""What a run tells of its contacts: its events as rows, and the extremes of compliant ones."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from stiction.engines import Event, Trajectory
from stiction.report.page import number, numbers
from stiction.report.run_charts import IMPULSIVE

_NOTHING = 1e-9  # of the largest of its kind
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
    fastest = _largest([(*e.velocity_before, *e.velocity_after) for e in events])
    hardest = _largest([e.impulse for e in events])
    return [
        {
            "t [s]": f"{e.time:.6f}",
            "event": e.kind,
            "contact": e.contact,
            "velocity before [m/s]": numbers(_rounded(e.velocity_before, fastest)),
            "after": numbers(_rounded(e.velocity_after, fastest)) if e.kind in IMPULSIVE else "",
            "impulse [N·s]": numbers(_rounded(e.impulse, hardest)) if e.kind in IMPULSIVE else "",
            "friction used": f"{e.mu:.3f}" if e.kind in IMPULSIVE else "",
            "kinetic energy [J]": f"{number(e.kinetic_before, 4)} → {number(e.kinetic_after, 4)}"
            if e.kind in IMPULSIVE
            else number(e.kinetic_before, 4),
            "note": e.note,
        }
        for e in events[:MAX_ROWS]
    ]


def _largest(vectors: Sequence[Sequence[float]]) -> float:
    return max((abs(x) for vector in vectors for x in vector if np.isfinite(x)), default=0.0)


def _rounded(vector: Sequence[float], largest: float) -> list[float]:
    """What is nothing beside the largest of all events is 0."""
    return [0.0 if abs(x) < _NOTHING * largest else float(x) for x in vector]


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
