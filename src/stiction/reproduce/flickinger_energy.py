"""Flickinger 2011, chapter 5: energy that never rises, by scaling and by constraint."""

from functools import partial

import numpy as np

from stiction.engines.forces import OPEN, STICK
from stiction.report.figures import COLORS, new_figure
from stiction.reproduce.flickinger_contact import rolling_since
from stiction.reproduce.flickinger_runs import (
    BENT,
    NO_CONTROL,
    Outcome,
    check_forces,
    check_ledger,
    check_never_gains,
    check_no_rest,
    check_rest,
    draw_energy,
    draw_trajectory,
    flat_bicycle,
    force_figure,
    gains,
    impact_table,
    motion_figure,
    pendulum,
)
from stiction.reproduce.registry import Check, Reproduction, check_below, check_close, reproduces

reproduces_5 = partial(reproduces, "flickinger", chapter=5)


def _left(run: Outcome) -> np.ndarray:
    """Parts of the kinetic energy that impacts leave."""
    return np.array([e.kinetic_after / e.kinetic_before for e in run.impacts])


@reproduces_5("Figure 5.1", title="Energy of impacts with and without control")
def figure_5_1() -> Reproduction:
    free, held = pendulum(1.0, NO_CONTROL), pendulum(1.0, 1.0)
    figure, axis = new_figure()
    axis.plot(free.time, free.energy, label="energy increases, e* = 5", color=COLORS[1])
    axis.plot(held.time, held.energy, label="energy controlled, e* = 1", color=COLORS[0])
    axis.axhline(free.energy[0], color="0.5", lw=0.8, ls="--")
    axis.set(xlabel="time [s]", ylabel="total energy [J]", xlim=(0, 10), ylim=(0, None))
    axis.legend(frameon=False)
    rise = free.energy.max() - free.energy[0]
    return Reproduction(
        figure=figure,
        checks=[
            check_close("first impact without control adds [J]", rise, 80.340 - 66.0307, 1e-3),
            check_never_gains(held),
        ],
        note="The document's is a sketch; these are the pendulums of Secs. 3.4.1 and 5.2.1.",
    )


# ------------------------------------------------------------------------- Sec. 5.2: pendulum


@reproduces_5("Figure 5.2", title="Double pendulum: e = 1, e* = 1, trajectory and energy")
def figure_5_2() -> Reproduction:
    run, free = pendulum(1.0, 1.0), pendulum(1.0, NO_CONTROL)
    same = abs(run.impacts[0].time - free.impacts[0].time)
    smooth = np.diff(run.energy).max() / run.energy[0]
    return Reproduction(
        figure=motion_figure(run),
        table=impact_table(run),
        checks=[
            check_never_gains(run),
            check_below("nor does energy rise in between, of the initial", smooth, 1e-6),
            check_below("first impact at the time of Figure 3.4 [s]", same, 1e-9),
            check_no_rest(run),
            check_ledger(run),
        ],
    )


@reproduces_5("Figure 5.3", title="Double pendulum contact forces: e = 1, e* = 1")
def figure_5_3() -> Reproduction:
    run = pendulum(1.0, 1.0)
    open_ = bool((np.asarray(run.trajectory.modes) == OPEN).all())
    checks = [Check("impacts only: never in lasting contact", open_), *check_forces(run)]
    return Reproduction(figure=force_figure(run), checks=checks)


@reproduces_5("Figure 5.4", title="Double pendulum: e = 1, e* = 0.5, trajectory and energy")
def figure_5_4() -> Reproduction:
    run = pendulum(1.0, 0.5)
    left = _left(run)[:-1]  # the last is too slow to rebound
    return Reproduction(
        figure=motion_figure(run),
        table=impact_table(run),
        checks=[
            check_rest(run, 10.0),
            check_close("kinetic energy left by rebounds, median", np.median(left), 0.5, 1e-6),
            check_below("and at most", left.max(), 0.5 + 1e-12),
            check_ledger(run),
        ],
    )


@reproduces_5("Figure 5.5", title="Double pendulum contact forces: e = 1, e* = 0.5")
def figure_5_5() -> Reproduction:
    run = pendulum(1.0, 0.5)
    return Reproduction(
        figure=force_figure(run), checks=[*_settled(run), *check_forces(run)], note=_NO_REVERSALS
    )


@reproduces_5("Figure 5.6", title="Double pendulum: e = 0.1, e* = 0.5, trajectory and energy")
def figure_5_6() -> Reproduction:
    run = pendulum(0.1, 0.5)
    kinds = run.kinds()
    return Reproduction(
        figure=motion_figure(run),
        table=impact_table(run),
        checks=[
            check_rest(run, 3.0),
            Check("after a few rebounds", 1 <= len(run.impacts) <= 6, len(run.impacts), "1 to 6"),
            Check("slips, then sticks", "stick" in kinds and kinds[-1] == "rest", kinds),
            check_below("kinetic energy left, at most", _left(run).max(), 0.5 + 1e-12),
            check_ledger(run),
        ],
    )


