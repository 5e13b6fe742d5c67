"""What a run leaves behind: NetCDF, CSV, figures, and a page that tells the story."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from stiction.engines import Event, Reactions, Trajectory, reactions_of, rest_time
from stiction.engines.state import LEDGER
from stiction.mechanism import FREE, SLIDE
from stiction.report.animate import animation
from stiction.report.charts import Chart
from stiction.report.charts.draw import draw
from stiction.report.contacts import MAX_ROWS, compliance_summary, event_cells, event_rows
from stiction.report.figures import save_figure
from stiction.report.meshes import Triangles, model_meshes
from stiction.report.output import OutputDirectory
from stiction.report.page import Report, number
from stiction.report.player.payload import fold
from stiction.report.run_charts import (
    BOOKED,
    IMPULSIVE,
    contact_chart,
    coordinate_chart,
    depth_chart,
    effort_chart,
    energy_chart,
    impact_chart,
    reaction_chart,
    speed_chart,
)
from stiction.report.run_path import RunPath, finite_samples, through_events
from stiction.report.strobe import plane_pairs, strobe
from stiction.report.waterfall import energy_steps, waterfall
from stiction.scenes import run_dataset, scenario_text
from stiction.scenes.recorded import DATA, SCENARIO
from stiction.surfaces import WorldContacts, model_planes, tell_not_treated

Charts = dict[str, tuple[Chart, str]]  # with captions, by the names of their files
_HITS = ("impact", "touch")
_INSTANTS = 12  # at which the mechanism is drawn
_FLIGHTS = 3  # that are told one by one, the longest
_REACTIONS = (
    "Force of the ground on each body. Shaded: contact (approach before it); dotted: impacts, which"
    " only the mean over 10 ms shows"
)
_MOST_PENETRATIONS = 5  # pairs in the table


def summarize_run(run: Trajectory) -> dict[str, Any]:
    """The outcome in numbers, as plain data. What a failed run does not have is None."""
    t = run
    kept = np.flatnonzero(finite_samples(run))
    rested = rest_time(t) if kept.size else None
    carried = _reactions(run)
    moved = run.scene.moved_out
    inside = [] if moved is None else [p._asdict() for p in moved.inside]
    return {
        "title": run.scene.scenario.title,
        "mechanism": run.mechanism.name,
        "success": run.success and kept.size == len(t.time),
        "message": _message(run, kept),
        "t_end": float(t.time[kept[-1]]) if kept.size else 0.0,
        "steps": int(t.steps),
        "contacts": list(run.contact_names),
        "at_rest": rested is not None,
        "rest_time": rested,
        "events": [e.as_row() for e in run.events()] if kept.size else [],
        "final": {"q": t.q[kept[-1]], "v": t.v[kept[-1]]} if kept.size else None,
        "energy": _energy_summary(run, kept) if kept.size else None,
        "max_drift": float(t.drift),
        "contact_residual": _largest(t.residual),
        **compliance_summary(run),
        **({} if carried is None else {"reactions": _reaction_summary(run, carried)}),
        "not_treated": [p._asdict() for p in run.scene.touching if not p.treated],
        "penetrations": [p._asdict() for p in run.penetrations],
        "start_moved": None if moved is None else {**moved._asdict(), "inside": inside},
        "ignored": [*run.mechanism.ignored, *_not_enforced(run)],
    }


def _not_enforced(run: Trajectory) -> list[str]:
    """What the model has and the engine of this run does not treat, in words."""
    left = [tell_not_treated(run.scene.touching)]
    if not isinstance(run.contacts, WorldContacts):
        law = run.scene.scenario.contact.law or "hybrid"
        left += [f"{what}: not enforced (contact.law = {law})" for what in run.mechanism.bounds]
    return [text for text in left if text]


def _largest(values: Any) -> float | None:
    """The largest of those values that are finite; None without any."""
    known = np.asarray([] if values is None else values)
    known = known[np.isfinite(known)]
    return float(known.max()) if known.size else None


def _message(run: Trajectory, kept: np.ndarray) -> str:
    if kept.size == len(run.time) or not run.success:
        return run.message
    first = run.time[np.setdiff1d(np.arange(len(run.time)), kept)[0]]
    return f"Not all numbers are finite at {first:g} s; check `start`, gravity and masses."


def _reactions(run: Trajectory) -> Reactions | None:
    """What the ground does to each body; None also where a run failed before there was any."""
    return reactions_of(run) if finite_samples(run).sum() > 1 else None


def _reaction_summary(run: Trajectory, carried: Reactions) -> dict[str, Any]:
    summary, tree = carried.summary(), run.mechanism.tree
    roots = {t for t, on in zip(tree.joint_types, tree.joint_parents, strict=True) if on == 0}
    if not roots <= {FREE, SLIDE}:  # it hangs on the world, which gives it momentum too
        summary["momentum_error"] = None
    return summary


def _energy_summary(run: Trajectory, kept: np.ndarray) -> dict[str, Any]:
    t, last = run, kept[-1]
    energy = np.asarray(t.energy)
    # Energy that nobody put in, over the run and at a single impact.
    given = np.asarray(t.actuator_work + t.support_work)
    gains = {"run": float(np.max((energy - given)[kept] - energy[kept[0]]))}
    if run.contacts is None or not np.any(np.asarray(t.support_work) != 0):
        hits = [e.kinetic_after - e.kinetic_before for e in run.events() if e.kind == "impact"]
        gains |= {"impact": max(hits)} if hits else {}
    where = max(gains, key=lambda name: gains[name])
    return {
        # Before what may have happened at the very start.
        "initial": float(energy[kept[0]] + t.impact_loss[kept[0]]),
        "final": float(energy[last]),
        "max_increase": gains[where],
        "max_increase_in": where,
        "ledger_error": float(np.max(np.abs(np.asarray(t.ledger_error)[kept]))),
        "booked": {name: float(getattr(t, name)[last]) for name in LEDGER},
    }


def write_run(run: Trajectory, summary: dict[str, Any], directory: OutputDirectory) -> Path:
    """Write a run and its `summary`; return the report's path."""
    carried = _reactions(run)
    dataset = run_dataset(run)
    if carried is not None and carried.time.size == len(run.time):
        dataset = carried.add_to(dataset)
    directory.netcdf(DATA, dataset)
    directory.text(SCENARIO, scenario_text(run.scene))
    moved = bool(finite_samples(run).any())
    events = run.events() if moved else []
    if run.contacts is not None:
        directory.csv("events.csv", event_cells(events), ["t", "kind", "contact"])
    if not moved:
        return directory.page(run_page(run, summary))
    path, meshes = through_events(run), model_meshes(run.mechanism.compiled.model)
    charts = run_charts(run, events, path, carried)
    for name, (chart, _) in charts.items():
        save_figure(draw(chart), directory, name)
    picture = save_figure(_motion(run, path, events, meshes), directory, "motion")[-1]
    return directory.page(run_page(run, summary, charts=charts, picture=picture))


