"""What a run leaves behind: NetCDF, CSV, figures, and a page that tells the story."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from stiction.engines import RESULTS, Event, rest_time
from stiction.engines.flow import LEDGER
from stiction.mechanism.tree import HINGE, SLIDE
from stiction.report.animate import animation
from stiction.report.compliance import compliance_summary, depth_figure
from stiction.report.contacts import (
    MAX_ROWS,
    event_rows,
    force_figure,
    impact_figure,
    write_events,
)
from stiction.report.figures import legend_above, legend_beside, new_figure, save_figure
from stiction.report.meshes import Triangles, run_meshes
from stiction.report.page import Report
from stiction.report.reactions import reaction_figure
from stiction.report.strobe import strobe
from stiction.scenes.run import Run
from stiction.surfaces import model_planes

BOOKED = {
    "friction_loss": "rubbed away",
    "impact_loss": "lost in impacts",  # and along the normals of compliant contacts
    "damping_loss": "lost in dampers",
    "actuator_work": "work of actuators",
    "support_work": "work of moving ground",
}
_HITS = ("impact", "touch")
_INSTANTS = 12  # at which the mechanism is drawn
_REACTIONS = (
    "Force of the ground on each body. Shaded: contact (approach before it); dotted: impacts, which"
    " only the mean over 10 ms shows"
)
_MAX_CURVES = 8  # in one panel: there are no more colours


def summarize_run(run: Run) -> dict[str, Any]:
    """The outcome in numbers, as plain data."""
    t = run.trajectory
    energy = np.asarray(t.energy)
    success = bool(t.result == RESULTS.successful)
    kept = np.isfinite(energy)
    last = int(np.flatnonzero(kept)[-1])
    events = run.events
    rested = rest_time(t)
    carried = run.reactions
    return {
        "title": run.scenario.title,
        "mechanism": run.mechanism.name,
        "success": success,
        "message": "" if success else str(RESULTS[t.result]),
        "t_end": float(t.time[last]),
        "steps": int(t.steps),
        "contacts": list(run.contact_names),
        "at_rest": rested is not None,
        "rest_time": rested,
        "events": [e.as_row() for e in events],
        "final": {"q": np.asarray(t.q[last]), "v": np.asarray(t.v[last])},
        "energy": {
            # Before what may have happened at the very start.
            "initial": float(energy[0] + t.impact_loss[0]),
            "final": float(energy[last]),
            "max_increase": _max_increase(run, energy[kept], events),
            "ledger_error": float(np.max(np.abs(np.asarray(t.ledger_error)[kept]))),
            "booked": {name: float(getattr(t, name)[last]) for name in LEDGER},
        },
        "max_drift": float(t.drift),
        "contact_residual": None if t.residual is None else float(np.nanmax(t.residual)),
        **compliance_summary(run),
        **({} if carried is None else {"reactions": carried.summary()}),
        "ignored": list(run.mechanism.ignored),
    }


def _max_increase(run: Run, energy: np.ndarray, events: list[Event]) -> float:
    """The most by which energy appeared that nobody put in: at an impact, or over the run [J]."""
    t = run.trajectory
    given = np.asarray(t.actuator_work + t.support_work)[: energy.size]
    smooth = float(np.max(energy - given - energy[0]))
    hits = [e.kinetic_after - e.kinetic_before for e in events if e.kind == "impact"]
    moving = run.contacts is not None and np.any(np.asarray(t.support_work) != 0)
    return smooth if moving else max([smooth, *hits])


def write_run(run: Run, directory) -> Path:
    """Write everything into an `OutputDirectory`; return the report's path."""
    dataset = run.trajectory.to_dataset(run.mechanism, run.contact_names)
    carried = run.reactions
    if carried is not None and carried.time.size == dataset.sizes["time"]:
        dataset = dataset.assign(carried.variables())
    dataset.to_netcdf(directory.file("trajectory.nc"), engine="h5netcdf")
    summary = summarize_run(run)
    events, meshes = run.events, run_meshes(run)
    figures = {
        "motion": (_motion(run, events, meshes), _motion_caption(events)),
        "coordinates": (_coordinates(run), "Coordinates against time"),
        "energy": (_energy(run), "Energy against time, and what the ledger leaves unexplained"),
    }
    if run.contacts is not None:
        write_events(events, directory.file("events.csv"))
        figures["forces"] = (force_figure(run), "Contact forces and modes against time")
        if carried is not None:
            figures["reactions"] = (reaction_figure(carried), _REACTIONS)
        if run.trajectory.compliance is not None:
            caption = "Depth of the contacts, and the energy that they hold and have lost"
            figures["depth"] = (depth_figure(run), caption)
        if any(e.kind in ("impact", "zeno", "jam") for e in events):
            figures["impacts"] = (impact_figure(run, events), "Impact by impact")
    if run.mechanism.nu:
        figures["effort"] = (_effort(run), "Actuator effort against time")
    report = Report(run.scenario.title or run.mechanism.name)
    report.animation(animation(run, meshes))
    report.heading("In numbers")
    report.table([{"quantity": k, "value": v} for k, v in story(summary)])
    if not summary["success"]:
        report.text(f"The run ended early: {summary['message']}")
    report.heading("Figures")
    for name, (figure, caption) in figures.items():
        report.figure(save_figure(figure, directory, name)[-1], caption)
    if events:
        report.heading("Events")
        if len(events) > MAX_ROWS:
            report.text(f"The first {MAX_ROWS} of {len(events)}; events.csv has them all.")
        report.table(event_rows(events))
    report.heading("Scenario")
    report.table(_flat(run.scenario.model_dump(exclude_none=True)))
    return report.write(directory.file("report.html"))