@reproduces_5("Figure 5.7", title="Double pendulum contact forces: e = 0.1, e* = 0.5")
def figure_5_7() -> Reproduction:
    run = pendulum(0.1, 0.5)
    return Reproduction(
        figure=force_figure(run), checks=[*_settled(run), *check_forces(run)], note=_NO_REVERSALS
    )


_NO_REVERSALS = (
    "The document sees slip reverse before the tip rests. Here the slip comes to zero once and"
    " sticks: friction at rest needs less than μ_s."
)


def _settled(run: Outcome) -> list[Check]:
    """What forces at rest must be: constant, inside the static cone, and what statics asks."""
    force = np.asarray(run.trajectory.force)[:, 0]
    resting = run.time > (run.rest or 0.0) + 0.01
    used = np.abs(force[resting, 0]) / force[resting, 1]
    q = np.asarray(run.trajectory.q)[-1]
    # Moments about the pivot and, of bar B, about the joint; bars of 4.04 kg and 1 m.
    weight = 4.04 * 9.81
    x, z = np.cos([q[0], q[0] + q[1]]), np.sin([q[0], q[0] + q[1]])
    arms = np.array([[-z.sum(), x.sum()], [-z[1], x[1]]])
    moments = weight * np.array([x[0] / 2 + x[0] + x[1] / 2, x[1] / 2])
    statics = np.linalg.solve(arms, moments)
    return [
        check_below("at rest the force is constant [N]",
                    np.ptp(force[resting], axis=0).max(), 1e-6),
        check_below("and what statics asks for [N]", np.abs(force[-1] - statics).max(), 1e-6),
        check_below("friction needed at rest", used.max(), 0.74),
        check_below("drift of the kept contact [m]", float(run.trajectory.drift), 1e-9),
    ]  # fmt: skip


# --------------------------------------------------------------------------- Sec. 5.3: bicycle


@reproduces_5("Figure 5.8", title="Bicycle: e = 1, e* = 0.95, trajectory and energy")
def figure_5_8() -> Reproduction:
    run = flat_bicycle(1.0, 0.95)
    error = np.abs(_left(run) - 0.95).max()
    return Reproduction(
        figure=motion_figure(run),
        table=impact_table(run),
        checks=[
            check_below("every impact leaves 0.95 of the kinetic energy, error", error, 1e-12),
            check_no_rest(run),
            check_ledger(run),
        ],
    )


@reproduces_5("Figure 5.9", title="Bicycle contact forces: e = 1, e* = 0.95")
def figure_5_9() -> Reproduction:
    run = flat_bicycle(1.0, 0.95)
    return Reproduction(figure=force_figure(run), checks=check_forces(run))


@reproduces_5("Figure 5.10", title="Bicycle: e = 0.5, e* = 1, trajectory and energy")
def figure_5_10() -> Reproduction:
    run = flat_bicycle(0.5, 1.0)
    # Impacts end after a geometric series of flights: t₁ (1 + 2 e / (1 - e)) = 3 t₁.
    ends = 3 * np.sqrt(9 / 9.81)
    last = max(e.time for e in run.hits)
    return Reproduction(
        figure=motion_figure(run),
        table=impact_table(run),
        checks=[
            check_never_gains(run),
            check_close("bounces end where their series does [s]", last, ends, 1e-3),
            Check("then it rolls [s]", rolling_since(run) < 3, rolling_since(run), "< 3"),
            _check_speed(run, ends),
            check_ledger(run),
        ],
    )


@reproduces_5("Figure 5.11", title="Bicycle contact forces: e = 0.5, e* = 1")
def figure_5_11() -> Reproduction:
    run = flat_bicycle(0.5, 1.0)
    checks = [*_rolling(run, max(e.time for e in run.hits)), *check_forces(run)]
    return Reproduction(figure=force_figure(run), checks=checks)


@reproduces_5("Figure 5.12", title="Bicycle: e = 0, e* = 1, trajectory and energy")
def figure_5_12() -> Reproduction:
    run = flat_bicycle(0.0, 1.0)
    hit = run.impacts[0]
    after = run.energy[run.time > hit.time + 1e-9]
    instants = {e.time for e in run.hits}
    return Reproduction(
        figure=motion_figure(run),
        table=impact_table(run),
        checks=[
            Check("one plastic hit", len(instants) == 1, len(instants), 1),
            check_close("kinetic energy after it [J]", hit.kinetic_after, 50 / 7, 1e-6),
            check_below("then energy is constant [J]", np.ptp(after), 1e-9),
            _check_speed(run, hit.time),
            check_ledger(run),
        ],
    )


