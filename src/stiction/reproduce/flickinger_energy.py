"""Flickinger 2011, chapter 5: energy that never rises, by scaling and by constraint."""

from functools import partial

import numpy as np

from stiction.engines.forces import OPEN, STICK
from stiction.report.figures import COLORS, new_figure
from stiction.reproduce.flickinger_runs import (
    RUNS,
    Outcome,
    draw_energy,
    draw_trajectory,
    impact_table,
    item,
    shows,
)
from stiction.reproduce.registry import Check, Reproduction, stated


@item("Figure 5.1")
def figure_5_1() -> Reproduction:
    free, held = RUNS["3.4.1"](), RUNS["5.2.1"]()
    figure, axis = new_figure()
    axis.plot(free.time, free.energy, label="energy increases, e* = 5", color=COLORS[1])
    axis.plot(held.time, held.energy, label="energy controlled, e* = 1", color=COLORS[0])
    axis.axhline(free.energy[0], color="0.5", lw=0.8, ls="--")
    axis.set(xlabel="time [s]", ylabel="total energy [J]", xlim=(0, 10), ylim=(0, None))
    axis.legend(frameon=False)
    rise = free.energy.max() - free.energy[0]
    return Reproduction(
        figure,
        checks=[
            Check.close("first impact without control adds [J]", rise, 80.340 - 66.0307, 1e-3),
            *stated(held.check_never_gains()),
        ],
    )


# ------------------------------------------------------------------------- Sec. 5.2: pendulum


@shows("Figure 5.5", "5.2.2", "forces")
@shows("Figure 5.7", "5.2.3", "forces")
def forces_at_rest(run: Outcome) -> list[Check]:
    """What forces at rest must be: constant, inside the static cone, and what statics asks."""
    reversals = run.kinds().count("reversal")
    force = run.force[:, 0]
    resting = run.time > (run.rest or 0.0) + 0.01
    used = np.abs(force[resting, 0]) / force[resting, 1]
    q = np.asarray(run.trajectory.q)[-1]
    # Moments about the pivot and, of bar B, about the joint; bars of 4.04 kg and 1 m.
    weight = 4.04 * 9.81
    x, z = np.cos([q[0], q[0] + q[1]]), np.sin([q[0], q[0] + q[1]])
    arms = np.array([[-z.sum(), x.sum()], [-z[1], x[1]]])
    moments = weight * np.array([x[0] / 2 + x[0] + x[1] / 2, x[1] / 2])
    statics = np.linalg.solve(arms, moments)
    constant, drift = run.check_settled()
    log, ends = run.trajectory.log, [e for e in run.events if e.kind == "stick"][-1]
    assert log is not None
    possible = run.trajectory.scene.motions(log.q[ends.index], log.v_after[ends.index], ends.time)
    modes = [motion.modes for motion in possible.motions]
    pushes = np.sign([*(e.impulse[0] for e in run.hits if abs(e.impulse[0]) > 1e-9), force[-1, 0]])
    turns = int(np.sum(pushes[1:] != pushes[:-1]))
    return [
        *stated(
            constant,
            Check.more("tangential forces change their sign, times", turns, 0),
            Check.more("slip reverses before it rests, times", reversals, 0),
        ),
        Check.below("and what statics asks for [N]", np.abs(force[-1] - statics).max(), 1e-6),
        Check.below("friction needed at rest", used.max(), 0.74),
        Check("when slip ends no motion is possible but sticking", modes == [("stick",)], modes),
        drift,
        *run.check_forces(),
    ]


@shows("Figure 5.2", "5.2.1", "motion")
def figure_5_2(run: Outcome) -> list[Check]:
    first, free = run.impacts[0], RUNS["3.4.1"]().impacts
    apart = abs(free[0].kinetic_after - first.kinetic_after)
    second, *later = (e.kinetic_after - e.kinetic_before for e in free[1:])
    at_six = max(
        (g for e, g in zip(free[2:], later, strict=True) if abs(e.time - 6) < 1), default=0.0
    )
    smooth = np.diff(run.energy).max() / run.energy[0]
    return [
        Check.close("first impact at the time of Figure 3.4 [s]", first.time, free[0].time, 1e-9),
        *stated(
            run.check_never_gains(),
            Check.below(
                "first impact as in Figure 3.4: kinetic energies differ by [J]", apart, 0.1
            ),
            Check.more("the second impact of Figure 3.4 gains [J]", second, 0.1),
            Check.more("and one around 6 s does [J]", at_six, 0.1),
            run.check_no_rest(),
        ),
        Check.below("nor does energy rise in between, of the initial", smooth, 1e-6),
        run.check_ledger(),
    ]