def story(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """A run in a few lines: what, how much."""
    energy = summary["energy"]
    lines = [
        ("simulated", f"{summary['t_end']:g} s in {summary['steps']} steps"),
        ("energy", f"{energy['initial']:.6g} J to {energy['final']:.6g} J"),
    ]
    booked = [(text, energy["booked"][name]) for name, text in BOOKED.items()]
    lines += [(text, f"{value:.6g} J") for text, value in booked if value != 0]
    lines.append(("energy unaccounted for", f"{energy['ledger_error']:.1e} J"))
    if summary["contacts"]:
        kinds = Counter(e["kind"] for e in summary["events"])
        lines.append(("contacts", ", ".join(summary["contacts"][:8])))
        lines.append(("events", ", ".join(f"{n} {kind}" for kind, n in kinds.items()) or "none"))
        rest = summary["rest_time"]
        lines.append(("at rest", f"since {rest:.6g} s" if summary["at_rest"] else "no"))
        if "compliance" in summary:
            deepest = max(summary["compliance"], key=lambda c: c["max_depth"])
            depth = f"{1e3 * deepest['max_depth']:.6g} mm, {deepest['contact']}"
            lines.append(("greatest depth", depth))
        else:
            lines.append(("largest drift of a kept contact", f"{summary['max_drift']:.1e} m"))
        lines += _carried(summary.get("reactions"))
        if summary["contact_residual"] is not None:
            residual = f"{summary['contact_residual']:.1e} m/s"
            lines.append(("largest residual of a contact problem", residual))
        if energy["max_increase"] > 1e-6 * max(abs(energy["initial"]), 1.0):
            lines.append(("energy from nowhere", f"{energy['max_increase']:.4g} J at an impact"))
    notes = sorted({e["note"] for e in summary["events"] if e["note"] and e["kind"] != "switch"})
    lines += [("note", note) for note in notes]
    lines += [("left out", note) for note in summary["ignored"]]
    return lines


def _carried(reactions: dict[str, Any] | None) -> list[tuple[str, str]]:
    if reactions is None:
        return []
    lines = []
    for name, body in reactions["bodies"].items():
        peak, mean, hit = (body[key] for key in ("peak", "peak_mean", "impact_impulse"))
        text = f"{peak:.4g} N, {mean:.4g} N as a mean over 10 ms; impacts {hit:.4g} N s"
        lines.append((f"most on {name.replace('_', ' ')}", text))
    for flight in reactions["flights"]:
        text = f"{flight['duration']:.4g} s from {flight['start']:.4g} s, centre of mass"
        lines.append(("flight", f"{text} rising {flight['rise']:.3g} m"))
    lines.append(("impulse less change of momentum", f"{reactions['momentum_error']:.1e} N s"))
    return lines


def _motion(run: Run, events: list[Event], meshes: dict[int, Triangles]):
    """The mechanism at its impacts if there are any, at equal times otherwise."""
    q, time = np.asarray(run.trajectory.q), np.asarray(run.trajectory.time)
    finite = np.isfinite(q).all(axis=1)
    q, time = q[finite], time[finite]
    hits = sorted({e.time for e in events if e.kind in _HITS and e.time <= time[-1]})
    if hits:
        few = np.array(hits)[np.linspace(0, len(hits) - 1, min(len(hits), _INSTANTS)).astype(int)]
        places = np.clip(np.searchsorted(time, [*few, time[-1]]), 0, len(time) - 1)
        places = np.unique([0, *places])
    else:
        places = np.linspace(0, len(q) - 1, _INSTANTS).astype(int)
    planes = model_planes(run.mechanism) if run.contacts is None else run.contacts.planes
    pairs = zip(np.asarray(planes.position), np.asarray(planes.rotation), strict=True)
    ground = [(p, R[:, 2]) for p, R in pairs]
    field = None if run.contacts is None else run.contacts.field
    shown = {"ground": ground, "field": field, "meshes": meshes}
    return strobe(run.mechanism, q[places], path=q, **shown)


def _motion_caption(events: list[Event]) -> str:
    when = "at its impacts" if any(e.kind in _HITS for e in events) else "at twelve instants"
    return f"The mechanism {when}, later ones darker, and the path of its points"


def _coordinates(run: Run):
    t, tree = run.trajectory, run.mechanism.tree
    by_kind = {
        kind: [int(a) for a, k in zip(tree.q_address, tree.joint_types, strict=True) if k == kind]
        for kind in (HINGE, SLIDE)
    }
    free = [i for i, n in enumerate(tree.coordinate_names) if n.endswith((".x", ".y", ".z"))]
    kinds = {
        "angle [rad]": by_kind[HINGE],
        "displacement [m]": by_kind[SLIDE],
        "position [m]": free,
    }
    q = np.asarray(t.q)
    curves = {
        label: [(tree.coordinate_names[i], q[:, i]) for i in entries]
        for label, entries in kinds.items()
    }
    return _panels(np.asarray(t.time), curves)


def _panels(time: np.ndarray, curves: dict[str, list[tuple[str, np.ndarray]]]):
    """Curves with their names against time, in as many panels as their number takes."""
    panels = [
        (label, many[i : i + _MAX_CURVES])
        for label, many in curves.items()
        for i in range(0, len(many), _MAX_CURVES)
    ]
    size = (6.8, max(4.0, 1.0 + 1.7 * len(panels)))
    figure, axes = new_figure(len(panels), sharex=True, squeeze=False, figsize=size)
    for axis, (label, shown) in zip(axes[:, 0], panels, strict=True):
        for name, values in shown:
            axis.plot(time, values, label=name)
        axis.set_ylabel(label)
        legend_beside(axis)
    axes[-1, 0].set_xlabel("time [s]")
    return figure


def _energy(run: Run):
    t = run.trajectory
    figure, (top, bottom) = new_figure(2, sharex=True, height_ratios=(3, 1))
    top.plot(t.time, t.kinetic, label="kinetic")
    top.plot(t.time, t.potential, label="potential")
    if t.compliance is not None:
        top.plot(t.time, np.sum(t.compliance.stored, axis=-1), label="in contacts")
    top.plot(t.time, t.energy, label="total", color="0.2")
    for name, label in BOOKED.items():
        if np.any(np.asarray(getattr(t, name)) != 0):
            top.plot(t.time, getattr(t, name), "--", lw=1.2, label=label)
    top.set_ylabel("energy [J]")
    legend_above(top, 3)
    bottom.plot(t.time, t.ledger_error, color="0.4")
    bottom.set_ylabel("unaccounted [J]")
    bottom.set_xlabel("time [s]")
    return figure


def _effort(run: Run):
    t = run.trajectory
    curves = zip(run.mechanism.actuators.names, np.asarray(t.effort).T, strict=True)
    return _panels(np.asarray(t.time), {"effort [N or N·m]": list(curves)})


def _flat(fields: dict[str, Any], head: str = "") -> list[dict[str, Any]]:
    rows = []
    for key, value in fields.items():
        if isinstance(value, dict):
            rows += _flat(value, f"{head}{key}.")
        else:
            rows.append({"field": head + key, "value": value})
    return rows
