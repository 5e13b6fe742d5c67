"""Marhefka and Orin 1996, Figures 1 to 7: one impact, by the exact relations.

Checks compare with direct integration and with numbers computed elsewhere. `marhefka_foot` has
Figure 8.
"""

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.compile import quick_jit
from stiction.laws import HuntCrossley, LinearSpringDamper, impact
from stiction.report.figures import new_figure
from stiction.reproduce.registry import Check, Document, Reproduction, stated

item = Document("marhefka").item


class Impacts(NamedTuple):
    """Several impacts: the parameters that define them, the law with α, n = 1."""

    mass: np.ndarray
    stiffness: np.ndarray
    alpha: np.ndarray
    speed: np.ndarray

    @classmethod
    def of(cls, mass, stiffness, alpha, speed) -> "Impacts":
        """Broadcast against each other."""
        return cls(
            *(np.array(a, float) for a in np.broadcast_arrays(mass, stiffness, alpha, speed))
        )

    def each(self) -> Iterator[dict[str, float]]:
        """One by one, as arguments of the exact relations."""
        for mass, stiffness, alpha, speed in zip(*(a.tolist() for a in self), strict=True):
            yield {"speed": speed, "dissipation": 1.5 * alpha, "mass": mass, "stiffness": stiffness}

    def integrate(self) -> impact.Rebound:
        """All of them by direct integration, in one call."""
        return _integrate(*map(jnp.asarray, self))

    def exact_loss(self) -> np.ndarray:
        """Energy lost, by the exact relation."""
        lost = jax.vmap(impact.energy_lost)(self.speed, 1.5 * self.alpha, self.mass)
        return np.asarray(lost)


@quick_jit
@jax.vmap
def _integrate(mass, stiffness, alpha, speed) -> impact.Rebound:
    law = HuntCrossley.from_alpha(stiffness=stiffness, alpha=alpha)
    return impact.integrate_impact(law, mass=mass, speed=speed)


_course = quick_jit(impact.impact_course)


def loop(*, speed: float, dissipation: float, mass: float, stiffness: float):
    """Depth and force along an impact, from the phase plane (19)."""
    d = dissipation
    v_out = float(impact.rebound_speed(speed, d))
    # Closer where the loop turns into its ends, as the cosine is.
    v = 0.5 * (speed - v_out + (speed + v_out) * np.cos(np.linspace(0, np.pi, 400)))
    at = {"speed": speed, "dissipation": d, "mass": mass, "stiffness": stiffness}
    x = np.asarray(jax.vmap(lambda w: impact.depth_at_velocity(w, **at))(v))
    return x, stiffness * x * (1 + d * v)


def chart(curves: dict[str, tuple[Any, Any]], x_label: str, y_label: str):
    """Curves with their names."""
    figure, axis = new_figure()
    for name, (x, y) in curves.items():
        axis.plot(x, y, label=name)
    axis.set(xlabel=x_label, ylabel=y_label)
    axis.legend()
    return figure


def loop_figure(impacts: Impacts, names: list[str]):
    """Force against depth for as many of the impacts as there are names."""
    loops = (loop(**at) for at in impacts.each())
    curves = {name: (1e3 * x, f) for name, (x, f) in zip(names, loops, strict=False)}
    return chart(curves, "depth [mm]", "contact force [N]")


def check_loops(impacts: Impacts) -> list[Check]:
    """Loop area by integration equals the energy lost; the force is never negative."""
    exact = impacts.exact_loss()
    error = np.max(np.abs(np.asarray(impacts.integrate().energy_lost) / exact - 1))
    lowest = min(np.min(loop(**at)[1]) for at in impacts.each())
    return [
        Check.below("loop area by integration equals the energy lost, relative", error, 1e-8),
        *stated(Check("the force is never negative", bool(lowest >= 0), float(lowest), ">= 0")),
    ]


