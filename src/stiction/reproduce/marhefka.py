"""Marhefka and Orin 1996, Figures 2 to 8.

Figures 2 to 7 come from the exact relations; their checks compare with direct integration and with
numbers computed elsewhere. Figure 8, the foot, is a run of the compliant engine.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction.engines import Compliance, Trajectory
from stiction.laws import HuntCrossley, impact
from stiction.report.figures import new_figure
from stiction.reproduce.registry import (
    Check,
    Document,
    Reproduction,
    check_below,
    check_close,
    check_more,
    stated,
)
from stiction.scenes import scene

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


@eqx.filter_jit
@jax.vmap
def _integrate(mass, stiffness, alpha, speed) -> impact.Rebound:
    law = HuntCrossley.from_alpha(stiffness=stiffness, alpha=alpha)
    return impact.integrate_impact(law, mass=mass, speed=speed)


_course = eqx.filter_jit(impact.impact_course)


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
        check_below("loop area by integration equals the energy lost, relative", error, 1e-8),
        Check("the force is never negative", bool(lowest >= 0), float(lowest), ">= 0"),
    ]


@item("Figure 2")
def figure_2() -> Reproduction:
    m, k, alpha = 50.0, 50e3, 0.4
    d = 1.5 * alpha
    limit = -1 / d

    def first_integral(x, v):
        """Constant along a contour: (19) with both ends on one side (|·| as in the document)."""
        return k * d**2 * x**2 / (2 * m) + d * v - np.log(np.abs(1 + d * v))

    figure, axis = new_figure(figsize=(6.4, 4.8))
    starts = np.arange(0.5, 4.1, 0.5)
    for above in (True, False):
        v = np.linspace(limit + 1e-4, 4.2, 900) if above else np.linspace(-4.2, limit - 1e-4, 400)
        levels = np.sort(first_integral(0.0, starts if above else limit - 0.35 * starts))
        for side, style in ((1, "solid"), (-1, "dotted")):
            x = side * np.linspace(0, 0.12, 400)
            X, V = np.meshgrid(x, v)
            lines = {"levels": levels, "colors": "C0", "linestyles": style, "linewidths": 1.2}
            axis.contour(1e3 * X, V, first_integral(X, V), **lines)
    axis.axhline(limit, color="C1", lw=1.2)
    axis.annotate("v = -2/(3α), (22)", (118, limit + 0.08), ha="right", color="C1", fontsize=9)
    axis.axhline(0, color="0.6", lw=0.8)
    axis.axvline(0, color="0.6", lw=0.8)
    axis.set(xlabel="penetration [mm]", ylabel="velocity of penetration [m/s]")

    law = HuntCrossley.from_alpha(stiffness=k, alpha=alpha)
    at = {"speed": 2.0, "dissipation": d, "mass": m, "stiffness": k}
    course = _course(law, mass=m, speed=2.0, duration=impact.contact_duration(**at))
    phase = jax.vmap(lambda w: impact.depth_at_velocity(w, **at))(course.velocity[1:-1])
    apart = jnp.max(jnp.abs(phase - course.depth[1:-1])) / jnp.max(course.depth)
    unclamped = HuntCrossley.from_alpha(stiffness=k, alpha=alpha, clamp=False)
    pull = float(unclamped.force(0.01, limit - 1e-9))
    push = float(unclamped.force(0.01, limit + 1e-9))
    rebound = float(impact.rebound_speed(1e9, d))
    return Reproduction(
        figure=figure,
        checks=[
            check_below("an integrated impact follows (19), relative", float(apart), 1e-8),
            check_close("v_o as v_i grows tends to 2/(3α)", rebound, 2 / (3 * alpha), 1e-9),
            Check("pulls below that velocity and pushes above it, (22)", pull < 0 < push),
        ],
    )


@item("Figure 3")
def figure_3() -> Reproduction:
    figure, axis = new_figure()
    v = np.linspace(0, 5, 300)
    for alpha in (0.01, 0.02, 0.04, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5):
        e = np.asarray(jax.vmap(lambda s, d=1.5 * alpha: impact.restitution(s, d))(v))
        axis.plot(v, e, color="C0", lw=1.3)
        axis.annotate(f"{alpha:g}", (5.03, e[-1]), va="center", fontsize=8)
    axis.annotate("α [s/m]", (5.03, 1.03), fontsize=8, annotation_clip=False)
    axis.set(xlabel="impact speed [m/s]", ylabel="restitution", xlim=(0, 5.4), ylim=(0, 1.0))
    known = {(0.1, 1.0): 0.909016, (0.2, 5.0): 0.487741, (0.5, 1.0): 0.662962}
    known |= {(0.5, 5.0): 0.255228, (0.04, 5.0): 0.832870}
    checks = [
        check_close(f"e({a:g}, {s:g})", float(impact.restitution(s, 1.5 * a)), e, 1e-6)
        for (a, s), e in known.items()
    ]
    alpha, s = 0.5, 1e-4
    slope = (1 - float(impact.restitution(s, 1.5 * alpha))) / s
    checks += stated(check_close("slope at low speed is α, (5)", slope, alpha, 1e-4))
    return Reproduction(figure=figure, checks=checks)


@item("Figure 4")
def figure_4() -> Reproduction:
    impacts = Impacts.of(1.0, 10e3, [0.01, 0.2, 0.4, 0.6], 1.0)
    depths = [float(impact.peak_depth(**at)) for at in impacts.each()]
    at = list(impacts.each())[2]
    force, duration = float(impact.peak_force(**at)), float(impact.contact_duration(**at))
    loss = float(impact.energy_lost(1.0, at["dissipation"], 1.0))
    return Reproduction(
        loop_figure(impacts, [f"α = {alpha:g} s/m" for alpha in impacts.alpha]),
        checks=[
            check_close("α 0.4: peak depth in mm", 1e3 * depths[2], 8.49825, 1e-5),
            check_close("α 0.4: peak force in N", force, 94.871, 1e-3),
            check_close("α 0.4: loop area in J", loss, 0.246563, 1e-6),
            check_close("α 0.4: duration in ms", 1e3 * duration, 31.757, 1e-3),
            *check_loops(impacts),
            Check("more damping, less depth", bool(np.all(np.diff(depths) < 0))),
        ],
    )


SPRINGS = Impacts.of(50.0, [10e3, 30e3, 50e3, 70e3], 0.5, 1.0)
SPRING_NAMES = [f"k = {k / 1e3:g} kN/m" for k in SPRINGS.stiffness]


@item("Figure 5")
def figure_5() -> Reproduction:
    areas = np.asarray(SPRINGS.integrate().energy_lost)
    checks = [
        check_close(f"loop area, k {k / 1e3:g} kN/m, in J", float(a), 14.01203, 1e-5)
        for k, a in zip(SPRINGS.stiffness, areas, strict=True)
    ]
    figure = loop_figure(SPRINGS, SPRING_NAMES)
    return Reproduction(figure, checks=[*checks, *check_loops(SPRINGS)])


@item("Figure 6")
def figure_6() -> Reproduction:
    m, v, d = 50.0, 1.0, 0.75
    curves, ends, impulses, lowest = {}, [], [], []
    for name, at in zip(SPRING_NAMES, SPRINGS.each(), strict=True):
        law = HuntCrossley.from_alpha(stiffness=at["stiffness"], alpha=0.5)
        course = _course(law, mass=m, speed=v, duration=impact.contact_duration(**at))
        t, f = np.asarray(course.time), np.asarray(course.force)
        curves[name] = 1e3 * t, f
        ends.append(max(f[0], f[-1]) / f.max())
        lowest.append(f.min())
        impulses.append(m * float(course.velocity[0] - course.velocity[-1]))
    exact = m * (v + float(impact.rebound_speed(v, d)))
    spread = max(abs(p / exact - 1) for p in impulses)
    return Reproduction(
        chart(curves, "time [ms]", "contact force [N]"),
        checks=[
            check_below("force starts and ends at zero, relative to its peak", max(ends), 1e-7),
            Check("the force is never negative", bool(min(lowest) >= 0), min(lowest), ">= 0"),
            check_below("the impulse is m (v_i + v_o) for every k, relative", spread, 1e-8),
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
            check_below("loop area is proportional to mass, relative spread", spread, 1e-8),
            *check_loops(impacts),
        ],
    )


# --------------------------------------------------------------------- Sec. 5: the foot

# Three phases: placement (position control), support (constant force), lift (position control from
# where the foot is). The document leaves the force and the times open; the values are the scene's.


def foot_run(*, lift: float | None = None, until: float | None = None) -> Trajectory:
    """The scene `foot`, with another end of support and another end [s] if they are given."""
    foot = scene("foot")
    changes: dict[str, object] = {} if until is None else {"until": until}
    if lift is not None:
        phases = [p.model_dump(exclude_unset=True) for p in foot.scenario.control["leg"].phases]
        phases[1]["until"] = lift
        changes["control.leg.phases"] = phases
    return foot.run(changes)


def foot_depth(run: Trajectory) -> np.ndarray:
    """Depth of the foot in the ground at each sample [m]."""
    found = run.compliance
    assert isinstance(found, Compliance)
    return np.asarray(found.depth)[:, 0]


def desired_depth(run: Trajectory) -> np.ndarray:
    """The depth that the control wants at each sample [m]; nan while it only pushes."""
    time, depth = np.asarray(run.time), foot_depth(run)
    wanted = np.full(time.shape, np.nan)
    begin = 0.0
    for phase in run.scene.scenario.control["leg"].phases:
        end = float(phase.until or np.inf)
        if phase.gain != 0:
            now = (time >= begin) & (time <= end)
            origin = -np.interp(begin, time, depth) if phase.relative else 0.0
            wanted[now] = -origin - np.polynomial.Polynomial(phase.desired)(time[now] - begin)
        begin = end
    return wanted


def desired_velocity(run: Trajectory) -> np.ndarray:
    """The velocity that the control wants at each sample [m/s]; nan while it only pushes."""
    time = np.asarray(run.time)
    wanted, begin = np.full(time.shape, np.nan), 0.0
    for phase in run.scene.scenario.control["leg"].phases:
        end = float(phase.until or np.inf)
        if phase.gain != 0:
            now = (time >= begin) & (time <= end)
            slope = np.polynomial.Polynomial(phase.desired).deriv()
            wanted[now] = -slope(time[now] - begin)
        begin = end
    return wanted


def _foot_figure(run: Trajectory, phases: dict[str, float]):
    """Depth, velocity and force of the foot, with the beginnings of the phases."""
    t, ms = run, 1e3 * run.time
    figure, axes = new_figure(3, 1, figsize=(6.4, 7.0), sharex=True)
    axes[0].plot(ms, 1e3 * foot_depth(run), label="foot")
    axes[0].plot(ms, 1e3 * desired_depth(run), "--", lw=1.2, label="desired")
    axes[0].legend()
    axes[1].plot(ms, -t.v[:, 0])
    axes[1].plot(ms, desired_velocity(run), "--", lw=1.2)
    axes[2].plot(ms, t.force[:, 0, -1])
    axes[2].set_xlabel("time [ms]")
    labels = ("penetration [mm]", "velocity [m/s]", "ground force [N]")
    for axis, label in zip(axes, labels, strict=True):
        axis.set_ylabel(label)
        for begin in list(phases.values())[1:]:
            axis.axvline(1e3 * begin, color="0.6", lw=0.8)
    for phase, begin in phases.items():
        at, frame = (1e3 * begin + 3, 1.02), ("data", "axes fraction")
        axes[0].annotate(phase, at, xycoords=frame, fontsize=9, color="0.4")
    return figure


@item("Figure 8", of=foot_run)
def figure_8(run: Trajectory) -> Reproduction:
    t, depth = run, foot_depth(run)
    force, rate = t.force[:, 0, -1], -t.v[:, 0]
    placed, lift = (float(p.until or 0) for p in run.scene.scenario.control["leg"].phases[:2])
    events = run.events()
    parted = [e.time for e in events if e.kind == "lift-off"]
    last_force = force[np.searchsorted(t.time, parted[0]) - 1] if parted else np.nan
    # What the force can be at the last sample before parting, if it falls to zero there.
    steepest = np.max(np.abs(np.diff(force))) / force.max()
    speed = np.abs(rate[(t.time > placed) & (t.time < lift)])
    n = len(speed) // 4
    first, last = speed[:n].max(), speed[-n:].max()
    long = foot_run(lift=4.0, until=4.1)
    settled = float(np.interp(3.99, long.time, foot_depth(long)))
    exchanged = t.kinetic[0] + np.max(np.abs(t.actuator_work))
    unaccounted = float(np.max(np.abs(t.ledger_error)) / exchanged)
    static = 1e3 * 500 / 50e3
    wanted, speed_wanted = desired_depth(run), desired_velocity(run)
    just = t.time <= placed
    ramp = np.abs(speed_wanted[just] - 2.0 * (1 - t.time[just] / placed)).max()
    missed = float(np.nanmax(np.abs(wanted - depth)[just]))
    says = stated(
        check_below("desired velocity falls from 2 m/s to 0 in 0.1 s; error [m/s]", ramp, 1e-9),
        check_close("desired position ends under ground [m]", float(wanted[just][-1]), 0.1, 1e-3),
        check_more("the ground keeps the foot from following, off by [m]", missed, 0.05),
        check_close("desired velocity in lift [m/s]", float(speed_wanted[-1]), -2.0, 1e-9),
        check_more("the collision's force, over that of support", float(force.max() / 500), 2.0),
        Check("the force is never negative", bool(force.min() >= 0), float(force.min()), ">= 0"),
    )
    return Reproduction(
        _foot_figure(run, {"placement": 0.0, "support": placed, "lift": lift}),
        table=[{"time [s]": e.time, "event": e.kind} for e in events],
        checks=[
            check_below("force at touch, of its peak", float(force[0] / force.max()), 1e-9),
            check_below("force before parting, of its peak, is at most a sample's change",
                        float(last_force / force.max()), float(steepest)),
            *says,
            Check("the oscillation is damped: the last quarter of support moves least",
                  bool(last < 0.5 * first), float(last), f"below half of {first:.3g}"),
            check_close("depth in lasting support is 500 N / k, in mm",
                        1e3 * settled, static, 1e-6),
            Check("the foot lifts off once", len(parted) == 1 and bool(depth[-1] < 0)),
            check_below("energy ledger closes, of the energy exchanged", unaccounted, 1e-8),
        ],
    )  # fmt: skip
