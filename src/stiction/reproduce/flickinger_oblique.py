"""Flickinger 2011, chapter 4: oblique impacts, and the friction that they can have."""

import functools
from functools import partial

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from stiction.engines import Event
from stiction.engines.contact_dynamics import contact_dynamics, kinetic
from stiction.engines.forces import OPEN, STICK
from stiction.impacts import FrictionMap, ImpactProblem, friction_map, impact_law
from stiction.report.figures import COLORS, new_figure
from stiction.reproduce.flickinger_contact import rolling_since
from stiction.reproduce.flickinger_runs import (
    Outcome,
    bicycle,
    check_forces,
    check_ledger,
    check_never_gains,
    impact_table,
    trajectory_figure,
)
from stiction.reproduce.registry import Check, Reproduction, check_below, check_close, reproduces

reproduces_4 = partial(reproduces, "flickinger", chapter=4)
MU_STATIC, MU_DYNAMIC = 0.5, 0.25
SLOPES = (0, 15, 30, 45)  # [degrees]
RESTITUTIONS = (0.0, 0.25, 0.5, 0.75, 1.0)
RESTITUTION = 0.5  # of the runs; the document does not say
GRAVITY = 9.81
_ALIKE = 1e-6  # two coefficients nearer than this are one


def rolling_bicycle(slope: int) -> Outcome:
    """The bicycle of Table 4.1 on a slope; on level ground it is thrown forward at 2 m/s."""
    return bicycle(
        RESTITUTION,
        1.0,
        f"ground.slope_deg={slope}",
        f"contact.mu_static={MU_STATIC}",
        f"contact.mu_dynamic={MU_DYNAMIC}",
        *(["start.v=[2,0,0,0,0]"] if slope == 0 else []),
    )


@functools.cache
def first_impact(slope: int) -> ImpactProblem:
    """The impact problem at the end of the fall."""
    run = rolling_bicycle(slope)
    hits = [e for e in run.impacts if e.time == run.impacts[0].time]
    mechanism, contacts = run.run.mechanism, run.run.contacts
    assert contacts is not None
    q0, v0 = (np.asarray(x)[0] for x in (run.trajectory.q, run.trajectory.v))
    t = hits[0].time
    fall = np.array([0, -1.0, 0, 0, 0]) * GRAVITY
    q, v = jnp.asarray(q0 + t * v0 + t**2 / 2 * fall), jnp.asarray(v0 + t * fall)
    d = contact_dynamics(mechanism, contacts, q, v, jnp.asarray(t), jnp.zeros(5))
    names = [e.contact for e in hits]
    each = jnp.ones(contacts.count)
    return ImpactProblem(
        W=d.W,
        velocity=d.contacts.velocity,
        active=jnp.asarray([name in names for name in contacts.names]),
        restitution=RESTITUTION * each,
        mu_static=MU_STATIC * each,
        mu_dynamic=MU_DYNAMIC * each,
        stribeck_speed=1.4e-4 * each,
        stribeck_exponent=each,
        kinetic=kinetic(d.L, v),
        energetic=jnp.asarray(jnp.inf),
    )


def first_map(slope: int, restitution: float, slip: np.ndarray) -> FrictionMap:
    """What every slip after the first impact needs, all wheels that hit slipping alike."""
    problem = first_impact(slope)
    wheels = problem.active.size
    problem = eqx.tree_at(lambda p: p.restitution, problem, jnp.full(wheels, restitution))
    return friction_map(problem, jnp.asarray(slip), jnp.ones((wheels, 1)))


# ------------------------------------------------------------------------- feasible friction curves