@item("Figure 1")
def figure_1() -> Reproduction:
    figure, axis = new_figure(figsize=(3.6, 3.6))
    axis.fill([-1, 1, 1, -1], [2, 2, 2.8, 2.8], color="0.8", ec="0.3")
    axis.text(0, 2.4, "m", ha="center", va="center")
    turns = np.linspace(0.4, 1.6, 13)
    zigzag = 0.12 * np.r_[0, np.tile([1, -1], 6)[:11], 0]
    axis.plot(np.r_[-0.5, -0.5 + zigzag, -0.5], np.r_[0, turns, 2], color="C0")
    axis.plot([0.5, 0.5, np.nan, 0.3, 0.3, 0.7, 0.7, np.nan, 0.35, 0.65, np.nan, 0.5, 0.5],
              [0, 0.6, np.nan, 1.3, 0.6, 0.6, 1.3, np.nan, 1.0, 1.0, np.nan, 1.0, 2],
              color="C0")  # fmt: skip
    axis.text(-0.85, 1, "k", ha="center")
    axis.text(0.9, 0.9, "b", ha="center")
    axis.plot([-1.2, 1.2], [0, 0], color="0.3", lw=2)
    axis.set(xlim=(-1.4, 1.4), ylim=(-0.1, 2.9))
    axis.axis("off")
    law = LinearSpringDamper(stiffness=10e3, damping=60.0, clamp=False)
    states = itertools.product((1e-3, 5e-3), (-0.5, 0.5))
    off = max(abs(float(law.force(x, v)) - (10e3 * x + 60.0 * v)) for x, v in states)
    return Reproduction(
        figure, checks=stated(Check.below("(3): the force is k x + b v, off by [N]", off, 1e-9))
    )


# ----------------------------------------------------------- Figure 2: m 50 kg, k 50 kN/m, α 0.4

MASS, STIFFNESS, ALPHA = 50.0, 50e3, 0.4
LIMIT = -2 / (3 * ALPHA)  # (22) [m/s]


def _first_integral(x, v):
    """Constant along a contour: (19) with both ends on one side (|·| as in the document)."""
    d = 1.5 * ALPHA
    return STIFFNESS * d**2 * x**2 / (2 * MASS) + d * v - np.log(np.abs(1 + d * v))


def _phase_diagram():
    figure, axis = new_figure(figsize=(6.4, 4.8))
    starts = np.arange(0.5, 4.1, 0.5)
    for above in (True, False):
        v = np.linspace(LIMIT + 1e-4, 4.2, 900) if above else np.linspace(-4.2, LIMIT - 1e-4, 400)
        levels = np.sort(_first_integral(0.0, starts if above else LIMIT - 0.35 * starts))
        for side, style in ((1, "solid"), (-1, "dotted")):
            x = side * np.linspace(0, 0.12, 400)
            X, V = np.meshgrid(x, v)
            lines = {"levels": levels, "colors": "C0", "linestyles": style, "linewidths": 1.2}
            axis.contour(1e3 * X, V, _first_integral(X, V), **lines)
    axis.axhline(LIMIT, color="C1", lw=1.2)
    axis.annotate("v = -2/(3α), (22)", (118, LIMIT + 0.08), ha="right", color="C1", fontsize=9)
    axis.axhline(0, color="0.6", lw=0.8)
    axis.axvline(0, color="0.6", lw=0.8)
    axis.set(xlabel="penetration [mm]", ylabel="velocity of penetration [m/s]")
    return figure


@item("Figure 2")
def figure_2() -> Reproduction:
    d = 1.5 * ALPHA
    law = HuntCrossley.from_alpha(stiffness=STIFFNESS, alpha=ALPHA)
    at = {"speed": 2.0, "dissipation": d, "mass": MASS, "stiffness": STIFFNESS}
    course = _course(law, mass=MASS, speed=2.0, duration=impact.contact_duration(**at))
    phase = jax.vmap(lambda w: impact.depth_at_velocity(w, **at))(course.velocity[1:-1])
    apart = jnp.max(jnp.abs(phase - course.depth[1:-1])) / jnp.max(course.depth)
    unclamped = HuntCrossley.from_alpha(stiffness=STIFFNESS, alpha=ALPHA, clamp=False)
    pull, push = (float(unclamped.force(0.01, LIMIT + side)) for side in (-1e-9, 1e-9))
    return Reproduction(
        _phase_diagram(),
        checks=[
            Check.below("an integrated impact follows (19), relative", float(apart), 1e-8),
            *stated(
                Check.close("v_o as v_i grows tends to 2/(3α)",
                            float(impact.rebound_speed(1e9, d)), -LIMIT, 1e-9),
                Check("pulls below that velocity and pushes above it, (22)", pull < 0 < push),
            ),
        ],
    )  # fmt: skip


