"""What an identification leaves behind: tables, figures and a page."""

import html
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stiction.identify import (
    ContactSetup,
    DesignedTest,
    Export,
    Identification,
    RobotMotion,
    Trace,
    write_log,
)
from stiction.report.charts import Chart, Line, Panel
from stiction.report.charts.chart import spans_where
from stiction.report.figures import COLORS, add_figures, new_figure
from stiction.report.output import OutputDirectory
from stiction.report.page import Report
from stiction.report.rollouts import rollout_dataset, rollout_figures

if TYPE_CHECKING:
    import xarray as xr

_FORCES = ("force x", "force y", "force z")
_MOMENTS = ("moment x", "moment y", "moment z")


def write_identification(
    found: Identification, title: str, directory: OutputDirectory, exported: Export | None = None
) -> Path:
    """Write tables, figures and the report; return the report's path."""
    directory.csv("parameters.csv", _parameter_cells(found))
    if found.traces:
        directory.netcdf("samples.nc", _samples(found))
    report = Report(title, f"{found.method}; intervals of {100 * found.confidence:g} %")
    report.heading("Parameters")
    report.table(parameter_rows(found))
    for sentence in found.warnings:
        report.text(f"Note: {sentence}.")
    for sentence in found.corrections:
        report.text(f"Allowed for: {sentence}.")
    for sentence in found.caveats:
        report.text(f"Taken for granted: {sentence}.")
    if "nuisances" in found.notes:
        report.heading("What the setup may have wrong")
        report.table(nuisance_rows(found))
    report.heading("Fit")
    report.table(_fit_rows(found))
    if found.tests:
        report.heading("Each test alone")
        report.table(found.tests + test_statistics(found.tests))
    if exported is not None:
        _add_export(exported, report, directory)
    if "rollout.measured" in found.curves:
        directory.netcdf("rollouts.nc", rollout_dataset(found))
    figures = identification_figures(found)
    if figures:
        report.heading("Figures")
    add_figures(report, directory, figures)
    return directory.page(report)


def identification_figures(found: Identification) -> dict[str, tuple[Any, str]]:
    """The charts and figures of an identification, with captions."""
    if found.traces:
        return _contact_figures(found)
    return rollout_figures(found) if "rollout.measured" in found.curves else _curve_figures(found)


def _add_export(exported: Export, report: Report, directory: OutputDirectory) -> None:
    suffix = "json" if exported.engine == "json" else "xml"
    directory.text(f"export.{suffix}", exported.text)
    report.heading(f"Export: {exported.engine}")
    report.raw(f"<pre>{html.escape(exported.text)}</pre>")
    report.text(f"{exported.replay}.")
    for line in exported.limits:
        report.text(f"Note: {line}.")


def parameter_rows(found: Identification) -> list[dict[str, Any]]:
    """The parameters as a table for people."""
    rows = []
    for name, p in found.parameters.items():
        known = p.value is not None
        relative = abs(p.std / p.value) if p.std is not None and p.value else None
        rows.append(
            {
                "parameter": name,
                "value": f"{p.value:.6g}" if known else "not identifiable",
                "std": "" if p.std is None else f"{p.std:.2g}",
                "std [%]": "" if relative is None else f"{100 * relative:.2g}",
                "interval": "" if p.interval is None else "{:.6g} to {:.6g}".format(*p.interval),
                "unit": p.unit,
            }
        )
    return rows


def nuisance_rows(found: Identification) -> list[dict[str, Any]]:
    """Offsets, turns, places, sizes and clocks: what was found, and how likely it is off at all."""
    return [
        {
            "number of the setup": name.replace("_", " "),
            "found": ", ".join(f"{x:.3g}" for x in told["value"]),
            "std": ", ".join(f"{x:.2g}" for x in told["std"]),
            "tolerance": ", ".join("free" if t is None else f"{t:.3g}" for t in told["tolerance"]),
            "probability that it is off": f"{told['probability_off']:.3g}",
        }
        for name, told in found.notes["nuisances"].items()
    ]