@reproduces_4("Figure 4.1", title="Friction against tangential velocity after an impact")
def figure_4_1() -> Reproduction:
    slip = np.linspace(-14, 10, 1201)
    wheel = 0
    found = first_map(30, 0.0, slip)
    mu, feasible = np.asarray(found.mu)[:, wheel], np.asarray(found.normal)[:, wheel] > 0
    mu_f, pole = float(found.mu_stick[wheel]), float(found.pole[wheel])
    figure, axis = new_figure(figsize=(7.0, 4.4))
    axis.plot(slip, np.where(feasible, mu, np.nan), color=COLORS[0], label="needed, (4.2)")
    _shade(axis, slip, found, wheel, alpha=0.25)
    top = 1.2
    below = feasible & (mu <= min(mu_f, MU_STATIC))
    axis.fill_between(slip, np.where(below, mu, np.nan), min(mu_f, MU_STATIC), color=COLORS[2],
                      alpha=0.25, lw=0, label="feasible slip")  # fmt: skip
    axis.plot([0, 0], [mu_f, top], color=COLORS[2], lw=2.4, label="feasible stick")
    for value, name in ((mu_f, "μ_f"), (MU_STATIC, "μ_s"), (MU_DYNAMIC, "μ_d")):
        axis.axhline(value, color="0.4", lw=0.9, ls="--")
        axis.annotate(name, (slip[0] + 0.1, value + 0.012), fontsize=9, color="0.3")
    plastic = eqx.tree_at(lambda p: p.restitution, first_impact(30), jnp.zeros(2))
    chosen = float(impact_law("dissipation", "off")(plastic).mu[wheel])
    axis.plot(0, chosen, "o", color="black", ms=6, zorder=5, label="the optimum of (4.5)")
    axis.annotate("", (0, MU_STATIC), (0, chosen), arrowprops={"arrowstyle": "<->", "lw": 1})
    axis.annotate("d", (0.15, (chosen + MU_STATIC) / 2), fontsize=9)
    axis.set(xlim=(slip[0], slip[-1]), ylim=(0, top))
    axis.set(xlabel="tangential velocity after [m/s]", ylabel="friction coefficient")
    axis.legend(frameon=False, loc="upper left", fontsize=8)
    return Reproduction(
        figure=figure,
        checks=[
            check_close("the curve at v_t = 0 is μ_f", np.interp(0, slip, mu), mu_f, 1e-4),
            check_close("it sticks, and uses just that", chosen, mu_f, 1e-9),
            Check("the normal impulse vanishes at the edge of the shaded region",
                  abs(float(first_map(30, 0.0, np.array([pole])).normal[0, wheel])) < 1e-9),
        ],
        note="The first impact of the bicycle on a slope of 30°, e = 0; the document's is a"
        " sketch. Shaded: the wheel would have to be pulled.",
    )  # fmt: skip


def _curves(slope: int) -> Reproduction:
    slip = np.linspace(-20 if slope else -8, 15, 2001)
    wheel = 0
    figure, axis = new_figure(figsize=(7.0, 4.4))
    maps = {e: first_map(slope, e, slip) for e in RESTITUTIONS}
    shades = np.linspace(0.25, 0.9, len(RESTITUTIONS))
    for (e, found), dark in zip(maps.items(), shades, strict=True):
        feasible = np.asarray(found.normal)[:, wheel] > 0
        color = (*_rgb(COLORS[0], dark),)
        mu = np.where(feasible, np.asarray(found.mu)[:, wheel], np.nan)
        axis.plot(slip, mu, color=color, label=f"e = {e:g}")
        _shade(axis, slip, found, wheel, alpha=0.08)
        axis.axhline(float(found.mu_stick[wheel]), color=color, lw=0.9, ls="--")
    for value, name in ((MU_STATIC, "μ_s"), (MU_DYNAMIC, "μ_d")):
        axis.axhline(value, color=COLORS[1], lw=1)
        axis.annotate(name, (slip[-1], value), ha="right", va="bottom", fontsize=9, color=COLORS[1])
    axis.axvline(0, color="0.6", lw=0.8)
    axis.set(xlim=(slip[0], slip[-1]), ylim=(0, 2.0 if slope else 1.0))
    axis.set(xlabel="tangential velocity after [m/s], down the slope positive",
             ylabel="friction coefficient")  # fmt: skip
    axis.legend(frameon=False, loc="upper center", ncols=5, bbox_to_anchor=(0.5, 1.1))
    stick = np.array([float(m.mu_stick[wheel]) for m in maps.values()])
    limits = np.array([float(m.mu_limit[wheel]) for m in maps.values()])
    poles = np.array([float(m.pole[wheel]) for m in maps.values()])
    checks = [_check_used(slope, rolling_bicycle(slope).impacts[0])]
    if slope == 0:
        before = float(first_impact(0).velocity[wheel, 0])
        middle = maps[RESTITUTION]
        wedge = np.asarray(middle.mu)[:, wheel] / np.maximum(np.abs(slip - before), 1e-9)
        away = np.abs(slip - before) > 0.1
        checks += [
            check_below("a wedge about the velocity before: spread of its slope, relative",
                        np.ptp(wedge[away]) / wedge[away].mean(), 1e-6),
            Check("all slips are feasible", all(bool((m.normal > 0).all()) for m in maps.values())),
            Check("μ_f is below μ_s and μ_d for every e", bool((stick < MU_DYNAMIC).all()),
                  stick.tolist(), f"< {MU_DYNAMIC}"),
        ]  # fmt: skip
    else:
        far = [float(first_map(slope, e, np.array([s])).mu[0, wheel])
               for e in RESTITUTIONS for s in (-1e6, 1e6)]  # fmt: skip
        checks += [
            Check("faster slip on one side cannot be had", bool(np.isfinite(poles).all()),
                  poles.tolist(), "edges [m/s]"),
            check_below("both sides tend to one limit, the same for every e, relative",
                        np.ptp([*far, *limits]) / limits[0], 1e-4),
        ]  # fmt: skip
    table = [
        {"e": e, "μ_f": f"{s:.4f}", "limit of μ": f"{m:.4f}", "p_n = 0 at [m/s]": f"{p:.3f}"}
        for e, s, m, p in zip(RESTITUTIONS, stick, limits, poles, strict=True)
    ]
    return Reproduction(figure=figure, table=table, checks=checks, note=_NOTES[slope])


