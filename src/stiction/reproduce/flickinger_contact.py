"""Flickinger 2011, chapter 3: contact and impact of the double pendulum and the bicycle."""

from functools import partial

import numpy as np

from stiction.engines.forces import OPEN, SLIP, STICK
from stiction.report.figures import COLORS, new_figure
from stiction.reproduce.flickinger_runs import (
    NO_CONTROL,
    Outcome,
    bicycle,
    check_forces,
    check_ledger,
    check_no_rest,
    check_rest,
    energy_figure,
    flat_bicycle,
    force_figure,
    gains,
    impact_table,
    motion_figure,
    pendulum,
    trajectory_figure,
)
from stiction.reproduce.registry import Check, Reproduction, check_below, check_close, reproduces

reproduces_3 = partial(reproduces, "flickinger", chapter=3)
RESTITUTIONS = (0.75, 0.5, 0.25)  # Secs. 3.7.1 to 3.7.3
SLOW = 1e-3  # [m/s]: slower collisions do not rebound, and lose what they must


@reproduces_3("Figure 3.1", title="Friction cone")
def figure_3_1() -> Reproduction:
    run = pendulum(0.0, 0.5)
    mu_static, mu_dynamic = 0.74, 0.57  # Table 2.1
    modes = np.asarray(run.trajectory.modes)[:, 0]
    force = np.asarray(run.trajectory.force)[:, 0]
    figure, axis = new_figure(figsize=(6.4, 4.4))
    height = 1.1 * force[:, 1].max()
    for mu, name, shade in ((mu_static, "static", 0.10), (mu_dynamic, "dynamic", 0.16)):
        axis.fill([0, -mu * height, mu * height], [0, height, height], color="0.3", alpha=shade,
                  lw=0, label=f"{name} cone, μ = {mu:g}")  # fmt: skip
    for mode, name in ((SLIP, "slipping"), (STICK, "sticking")):
        f = force[modes == mode]
        axis.plot(f[:, 0], f[:, 1], ".", ms=5, label=name)
    axis.set(xlabel="tangential force [N]", ylabel="normal force [N]", ylim=(0, height),
             xlim=(-0.9 * height, 0.9 * height))  # fmt: skip
    axis.axvline(0, color="0.6", lw=0.8, ls="--")
    axis.legend(frameon=False, loc="lower left")
    slip = force[modes == SLIP]
    edge = np.abs(np.abs(slip[:, 0]) - mu_dynamic * slip[:, 1]).max() / slip[:, 1].max()
    stick = force[modes == STICK]
    inside = bool((np.abs(stick[:, 0]) <= mu_static * stick[:, 1]).all())
    return Reproduction(
        figure=figure,
        note="The cones of (3.3) with the forces on the tip of the plastic pendulum of Sec. 3.6.1.",
        checks=[
            check_below("slipping, on the dynamic cone, relative", edge, 1e-9),
            Check("sticking, inside the static cone", inside),
        ],
    )


# ------------------------------------------------------- Sec. 3.4.1: pendulum, no energy control


@reproduces_3("Figure 3.2", title="Double pendulum trajectory: e = 1, e* = 5 (no energy control)")
def figure_3_2() -> Reproduction:
    run = pendulum(1.0, NO_CONTROL)
    first = run.impacts[0]
    return Reproduction(
        figure=trajectory_figure(run),
        table=impact_table(run),
        checks=[
            check_close("first impact [s]", first.time, 0.515353, 1e-5),
            check_close(
                "tip before it, tangential [m/s]", first.velocity_before[0], -5.79523, 6e-5
            ),
            check_close("normal [m/s]", first.velocity_before[1], -6.13513, 6e-5),
            Check("several rebounds", len(run.impacts) > 5, len(run.impacts), "> 5"),
            check_no_rest(run),
        ],
    )


@reproduces_3("Figure 3.3", title="Double pendulum contact forces: e = 1, e* = 5")
def figure_3_3() -> Reproduction:
    run = pendulum(1.0, NO_CONTROL)
    return Reproduction(
        figure=force_figure(run),
        checks=check_forces(run),
        note="The document's estimates of impact forces become negative where energy rises; the"
        " impulses drawn here do not.",
    )