@reproduces_5("Figure 5.13", title="Bicycle contact forces: e = 0, e* = 1")
def figure_5_13() -> Reproduction:
    run = flat_bicycle(0.0, 1.0)
    checks = [*_rolling(run, run.impacts[0].time), *check_forces(run)]
    return Reproduction(figure=force_figure(run), checks=checks)


def _check_speed(run: Outcome, since: float) -> Check:
    """Spinning up the wheels leaves 5/7 of the speed."""
    speed = np.asarray(run.trajectory.v)[run.time > since + 0.01, 0]
    error = np.abs(speed - 10 / 7).max()
    return check_below("rolls at 2 · 5/7 m/s, constant; error [m/s]", error, 1e-8)


def _rolling(run: Outcome, since: float) -> list[Check]:
    """Rolling on level ground needs no friction, and each wheel bears half the weight."""
    later = run.time > since + 0.01
    force = np.asarray(run.trajectory.force)[later]
    sticks = bool((np.asarray(run.trajectory.modes)[later] == STICK).all())
    half = 5 * 9.81 / 2
    return [
        Check("both wheels roll without slip", sticks),
        check_below("tangential force while rolling [N]", np.abs(force[:, :, 0]).max(), 1e-7),
        check_below("each wheel bears half the weight, error [N]",
                    np.abs(force[:, :, 1] - half).max(), 1e-7),
    ]  # fmt: skip


# --------------------------------------------------- Sec. 5.5: the bent pendulum, three ways


def bent(energetic: float, method: str = "scale") -> Outcome:
    """The pendulum of Table 5.3."""
    return pendulum(1.0, energetic, BENT, "until=5", f"contact.energy_method={method}")


@reproduces_5("Figure 5.14", title="Bent double pendulum without energy control")
def figure_5_14() -> Reproduction:
    run = bent(NO_CONTROL)
    first = run.impacts[0]
    return Reproduction(
        figure=motion_figure(run, potential=True),
        table=impact_table(run),
        checks=[
            check_close("first impact [s]", first.time, 0.508030, 1e-5),
            check_close("kinetic energy before [J]", first.kinetic_before, 73.1209, 73e-5),
            check_close("kinetic energy after [J]", first.kinetic_after, 79.4908, 79e-5),
            check_ledger(run),
        ],
    )


@reproduces_5("Figure 5.15", title="Bent double pendulum with energy control: trajectories")
def figure_5_15() -> Reproduction:
    runs = _both()
    figure, panels = new_figure(1, 2, figsize=(10.4, 4.2))
    for axis, (name, run) in zip(panels, runs.items(), strict=True):
        draw_trajectory(axis, run)
        axis.set_title(name, loc="left")
    scaled, constrained = runs.values()
    u_minus = np.array(constrained.impacts[0].velocity_before)
    u_plus = np.array(constrained.impacts[0].velocity_after)
    angle = np.array(scaled.impacts[0].velocity_after) @ u_plus
    angle /= np.linalg.norm(scaled.impacts[0].velocity_after) * np.linalg.norm(u_plus)
    return Reproduction(
        figure=figure,
        table=impact_table(scaled) + impact_table(constrained),
        checks=[
            check_below("constraint: the first impact turns the tip's velocity round, |u⁺ + u⁻|",
                        np.abs(u_plus + u_minus).max(), 1e-9),
            Check("both methods leave the first impact with similar velocities of the tip",
                  bool(angle > 0.95), float(angle), "cosine > 0.95"),
        ],
        note="With e = 1 an impact changes the energy by p_t (u_t⁻ + u_t⁺) / 2 alone, so that (5.9)"
        " with e* = 1 leaves the slips between two ends: no friction, and u_t⁺ = -u_t⁻. The second"
        " is nearer to sticking and thus the optimum of (5.6): all velocities turn round, and the"
        " pendulum comes back to where it started, again and again. The document's run follows the"
        " scaled one for 3 s instead.",
    )  # fmt: skip


@reproduces_5("Figure 5.16", title="Bent double pendulum with energy control: energies")
def figure_5_16() -> Reproduction:
    runs = _both()
    figure, panels = new_figure(1, 2, figsize=(10.4, 3.9), sharey=True)
    checks = []
    for axis, (name, run) in zip(panels, runs.items(), strict=True):
        draw_energy(axis, run, potential=True)
        axis.set_title(name, loc="left")
        checks.append(
            check_below(f"{name}: most gained at an impact, of the initial",
                        gains(run).max() / run.energy[0], 1e-12)
        )  # fmt: skip
        checks.append(check_ledger(run))
    scaled, constrained = (run.impacts[0].kinetic_after for run in runs.values())
    checks.append(
        check_close(
            "both leave the same energy after the first impact [J]", scaled, constrained, 1e-6
        )
    )
    return Reproduction(figure=figure, checks=checks)


def _both() -> dict[str, Outcome]:
    return {"(a) scaled": bent(1.0), "(b) constrained": bent(1.0, "constrain")}