# --------------------------------------------------------------------- Figure 3: the restitution

SPEEDS = np.linspace(0, 5, 300)  # [m/s]
ALPHAS = (0.01, 0.02, 0.04, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)  # [s/m]
KNOWN = {(0.1, 1.0): 0.909016, (0.2, 5.0): 0.487741, (0.5, 1.0): 0.662962, (0.5, 5.0): 0.255228,
         (0.04, 5.0): 0.832870}  # computed elsewhere, from (19)  # fmt: skip


def _e(alpha: float, speed: float) -> float:
    return float(impact.restitution(speed, 1.5 * alpha))


def _restitutions() -> np.ndarray:
    """One row for each α."""
    of_speeds = jax.vmap(impact.restitution, in_axes=(0, None))
    return np.array([of_speeds(SPEEDS, 1.5 * alpha) for alpha in ALPHAS])


def _draw_restitutions(curves: np.ndarray):
    figure, axis = new_figure()
    for alpha, e in zip(ALPHAS, curves, strict=True):
        axis.plot(SPEEDS, e, color="C0", lw=1.3)
        axis.annotate(f"{alpha:g}", (5.03, e[-1]), va="center", fontsize=8)
    axis.annotate("α [s/m]", (5.03, 1.03), fontsize=8, annotation_clip=False)
    axis.set(xlabel="impact speed [m/s]", ylabel="restitution", xlim=(0, 5.4), ylim=(0, 1.0))
    return figure


@item("Figure 3", of=_restitutions, draw=_draw_restitutions)
def figure_3(curves: np.ndarray) -> list[Check]:
    some = Impacts.of([0.1, 1.0, 10.0, 1000.0], [1e5, 1e3, 1e4, 50e3], 0.2, 3.0)
    hertz = HuntCrossley.from_alpha(stiffness=1e6, alpha=0.2, exponent=1.5)
    lost = np.asarray(some.integrate().energy_lost) / (0.5 * some.mass * 3.0**2)
    lost = np.append(lost, impact.integrate_impact(hertz, mass=2.0, speed=3.0).energy_lost / 9.0)
    fall = np.diff(curves, axis=1)
    return [
        *(Check.close(f"e({a:g}, {v:g})", _e(a, v), e, 1e-6) for (a, v), e in KNOWN.items()),
        *stated(
            Check.close("slope at low speed is α, (5)", (1 - _e(0.5, 1e-4)) / 1e-4, 0.5, 1e-4),
            Check.less("restitution falls with speed; its least fall", fall.max(), 0.0),
            Check.less("and with α", np.diff(curves[:, 1:], axis=0).max(), 0.0),
            Check.below("it is the same for every m, k and n: e by integration, off by",
                        np.abs(np.sqrt(1 - lost) - _e(0.2, 3.0)).max(), 1e-8),
            Check.less("and levels out: its last fall over its first, α 0.5",
                       fall[-1, -1] / fall[-1, 0], 0.5),
        ),
    ]  # fmt: skip


# ------------------------------------------------------------------ Figures 4 to 7: loops of force


def _deeper(impacts: Impacts, claim: str, sign: int) -> Check:
    """The claim that depth grows (1) or falls (-1) from impact to impact."""
    depths = [float(impact.peak_depth(**at)) for at in impacts.each()]
    return Check.more(f"{claim}: least change [m]", float(np.min(sign * np.diff(depths))), 0.0)