@shows("Figure 5.3", "5.2.1", "forces")
def figure_5_3(run: Outcome) -> list[Check]:
    open_ = bool((run.modes == OPEN).all())
    least = min(e.impulse[1] for e in run.hits)
    return [
        *stated(
            Check("impacts only: never in lasting contact", open_),
            Check.more("normal impulses are positive; the least [N·s]", least, 0),
        ),
        *run.check_forces(),
    ]


@shows("Figure 5.4", "5.2.2", "motion")
def figure_5_4(run: Outcome) -> list[Check]:
    left = run.left[:-1]  # the last is too slow to rebound
    return [
        *stated(
            run.check_rest(10.0),
            Check.close("kinetic energy left by rebounds, median", np.median(left), 0.5, 0.05),
        ),
        Check.below("and at most", left.max(), 0.5 + 1e-12),
        run.check_ledger(),
    ]


@shows("Figure 5.6", "5.2.3", "motion")
def figure_5_6(run: Outcome) -> list[Check]:
    kinds, n = run.kinds(), len(run.impacts)
    return [
        *stated(
            run.check_rest(run.impacts[0].time + 1.0),
            Check("comes to rest after two rebounds", n == 2, n, 2),
            Check("slips, then sticks", "stick" in kinds and kinds[-1] == "rest", kinds),
        ),
        Check.below("kinetic energy left, at most", run.left.max(), 0.5 + 1e-12),
        run.check_ledger(),
    ]


# --------------------------------------------------------------------------- Sec. 5.3: bicycle


def _check_speed(run: Outcome, since: float) -> Check:
    """Spinning up the wheels leaves 5/7 of the speed."""
    speed = np.asarray(run.trajectory.v)[run.time > since + 0.01, 0]
    error = np.abs(speed - 10 / 7).max()
    return Check.below("rolls at 2 · 5/7 m/s, constant; error [m/s]", error, 1e-8)


@shows("Figure 5.11", "5.3.2", "forces")
@shows("Figure 5.13", "5.3.3", "forces")
def forces_of_rolling(run: Outcome) -> list[Check]:
    """Rolling on level ground needs no friction, and each wheel bears half the weight."""
    later = run.time > max(e.time for e in run.hits) + 0.01
    force, half = run.force[later], 5 * 9.81 / 2
    bears = np.abs(force[:, :, 1] - half).max()
    return [
        Check("both wheels roll without slip", bool((run.modes[later] == STICK).all())),
        *stated(
            Check.below("tangential force while rolling [N]", np.abs(force[:, :, 0]).max(), 1e-7)
        ),
        Check.below("each wheel bears half the weight, error [N]", bears, 1e-7),
        *run.check_forces(),
    ]


@shows("Figure 5.8", "5.3.1", "motion")
def figure_5_8(run: Outcome) -> list[Check]:
    error = np.abs(run.left - 0.95).max()
    return [
        Check.below("every impact leaves 0.95 of the kinetic energy, error", error, 1e-12),
        run.check_no_rest(),
        run.check_ledger(),
    ]


shows("Figure 5.9", "5.3.1", "forces")(Outcome.check_forces)


@shows("Figure 5.10", "5.3.2", "motion")
def figure_5_10(run: Outcome) -> list[Check]:
    # Impacts end after a geometric series of flights: t₁ (1 + 2 e / (1 - e)) = 3 t₁.
    ends = 3 * np.sqrt(9 / 9.81)
    last = max(e.time for e in run.hits)
    return [
        run.check_never_gains(),
        Check.close("bounces end where their series does [s]", last, ends, 1e-3),
        Check("then it rolls [s]", run.rolling_since < 3, run.rolling_since, "< 3"),
        _check_speed(run, ends),
        run.check_ledger(),
    ]


@shows("Figure 5.12", "5.3.3", "motion")
def figure_5_12(run: Outcome) -> list[Check]:
    hit = run.impacts[0]
    after = run.energy[run.time > hit.time + 1e-9]
    instants = {e.time for e in run.hits}
    return [
        *stated(
            Check("hits once, with no rebound", len(instants) == 1, len(instants), 1),
            Check.below("then energy is constant [J]", np.ptp(after), 1e-9),
            _check_speed(run, hit.time),
        ),
        Check.close("kinetic energy after it [J]", hit.kinetic_after, 50 / 7, 1e-6),
        run.check_ledger(),
    ]


