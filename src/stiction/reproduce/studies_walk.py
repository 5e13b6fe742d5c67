"""Rodic, Figure 11: which walk soles of wood with μ ≈ 0.1 and at most 100 N along the ground allow.

The walk of Figures 8 and 11 on other footsteps: the same man, his stride planned in short
half-steps, forward in time from rest on ground with μ = 0.1.
"""

import functools
import itertools
import tempfile
from pathlib import Path

import numpy as np

from stiction.biped import walk_to_follow
from stiction.report.figures import COLORS, new_figure
from stiction.report.grf_figures import legend_above
from stiction.reproduce.registry import (
    Check,
    Document,
    Reproduction,
    check_below,
    check_less,
    check_more,
)
from stiction.reproduce.rodic import FEET, MASS, MOTION, RECORDING, STATURE, recorded_walk
from stiction.reproduce.rodic_walk import HALF_STEPS, MU, ForwardWalk, with_forces
from stiction.scenes import parse_settings, scene

item = Document("studies").item
STEP = 0.18  # [m]; of the man in the recording: 0.67
MOST = 100.0  # along the ground, of rodic [N]
RODIC_WEIGHT = 84.0728 * 9.81  # of rodic's subject [N]
_LOADED = 0.5  # of the weight: what counts as a foot that bears it


@functools.cache
def short_walk() -> ForwardWalk:
    """Four short half-steps from rest, on μ = 0.1."""
    table = walk_to_follow(
        RECORDING / MOTION, height=STATURE, mass=MASS, half_steps=HALF_STEPS, step=STEP
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "short-walk.csv"
        rows = np.column_stack([table.time, table.values])
        head = ",".join(["time", *table.names])
        np.savetxt(file, rows, delimiter=",", header=head, comments="", fmt="%.9g")
        settings = [
            f"track.file={file}",
            f"until={table.time[-1]:.3f}",
            *(f"contact.{name}={MU}" for name in ("mu_static", "mu_dynamic")),
        ]
        return with_forces(scene("human-walk", parse_settings(settings)).run())


def friction_on_plates() -> tuple[np.ndarray, float]:
    """Of the man who walks at 1.1 m/s: friction used while a foot bears him, and his peak [BW]."""
    record = recorded_walk()
    up, weight = record.reactions.axes.up, record.reactions.subject.weight
    force = record.measured.feet.reshape(-1, 3)
    load = force @ up
    along = np.linalg.norm(force - load[:, None] * up, axis=1)
    bears = load > _LOADED * weight
    return along[bears] / load[bears], float(np.nanmax(load) / weight)


@item("Study 9")
def which_walk() -> Reproduction:
    walk = short_walk()
    time, center = walk.time, walk.reactions.center
    landings = walk.landings
    # From when a foot first leaves the ground to when the last one lands.
    inside = (time >= time[np.argmin(walk.down.all(axis=1))]) & (time <= landings[-1][0])
    along = np.abs(walk.force[:, :, :2])
    used, peak = friction_on_plates()
    figure, axes = new_figure(3, sharex=True, figsize=(7.4, 6.0))
    names = {"vertical": 2, "forward": 0, "sideways": 1}
    for axis, (name, k) in zip(axes, names.items(), strict=True):
        for f, foot in enumerate(FEET):
            axis.plot(time, walk.force[:, f, k], color=COLORS[f], label=f"{foot} foot")
        axis.set_ylabel(f"{name} [N]")
        if k != 2:
            for edge in (-MOST, MOST):
                axis.axhline(edge, color="0.4", ls="--", lw=1)
    axes[0].axvspan(time[inside][0], time[inside][-1], color="0.93", zorder=0)
    legend_above(figure, axes[0])
    axes[-1].set_xlabel("time [s]; mean over 10 ms with impacts")
    cone = np.linalg.norm(walk.steady[:, :, :2], axis=2) - MU * walk.steady[:, :, 2]
    way = float(center[-1, 0] - center[0, 0])
    return Reproduction(
        figure,
        table=[{"landing [s]": f"{t:.3f}", "foot": FEET[f]} for t, f in landings],
        checks=[
            check_more("half-steps: landings", len(landings), HALF_STEPS - 1),
            Check("right and left by turns",
                  all(a[1] != b[1] for a, b in itertools.pairwise(landings)),
                  [FEET[f] for _, f in landings]),
            check_more("he comes ahead [m]", way, (HALF_STEPS - 1) * STEP),
            check_more("and does not fall: least height of his centre, of the first",
                       float(center[:, 2].min() / center[0, 2]), 0.95),
            check_less("from the first lift to the last landing: most along the ground",
                       float(along[inside].max()), MOST, "N"),
            check_below("friction beyond the cone of 0.1 [N]", float(cone.max()), 1.0),
            check_more("at 1.1 m/s on the plates: friction that a loaded foot uses, at most",
                       float(np.nanmax(used)), 1.5 * MU),
            check_less("0.1 of rodic's weight times this man's peak: the edge of the cone",
                       MU * peak * RODIC_WEIGHT, MOST, "N"),
        ],
    )  # fmt: skip