def run_page(
    run: Trajectory,
    summary: dict[str, Any] | None = None,
    *,
    charts: Charts | None = None,
    picture: Path | None = None,
) -> Report:
    """The page of a run.

    Summary and charts are made where they are not given; `picture` is a file to show.
    """
    summary = summarize_run(run) if summary is None else summary
    report = Report(run.scene.scenario.title or run.mechanism.name)
    events = run.events() if summary["final"] is not None else []
    if summary["final"] is not None:
        shown = animation(run, model_meshes(run.mechanism.compiled.model))
        if charts is None:
            charts = run_charts(run, events, through_events(run), _reactions(run))
        end = fold(shown)
        with report.beside(shown):
            for chart, caption in charts.values():
                chart.until = None if end is None else float(shown.time[0]) + end
                report.chart(chart, caption)
    report.heading("In numbers")
    report.table([{"quantity": k, "value": v} for k, v in story(summary)])
    if not summary["success"]:
        report.text(f"The run is not a success: {summary['message']}")
    if run.contacts is not None and (steps := energy_steps(run)):
        report.heading("Where the energy went")
        report.table(waterfall(steps), [step.time for step in steps])
    if picture is not None:
        report.figure(picture, _motion_caption(events))
    if events:
        report.heading("Events")
        if len(events) > MAX_ROWS:
            report.text(f"The first {MAX_ROWS} of {len(events)}; events.csv has them all.")
        report.table(event_rows(events), [e.time for e in events[:MAX_ROWS]])
    report.heading("Scenario")
    report.table(_flat(run.scene.scenario.model_dump(exclude_none=True)))
    return report


def run_charts(
    run: Trajectory,
    events: list[Event],
    path: RunPath,
    carried: Reactions | None = None,
) -> Charts:
    """What there is to see of a run against time, with captions."""
    found = {
        "coordinates": (coordinate_chart(run, path), "Coordinates"),
        "speeds": (speed_chart(run, path), "Speeds, with their jumps"),
        "energy": (energy_chart(run), "Energy, where it went, and what the ledger cannot explain"),
    }
    if run.contacts is not None:
        found["forces"] = (contact_chart(run), "Contact forces and modes")
        if carried is not None:
            found["reactions"] = (reaction_chart(carried), _REACTIONS)
        if run.compliance is not None:
            caption = "Depth of the contacts, and the energy that they hold and have lost"
            found["depth"] = (depth_chart(run), caption)
        if any(e.kind in IMPULSIVE for e in events):
            found["impacts"] = (impact_chart(run, events), "Impact by impact")
    if run.mechanism.nu:
        found["effort"] = (effort_chart(run), "Actuator effort")
    return found


