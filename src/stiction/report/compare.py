"""Runs laid beside each other: overlaid motions, charts with their difference, event by event."""

import dataclasses
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stiction._base.errors import InputError
from stiction.engines import Event, Trajectory, rest_time
from stiction.report.animate import animation
from stiction.report.charts import Chart, Line, Panel, Timeline
from stiction.report.figures import COLORS, add_figures
from stiction.report.meshes import model_meshes
from stiction.report.output import OutputDirectory
from stiction.report.page import Report, number
from stiction.report.player import Animation, Mark
from stiction.report.player.payload import BODY_COLORS, continuous, fold
from stiction.report.run_charts import BOOKED, MAX_CONTACTS, contact_chart, touched
from stiction.report.run_path import through_events
from stiction.tables import interpolate

MAX_PANELS = 6  # coordinates with a panel of their own
MAX_ROWS = 100  # of events
_GHOST = 0.45  # opacity of the runs after the first


def summarize_comparison(runs: Mapping[str, Trajectory]) -> dict[str, Any]:
    """How runs differ from the first, as plain data.

    Args:
        runs: By their names; at least two, of mechanisms with the same coordinates.
    """
    first, *others = runs.values()
    names = first.mechanism.tree.coordinate_names
    for name, run in runs.items():
        if run.mechanism.tree.coordinate_names != names:
            raise InputError(
                f"runs must have the same coordinates to be compared, got {', '.join(names[:6])}"
                f" and, in {name}, {', '.join(run.mechanism.tree.coordinate_names[:6])}"
            )
    events = {name: run.events() for name, run in runs.items()}
    told = {name: _ending(run, events[name]) for name, run in runs.items()}
    ours = next(iter(events.values()))
    for name, other in zip(list(runs)[1:], others, strict=True):
        q = apart_from(first, other)
        told[name] |= {
            "final_difference": _last(other) - _last(first),
            "largest_difference": np.nanmax(np.abs(q), axis=0),
            "first_different_event": first_difference(ours, events[name]),
        }
    return {"coordinates": list(names), "runs": told}


def _last(run: Trajectory) -> np.ndarray:
    q = np.asarray(run.q)
    return q[np.flatnonzero(np.isfinite(q).all(axis=1))[-1]]


def apart_from(first: Trajectory, other: Trajectory) -> np.ndarray:
    """Coordinates of another run less those of the first, at the first one's samples."""
    time, theirs = np.asarray(first.time), np.asarray(other.time)
    q = np.stack([np.interp(time, theirs, x, right=np.nan) for x in np.asarray(other.q).T], axis=1)
    return q - np.asarray(first.q)


def _ending(run: Trajectory, events: list[Event]) -> dict[str, Any]:
    energy = np.asarray(run.energy)[np.isfinite(np.asarray(run.energy))]
    booked = {name: float(np.asarray(getattr(run, name))[-1]) for name in BOOKED}
    return {
        "success": run.success,
        "message": run.message,
        "law": type(run.law).__name__ if run.law is not None else "none",
        "rest_time": rest_time(run),
        "events": dict(Counter(e.kind for e in events)),
        "final_q": _last(run),
        "energy": {"initial": float(energy[0]), "final": float(energy[-1]), **booked},
    }


def first_difference(ours: Sequence[Event], theirs: Sequence[Event]) -> dict[str, Any] | None:
    """The first place where the lists of events tell of something else; None if none does."""
    for i, (a, b) in enumerate(itertools.zip_longest(ours, theirs)):
        if a is None or b is None or (a.kind, a.contact) != (b.kind, b.contact):
            return {"number": i + 1, "first": _words(a), "other": _words(b)}
    return None


def _words(event: Event | None) -> str:
    return "-" if event is None else f"{event.time:.6g} s: {event.kind} {event.contact}".strip()


