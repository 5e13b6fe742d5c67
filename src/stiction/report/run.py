"""What a run leaves behind: NetCDF, CSV, figures, and a page that tells the story."""

from pathlib import Path
from typing import Any

import numpy as np

from stiction.engines.result import RESULTS
from stiction.mechanism.tree import HINGE, SLIDE
from stiction.report.animate import animation
from stiction.report.figures import new_figure, save_figure
from stiction.report.page import Report
from stiction.report.strobe import strobe
from stiction.scenes.run import Run

_INSTANTS = 12  # at which the mechanism is drawn
_MAX_CURVES = 10  # more lines than this in one figure tell nothing


def summarize_run(run: Run) -> dict[str, Any]:
    """The outcome in numbers, as plain data."""
    t = run.trajectory
    energy = np.asarray(t.kinetic + t.potential)
    success = bool(t.result == RESULTS.successful)
    kept = np.isfinite(energy)
    last = int(np.flatnonzero(kept)[-1])
    return {
        "title": run.scenario.title,
        "mechanism": run.mechanism.name,
        "success": success,
        "message": "" if success else str(RESULTS[t.result]),
        "t_end": float(t.time[last]),
        "steps": int(t.steps),
        "final": {"q": np.asarray(t.q[last]), "v": np.asarray(t.v[last])},
        "energy": {
            "initial": float(energy[0]),
            "final": float(energy[last]),
            "max_increase": float(np.max(energy[kept] - energy[0])),
            "ledger_error": float(np.max(np.abs(np.asarray(t.ledger_error)[kept]))),
        },
        "ignored": list(run.mechanism.ignored),
    }


def write_run(run: Run, directory) -> Path:
    """Write everything into an `OutputDirectory`; return the report's path."""
    dataset = run.trajectory.to_dataset(run.mechanism)
    dataset.to_netcdf(directory.file("trajectory.nc"), engine="h5netcdf")
    figures = {
        "motion": (_motion(run), "The mechanism at twelve instants, later ones darker"),
        "coordinates": (_coordinates(run), "Coordinates against time"),
        "energy": (_energy(run), "Energy against time, and what the ledger leaves unexplained"),
    }
    if run.mechanism.nu:
        figures["effort"] = (_effort(run), "Actuator effort against time")
    summary = summarize_run(run)
    report = Report(run.scenario.title or run.mechanism.name)
    report.animation(animation(run))
    report.heading("In numbers")
    energy = summary["energy"]
    report.table(
        [
            {"quantity": "simulated", "value": f"{summary['t_end']:g} s"},
            {"quantity": "integration steps", "value": summary["steps"]},
            {"quantity": "energy at the start", "value": f"{energy['initial']:.6g} J"},
            {"quantity": "energy at the end", "value": f"{energy['final']:.6g} J"},
            {"quantity": "energy unaccounted for", "value": f"{energy['ledger_error']:.2e} J"},
            *({"quantity": "left out", "value": note} for note in summary["ignored"]),
        ]
    )
    if not summary["success"]:
        report.text(f"The run ended early: {summary['message']}")
    report.heading("Figures")
    for name, (figure, caption) in figures.items():
        report.figure(save_figure(figure, directory, name)[-1], caption)
    report.heading("Scenario")
    report.table(_flat(run.scenario.model_dump(exclude_none=True)))
    return report.write(directory.file("report.html"))


def _motion(run: Run):
    q = np.asarray(run.trajectory.q)
    q = q[np.isfinite(q).all(axis=1)]
    return strobe(run.mechanism, q[np.linspace(0, len(q) - 1, _INSTANTS).astype(int)], path=q)


def _coordinates(run: Run):
    t, tree = run.trajectory, run.mechanism.tree
    by_kind = {
        kind: [int(a) for a, k in zip(tree.q_address, tree.joint_types, strict=True) if k == kind]
        for kind in (HINGE, SLIDE)
    }
    groups = [("angle [rad]", by_kind[HINGE]), ("displacement [m]", by_kind[SLIDE])]
    free = [i for i, n in enumerate(tree.coordinate_names) if n.endswith((".x", ".y", ".z"))]
    groups.append(("position [m]", free))
    groups = [(label, entries) for label, entries in groups if entries]
    figure, axes = new_figure(len(groups), sharex=True, squeeze=False)
    for axis, (label, entries) in zip(axes[:, 0], groups, strict=True):
        for entry in entries[:_MAX_CURVES]:
            axis.plot(t.time, t.q[:, entry], label=tree.coordinate_names[entry])
        if len(entries) > _MAX_CURVES:
            axis.set_title(f"the first {_MAX_CURVES} of {len(entries)}")
        axis.set_ylabel(label)
        axis.legend(ncols=2)
    axes[-1, 0].set_xlabel("time [s]")
    return figure


def _energy(run: Run):
    t = run.trajectory
    figure, (top, bottom) = new_figure(2, sharex=True, height_ratios=(3, 1))
    top.plot(t.time, t.kinetic, label="kinetic")
    top.plot(t.time, t.potential, label="potential")
    top.plot(t.time, t.kinetic + t.potential, label="total", color="0.2")
    if np.any(np.asarray(t.actuator_work) != 0):
        top.plot(t.time, t.actuator_work, "--", label="work of actuators")
    if np.any(np.asarray(t.damping_loss) != 0):
        top.plot(t.time, t.damping_loss, "--", label="lost in dampers")
    top.set_ylabel("energy [J]")
    top.legend(ncols=3)
    bottom.plot(t.time, t.ledger_error, color="0.4")
    bottom.set_ylabel("unaccounted [J]")
    bottom.set_xlabel("time [s]")
    return figure


def _effort(run: Run):
    t = run.trajectory
    figure, axis = new_figure()
    for i, name in enumerate(run.mechanism.actuators.names[:_MAX_CURVES]):
        axis.plot(t.time, t.effort[:, i], label=name)
    axis.set_xlabel("time [s]")
    axis.set_ylabel("effort [N or N·m]")
    axis.legend(ncols=2)
    return figure


def _flat(fields: dict[str, Any], head: str = "") -> list[dict[str, Any]]:
    rows = []
    for key, value in fields.items():
        if isinstance(value, dict):
            rows += _flat(value, f"{head}{key}.")
        else:
            rows.append({"field": head + key, "value": value})
    return rows
