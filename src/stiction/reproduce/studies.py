"""Where documents and project differ: what is open, varied until the document's result appears.

Not figures of a document: each study asks which choice of what a document leaves open, or which
departure from what it prints, gives what it says. The findings are in docs/differences.md.
"""

from functools import partial

import numpy as np

from stiction.laws import HuntCrossley, LinearSpringDamper, impact
from stiction.report.figures import COLORS, new_figure
from stiction.reproduce.flickinger_appendix import (
    STEP,
    DamperMotion,
    apart,
    by_events,
    drive,
    fixed_step,
)
from stiction.reproduce.flickinger_oblique import MU_STATIC, first_impact, first_map
from stiction.reproduce.flickinger_runs import BENT, NO_CONTROL, RUNS, Outcome, pendulum
from stiction.reproduce.registry import Check, Document, Reproduction, stated
from stiction.scenes import past_impact

item = Document("studies").item
MASS, WIDTH = 4.04, 0.05  # of a bar, of 1 m
NEARER = "mechanism.edits.body.bar_a.pos=[0,0,1.4]"
UNIFORM = (1 + WIDTH**2) / 12  # central moment of inertia over m L²


# ------------------------------------------------------------- the first impacts of the pendulum


def _inertia(ratio: float) -> list[str]:
    """Bars as heavy and as long, but so wide that m (L² + w²) / 12 is `ratio` m L²."""
    half = np.sqrt(12 * ratio - 1) / 2
    return [
        setting
        for bar in ("bar_a", "bar_b")
        for setting in (
            f"mechanism.edits.geom.{bar}.size=[0.5,0.005,{half}]",
            f"mechanism.edits.geom.{bar}.mass={MASS}",
        )
    ]


def _gains(ratio: float) -> tuple[float, float, float, float]:
    """Energy gained at the first and second impact of Figure 3.4, and at the first and at most
    at a later one of Figure 5.14 [J]."""
    level = pendulum(1.0, NO_CONTROL, "until=3.5", *_inertia(ratio)).gains
    folded = pendulum(1.0, NO_CONTROL, BENT, "until=5", *_inertia(ratio)).gains
    return level[0], level[1], folded[0], folded[1:].max()


@item("Study 1")
def first_impacts() -> Reproduction:
    ratios = np.array([UNIFORM, 0.1, 0.11, 0.12, 0.13, 0.144, 0.155, 0.17, 0.2, 0.25, 0.3, 1 / 3])
    found = np.array([_gains(float(r)) for r in ratios])
    figure, axis = new_figure(figsize=(7.0, 4.2))
    names = ("level start, first impact", "level start, second", "bent start, first",
             "bent start, largest later")  # fmt: skip
    for values, name in zip(found.T, names, strict=True):
        axis.plot(ratios, np.clip(values, -40, 40), ".-", label=name)
    axis.axhline(0, color="0.5", lw=0.8)
    axis.axvline(UNIFORM, color="0.6", ls=":", lw=1)
    axis.annotate(" uniform bars", (UNIFORM, -38), fontsize=8)
    axis.set(xlabel="central moment of inertia of a bar / m L²", ylabel="energy gained [J]")
    axis.legend(fontsize=8)
    says = (found[:, 0] <= 0) & (found[:, 1] > 0) & (found[:, 2] > 0) & (found[:, 3] <= 0)
    nearer = pendulum(1.0, NO_CONTROL, "until=3.5", NEARER).gains
    return Reproduction(
        figure,
        table=[
            {"I / m L²": f"{r:.4f}"} | {n: f"{v:+.2f}" for n, v in zip(names, row, strict=True)}
            for r, row in zip(ratios, found, strict=True)
        ],
        checks=[
            Check.close("uniform bars: the first impact gains [J]", found[0, 0], 14.309, 1e-2),
            Check("some inertia meets all four", bool(says.any()), ratios[says].tolist()),
            Check("uniform bars do not", not says[0]),
            Check("with the ground 0.1 m nearer the first loses and the second gains [J]",
                  bool(nearer[0] < 0 < nearer[1]), nearer[:2].tolist()),
        ],
    )  # fmt: skip


# --------------------------------------------------------------- what sticking on a slope needs


