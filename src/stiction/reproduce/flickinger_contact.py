"""Flickinger 2011, chapter 3: contact and impact of the double pendulum and the bicycle."""

import numpy as np

from stiction.engines.forces import SLIP, STICK
from stiction.report.figures import COLORS, new_figure
from stiction.reproduce.flickinger_runs import (
    NO_CONTROL,
    RUNS,
    Outcome,
    flat_bicycle,
    force_figure,
    item,
    shows,
)
from stiction.reproduce.registry import Check, Reproduction, stated

SLOW = 1e-3  # [m/s]: slower collisions do not rebound, and lose what they must

SLOPES = [RUNS[section] for section in ("3.7.1", "3.7.2", "3.7.3")]


@item("Figure 3.1", of=RUNS["3.6.1"])
def figure_3_1(run: Outcome) -> Reproduction:
    mu_static, mu_dynamic = 0.74, 0.57  # Table 2.1
    modes, force = run.modes[:, 0], run.force[:, 0]
    figure, axis = new_figure(figsize=(6.4, 4.4))
    height = 1.1 * force[:, 1].max()
    for mu, name, shade in ((mu_static, "static", 0.10), (mu_dynamic, "dynamic", 0.16)):
        corners = [0, -mu * height, mu * height], [0, height, height]
        label = f"{name} cone, μ = {mu:g}"
        axis.fill(*corners, color="0.3", alpha=shade, lw=0, label=label)
    for mode, name in ((SLIP, "slipping"), (STICK, "sticking")):
        axis.plot(*force[modes == mode].T, ".", ms=5, label=name)
    axis.set(xlabel="tangential force [N]", ylabel="normal force [N]")
    axis.set(xlim=(-0.9 * height, 0.9 * height), ylim=(0, height))
    axis.axvline(0, color="0.6", lw=0.8, ls="--")
    axis.legend(frameon=False, loc="lower left")
    slip, stick = force[modes == SLIP], force[modes == STICK]
    edge = np.abs(np.abs(slip[:, 0]) - mu_dynamic * slip[:, 1]).max() / slip[:, 1].max()
    inside = bool((np.abs(stick[:, 0]) <= mu_static * stick[:, 1]).all())
    return Reproduction(
        figure,
        checks=stated(
            Check.below("slipping, on the dynamic cone, relative", edge, 1e-9),
            Check("sticking, inside the static cone", inside),
        ),
    )


# ------------------------------------------------------- Sec. 3.4.1: pendulum, no energy control


@shows("Figure 3.2", "3.4.1", "trajectory")
def figure_3_2(run: Outcome) -> list[Check]:
    first = run.impacts[0]
    tangential, normal = first.velocity_before
    return [
        Check.close("first impact [s]", first.time, 0.515353, 1e-5),
        Check.close("tip before it, tangential [m/s]", tangential, -5.79523, 6e-5),
        Check.close("normal [m/s]", normal, -6.13513, 6e-5),
        *stated(Check.more("several rebounds", len(run.impacts), 2), run.check_no_rest()),
    ]


@shows("Figure 3.3", "3.4.1", "forces")
def figure_3_3(run: Outcome) -> list[Check]:
    gains = np.array([past.energy_change for _, past in run._past]) > 1e-3 * run.energy[0]
    printed = run.printed_estimates
    claim = "energy gained can make the estimate negative: the least, by (3.25) as printed"
    along = np.abs([e.impulse[0] for e in run.hits])
    return [
        *stated(
            Check.less(claim, float(printed[gains].min()), 0.0),
            Check.less("some tangential ones are small beside the peaks: least over largest",
                       along.min() / along.max(), 0.1),
        ),
        Check.more("impulses of the same impacts push; the least [N·s]",
                   min(e.impulse[1] for e in run.hits), 0),
        Check.more("and so do the least forces that do their work; the least [N]",
                   float(run.estimates[1][:, 0, 1].min()), -1e-6),
        *run.check_forces(),
    ]  # fmt: skip


@shows("Figure 3.4", "3.4.1", "energy")
def figure_3_4(run: Outcome) -> list[Check]:
    before, after = run.impacts[0].kinetic_before, run.impacts[0].kinetic_after
    rises = int(np.sum(run.gains > 1e-3 * run.energy[0]))
    return [
        Check.close("kinetic energy before the first impact [J]", before, 66.0307, 66e-5),
        Check.close("after it [J]", after, 80.340, 80e-5),
        *stated(Check("energy rises at least twice", rises >= 2, rises, ">= 2")),
        run.check_ledger(),
    ]


# --------------------------------------------------------- Sec. 3.4.2: bicycle, no energy control


@shows("Figure 3.5", "3.4.2", "trajectory")
def figure_3_5(run: Outcome) -> list[Check]:
    first = run.impacts[0].time
    flights = np.diff(sorted({e.time for e in run.impacts}))
    return [
        Check.close("first impact, sqrt(2 (5 - r) / g) [s]", first, np.sqrt(9 / 9.81), 1e-9),
        *stated(
            Check.more("bounces: flights of more than half a second", int(sum(flights > 0.5)), 1),
            run.check_no_rest(),
        ),
    ]


@shows("Figure 3.6", "3.4.2", "forces")
def figure_3_6(run: Outcome) -> list[Check]:
    # All momentum is from weight and impulses.
    gone = 5 * (np.asarray(run.trajectory.v)[-1, 1] + 9.81 * run.time[-1])
    pushed = sum(e.impulse[1] for e in run.hits)
    most = max(e.time for e in run.hits)
    return [
        Check.below("impulses are what weight and motion ask for, relative",
                    abs(pushed / gone - 1), 1e-6),
        Check.more("impacts go on: the last [s]", most, 0.5 * run.time[-1]),
        *run.check_forces(),
    ]  # fmt: skip


