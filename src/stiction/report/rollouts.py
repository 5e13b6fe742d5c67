"""Rollouts beside their measurements: figures and data."""

from typing import TYPE_CHECKING, Any

import numpy as np

from stiction.identify import Identification
from stiction.report.figures import COLORS, new_figure

if TYPE_CHECKING:
    import xarray as xr

_SHOWN = (0.1, 0.5, 0.9)  # quantiles of the position error: a good, a usual and a poor rollout


def rollout_dataset(found: Identification) -> "xr.Dataset":
    """Measured and simulated configurations and errors."""
    import xarray as xr

    c = {n.removeprefix("rollout."): v for n, v in found.curves.items()}
    rows = ("rollout", "time")
    return xr.Dataset(
        {
            "measured": ((*rows, "coordinate"), c["measured"]),
            "simulated": ((*rows, "coordinate"), c["simulated"]),
            "position_error": (rows, c["position_error"], {"units": "m"}),
            "rotation_error": (rows, c["rotation_error"], {"units": "rad"}),
            "kept_aside": ("rollout", c["aside"].astype("int8")),
        },
        coords={
            "rollout": list(c["names"]),
            "time": ("time", c["time"], {"units": "s"}),
            "coordinate": list(c["coordinates"]),
        },
    )


def rollout_figures(found: Identification) -> dict[str, tuple[Any, str]]:
    """A good, a usual and a poor rollout; and how errors grow."""
    c = {n.removeprefix("rollout."): v for n, v in found.curves.items()}
    judged = c["aside"] if c["aside"].any() else ~c["aside"]
    which = "kept aside" if c["aside"].any() else "fitted"
    return {
        "rollouts": (
            _examples(c, judged),
            f"Measured (dots) and simulated (lines) rollouts {which}: a good, a usual and a poor"
            " one (10, 50 and 90 % of the rollouts have smaller errors)",
        ),
        "errors": (
            _growth(c, judged),
            f"Errors of the rollouts {which}: median and quartiles, row by row",
        ),
    }


def _examples(c: dict[str, np.ndarray], judged: np.ndarray):
    mean = np.nanmean(c["position_error"], axis=1)
    order = np.flatnonzero(judged)[np.argsort(mean[judged])]
    shown = [order[round(q * (len(order) - 1))] for q in _SHOWN]
    kinds = [(c["is_length"], 1e3, "position [mm]")]
    angles = np.array(["." not in n for n in c["coordinates"]]) & ~c["is_length"]
    if angles.any():
        kinds.append((angles, 1.0, "angle [rad]"))
    figure, axes = new_figure(
        len(kinds), len(shown), sharex=True, sharey="row", squeeze=False,
        figsize=(8.6, 3.0 * len(kinds) + 0.4),
    )  # fmt: skip
    for row, (chosen, factor, label) in zip(axes, kinds, strict=True):
        for axis, i in zip(row, shown, strict=True):
            for j, k in enumerate(np.flatnonzero(chosen)[: len(COLORS)]):
                first = c["measured"][i, 0, k] if label.startswith("position") else 0.0
                y, z = (factor * (c[n][i, :, k] - first) for n in ("measured", "simulated"))
                axis.plot(c["time"], y, ".", ms=2.5, color=COLORS[j], alpha=0.6)
                axis.plot(c["time"], z, color=COLORS[j], lw=1.2, label=c["coordinates"][k])
        row[0].set_ylabel(f"{label[:8]} from the start [mm]" if factor == 1e3 else label)
        row[0].legend(ncols=1)
    last = np.max(np.flatnonzero(np.isfinite(c["measured"][shown, :, 0]).any(axis=0)))
    for axis, i in zip(axes[0], shown, strict=True):
        axis.set_title(f"{c['names'][i]}: {1e3 * mean[i]:.1f} mm", fontsize="small")
        axis.set_xlim(0, c["time"][last])
    for axis in axes[-1]:
        axis.set_xlabel("time [s]")
    return figure


def _growth(c: dict[str, np.ndarray], judged: np.ndarray):
    figure, axes = new_figure(1, 2, figsize=(8.0, 3.2))
    # Beyond half of the rollouts' ends a quantile is of another set.
    rows = np.mean(np.isfinite(c["position_error"][judged]), axis=0) > 0.5
    time = c["time"][rows]
    for axis, name, factor, label in zip(
        axes,
        ("position_error", "rotation_error"),
        (1e3, 180 / np.pi),
        ("position error [mm]", "rotation error [deg]"),
        strict=True,
    ):
        low, middle, high = factor * np.nanquantile(
            c[name][judged][:, rows], [0.25, 0.5, 0.75], axis=0
        )
        axis.fill_between(time, low, high, color=COLORS[0], alpha=0.2, lw=0)
        axis.plot(time, middle)
        axis.set_ylabel(label)
        axis.set_xlabel("time [s]")
        axis.set_ylim(bottom=0)
    return figure
