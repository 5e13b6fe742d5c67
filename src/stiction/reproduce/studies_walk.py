"""Rodic, Figure 11: which walk soles of wood with μ ≈ 0.1 and at most 100 N along the ground allow.

The walk of Figures 8 and 11 on other footsteps: the same man, his stride planned in short
half-steps, forward in time from rest on ground with μ = 0.1.
"""

import functools
from typing import NamedTuple

import numpy as np

from stiction.report.grf_figures import legend_above
from stiction.reproduce.registry import Check, Document
from stiction.reproduce.rodic import HALF_STEPS, recorded_walk
from stiction.reproduce.rodic_walk import (
    MU,
    ForwardWalk,
    check_turns,
    draw_forces,
    lowest,
    walk_on,
)

item = Document("studies").item
WALKS = 7
STEP = 0.18  # [m]; of the man in the recording: 0.67
MOST = 100.0  # along the ground, of rodic [N]
RODIC_WEIGHT = 84.0728 * 9.81  # of rodic's subject [N]
_LOADED = 0.5  # of the weight: what counts as a foot that bears it


class ShortWalks(NamedTuple):
    """Short walks on μ = 0.1 that differ by less than anybody could plan.

    Landings depend on every digit: what is said of these walks must hold of all of them together,
    not of the one that a processor happens to compute.
    """

    walks: list[ForwardWalk]

    @property
    def along(self) -> list[np.ndarray]:
        """The larger component along the ground on either foot, while each of them walks [N]."""
        return [np.abs(w.force[_walking(w)][:, :, :2]).max(axis=(1, 2)) for w in self.walks]


@functools.cache
def short_walks() -> ShortWalks:
    """Four short half-steps from rest, on μ = 0.1."""
    wood = {f"contact.{name}": MU for name in ("mu_static", "mu_dynamic")}
    return ShortWalks(
        [walk_on(wood, half_steps=HALF_STEPS, step=STEP, variant=i) for i in range(WALKS)]
    )


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


def _draw(found: ShortWalks):
    first = found.walks[0]
    figure, axes = draw_forces(first)
    force = np.stack([walk.force for walk in found.walks])
    for axis, k in zip(axes, (2, 0, 1), strict=True):  # vertical, forward, sideways
        low, high = (edge(force[..., k], axis=(0, 2)) for edge in (np.min, np.max))
        axis.fill_between(first.time, low, high, color="0.8", lw=0, zorder=1, label="_")
    axes[0].fill_between([], [], [], color="0.8", label=f"all of {len(found.walks)} walks")
    for axis in axes[1:]:
        for edge in (-MOST, MOST):
            axis.axhline(edge, color="0.4", ls="--", lw=1)
    axes[0].axvspan(*first.time[_walking(first)][[0, -1]], color="0.93", zorder=0)
    legend_above(figure, axes[0])
    return figure


def _table(found: ShortWalks) -> list[dict[str, str]]:
    return [
        {"walk": str(i), "landings": str(len(walk.landings)), "most along the ground [N]":
         f"{along.max():.0f}", "longer than 100 N [% of the time]": f"{_over(along):.2f}"}
        for i, (walk, along) in enumerate(zip(found.walks, found.along, strict=True))
    ]  # fmt: skip


def _over(along: np.ndarray) -> float:
    """Part of the time in which more than rodic's 100 N act along the ground [%]."""
    return 100 * float(np.mean(along > MOST))


@item("Study 9", of=short_walks, draw=_draw, table=_table)
def which_walk(found: ShortWalks) -> list[Check]:
    walks, along = found.walks, found.along
    used, peak = friction_on_plates()
    cone = [np.linalg.norm(w.steady[:, :, :2], axis=2) - MU * w.steady[:, :, 2] for w in walks]
    ahead = [np.ptp(w.reactions.center[[0, -1], 0]) for w in walks]
    turns = sum(check_turns(w).passed for w in walks)
    most = np.array([x.max() for x in along])
    return [
        Check.more("half-steps in every walk: landings", min(len(w.landings) for w in walks),
                   HALF_STEPS - 1),
        Check.more("right and left by turns (a foot may brush the ground): walks", turns,
                   len(walks) / 2),
        Check.more("he comes ahead [m]", min(ahead), (HALF_STEPS - 1) * STEP),
        Check.more("and does not fall: least height of his centre, of the first",
                   min(map(lowest, walks)), 0.95),
        Check.less("from the first lift to the last landing more than 100 N are along the ground"
                   " for this part of the time", _over(np.concatenate(along)), 1.0, "%"),
        Check.less("for an instant, mean over 10 ms, they are at most, in the best walk",
                   most.min(), MOST, "N"),
        Check.below("friction beyond the cone of 0.1 [N]", max(x.max() for x in cone), 1.0),
        Check.more("at 1.1 m/s on the plates: friction that a loaded foot uses, at most",
                   np.nanmax(used), 1.5 * MU),
        Check.less("0.1 of rodic's weight times this man's peak: the edge of the cone",
                   MU * peak * RODIC_WEIGHT, MOST, "N"),
    ]  # fmt: skip
