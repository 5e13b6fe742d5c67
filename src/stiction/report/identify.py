"""What an identification leaves behind: tables, figures and a page."""

import html
import json
from pathlib import Path
from typing import Any

import numpy as np

from stiction.identify import DesignedTest, Export, Identification
from stiction.identify.result import Trace
from stiction.report.figures import COLORS, new_figure, save_figure
from stiction.report.page import Report
from stiction.report.rollouts import rollout_figures, write_rollouts

_FORCES = ("force x", "force y", "force z")
_MOMENTS = ("moment x", "moment y", "moment z")


def write_identification(
    found: Identification, title: str, directory, exported: Export | None = None
) -> Path:
    """Write tables, figures and the report into an `OutputDirectory`; return the report's path."""
    _write_parameters(found, directory.file("parameters.csv"))
    if found.traces:
        _write_samples(found, directory.file("samples.nc"))
    report = Report(title, f"{found.method}; intervals of {100 * found.confidence:g} %")
    report.heading("Parameters")
    report.table(parameter_rows(found))
    for sentence in found.warnings:
        report.text(f"Note: {sentence}.")
    report.heading("Fit")
    report.table(_fit_rows(found))
    if found.tests:
        report.heading("Each test alone")
        report.table(found.tests + test_statistics(found.tests))
    if exported is not None:
        _add_export(exported, report, directory)
    if is_rollouts := "rollout.measured" in found.curves:
        write_rollouts(found, directory.file("rollouts.nc"))
    figures = (
        _contact_figures(found)
        if found.traces
        else rollout_figures(found)
        if is_rollouts
        else _curve_figures(found)
    )
    if figures:
        report.heading("Figures")
    for name, (figure, caption) in figures.items():
        report.figure(save_figure(figure, directory, name)[-1], caption)
    return report.write(directory.file("report.html"))


def _add_export(exported: Export, report: Report, directory) -> None:
    suffix = "json" if exported.engine == "json" else "xml"
    directory.file(f"export.{suffix}").write_text(exported.text, encoding="utf-8")
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
        items = value.items() if isinstance(value, dict) else [("", value)]
        rows += [{"quantity": f"{key} {k}".replace("_", " ").strip(), "value": v} for k, v in items]
    return rows


def _write_parameters(found: Identification, path: Path) -> None:
    lines = ["parameter,value,std,lower,upper,unit"]
    for name, p in found.parameters.items():
        lower, upper = p.interval or (None, None)
        cells = ["" if v is None else f"{v:.10g}" for v in (p.value, p.std, lower, upper)]
        lines.append(",".join([name, *cells, p.unit]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _write_samples(found: Identification, path: Path) -> None:
    import xarray as xr

    join = lambda part: np.concatenate([part(t) for t in found.traces])  # noqa: E731
    names = [t.name for t in found.traces]
    per_sample = ("sample", "surface")
    data = xr.Dataset(
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
    data.to_netcdf(path, engine="h5netcdf")


def _contact_figures(found: Identification) -> dict[str, tuple[Any, str]]:
    trace = found.traces[0]
    which = f" of {trace.name}" if len(found.traces) > 1 else ""
    return {
        "wrench": (wrench_figure(trace), f"Wrench{which}: measured (dots) and predicted (lines)"),
        "depth": (
            depth_figure(trace, found.surfaces),
            f"Depth and its rate{which}, shaded where the surface carries force",
        ),
        "loop": (
            loop_figure(trace, found.surfaces),
            f"Normal force against depth{which}: the loop is what damping takes",
        ),
        "residuals": (_residual_figure(found), "Residuals of all samples used"),
    }


def wrench_figure(trace: Trace):
    """Forces and moments against time."""
    figure, axes = new_figure(2, sharex=True, figsize=(6.4, 5.2))
    for axis, names, first in zip(axes, (_FORCES, _MOMENTS), (0, 3), strict=True):
        for i, name in enumerate(names):
            color = COLORS[i]
            axis.plot(trace.time, trace.wrench[:, first + i], ".", ms=2.5, color=color, alpha=0.5)
            axis.plot(trace.time, trace.predicted[:, first + i], color=color, label=name)
        axis.legend(ncols=3, loc="lower left", bbox_to_anchor=(0, 0.98))
    axes[0].set_ylabel("force [N]")
    axes[1].set_ylabel("moment [N·m]")
    axes[1].set_xlabel("time [s]")
    return figure


def depth_figure(trace: Trace, surfaces: tuple[str, ...]):
    """Depth and rate of each surface against time."""
    figure, axes = new_figure(2, sharex=True, figsize=(6.4, 4.8))
    for i, name in enumerate(surfaces):
        reached = trace.depth[:, i] > -0.5 * max(float(np.max(trace.depth[:, i])), 1e-9)
        for axis, values in zip(axes, (trace.depth, trace.depth_rate), strict=True):
            shown = np.where(reached, values[:, i], np.nan)
            axis.plot(trace.time, 1e3 * shown, color=COLORS[i], label=name)
            on = trace.touched[:, i] > 0
            axis.fill_between(
                trace.time, 0, 1, where=on, transform=axis.get_xaxis_transform(),
                color=COLORS[i], alpha=0.08, lw=0,
            )  # fmt: skip
    axes[0].set_ylabel("depth [mm]")
    axes[1].set_ylabel("depth rate [mm/s]")
    axes[1].set_xlabel("time [s]")
    axes[0].legend()
    return figure


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
        figure, axis = new_figure()
        axis.plot(c["time"], c["force"], label="measured", lw=0.9)
        axis.plot(c["time"], c["predicted"], "--", label="model", lw=0.9)
        axis.set_xlabel("time [s]")
        axis.set_ylabel("force [N]")
        axis.legend(ncols=2, loc="lower left", bbox_to_anchor=(0, 0.98))
        return {"force": (figure, "Force of the axis, measured and by the model")}
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


def write_design(found: DesignedTest, title: str, directory) -> Path:
    """Write the motion, a figure and the report of a designed test."""
    quaternion = _quaternion(found.rotation)
    columns = np.column_stack(
        [found.time, found.position, np.tile(quaternion, (len(found.time), 1)), found.velocity]
    )
    header = "t,x,y,z,qw,qx,qy,qz,vx,vy,vz"
    np.savetxt(directory.file("motion.csv"), columns, delimiter=",", header=header, comments="")
    directory.file("design.json").write_text(json.dumps(found.to_json(), indent=2) + "\n")
    figure, axes = new_figure(2, sharex=True, figsize=(6.4, 5))
    for i, name in enumerate("xyz"):
        axes[0].plot(
            found.time, 1e3 * (found.position - found.position.mean(axis=0))[:, i], label=name
        )
    axes[0].set_ylabel("position from mean [mm]")
    axes[0].legend(ncols=3)
    for name, depth in zip(found.surfaces, found.depth.T, strict=True):
        axes[1].plot(found.time, 1e3 * depth, label=name)
    axes[1].set_ylabel("depth [mm]")
    axes[1].set_xlabel("time [s]")
    axes[1].legend()
    report = Report(f"Test design: {title}")
    report.text(
        f"{found.seconds:.3g} s of this cycle bring every parameter to"
        f" {100 * found.wanted_error:g} %. The largest force is {found.force:.3g} N."
    )
    report.table(design_rows(found))
    report.figure(save_figure(figure, directory, "motion")[-1], "One cycle, to be repeated")
    return report.write(directory.file("report.html"))


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