_NOTES = {
    0: "Thrown forward at 2 m/s, as in Figure 4.6: at rest no friction would be needed. Both wheels"
    " hit at once and slip alike.",
    15: "Shaded, one layer for each e: the wheel would have to be pulled. The document has this"
    " region close to v_t = 0 and down the slope, from an approximate contact point, and a limit of"
    " μ = 1.5.",
    30: "Shaded, one layer for each e: the wheel would have to be pulled.",
    45: "The document finds sticking infeasible here. With wheel centres 2 m apart, which it leaves"
    " open, and the exact contact point on the ellipse, sticking needs less than μ_s.",
}
for _number, _slope in zip((2, 3, 4, 5), SLOPES, strict=True):
    reproduces_4(
        f"Figure 4.{_number}", title=f"Friction against tangential velocity, slope {_slope}°"
    )(partial(_curves, _slope))


def _check_used(slope: int, used: Event) -> Check:
    """The run does what the map says: it sticks with μ_f if that is below μ_s, or slips."""
    mu_f = float(first_map(slope, RESTITUTION, np.zeros(1)).mu_stick[0])
    sticks = abs(used.velocity_after[0]) < 1e-9
    expected = mu_f if mu_f <= MU_STATIC else MU_DYNAMIC
    return Check(
        "the run's first impact does what the curve says",
        abs(used.mu - expected) < _ALIKE and sticks == (mu_f <= MU_STATIC),
        used.mu,
        expected,
        _ALIKE,
    )


def _shade(axis, slip: np.ndarray, found: FrictionMap, wheel: int, *, alpha: float) -> None:
    pulled = np.asarray(found.normal)[:, wheel] <= 0
    if pulled.any():
        axis.axvspan(slip[pulled].min(), slip[pulled].max(), color="black", alpha=alpha, lw=0)


def _rgb(color: str, strength: float) -> tuple[float, ...]:
    """A colour, mixed with white."""
    parts = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return tuple(1 - strength * (1 - part) for part in parts)


# --------------------------------------------------------------------------- runs on four slopes