# --------------------------------------------------- Sec. 5.5: the bent pendulum, three ways


def controlled() -> dict[str, Outcome]:
    """The bent pendulum with its energy controlled in both ways."""
    return {"(a) scaled": RUNS["5.5, scaled"](), "(b) constrained": RUNS["5.5, constrained"]()}


@shows("Figure 5.14", "5.5, free", "motion, potential")
def figure_5_14(run: Outcome) -> list[Check]:
    first = run.impacts[0]
    return [
        Check.close("first impact [s]", first.time, 0.508030, 1e-5),
        Check.close("kinetic energy before [J]", first.kinetic_before, 73.1209, 73e-5),
        Check.close("kinetic energy after [J]", first.kinetic_after, 79.4908, 79e-5),
        *stated(
            Check.close("first impact at about 0.5 s [s]", first.time, 0.5, 0.05),
            Check.more("it gains energy [J]", run.gains[0], 0),
            Check.below("later impacts do not: the most [J]", run.gains[1:].max(), 0),
        ),
        run.check_ledger(),
    ]


def _places(run: Outcome) -> np.ndarray:
    """Where the tip strikes, along N1 [m]."""
    before = [np.searchsorted(run.time, e.time) - 1 for e in run.impacts]
    q = np.asarray(run.trajectory.q)[before]
    return np.cos(q[:, 0]) + np.cos(q[:, 0] + q[:, 1])


def _two_panels(runs: dict[str, Outcome], draw, **options):
    figure, panels = new_figure(1, 2, **options)
    for axis, (name, run) in zip(panels, runs.items(), strict=True):
        draw(axis, run)
        axis.set_title(name, loc="left")
    return figure


@item(
    "Figure 5.15",
    of=controlled,
    draw=lambda runs: _two_panels(runs, draw_trajectory, figsize=(10.4, 4.2)),
    table=lambda runs: [row for run in runs.values() for row in impact_table(run)],
)
def figure_5_15(runs: dict[str, Outcome]) -> list[Check]:
    a, b = runs.values()
    scaled, constrained = a.impacts[0], b.impacts[0]
    u_scaled, u_plus = np.array(scaled.velocity_after), np.array(constrained.velocity_after)
    turned = np.abs(u_plus + np.array(constrained.velocity_before)).max()
    cosine = u_scaled @ u_plus / (np.linalg.norm(u_scaled) * np.linalg.norm(u_plus))
    apart = np.abs(np.asarray(a.trajectory.q) - np.asarray(b.trajectory.q)).max(axis=1) > 0.05
    since = float(a.time[np.argmax(apart)]) if apart.any() else np.inf
    alike = "both leave the first impact with similar velocities of the tip: cosine"
    near = sum(abs(x + 0.5) < 0.1 for x in _places(b)[-5:])
    round_ = "constraint: the first impact turns the tip's velocity round, |u⁺ + u⁻|"
    return [
        *stated(
            Check.more(alike, float(cosine), 0.95),
            Check.more("both move alike until the last bounces, near 3.25 s [s]", since, 3.0),
            Check.more("constraint: the last impacts are near -0.5 m along N1, of five", near, 1),
        ),
        Check.below(round_, turned, 1e-9),
    ]


@item(
    "Figure 5.16",
    of=controlled,
    draw=lambda runs: _two_panels(
        runs, partial(draw_energy, potential=True), figsize=(10.4, 3.9), sharey=True
    ),
)
def figure_5_16(runs: dict[str, Outcome]) -> list[Check]:
    scaled, constrained = runs.values()
    near = [e for e in constrained.impacts if abs(e.time - 3.25) < 0.4]
    lost = [e.kinetic_before - e.kinetic_after for e in near]
    one, other = (run.impacts[0].kinetic_after for run in runs.values())
    loses = "constraint: energy lost at the impact near 3.25 s, more than by scaling [J]"
    return [
        *stated(
            *(run.check_never_gains() for run in runs.values()),
            Check.more(loses, float(max(lost, default=0.0)), 0.1),
        ),
        Check.close("both leave the same energy after the first impact [J]", one, other, 1e-6),
        scaled.check_ledger(),
        constrained.check_ledger(),
    ]