def comparison_rows(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The outcome of each run, a column each."""
    runs = summary["runs"]
    rows = {
        "contact law": lambda r: r["law"],
        "at rest": lambda r: "no" if r["rest_time"] is None else f"since {r['rest_time']:.6g} s",
        "events": lambda r: ", ".join(f"{n} {kind}" for kind, n in r["events"].items()) or "none",
        "final energy [J]": lambda r: number(r["energy"]["final"], 6),
    }
    for name, words in BOOKED.items():
        if any(r["energy"][name] for r in runs.values()):
            rows[f"{words} [J]"] = lambda r, name=name: number(r["energy"][name], 6)
    for i, name in enumerate(summary["coordinates"][:MAX_PANELS]):
        rows[f"final {name}"] = lambda r, i=i: number(r["final_q"][i], 6)

        def differs(r, i=i):
            return number(r["largest_difference"][i], 3) if "largest_difference" in r else ""

        rows[f"largest difference of {name}"] = differs
    rows["first event that differs"] = _event_that_differs
    if not all(r["success"] for r in runs.values()):
        rows["failed"] = lambda r: r["message"]
    return [{"": what} | {name: tell(r) for name, r in runs.items()} for what, tell in rows.items()]


def _event_that_differs(run: Mapping[str, Any]) -> str:
    if "first_different_event" not in run:
        return ""
    found = run["first_different_event"]
    return "none" if found is None else f"number {found['number']}: {found['other']}"


def write_comparison(
    runs: Mapping[str, Trajectory], summary: Mapping[str, Any], directory: OutputDirectory
) -> Path:
    """Write the page that lays runs beside each other; return its path."""
    report = Report("Compared: " + ", ".join(runs))
    directory.json("comparison.json", summary)
    shown, charts = overlay(runs), comparison_charts(runs)
    if (end := fold(shown)) is not None:
        for chart, _ in charts.values():
            chart.until = float(shown.time[0]) + end
    with report.beside(shown):
        add_figures(report, directory, charts)
    report.heading("In numbers")
    report.table(comparison_rows(summary))
    rows = _event_rows({name: run.events() for name, run in runs.items()})
    if rows:
        report.heading("Events, one after the other")
        report.table(rows[:MAX_ROWS], [row.pop("t") for row in rows[:MAX_ROWS]])
    return directory.page(report)


def _event_rows(events: Mapping[str, Sequence[Event]]) -> list[dict[str, Any]]:
    rows = []
    for i, these in enumerate(itertools.zip_longest(*events.values())):
        first = next(e for e in these if e is not None)
        told = {name: _words(e) for name, e in zip(events, these, strict=True)}
        late = [
            "-" if e is None or these[0] is None else f"{e.time - these[0].time:.4g}"
            for e in these[1:]
        ]
        rows.append({"number": i + 1} | told | {"later by [s]": ", ".join(late), "t": first.time})
    return rows


def overlay(runs: Mapping[str, Trajectory]) -> Animation:
    """All runs in one picture: the first as it is, the others as ghosts in a colour each."""
    shown = [animation(run, model_meshes(run.mechanism.compiled.model)) for run in runs.values()]
    time = np.unique(np.concatenate([a.time for a in shown]))
    shapes, positions, quaternions, trails, marks = [], [], [], [], []
    count = 0
    for number_, (name, a) in enumerate(zip(runs, shown, strict=True)):
        rgba = None
        if number_:
            text = BODY_COLORS[number_ % len(BODY_COLORS)]
            rgba = np.array([*(int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)), _GHOST])
        for shape in a.shapes:
            if number_ and shape.body < 0:
                continue  # the world is drawn once
            moved = {"body": shape.body + count} if shape.body >= 0 else {}
            shapes.append(
                dataclasses.replace(shape, **moved, **({"rgba": rgba} if number_ else {}))
            )
        ours = {} if rgba is None else {"rgba": np.array([*rgba[:3], 1.0])}
        trails += [dataclasses.replace(t, body=t.body + count, **ours) for t in a.trails]
        ink = COLORS[number_ % len(COLORS)]  # of this run in the charts
        marks += [Mark(m.time, name, f"{m.kind} {m.text}".strip(), ink) for m in a.events]
        p, q = _at(time, a)
        positions.append(p)
        quaternions.append(q)
        count += p.shape[1]
    rests = [a.rest for a in shown]
    return Animation(
        time,
        shapes,
        np.concatenate(positions, axis=1),
        np.concatenate(quaternions, axis=1),
        ground=shown[0].ground,
        events=marks,
        trails=trails,
        rest=None if None in rests else max(r for r in rests if r is not None),
        caption="First: solid. Ghosts: " + ", ".join(list(runs)[1:]),
    )


def _at(time: np.ndarray, a: Animation) -> tuple[np.ndarray, np.ndarray]:
    """Poses at other times; before the first and after the last they stay."""
    flat = np.concatenate([a.positions, continuous(a.quaternions)], axis=-1)
    poses = interpolate(time, a.time, flat.reshape(len(a.time), -1)).reshape(len(time), -1, 7)
    q = poses[..., 3:]
    return poses[..., :3], q / np.linalg.norm(q, axis=-1, keepdims=True)


def _time_line(run: Trajectory, first: Trajectory, contacts: Sequence[int]) -> Timeline:
    """The modes of the contacts that have the names of those of the first run."""
    names = {first.contact_names[i] for i in contacts}
    chosen = [i for i, name in enumerate(run.contact_names) if name in names]
    return next(p for p in contact_chart(run, chosen).panels if isinstance(p, Timeline))


def comparison_charts(runs: Mapping[str, Trajectory]) -> dict[str, tuple[Chart, str]]:
    """Coordinates, their differences from the first run, energy and modes."""
    first, *others = runs.values()
    names = first.mechanism.tree.coordinate_names[:MAX_PANELS]
    paths = {name: through_events(run) for name, run in runs.items()}
    time = np.asarray(first.time)
    values = [
        Panel(c, [Line(name, p.q[:, i], color=k, x=p.time) for k, (name, p) in
                  enumerate(paths.items())])
        for i, c in enumerate(names)
    ]  # fmt: skip
    away = [apart_from(first, other) for other in others]
    differences = [
        Panel(c, [Line(name, d[:, i], color=k + 1) for k, (name, d) in
                  enumerate(zip(list(runs)[1:], away, strict=True))], least=1e-9, height=0.7)
        for i, c in enumerate(names)
    ]  # fmt: skip
    energy = [
        Line(name, np.asarray(run.energy), color=k, x=np.asarray(run.time))
        for k, (name, run) in enumerate(runs.items())
    ]
    found = {
        "coordinates": (Chart(time, values), "Coordinates"),
        "differences": (Chart(time, differences), f"Differences from {next(iter(runs))}"),
        "energy": (Chart(time, [Panel("energy [J]", energy)]), "Energy"),
    }
    if all(run.contacts is not None for run in runs.values()):
        rows, states = {}, {}
        ever = {run.contact_names[i] for run in runs.values() for i in touched(run)}
        shared = [i for i, contact in enumerate(first.contact_names) if contact in ever]
        shared = shared[: MAX_CONTACTS // len(runs) + 1]
        lines = {name: _time_line(run, first, shared) for name, run in runs.items()}
        for i in shared:
            for name, line in lines.items():
                if (contact := first.contact_names[i]) in line.rows:
                    rows[f"{contact} {name}"] = line.rows[contact]
                    states |= line.states
        found["modes"] = (Chart(time, [Timeline(rows, states)]), "Modes of the contacts")
    return found