def _trajectory(slope: int) -> Reproduction:
    run = rolling_bicycle(slope)
    checks = [check_never_gains(run), check_ledger(run)]
    if slope == 0:
        rolls = rolling_since(run)
        checks.append(Check("settles down to rolling [s]", bool(2 < rolls < 4), rolls, "about 2.5"))
    else:
        kinetic = np.asarray(run.trajectory.kinetic)
        both = (np.asarray(run.trajectory.modes) != OPEN).all(axis=1)
        checks += [
            Check("it never settles down", not both.any()),
            Check("and bounces on", len(run.impacts) > 5, len(run.impacts)),
            Check("its kinetic energy stays high [J]", bool(kinetic[run.time > 2].min() > 100),
                  float(kinetic[run.time > 2].min()), "> 100"),
        ]  # fmt: skip
    return Reproduction(figure=trajectory_figure(run), table=impact_table(run), checks=checks)


for _number, _slope in ((6, 0), (7, 15)):
    reproduces_4(f"Figure 4.{_number}", title=f"Bicycle trajectory, slope {_slope}°")(
        partial(_trajectory, _slope)
    )


def _coefficients(slope: int) -> Reproduction:
    run = rolling_bicycle(slope)
    modes, force = np.asarray(run.trajectory.modes), np.asarray(run.trajectory.force)
    closed = modes != OPEN
    used = np.where(closed, np.abs(force[:, :, 0]) / np.where(closed, force[:, :, 1], 1.0), np.nan)
    figure, axis = new_figure(figsize=(7.0, 4.0))
    for c, name in enumerate(run.run.contact_names):
        color, label = COLORS[c], name.replace("_", " ")
        hits = [e for e in run.hits if e.contact == name]
        for sticks, face in ((True, color), (False, "white")):
            these = [e for e in hits if (abs(e.velocity_after[0]) < 1e-9) == sticks]
            axis.plot([e.time for e in these], [e.mu for e in these], "o", ms=6 - c, mec=color,
                      mfc=face, label=f"{label}, {'sticks' if sticks else 'slips'}")  # fmt: skip
        axis.plot(run.time, used[:, c], color=color, lw=1.2, alpha=0.8)
    for value, name in ((MU_STATIC, "μ_s"), (MU_DYNAMIC, "μ_d")):
        axis.axhline(value, color="0.4", lw=0.9, ls="--")
        axis.annotate(name, (0.02, value + 0.005), fontsize=9, color="0.3")
    axis.set(xlabel="time [s]", ylabel="friction coefficient used", xlim=(0, run.time[-1]))
    axis.set_ylim(-0.02, 0.6)
    axis.legend(frameon=False, ncols=4, fontsize=8, loc="lower right", bbox_to_anchor=(1, 1))
    quick = [e for e in run.impacts if e.velocity_before[1] < -1e-3]
    sticks = [e for e in quick if abs(e.velocity_after[0]) < 1e-9]
    slips = np.array([e.mu for e in quick if abs(e.velocity_after[0]) > 1e-3])
    sliding = used[(modes != OPEN) & (modes != STICK)]
    dynamic = np.concatenate([slips, sliding])
    first = run.impacts[0]
    checks = [
        Check("the first impact sticks", abs(first.velocity_after[0]) < 1e-9, first.mu),
        check_below("no impact or contact uses more than μ_s",
                    np.nanmax([*[e.mu for e in run.hits], *used[closed]]), MU_STATIC + 1e-9),
        check_below("what slips uses at most μ_d", dynamic.max(initial=0.0), MU_DYNAMIC + 1e-6),
        *check_forces(run),
    ]  # fmt: skip
    share = len(sticks) / len(quick)
    if slope in (0, 15):
        checks.append(Check("impacts stick more often than not", share > 0.5, share, "> 0.5"))
    if slope == 45:
        checks.append(Check("impacts slip more often than they stick", share < 0.5, share, "< 0.5"))
    return Reproduction(figure=figure, checks=checks, note=_COEFFICIENT_NOTES.get(slope, ""))


_COEFFICIENT_NOTES = {
    0: "Dots: impacts; lines: lasting contact. The document gives no restitution; e = 0.5, e* = 1.",
    45: "The document's first impact slips, with μ ≤ 0.25; see Figure 4.5 for why this one sticks.",
}
for _number, _slope in zip((8, 9, 10, 11), SLOPES, strict=True):
    reproduces_4(
        f"Figure 4.{_number}", title=f"Friction coefficient against time, slope {_slope}°"
    )(partial(_coefficients, _slope))