@shows("Figure 3.7", "3.4.2", "energy")
def figure_3_7(run: Outcome) -> list[Check]:
    # Wheels of 2 m r²/2 in all start to spin: v falls from 2 to 2 · 5/7, and 5 v²/2 to 7 v²/2.
    spun = 0.5 * 5 * 2.0**2 - 0.5 * 7 * (10 / 7) ** 2
    at_once = flat_bicycle(1.0, NO_CONTROL).gains
    return [
        *stated(Check.more("energy rises at impacts, most [J]", float(run.gains.max()), 1.0)),
        Check.close("both wheels at once: lost as they start to spin [J]", -at_once[0], spun, 1e-6),
        Check.below("and none later, gained or lost [J]", np.abs(at_once[2:]).max(), 1e-6),
        run.check_ledger(),
    ]


# --------------------------------------------------------------- Sec. 3.6.1: the plastic pendulum


@shows("Figure 3.8", "3.6.1", "motion")
def figure_3_8(run: Outcome) -> list[Check]:
    first = run.impacts[0]
    order = [k for k in run.kinds() if k in ("impact", "stick", "rest")]
    rebound = max(abs(e.velocity_after[1]) for e in run.impacts)
    left = first.kinetic_after / first.kinetic_before
    return [
        *stated(
            Check.below("no rebound: normal velocity after [m/s]", rebound, 1e-12),
            run.check_rest(first.time + 1.0),
            Check.below("part of the kinetic energy that is left", left, 0.5 + 1e-12),
        ),
        Check("hits, slides, sticks, rests", order == ["impact", "stick", "rest"], order),
        run.check_ledger(),
    ]


@shows("Figure 3.9", "3.6.1", "forces")
def figure_3_9(run: Outcome) -> list[Check]:
    return [*run.check_settled(), *run.check_forces()]


# --------------------------------------------------------------------- Sec. 3.7: bicycle on a slope


def _bounces(run: Outcome) -> int:
    """Impacts until it rolls, one for each instant."""
    return len({e.time for e in run.impacts if e.time <= run.rolling_since})


def travel(run: Outcome) -> float:
    """How far it comes along N1 [m]."""
    x = np.asarray(run.trajectory.q)[:, 0]
    return float(abs(x[-1] - x[0]))


@shows("Figure 3.12", "3.7.2", "motion")
def motion_on_slope(run: Outcome) -> list[Check]:
    left = run.left[[e.velocity_before[1] < -SLOW for e in run.impacts]]
    others = [other() for other in SLOPES]
    bounces, rolls = [_bounces(o) for o in others], [o.rolling_since for o in others]
    return [
        *stated(
            Check.below("most of the kinetic energy left by an impact", left.max(), 0.5 + 1e-12),
            Check.close("about half is lost, median", float(np.median(left)), 0.5, 0.05),
            Check("less restitution, fewer bounces", bool((np.diff(bounces) < 0).all()), bounces),
            Check("and rolling sooner [s]", bool((np.diff(rolls) < 0).all()), rolls),
        ),
        run.check_ledger(),
    ]


@shows("Figure 3.10", "3.7.1", "motion")
def figure_3_10(run: Outcome) -> list[Check]:
    later = max(travel(other()) for other in SLOPES[1:])
    return [
        *motion_on_slope(run),
        *stated(
            Check.more("several bounces", _bounces(run), 2),
            Check.close("rolls from about 3.5 s on [s]", run.rolling_since, 3.5, 0.25),
            Check.more("travels much further than with less restitution [m]", travel(run), later),
        ),
    ]


@shows("Figure 3.14", "3.7.3", "motion")
def figure_3_14(run: Outcome) -> list[Check]:
    speed = float(np.abs(np.asarray(run.trajectory.v)[run.time > 4.0]).max())
    return [
        *motion_on_slope(run),
        *stated(
            Check.less("comes to rest a short way down the slope", travel(run), 1.0, "m"),
            Check.less("at rest at the end: fastest coordinate", speed, 1e-3, "m/s, rad/s"),
        ),
    ]


def _slope_figure(run: Outcome):
    figure = force_figure(run)
    for axis in figure.axes[:2]:
        axis.axvspan(run.rolling_since, run.time[-1], color=COLORS[2], alpha=0.08, lw=0)
    return figure


@item("Figure 3.11", of=SLOPES[0], draw=_slope_figure)
@item("Figure 3.13", of=SLOPES[1], draw=_slope_figure)
def forces_on_slope(run: Outcome) -> list[Check]:
    chatter = len({e.time for e in run.hits if e.time > run.rolling_since})
    words = "forces chatter in rolling contact: impacts after it begins to roll"
    return [
        *stated(Check.more(words, chatter, 10)),
        Check.below("drift of kept contacts [m]", float(run.trajectory.drift), 1e-9),
        *run.check_forces(),
    ]


@item("Figure 3.15", of=SLOPES[2], draw=_slope_figure)
def figure_3_15(run: Outcome) -> list[Check]:
    largest = [np.abs(other().estimates[1]).max() for other in SLOPES]
    words = "impact forces are larger the less restitution there is: least growth [N]"
    return [*forces_on_slope(run), *stated(Check.more(words, np.diff(largest).min(), 0.0))]