def stick_friction(slope: np.ndarray, along: float, upright: float, e: float, exact: bool):
    """μ_f of the first wheel, and the limit of μ for fast slip, at slopes [rad].

    Wheels of 2 kg with semi-axes `along` the bar and `upright`, on the ends of a bar of 1 kg:
    the inverse mass of a wheel's centre is 1/5 along the bar and 1/5 + 3/13 across it, whatever
    the bar's length. The contact point is exact, or straight below the centre.
    """
    n = np.stack([np.sin(slope), np.cos(slope)])
    t = np.stack([np.cos(slope), -np.sin(slope)])
    size = np.stack([np.full_like(slope, along), np.full_like(slope, upright)])
    r = -(size**2) * n / np.sqrt(np.sum((size * n) ** 2, axis=0))
    r = r if exact else np.stack([np.zeros_like(slope), -size[1]])
    spin = np.stack([-r[1], r[0]])
    inertia = 2 * (along**2 + upright**2) / 4
    inverse = np.diag([1 / 5, 1 / 5 + 3 / 13])

    def W(a, b):
        return np.einsum("in,ij,jn->n", a, inverse, b) + (a * spin).sum(0) * (b * spin).sum(0) / (
            inertia
        )

    u_t, u_n = np.sin(slope), -np.cos(slope)  # of a fall at 1 m/s
    det = W(t, t) * W(n, n) - W(t, n) ** 2
    p_t = (-W(n, n) * u_t + W(t, n) * (1 + e) * u_n) / det
    p_n = (W(t, n) * u_t - W(t, t) * (1 + e) * u_n) / det
    return np.abs(p_t) / p_n, W(n, n) / np.abs(W(t, n))


@item("Study 2")
def sticking_on_slopes() -> Reproduction:
    degrees = np.linspace(1, 45, 89)
    figure, panels = new_figure(1, 2, figsize=(10.0, 4.0), sharey=True)
    shapes = {"short axis upright": (0.5, 0.25), "long axis upright": (0.25, 0.5)}
    table = []
    for axis, (shape, size) in zip(panels, shapes.items(), strict=True):
        for exact, color in ((True, COLORS[0]), (False, COLORS[1])):
            name = "exact contact point" if exact else "straight below the centre"
            ends = [stick_friction(np.radians(degrees), *size, e, exact)[0] for e in (0.0, 1.0)]
            axis.fill_between(degrees, *ends, color=color, alpha=0.35, lw=0, label=f"{name}, e 0-1")
            at = np.radians([15.0, 30.0, 45.0])
            (low, limit), (high, _) = (stick_friction(at, *size, e, exact) for e in (0.0, 1.0))
            table.append(
                {"wheels": shape, "contact": name, "limit at 15°": f"{limit[0]:.2f}"}
                | {
                    f"μ_f at {d}°": f"{a:.2f} to {b:.2f}"
                    for d, a, b in zip((15, 30, 45), low, high, strict=True)
                }
            )
        axis.axhline(MU_STATIC, color="0.4", ls="--", lw=1)
        axis.set(xlabel="slope [degrees]", title=shape, ylim=(0, 1.1))
    panels[0].set_ylabel("friction that sticking needs, μ_f")
    panels[0].legend(fontsize=8)
    at, tall = np.radians([15.0, 30.0, 45.0]), partial(stick_friction, along=0.25, upright=0.5)
    low, high = (tall(at, e=e, exact=True)[0] for e in (1.0, 0.0))
    below = float(tall(at[:1], e=1.0, exact=False)[1][0])
    engine = float(first_map(45, 0.5, np.zeros(1)).mu_stick[0])
    flat = stick_friction(at[2:], 0.5, 0.25, 1.0, True)[0][0]
    # With a limit μ = W_nn / |W_tn| and a positive W, W_tt / |W_tn| is at least 1 / μ, so that the
    # normal impulse of a plastic impact vanishes at u_t + |u_n| / μ or beyond.
    found, fall = first_map(15, 0.0, np.zeros(1)), np.linalg.norm(first_impact(15).velocity[0])
    bounds = fall * (np.sin(at[0]) + np.cos(at[0]) / np.array([1.5, float(found.mu_limit[0])]))
    return Reproduction(
        figure,
        table,
        checks=[
            Check.close("μ_f at 45° by the closed form and by the engine", engine,
                        float(tall(at[2:], e=0.5, exact=True)[0][0]), 1e-9),
            Check.below("long axis upright: sticks at 30° for every e", float(high[1]), MU_STATIC),
            Check.more("and at 45° for none", float(low[2]), MU_STATIC),
            Check.below("short axis upright: would stick at 45°", float(flat), MU_STATIC),
            Check.close("contact straight below the centre: limit at 15°", below, 1.5, 0.05),
            Check.more("any wheel with the limit 1.5: pole beyond [m/s]", float(bounds[0]), 1.0),
            Check.more("and that of these wheels beyond the bound of theirs, by [m/s]",
                       float(found.pole[0] - bounds[1]), 0.0),
        ],
    )  # fmt: skip