def story(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """A run in a few lines: what, how much."""
    lines = [("simulated", f"{summary['t_end']:g} s in {summary['steps']} steps")]
    energy = summary["energy"]
    if energy is not None:
        ends = [number(energy[end], 6) for end in ("initial", "final")]
        lines.append(("energy", f"{ends[0]} J to {ends[1]} J"))
        booked = [(text, energy["booked"][name]) for name, text in BOOKED.items()]
        lines += [(text, f"{number(value, 6)} J") for text, value in booked if value != 0]
        error = number(energy["ledger_error"], 2, abs(energy["initial"]))
        lines.append(("energy unaccounted for", f"{error} J"))
    if summary["contacts"]:
        lines += _contact_lines(summary)
    if energy is not None and energy["max_increase"] > 1e-6 * max(abs(energy["initial"]), 1.0):
        where = " at an impact" if energy["max_increase_in"] == "impact" else ""
        lines.append(("unexplained energy gain", f"{energy['max_increase']:.4g} J{where}"))
    if (moved := summary["start_moved"]) is not None:
        depth, energy_gained = moved["inside"][0]["depth"], number(moved["energy"], 3)
        text = f"{1e3 * depth:.3g} mm inside; bodies moved by {1e3 * moved['distance']:.3g} mm"
        lines.append(("start moved out", f"{text}, {energy_gained} J given"))
    notes = sorted({e["note"] for e in summary["events"] if e["note"] and e["kind"] != "switch"})
    lines += [("note", note) for note in notes]
    lines += [
        (
            f"{p['first']} and {p['second']}",
            f"penetrate by {p['depth']:.3g} m from {p['time']:.6g} s on",
        )
        for p in summary["penetrations"][:_MOST_PENETRATIONS]
    ]
    lines += [("left out", note) for note in summary["ignored"]]
    return lines


def _contact_lines(summary: dict[str, Any]) -> list[tuple[str, str]]:
    kinds = Counter(e["kind"] for e in summary["events"])
    rest = f"since {summary['rest_time']:.6g} s" if summary["at_rest"] else "no"
    lines = [
        ("contacts", ", ".join(summary["contacts"][:8])),
        ("events", ", ".join(f"{n} {kind}" for kind, n in kinds.items()) or "none"),
        ("at rest", rest),
    ]
    if "compliance" in summary:
        deepest = max(summary["compliance"], key=lambda c: c["max_depth"])
        depth = f"{1e3 * deepest['max_depth']:.6g} mm, {deepest['contact']}"
        lines.append(("greatest depth", depth))
    elif np.isfinite(summary["max_drift"]):
        lines.append(("largest drift of a kept contact", f"{number(summary['max_drift'], 2)} m"))
    lines += _reaction_lines(summary.get("reactions"))
    if summary["contact_residual"] is not None:
        residual = f"{number(summary['contact_residual'], 2)} m/s"
        lines.append(("accuracy of the contact problems", residual))
    return lines


def _reaction_lines(reactions: dict[str, Any] | None) -> list[tuple[str, str]]:
    if reactions is None:
        return []
    lines = []
    for name, body in reactions["bodies"].items():
        peak, mean, hit = (body[key] for key in ("peak", "peak_mean", "impact_impulse"))
        text = f"{peak:.4g} N between impacts; {mean:.4g} N as a mean over 10 ms, impacts included"
        if np.isfinite([peak, mean]).all():
            text += f"; all impacts together {hit:.4g} N s"
            lines.append((f"peak force on {name.replace('_', ' ')}", text))
    flights = sorted(reactions["flights"], key=lambda f: -f["duration"])
    for flight in sorted(flights[:_FLIGHTS], key=lambda f: f["start"]):
        text = f"{flight['duration']:.4g} s from {flight['start']:.4g} s, centre of mass"
        lines.append(("flight", f"{text} rising {flight['rise']:.3g} m"))
    if short := flights[_FLIGHTS:]:
        lines.append(("flight", f"{len(short)} more, up to {short[0]['duration']:.4g} s"))
    if (error := reactions["momentum_error"]) is not None and np.isfinite(error):
        lines.append(("impulse less change of momentum", f"{number(error, 2)} N s"))
    return lines


def _motion(run: Trajectory, path: RunPath, events: list[Event], meshes: dict[int, Triangles]):
    """The mechanism at its impacts if there are any, at equal times otherwise."""
    q, time = path.q, path.time
    hits = sorted({e.time for e in events if e.kind in _HITS and e.time <= time[-1]})
    if hits:
        few = np.array(hits)[np.linspace(0, len(hits) - 1, min(len(hits), _INSTANTS)).astype(int)]
        places = np.clip(np.searchsorted(time, [*few, time[-1]]), 0, len(time) - 1)
        places = np.unique([0, *places])
    else:
        places = np.searchsorted(time, np.linspace(time[0], time[-1], _INSTANTS))
    planes = model_planes(run.mechanism) if run.contacts is None else run.contacts.planes
    field = None if run.contacts is None else run.contacts.field
    shown = {"ground": plane_pairs(planes), "field": field, "meshes": meshes}
    return strobe(run.mechanism, q[places], path=q, **shown)


def _motion_caption(events: list[Event]) -> str:
    when = "at its impacts" if any(e.kind in _HITS for e in events) else "at twelve instants"
    return f"The mechanism {when}, later ones darker, and the path of its points"


def _flat(fields: dict[str, Any], head: str = "") -> list[dict[str, Any]]:
    rows = []
    for key, value in fields.items():
        if isinstance(value, dict):
            rows += _flat(value, f"{head}{key}.")
        else:
            rows.append({"field": head + key, "value": value})
    return rows
