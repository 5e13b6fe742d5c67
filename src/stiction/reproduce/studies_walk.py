"""Rodic, Figure 11: which walk soles of wood with μ ≈ 0.1 and at most 100 N along the ground allow.

The walk of Figures 8 and 11 on other footsteps: the same man, his stride planned in short
half-steps, forward in time from rest on ground with μ = 0.1.
"""

import functools

import numpy as np

from stiction.report.grf_figures import legend_above
from stiction.reproduce.registry import Check, Document
from stiction.reproduce.rodic import HALF_STEPS, recorded_walk
from stiction.reproduce.rodic_walk import (
    MU,
    ForwardWalk,
    check_turns,
    draw_forces,
    landing_table,
    lowest,
    walk_on,
)

item = Document("studies").item
STEP = 0.18  # [m]; of the man in the recording: 0.67
MOST = 100.0  # along the ground, of rodic [N]
RODIC_WEIGHT = 84.0728 * 9.81  # of rodic's subject [N]
_LOADED = 0.5  # of the weight: what counts as a foot that bears it


@functools.cache
def short_walk() -> ForwardWalk:
    """Four short half-steps from rest, on μ = 0.1."""
    wood = {f"contact.{name}": MU for name in ("mu_static", "mu_dynamic")}
    return walk_on(wood, half_steps=HALF_STEPS, step=STEP)


def friction_on_plates() -> tuple[np.ndarray, float]:
    """Of the man who walks at 1.1 m/s: friction used while a foot bears him, and his peak [BW]."""
    record = recorded_walk()
    up, weight = record.reactions.axes.up, record.reactions.subject.weight
    force = record.measured.feet.reshape(-1, 3)
    load = force @ up
    along = np.linalg.norm(force - load[:, None] * up, axis=1)
    bears = load > _LOADED * weight
    return along[bears] / load[bears], float(np.nanmax(load) / weight)


def _walking(walk: ForwardWalk) -> np.ndarray:
    """Which samples are from when a foot first leaves the ground to when the last one lands."""
    return (walk.time >= walk.time[np.argmin(walk.down.all(axis=1))]) & (
        walk.time <= walk.landings[-1][0]
    )


def _draw(walk: ForwardWalk):
    figure, axes = draw_forces(walk)
    for axis in axes[1:]:
        for edge in (-MOST, MOST):
            axis.axhline(edge, color="0.4", ls="--", lw=1)
    axes[0].axvspan(*walk.time[_walking(walk)][[0, -1]], color="0.93", zorder=0)
    legend_above(figure, axes[0])
    return figure


@item("Study 9", of=short_walk, draw=_draw, table=landing_table)
def which_walk(walk: ForwardWalk) -> list[Check]:
    along, x = np.abs(walk.force[:, :, :2])[_walking(walk)], walk.reactions.center[:, 0]
    used, peak = friction_on_plates()
    cone = np.linalg.norm(walk.steady[:, :, :2], axis=2) - MU * walk.steady[:, :, 2]
    return [
        Check.more("half-steps: landings", len(walk.landings), HALF_STEPS - 1),
        check_turns(walk),
        Check.more("he comes ahead [m]", x[-1] - x[0], (HALF_STEPS - 1) * STEP),
        Check.more("and does not fall: least height of his centre, of the first", lowest(walk),
                   0.95),
        Check.less("from the first lift to the last landing: most along the ground", along.max(),
                   MOST, "N"),
        Check.below("friction beyond the cone of 0.1 [N]", cone.max(), 1.0),
        Check.more("at 1.1 m/s on the plates: friction that a loaded foot uses, at most",
                   np.nanmax(used), 1.5 * MU),
        Check.less("0.1 of rodic's weight times this man's peak: the edge of the cone",
                   MU * peak * RODIC_WEIGHT, MOST, "N"),
    ]  # fmt: skip