@reproduces_3("Figure 3.4", title="Double pendulum energy: e = 1, e* = 5 (no energy control)")
def figure_3_4() -> Reproduction:
    run = pendulum(1.0, NO_CONTROL)
    first = run.impacts[0]
    rises = int(np.sum(gains(run) > 1e-3 * run.energy[0]))
    return Reproduction(
        figure=energy_figure(run),
        checks=[
            check_close("kinetic energy before the first impact [J]", first.kinetic_before, 66.0307,
                        66e-5),
            check_close("after it [J]", first.kinetic_after, 80.340, 80e-5),
            Check("energy rises at least twice", rises >= 2, rises, ">= 2"),
            check_ledger(run),
        ],
    )  # fmt: skip


# --------------------------------------------------------- Sec. 3.4.2: bicycle, no energy control


@reproduces_3("Figure 3.5", title="Bicycle trajectory: e = 1, e* = 5")
def figure_3_5() -> Reproduction:
    run = flat_bicycle(1.0, NO_CONTROL)
    y = np.asarray(run.trajectory.q)[:, 1]
    after = run.time > run.impacts[0].time
    return Reproduction(
        figure=trajectory_figure(run),
        table=impact_table(run),
        checks=[
            check_close("first impact, sqrt(2 (5 - r) / g) [s]", run.impacts[0].time,
                        np.sqrt(9 / 9.81), 1e-9),
            check_close("bounces back to where it came from [m]", y[after].max(), 5.0, 1e-4),
            check_no_rest(run),
        ],
    )  # fmt: skip


@reproduces_3("Figure 3.6", title="Bicycle contact forces: e = 1, e* = 5")
def figure_3_6() -> Reproduction:
    run = flat_bicycle(1.0, NO_CONTROL)
    c, d = (np.array([e.impulse for e in run.impacts if e.contact == w])
            for w in run.run.contact_names)  # fmt: skip
    weight = 5 * 9.81
    steady = c[1:, 1] + d[1:, 1]
    flight = np.diff(sorted({e.time for e in run.impacts}))
    momentum = np.abs(steady - weight * flight).max() / steady.max()
    return Reproduction(
        figure=force_figure(run),
        checks=[
            check_below("both wheels share each impact equally", np.abs(c - d).max(), 1e-9),
            check_below("a rebound gives the weight times the flight, relative", momentum, 1e-6),
            *check_forces(run),
        ],
    )


@reproduces_3("Figure 3.7", title="Bicycle energy: e = 1, e* = 5")
def figure_3_7() -> Reproduction:
    run = flat_bicycle(1.0, NO_CONTROL)
    # Wheels of 2 m r²/2 in all start to spin: v falls from 2 to 2 · 5/7, and 5 v²/2 to 7 v²/2.
    spun = 0.5 * 5 * 2.0**2 - 0.5 * 7 * (10 / 7) ** 2
    lost = -gains(run)
    return Reproduction(
        figure=energy_figure(run),
        checks=[
            check_close(
                "lost at the first impact, spinning up the wheels [J]", lost[0], spun, 1e-6
            ),
            check_below("lost at all later ones [J]", np.abs(lost[2:]).max(), 1e-6),
            check_ledger(run),
        ],
        note="The document sees energy rise here. Round wheels on level ground cannot gain any:"
        " tangent and normal are uncoupled, and both wheels hit at once.",
    )


# --------------------------------------------------------------- Sec. 3.6.1: the plastic pendulum


@reproduces_3("Figure 3.8", title="Double pendulum: e = 0, e* = 0.5, trajectory and energy")
def figure_3_8() -> Reproduction:
    run = pendulum(0.0, 0.5)
    first = run.impacts[0]
    order = [k for k in run.kinds() if k in ("impact", "stick", "rest")]
    return Reproduction(
        figure=motion_figure(run),
        table=impact_table(run),
        checks=[
            check_below("no rebound: normal velocity after [m/s]",
                        max(abs(e.velocity_after[1]) for e in run.impacts), 1e-12),
            Check("hits, slides, sticks, rests", order == ["impact", "stick", "rest"], order),
            Check("half of the kinetic energy at most is left",
                  first.kinetic_after <= 0.5 * first.kinetic_before, first.kinetic_after),
            check_rest(run, 10.0),
            check_ledger(run),
        ],
    )  # fmt: skip