# ------------------------------------------------------ when the bound on energy is asked for


MU_DYNAMIC = 0.57  # Table 5.3


def _allowed_slips(W: np.ndarray, before: np.ndarray) -> np.ndarray:
    """The slips after an elastic impact of one contact that μ_d allows: an interval's ends [m/s].

    Impulses are affine in the slip, so that |p_t| ≤ μ_d p_n cuts off two half-lines.
    """
    at_rest = np.linalg.solve(W, [-before[0], -2 * before[1]])  # e = 1, no slip after
    a_slip = np.linalg.solve(W, [1.0, 0.0])
    ends = []
    for sign in (1, -1):
        edge = np.array([sign, -MU_DYNAMIC])  # ± p_t - μ_d p_n ≤ 0
        ends.append(-(edge @ at_rest) / (edge @ a_slip))
    return np.sort(ends)


def _energy_of_slips(run: Outcome, times: list[float]):
    """Energy gained against the slip after it, at some impacts with e = 1, and the slip taken."""
    figure, panels = new_figure(1, len(times), sharey=True, figsize=(9.0, 3.4))
    hits = {e.time: e for e in run.impacts}
    for axis, t in zip(panels, times, strict=True):
        problem = past_impact(run.trajectory, hits[t].index).problem
        W, before = np.asarray(problem.W), np.asarray(problem.velocity)[0]
        slip = np.linspace(-8, 8, 401)
        after = np.stack([slip, np.full_like(slip, -before[1])], axis=1)
        push = np.linalg.solve(W, (after - before).T).T
        gained = np.sum(push * (after + before), axis=1) / 2
        pushes = push[:, 1] > 0
        mu = np.where(pushes, np.abs(push[:, 0]) / np.where(pushes, push[:, 1], 1.0), np.inf)
        axis.plot(slip, gained, color="0.6", lw=1, label="any slip")
        axis.plot(slip, np.where(mu <= 0.74, gained, np.nan), lw=2, label="within μ_s")
        axis.plot(slip, np.where(mu <= 0.57, gained, np.nan), lw=2, label="within μ_d")
        taken = float(hits[t].velocity_after[0])
        axis.plot(taken, np.interp(taken, slip, gained), "ko", ms=5, label="before scaling")
        axis.axhline(0, color="0.4", ls="--", lw=1)
        axis.set(xlabel="slip after [m/s]", ylim=(-60, 60))
        axis.set_title(f"at {t:.2f} s", loc="left")
    panels[0].set_ylabel("energy gained [J]")
    panels[0].legend(fontsize=7)
    return figure


