"""What a run shows of its contacts: forces, modes, friction used, and the list of events."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.patches import Patch

from stiction.engines import Event
from stiction.engines.forces import MODE_NAMES, OPEN, SLIP, STICK
from stiction.report.figures import COLORS, legend_above, new_figure
from stiction.scenes.run import Run

MAX_CONTACTS = 8  # more lines than this in one figure tell nothing
MAX_ROWS = 60  # of events on the page; the file has them all
MODE_COLORS = {OPEN: "#d9d9d9", STICK: COLORS[0], SLIP: COLORS[1]}
_SHORT = {"impact", "zeno", "jam"}  # kinds with an impulse


def write_events(events: list[Event], path: Path) -> None:
    """All events as CSV: vectors become columns t, s (in space) and n."""
    rows = [_flat(e.as_row()) for e in events]
    names = list(dict.fromkeys(name for row in rows for name in row)) or ["t", "kind", "contact"]
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, names, restval="")
        table.writeheader()
        table.writerows(rows)


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
            "velocity before [m/s]": _vector(e.velocity_before),
            "after": _vector(e.velocity_after) if e.kind in _SHORT else "",
            "impulse [N·s]": _vector(e.impulse) if e.kind in _SHORT else "",
            "friction used": f"{e.mu:.3f}" if e.kind in _SHORT else "",
            "kinetic energy [J]": f"{e.kinetic_before:.6g} → {e.kinetic_after:.6g}"
            if e.kind in _SHORT
            else f"{e.kinetic_before:.6g}",
            "note": e.note,
        }
        for e in events[:MAX_ROWS]
    ]


def _vector(values: tuple[float, ...]) -> str:
    return ", ".join(f"{v:.4g}" for v in values)


def force_figure(run: Run):
    """Tangential and normal force of each contact, and which mode it is in."""
    t = run.trajectory
    names = run.contact_names[:MAX_CONTACTS]
    figure, axes = new_figure(
        3, sharex=True, height_ratios=(3, 3, 0.4 + 0.25 * len(names)), figsize=(6.8, 6.0)
    )
    force = np.asarray(t.force)[:, : len(names)]
    planar = force.shape[2] == 2
    rubbing = force[:, :, 0] if planar else np.linalg.norm(force[:, :, :-1], axis=2)
    for c, name in enumerate(names):
        axes[0].plot(t.time, force[:, c, -1], label=name)
        axes[1].plot(t.time, rubbing[:, c])
    axes[0].set_ylabel("normal [N]")
    axes[1].set_ylabel("tangential [N]")
    axes[0].legend(ncols=3)
    _clip_to_bulk(axes[0], force[:, :, -1])
    _clip_to_bulk(axes[1], rubbing)
    modes = np.asarray(t.modes)[:, : len(names)]
    for c in range(len(names)):
        for start, end, mode in _spans(np.asarray(t.time), modes[:, c]):
            axes[2].barh(c, end - start, left=start, height=0.7, color=MODE_COLORS[mode])
    axes[2].set_yticks(range(len(names)), names)
    axes[2].invert_yaxis()
    axes[2].grid(False)
    patches = [Patch(color=color, label=MODE_NAMES[m]) for m, color in MODE_COLORS.items()]
    axes[2].legend(
        handles=patches, ncols=3, loc="lower left", bbox_to_anchor=(0, 1.0), fontsize="x-small"
    )
    axes[2].set_xlabel("time [s]")
    return figure


def _clip_to_bulk(axis, values: np.ndarray) -> None:
    """A force that is very large for an instant must not flatten all the others."""
    seen = np.abs(values[np.isfinite(values) & (values != 0)])
    if seen.size == 0:
        axis.set_ylim(-1, 1)
        return
    bulk = 3 * np.percentile(seen, 98)
    if seen.max() > bulk:
        low = -bulk if values[np.isfinite(values)].min() < 0 else -0.05 * bulk
        axis.set_ylim(low, bulk)


def _spans(time: np.ndarray, modes: np.ndarray) -> list[tuple[float, float, int]]:
    changes = np.flatnonzero(np.diff(modes)) + 1
    starts = [0, *changes]
    ends = [*changes, len(modes) - 1]
    return [
        (float(time[a]), float(time[b]), int(modes[a])) for a, b in zip(starts, ends, strict=True)
    ]


def impact_figure(run: Run, events: list[Event]):
    """Friction coefficient used and kinetic energy before and after, impact by impact."""
    hits = [e for e in events if e.kind in _SHORT]
    figure, (top, bottom) = new_figure(2, sharex=True)
    by_contact = {name: [e for e in hits if e.contact == name] for name in run.contact_names}
    for name, these in by_contact.items():
        if these:
            top.plot([e.time for e in these], [e.mu for e in these], "o", ms=4, label=name)
    law = run.scenario.contact
    for value, style, text in ((law.mu_static, "--", "static"), (law.mu_dynamic, ":", "dynamic")):
        if isinstance(value, float):
            top.axhline(value, color="0.4", ls=style, lw=1)
            top.annotate(text, (1, value), xycoords=("axes fraction", "data"), fontsize=8,
                         ha="right", va="bottom", color="0.4")  # fmt: skip
    top.set_ylabel("friction used")
    top.set_ylim(bottom=0)
    legend_above(top, 4)
    time = [e.time for e in hits]
    bottom.vlines(time, [e.kinetic_after for e in hits], [e.kinetic_before for e in hits],
                  color="0.7", lw=1)  # fmt: skip
    bottom.plot(time, [e.kinetic_before for e in hits], "v", ms=4, label="before")
    bottom.plot(time, [e.kinetic_after for e in hits], "^", ms=4, label="after")
    bottom.set_ylabel("kinetic energy [J]")
    bottom.set_xlabel("time [s]")
    bottom.legend(ncols=2)
    return figure