@reproduces_3("Figure 3.9", title="Double pendulum contact forces: e = 0, e* = 0.5")
def figure_3_9() -> Reproduction:
    run = pendulum(0.0, 0.5)
    force = np.asarray(run.trajectory.force)[:, 0]
    resting = force[run.time > (run.rest or 0.0) + 0.01]
    return Reproduction(
        figure=force_figure(run),
        checks=[
            check_below("at rest the force is constant [N]", np.ptp(resting, axis=0).max(), 1e-6),
            check_below("drift of the kept contact [m]", float(run.trajectory.drift), 1e-9),
            *check_forces(run),
        ],
    )


# --------------------------------------------------------------------- Sec. 3.7: bicycle on a slope


def rolling_since(run: Outcome) -> float:
    """When both wheels first stay on the ground [s]."""
    both = (np.asarray(run.trajectory.modes) != OPEN).all(axis=1)
    return float(run.time[np.argmax(both)]) if both.any() else np.inf


def _bounces(run: Outcome) -> int:
    """Impacts until it rolls, one for each instant."""
    return len({e.time for e in run.impacts if e.time <= rolling_since(run)})


def _slope_motion(restitution: float) -> Reproduction:
    run = bicycle(restitution, 0.5)
    quick = [e for e in run.impacts if e.velocity_before[1] < -SLOW]
    left = np.array([e.kinetic_after / e.kinetic_before for e in quick])
    others = [bicycle(e, 0.5) for e in RESTITUTIONS]
    bounces, rolls = [_bounces(o) for o in others], [rolling_since(o) for o in others]
    return Reproduction(
        figure=motion_figure(run),
        table=impact_table(run),
        checks=[
            check_below("most of the kinetic energy left by an impact", left.max(), 0.5 + 1e-12),
            Check("about half is lost at nearly all", bool(np.median(left) > 0.45),
                  float(np.median(left)), "> 0.45 left, median"),
            Check("less restitution, fewer bounces", bool((np.diff(bounces) < 0).all()), bounces),
            Check("and rolling sooner [s]", bool((np.diff(rolls) < 0).all()), rolls),
            check_ledger(run),
        ],
    )  # fmt: skip


def _slope_forces(restitution: float) -> Reproduction:
    run = bicycle(restitution, 0.5)
    last = max(e.time for e in run.events)
    settled = run.time > last + 0.01
    modes = np.asarray(run.trajectory.modes)[settled]
    force = np.asarray(run.trajectory.force)[settled][:, :, 1]
    steps, bends = (np.abs(np.diff(force, n, axis=0)).max() for n in (1, 2))
    figure = force_figure(run)
    for axis in figure.axes[:2]:
        axis.axvspan(last, run.time[-1], color=COLORS[2], alpha=0.08, lw=0)
    return Reproduction(
        figure=figure,
        checks=[
            Check("it ends rolling on both wheels", bool((modes == STICK).all())),
            check_below("rolling is smooth: second over first differences of the normal force",
                        bends / steps, 0.2),
            check_below("drift of kept contacts [m]", float(run.trajectory.drift), 1e-9),
            *check_forces(run),
        ],
        note="Shaded: rolling without events. The document's forces chatter there, from an"
        " approximate contact point; here the point on the ellipse is exact.",
    )  # fmt: skip


for _number, _e in zip((10, 12, 14), RESTITUTIONS, strict=True):
    reproduces_3(f"Figure 3.{_number}", title=f"Bicycle on a slope of 20°: e = {_e}, e* = 0.5")(
        partial(_slope_motion, _e)
    )
    reproduces_3(f"Figure 3.{_number + 1}", title=f"Bicycle contact forces: e = {_e}, e* = 0.5")(
        partial(_slope_forces, _e)
    )