@item("Study 4")
def order_of_tests() -> Reproduction:
    run = RUNS["5.5, scaled"]()
    slips = [e for e in run.impacts if abs(e.velocity_after[0]) > 1e-9]
    left = [e.kinetic_after / e.kinetic_before for e in slips]
    problems = {e.time: past_impact(run.trajectory, e.index).problem for e in slips}
    ends = {
        t: _allowed_slips(np.asarray(p.W), np.asarray(p.velocity)[0]) for t, p in problems.items()
    }
    rows = [
        {"t [s]": f"{e.time:.3f}", "tip": "slips" if e in slips else "sticks",
         "T before [J]": f"{e.kinetic_before:.2f}", "T after [J]": f"{e.kinetic_after:.2f}",
         "slip after [m/s]": f"{e.velocity_after[0]:.3f}",
         "slips that μ_d allows [m/s]": " to ".join(f"{x:.3f}" for x in ends.get(e.time, ()))}
        for e in run.impacts
    ]  # fmt: skip
    nearest = [min(abs(ends[e.time])) for e in slips]
    held = [e.time for e in run.impacts[1:] if e.kinetic_after > (1 - 1e-9) * e.kinetic_before]
    apart = [abs(abs(e.velocity_after[0]) - x) for e, x in zip(slips, nearest, strict=True)]
    return Reproduction(
        _energy_of_slips(run, [run.impacts[0].time, slips[0].time, held[0]]),
        table=rows,
        checks=[
            Check.more("impacts of Figure 5.15 (a) that slip", len(slips), 0),
            Check.more("none of them could stick: least product of the ends of what is allowed",
                       min(float(np.prod(x)) for x in ends.values()), 0.0),
            Check.below("the one optimum of (5.6) is the end nearest to sticking; off by [m/s]",
                        max(apart), 1e-3),
            Check.below(
                "(5.9) would not bind at any of them: T⁺ / T⁻ at most", max(left), 1 - 1e-6
            ),
            Check("later impacts where no slip would gain: one", len(held) == 1, held),
            *stated(Check.close("where the document's runs part [s]", held[0], 3.25, 0.25)),
        ],
    )  # fmt: skip


# ------------------------------------------------ marhefka's law beside those of its related work

RESTITUTION_AT_ONE = 0.662962  # of marhefka's law with α = 0.5 s/m at 1 m/s: all laws meet there


def _baselines(mass: float, speed: float) -> dict[str, impact.ImpactCourse]:
    """An impact by four laws with one stiffness, which agree for 1 kg at 1 m/s."""
    k, e = 10e3, RESTITUTION_AT_ONE
    ratio = impact.damping_ratio_for_restitution(e, clamp=False)
    linear = LinearSpringDamper(
        stiffness=k, damping=float(2 * ratio * np.sqrt(k * 1.0)), clamp=False
    )
    law = HuntCrossley.from_alpha(stiffness=k, alpha=0.5)
    courses = {
        name: impact.impact_course(
            of, mass=mass, speed=speed,
            duration=impact.integrate_impact(of, mass=mass, speed=speed).duration,
        )
        for name, of in (("nonlinear (6)", law), ("linear (3)", linear))
    }  # fmt: skip
    courses["two springs"] = impact.two_springs_course(
        mass=mass, stiffness=k, ratio=e**2, speed=speed
    )
    courses["in series"] = impact.series_course(
        mass=mass, surface_stiffness=3 * k, base_stiffness=1.5 * k, damping=SERIES_DAMPING,
        speed=speed,
    ).impact  # fmt: skip
    return courses


SERIES_DAMPING = 73.6  # [N·s/m]: 1 kg at 1 m/s rebounds as with the other laws


def _jump(course: impact.ImpactCourse) -> float:
    """Largest step of the force between samples, the first from zero, over its peak."""
    force = np.asarray(course.force)
    steps = np.abs(np.diff(np.concatenate([[0.0], force, [0.0]])))
    return float(steps.max() / force.max())