def test_statistics(tests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mean and relative scatter over tests, as ma's Tables 1 and 2 give them."""
    names = [n for n in tests[0] if n != "test"]
    values = np.array([[t[n] for n in names] for t in tests], dtype=float)
    mean = values.mean(axis=0)
    scatter = 100 * values.std(axis=0, ddof=1) / np.abs(mean)
    return [
        {"test": "mean", **dict(zip(names, mean.tolist(), strict=True))},
        {"test": "scatter [%]", **dict(zip(names, scatter.tolist(), strict=True))},
    ]


def _fit_rows(found: Identification) -> list[dict[str, Any]]:
    rows = [{"quantity": k.replace("_", " "), "value": v} for k, v in found.residuals.items()]
    rows.append({"quantity": "condition number", "value": found.condition})
    for key, value in found.notes.items():
        if key == "nuisances":
            continue  # they have a table of their own
        items = value.items() if isinstance(value, dict) else [("", value)]
        rows += [{"quantity": f"{key} {k}".replace("_", " ").strip(), "value": v} for k, v in items]
    return rows


def _parameter_cells(found: Identification) -> list[dict[str, str]]:
    rows = []
    for name, p in found.parameters.items():
        lower, upper = p.interval or (None, None)
        numbers = {"value": p.value, "std": p.std, "lower": lower, "upper": upper}
        cells = {k: "" if v is None else f"{v:.10g}" for k, v in numbers.items()}
        rows.append({"parameter": name, **cells, "unit": p.unit})
    return rows


def _samples(found: Identification) -> "xr.Dataset":
    import xarray as xr

    join = lambda part: np.concatenate([part(t) for t in found.traces])  # noqa: E731
    names = [t.name for t in found.traces]
    per_sample = ("sample", "surface")
    return xr.Dataset(
        {
            "test": ("sample", np.repeat(names, [len(t.time) for t in found.traces])),
            "time": ("sample", join(lambda t: t.time), {"units": "s"}),
            "wrench": (("sample", "entry"), join(lambda t: t.wrench), {"units": "N, N m"}),
            "predicted": (("sample", "entry"), join(lambda t: t.predicted), {"units": "N, N m"}),
            "depth": (per_sample, join(lambda t: t.depth), {"units": "m"}),
            "depth_rate": (per_sample, join(lambda t: t.depth_rate), {"units": "m/s"}),
            "slip": (per_sample, join(lambda t: t.slip), {"units": "m/s"}),
            "normal_force": (per_sample, join(lambda t: t.normal_force), {"units": "N"}),
            "touched": (per_sample, join(lambda t: t.touched)),
            "used": ("sample", join(lambda t: t.used).astype("int8")),
        },
        coords={
            "entry": ["fx", "fy", "fz", "mx", "my", "mz"],
            "surface": list(found.surfaces),
        },
    )


def _contact_figures(found: Identification) -> dict[str, tuple[Any, str]]:
    trace = found.traces[0]
    which = f" of {trace.name}" if len(found.traces) > 1 else ""
    return {
        "wrench": (wrench_chart(trace), f"Wrench{which}: measured (dots) and predicted (lines)"),
        "depth": (
            depth_chart(trace, found.surfaces),
            f"Depth and its rate{which}, shaded where the surface carries force",
        ),
        "loop": (
            loop_figure(trace, found.surfaces),
            f"Normal force against depth{which}: the loop is what damping takes",
        ),
        "residuals": (_residual_figure(found), "Residuals of all samples used"),
    }


def wrench_chart(trace: Trace) -> Chart:
    """Forces and moments against time: measured and by the fit."""
    panels = []
    for names, first, label in ((_FORCES, 0, "force [N]"), (_MOMENTS, 3, "moment [N·m]")):
        both = [
            line
            for i, name in enumerate(names, first)
            for line in (
                Line(f"{name}, measured", trace.wrench[:, i], "dots", i - first),
                Line(name, trace.predicted[:, i], color=i - first),
            )
        ]
        panels.append(Panel(label, both, height=1.4))
    return Chart(trace.time, panels)


def depth_chart(trace: Trace, surfaces: tuple[str, ...]) -> Chart:
    """Depth and rate of each surface against time, shaded where one carries force."""
    touched = spans_where(trace.time, np.any(trace.touched > 0, axis=1))
    panels = []
    for label, values in (("depth [mm]", trace.depth), ("depth rate [mm/s]", trace.depth_rate)):
        lines = []
        for i, name in enumerate(surfaces):
            near = trace.depth[:, i] > -0.5 * max(float(np.max(trace.depth[:, i])), 1e-9)
            lines.append(Line(name, 1e3 * np.where(near, values[:, i], np.nan)))
        panels.append(Panel(label, lines, spans=touched))
    return Chart(trace.time, panels)


def loop_figure(trace: Trace, surfaces: tuple[str, ...]):
    """Normal force against depth, by the fit."""
    figure, axes = new_figure(1, len(surfaces), squeeze=False, figsize=(4.4 * len(surfaces) + 1, 4))
    for i, (name, axis) in enumerate(zip(surfaces, axes[0], strict=True)):
        on = trace.touched[:, i] > 0
        axis.plot(1e3 * trace.depth[on, i], trace.normal_force[on, i], ".-", color=COLORS[i], ms=3)
        axis.set_title(name)
        axis.set_xlabel("depth [mm]")
    axes[0, 0].set_ylabel("normal force [N]")
    return figure


def _residual_figure(found: Identification):
    figure, axes = new_figure(1, 2, figsize=(7.6, 3.4))
    used = np.concatenate([t.used for t in found.traces])
    residual = np.concatenate([t.residual for t in found.traces])[used]
    noise = found.notes.get("noise", {})
    for axis, first, unit, key in zip(
        axes, (0, 3), ("force [N]", "moment [N·m]"), ("force", "moment"), strict=True
    ):
        values = residual[:, first : first + 3].ravel()
        axis.hist(values, bins=60, density=True, color=COLORS[0], alpha=0.6)
        sigma = noise.get(key)
        if sigma and sigma > 1e-3 * max(np.std(values), 1e-300):
            low, high = axis.get_xlim()
            x = np.linspace(low, high, 200)
            bell = np.exp(-0.5 * (x / sigma) ** 2) / (sigma * np.sqrt(2 * np.pi))
            axis.plot(x, bell, color=COLORS[1], label="sensor noise")
            axis.legend()
        axis.set_xlabel(f"residual {unit}")
        axis.locator_params(axis="x", nbins=6)
        axis.set_yticks([])
    return figure


def _curve_figures(found: Identification) -> dict[str, tuple[Any, str]]:
    """Figures of the kinds that are not contact tests, by the curves that they left."""
    c = found.curves
    if "velocity" in c:
        lines = [Line("measured", c["force"]), Line("model", c["predicted"], "dashed")]
        chart = Chart(c["time"], [Panel("force [N]", lines, height=1.6)])
        return {"force": (chart, "Force of the axis, measured and by the model")}
    if "stretch" in c:
        figure, axis = new_figure()
        part = slice(0, min(len(c["time"]), 3000))
        axis.plot(1e3 * c["position"][part], c["force"][part], ".", ms=1.5, label="measured")
        moving = np.where(c["moving"], c["predicted"], np.nan)
        axis.plot(1e3 * c["position"][part], moving[part], lw=1, label="bristle model")
        axis.set_xlabel("position [mm]")
        axis.set_ylabel("friction [N]")
        axis.legend()
        return {"strokes": (figure, "Friction against position, the first strokes")}
    if "slowing" in c:
        figure, axis = new_figure()
        axis.hist(c["mu_by_toss"], bins=40, color=COLORS[0], alpha=0.7)
        axis.axvline(found.parameters["mu"].value, color=COLORS[1])
        axis.set_xlabel("friction coefficient of one toss")
        axis.set_ylabel("tosses")
        return {"tosses": (figure, "Friction toss by toss, and of all together (line)")}
    names = [n.removesuffix(".fit") for n in c if n.endswith(".fit")]
    labels = {
        "tangential_restitution": "tangential restitution",
        "rebound_angle": "rebound angle [deg]",
        "spin": "spin [rad/s]",
    }
    figure, axes = new_figure(len(names), sharex=True, squeeze=False, figsize=(6.4, 7))
    shown = c["angle"] <= 70
    for axis, name in zip(axes[:, 0], names, strict=True):
        axis.plot(c["angle"][shown], c[f"{name}.fit"][shown])
        axis.plot(c[f"{name}.angle"], c[f"{name}.value"], "o", color=COLORS[1], ms=4)
        axis.axvline(found.notes["sliding_above_deg"], color="0.6", lw=0.8, ls="--")
        axis.set_ylabel(labels[name])
    axes[-1, 0].set_xlabel("angle of incidence [deg]")
    return {"impacts": (figure, "Measured (dots) and model; right of the dashed line all slides")}


def write_virtual_tests(
    directory: OutputDirectory, setup: ContactSetup, tests: Iterable[Any], truth: dict[str, float]
) -> list[Path]:
    """Write the log of each virtual test as it is made, and the true parameters."""
    logs = []
    for test in tests:
        with directory.file(f"{test.recording.name}.csv") as path:
            write_log(test.recording, setup, path)
        logs.append(directory.files[-1])
    directory.json("truth.json", {"truth": truth})
    return logs


def write_design(found: DesignedTest, title: str, directory: OutputDirectory) -> Path:
    """Write the motion, a figure and the report of a designed test."""
    quaternion = _quaternion(found.rotation)
    columns = np.column_stack(
        [found.time, found.position, np.tile(quaternion, (len(found.time), 1)), found.velocity]
    )
    names = ("t", "x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz")
    directory.csv("motion.csv", [dict(zip(names, row, strict=True)) for row in columns.tolist()])
    directory.json("design.json", found.to_json())
    away = 1e3 * (found.position - found.position.mean(axis=0))
    depths = zip(found.surfaces, 1e3 * found.depth.T, strict=True)
    chart = Chart(
        found.time,
        [
            Panel("position from mean [mm]", [Line(n, away[:, i]) for i, n in enumerate("xyz")]),
            Panel("depth [mm]", [Line(name, depth) for name, depth in depths]),
        ],
    )
    report = Report(f"Test design: {title}")
    report.text(
        f"{found.seconds:.3g} s of this cycle bring every parameter to"
        f" {100 * found.wanted_error:g} %. The largest force is {found.force:.3g} N."
    )
    report.table(design_rows(found))
    add_figures(report, directory, {"motion": (chart, "One cycle, to be repeated")})
    return directory.page(report)


def write_robot_motion(found: RobotMotion, title: str, directory: OutputDirectory) -> Path:
    """Write a robot's proposed motion, a figure and the report."""
    names = [f"{what}_{joint}" for what in ("q", "v") for joint in found.joints]
    columns = np.column_stack([found.time, found.position, found.velocity])
    rows = [dict(zip(("t", *names), row, strict=True)) for row in columns.tolist()]
    directory.csv("motion.csv", rows)
    directory.json("design.json", found.to_json())

    def lines(values: np.ndarray) -> list[Line]:
        return [Line(n, values[:, j]) for j, n in enumerate(found.joints)]

    panels = [Panel("position", lines(found.position)), Panel("speed", lines(found.velocity))]
    report = Report(f"Excitation: {title or 'robot'}")
    report.text(
        f"Errors are {found.gain:.2g} times smaller than with the usual random motion within the"
        f" same limits; condition number {found.condition:.3g} instead of"
        f" {found.usual_condition:.3g}."
    )
    chart = Chart(found.time, panels)
    add_figures(report, directory, {"motion": (chart, "One cycle, to be repeated")})
    return directory.page(report)


def design_rows(found: DesignedTest) -> list[dict[str, Any]]:
    """What a designed test promises, as a table for people."""
    return [
        {
            "parameter": name,
            "guess": f"{found.values[name]:.5g}",
            "std of one cycle [%]": f"{100 * s / abs(found.values[name]):.2g}",
            "better than a plain test": f"{found.gain[name]:.2g} times",
        }
        for name, s in found.std.items()
    ]


def _quaternion(rotation: np.ndarray) -> np.ndarray:
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(rotation).as_quat(scalar_first=True)