@item("Figure 4")
def figure_4() -> Reproduction:
    impacts = Impacts.of(1.0, 10e3, [0.01, 0.2, 0.4, 0.6], 1.0)
    at = list(impacts.each())[2]
    depth = float(impact.peak_depth(**at))
    force, duration = float(impact.peak_force(**at)), float(impact.contact_duration(**at))
    loss = float(impact.energy_lost(1.0, at["dissipation"], 1.0))
    return Reproduction(
        loop_figure(impacts, [f"α = {alpha:g} s/m" for alpha in impacts.alpha]),
        checks=[
            Check.close("α 0.4: peak depth in mm", 1e3 * depth, 8.49825, 1e-5),
            Check.close("α 0.4: peak force in N", force, 94.871, 1e-3),
            Check.close("α 0.4: loop area in J", loss, 0.246563, 1e-6),
            Check.close("α 0.4: duration in ms", 1e3 * duration, 31.757, 1e-3),
            *check_loops(impacts),
            *stated(
                _deeper(impacts, "more damping, less depth", -1),
                Check.more(
                    "and more energy lost: least change [J]",
                    np.diff(impacts.exact_loss()).min(),
                    0.0,
                ),
            ),
        ],
    )


SPRINGS = Impacts.of(50.0, [10e3, 30e3, 50e3, 70e3], 0.5, 1.0)
SPRING_NAMES = [f"k = {k / 1e3:g} kN/m" for k in SPRINGS.stiffness]


@item("Figure 5")
def figure_5() -> Reproduction:
    areas = np.asarray(SPRINGS.integrate().energy_lost)
    checks = [
        Check.close(f"loop area, k {k / 1e3:g} kN/m, in J", float(a), 14.01203, 1e-5)
        for k, a in zip(SPRINGS.stiffness, areas, strict=True)
    ]
    checks += stated(
        Check.below("the area is the same for every k, relative", np.ptp(areas) / areas[0], 1e-8),
        _deeper(SPRINGS, "a stiffer ground is entered less", -1),
    )
    figure = loop_figure(SPRINGS, SPRING_NAMES)
    return Reproduction(figure, checks=[*checks, *check_loops(SPRINGS)])


@item("Figure 6")
def figure_6() -> Reproduction:
    m, v, d = 50.0, 1.0, 0.75
    curves: dict[str, tuple[Any, Any]] = {}
    ends, impulses, lowest, peaks, lasts = ([] for _ in range(5))
    for name, at in zip(SPRING_NAMES, SPRINGS.each(), strict=True):
        law = HuntCrossley.from_alpha(stiffness=at["stiffness"], alpha=0.5)
        course = _course(law, mass=m, speed=v, duration=impact.contact_duration(**at))
        t, f = np.asarray(course.time), np.asarray(course.force)
        curves[name] = 1e3 * t, f
        ends.append(max(f[0], f[-1]) / f.max())
        lowest.append(f.min())
        peaks.append(f.max())
        lasts.append(t[-1])
        impulses.append(m * float(course.velocity[0] - course.velocity[-1]))
    exact = m * (v + float(impact.rebound_speed(v, d)))
    spread = max(abs(p / exact - 1) for p in impulses)
    return Reproduction(
        chart(curves, "time [ms]", "contact force [N]"),
        checks=[
            *stated(
                Check.below("force starts and ends at zero, relative to its peak", max(ends), 1e-7),
                Check("the force is never negative", bool(min(lowest) >= 0), min(lowest), ">= 0"),
                Check.more(
                    "more impulsive with k: the peak grows by at least [N]",
                    float(np.diff(peaks).min()),
                    0.0,
                ),
                Check.less(
                    "and it is sooner over, by at least [s]", float(np.diff(lasts).max()), 0.0
                ),
            ),
            Check.below("the impulse is m (v_i + v_o) for every k, relative", spread, 1e-8),
        ],
    )


@item("Figure 7")
def figure_7() -> Reproduction:
    # The fourth is not drawn; with it the batch has the size of the others, and their program.
    impacts = Impacts.of([1.0, 10.0, 100.0, 1000.0], 25e3, 0.5, 0.5)
    per_mass = np.asarray(impacts.integrate().energy_lost) / impacts.mass
    spread = float(np.ptp(per_mass) / per_mass[0])
    return Reproduction(
        loop_figure(impacts, [f"m = {m:g} kg" for m in impacts.mass[:3]]),
        checks=[
            *stated(
                Check.below("loop area is proportional to mass, relative spread", spread, 1e-8),
                _deeper(impacts, "more mass, more depth", 1),
            ),
            *check_loops(impacts),
        ],
    )