@item("Study 5")
def related_work() -> Reproduction:
    first = _baselines(1.0, 1.0)
    figure, (left, right) = new_figure(1, 2, figsize=(9.6, 4.0))
    for (name, course), color in zip(first.items(), COLORS, strict=False):
        left.plot(1e3 * np.asarray(course.depth), np.asarray(course.force), color=color, label=name)
    left.set(xlabel="depth [mm]", ylabel="force [N]", title="1 kg at 1 m/s")
    left.legend(fontsize=8)
    speeds = np.linspace(0.25, 4.0, 6)
    found = {name: {} for name in first}
    for mass, style in ((1.0, "-"), (10.0, "--")):
        runs = [_baselines(mass, float(v)) for v in speeds]
        for name, color in zip(first, COLORS, strict=False):
            e = [-float(r[name].velocity[-1]) / v for r, v in zip(runs, speeds, strict=True)]
            found[name][mass] = np.array(e)
            right.plot(speeds, e, style, color=color)
    right.set(xlabel="impact speed [m/s]", ylabel="restitution", ylim=(0, 1),
              title="solid: 1 kg, dashed: 10 kg")  # fmt: skip
    rows = [
        {"law": name, "largest step of the force, of its peak": f"{_jump(course):.2f}",
         "least force [N]": f"{float(course.force.min()):.1f}",
         "e, 1 kg, 0.25 to 4 m/s": f"{e[1.0][0]:.3f} to {e[1.0][-1]:.3f}",
         "e, 10 kg": f"{e[10.0][0]:.3f} to {e[10.0][-1]:.3f}"}
        for (name, course), e in zip(first.items(), found.values(), strict=True)
    ]  # fmt: skip
    by_speed = {n: float(np.ptp(e[1.0])) for n, e in found.items()}
    by_mass = {n: float(np.abs(e[1.0] - e[10.0]).max()) for n, e in found.items()}
    mine, linear, springs, series = first
    return Reproduction(
        figure,
        rows,
        checks=[
            *stated(
                Check.more("linear: the force steps at touch, of its peak", _jump(first[linear]),
                           0.2),
                Check.more("and pulls before parting [N]", -float(first[linear].force.min()), 1.0),
                Check.more("its restitution depends on the mass", by_mass[linear], 0.05),
                Check.below("and not on the speed", by_speed[linear], 1e-6),
                Check.below("in series: the force is continuous; its largest step",
                            _jump(first[series]), 0.03),
                Check.below("nonlinear: the force is continuous; its largest step",
                            _jump(first[mine]), 0.03),
                Check.below("its restitution does not depend on the mass", by_mass[mine], 1e-6),
                Check.more("and falls with speed", by_speed[mine], 0.3),
            ),
            Check.more("two springs: the force steps at the greatest depth", _jump(first[springs]),
                       0.3),
            Check.below("its restitution depends neither on mass nor on speed",
                        by_mass[springs] + by_speed[springs], 1e-9),
            Check.below("in series: it does not depend on the speed", by_speed[series], 1e-9),
            Check.more("but on the mass", by_mass[series], 0.05),
        ],
    )  # fmt: skip


# ------------------------------------------------ appendix A: when a velocity is taken for zero


def _swings(motion: DamperMotion) -> tuple[float, float]:
    """Largest |Z| and |dZ| [in]."""
    z = drive(motion.time) + motion.deflection
    return float(np.abs(z).max()), float(np.abs(motion.deflection).max())


FRICTIONS = "below friction's acceleration times the step, 0.77 in/s"


@item("Study 7")
def rules_of_capture() -> Reproduction:
    event, _ = by_events()
    rules = {
        FRICTIONS: fixed_step(),
        "a change of sign": fixed_step(capture="crossing"),
        "predicted": fixed_step(capture="predicted"),
    } | {f"below {v:g} in/s": fixed_step(threshold=v) for v in (0.1, 0.3, 1.0)}
    found = {name: _swings(motion) for name, motion in rules.items()}
    z, dz = _swings(event)
    figure, axis = new_figure(figsize=(7.0, 3.6))
    for name, motion in rules.items():
        axis.plot(motion.time, motion.rate, lw=1, label=name)
    axis.plot(event.time, event.rate, "k", lw=1.4, label="events")
    axis.set(xlabel="time [s]", ylabel="dVs [in/s]", xlim=(1.0, 1.6))
    axis.legend(fontsize=7, ncols=2)
    rows = [
        {"zero velocity is": name, "largest Z [in]": f"{a:.4f}", "largest dZ [in]": f"{b:.4f}",
         "sticks [s]": f"{rules[name].stuck:.3f}"}
        for name, (a, b) in found.items()
    ]  # fmt: skip
    rows.append({"zero velocity is": "an event", "largest Z [in]": f"{z:.4f}",
                 "largest dZ [in]": f"{dz:.4f}", "sticks [s]": f"{event.stuck:.3f}"})  # fmt: skip
    missed = found[FRICTIONS][0]
    short = apart(fixed_step(STEP / 100), event), apart(fixed_step(STEP / 100, "crossing"), event)
    return Reproduction(
        figure,
        rows,
        checks=[*stated(
            Check.more("with missed crossings Z swings more than by events [in]", missed, z),
            Check.more("with predicted ones dZ does [in]", found["predicted"][1], dz),
            Check.more("but for the smallest threshold it sticks longer than by events; least [s]",
                       min(m.stuck for n, m in rules.items() if n != "below 0.1 in/s"),
                       event.stuck),
        ), Check.more("a hundred times shorter steps still miss crossings: rms off, over that of"
                      " the rule which misses none", short[0] / short[1], 10.0)],
    )  # fmt: skip
