"""Marhefka and Orin 1996, Figures 2 to 8.

Figures 2 to 7 come from the exact relations; their checks compare with direct integration and with
numbers computed elsewhere. Figure 8, the foot, is a run of the compliant engine.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction.engines import events_of
from stiction.laws import HuntCrossley, impact
from stiction.report.figures import new_figure
from stiction.reproduce import foot
from stiction.reproduce.registry import Check, Reproduction, check_below, check_close, reproduces

DOCUMENT = "marhefka"


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

    def integrate(self) -> impact.Impact:
        """All of them by direct integration, in one call."""
        return _integrate(*map(jnp.asarray, self))

    def exact_loss(self) -> np.ndarray:
        """Energy lost, by the exact relation."""
        lost = jax.vmap(impact.energy_lost)(self.speed, 1.5 * self.alpha, self.mass)
        return np.asarray(lost)


@eqx.filter_jit
@jax.vmap
def _integrate(mass, stiffness, alpha, speed) -> impact.Impact:
    law = HuntCrossley.from_alpha(stiffness=stiffness, alpha=alpha)
    return impact.integrate_impact(law, mass=mass, speed=speed)


_course = eqx.filter_jit(impact.impact_course)


def loop(mass: float, stiffness: float, alpha: float, speed: float, samples: int = 400):
    """Depth and force along an impact, from the phase plane (19)."""
    d = 1.5 * alpha
    v_out = float(impact.rebound_speed(speed, d))
    # Closer where the loop turns into its ends, as the cosine is.
    v = 0.5 * (speed - v_out + (speed + v_out) * np.cos(np.linspace(0, np.pi, samples)))
    at = {"speed": speed, "dissipation": d, "mass": mass, "stiffness": stiffness}
    x = np.asarray(jax.vmap(lambda w: impact.depth_at_velocity(w, **at))(v))
    return x, stiffness * x * (1 + d * v)


def check_loops(impacts: Impacts) -> list[Check]:
    """Loop area by integration equals the energy lost; the force is never negative."""
    exact = impacts.exact_loss()
    error = np.max(np.abs(np.asarray(impacts.integrate().energy_lost) / exact - 1))
    each = zip(*(a.tolist() for a in impacts), strict=True)
    lowest = min(np.min(loop(m, k, alpha, v)[1]) for m, k, alpha, v in each)
    return [
        check_below("loop area by integration equals the energy lost, relative", error, 1e-8),
        Check("the force is never negative", bool(lowest >= 0), float(lowest), ">= 0"),
    ]


@reproduces(DOCUMENT, "Figure 2", title="Phase diagram (m 50 kg, k 50 kN/m, n 1, α 0.4 s/m)")
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
            axis.contour(
                1e3 * X, V, first_integral(X, V), levels=levels, colors="C0", linestyles=style,
                linewidths=1.2,
            )  # fmt: skip
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


@reproduces(DOCUMENT, "Figure 3", title="Restitution against impact speed")
def figure_3() -> Reproduction:
    figure, axis = new_figure()
    v = np.linspace(0, 5, 300)
    for alpha in (0.01, 0.02, 0.04, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5):
        e = np.asarray(jax.vmap(lambda s, d=1.5 * alpha: impact.restitution(s, d))(v))
        axis.plot(v, e, color="C0", lw=1.3)
        axis.annotate(f"{alpha:g}", (5.03, e[-1]), va="center", fontsize=8)
    axis.annotate("α [s/m]", (5.03, 1.03), fontsize=8, annotation_clip=False)
    axis.set(xlabel="impact speed [m/s]", ylabel="restitution", xlim=(0, 5.4), ylim=(0, 1.0))
    known = {
        (0.1, 1.0): 0.909016,
        (0.2, 5.0): 0.487741,
        (0.5, 1.0): 0.662962,
        (0.5, 5.0): 0.255228,
        (0.04, 5.0): 0.832870,
    }
    checks = [
        check_close(f"e({a:g}, {s:g})", float(impact.restitution(s, 1.5 * a)), e, 1e-6)
        for (a, s), e in known.items()
    ]
    alpha, s = 0.5, 1e-4
    slope = (1 - float(impact.restitution(s, 1.5 * alpha))) / s
    checks.append(check_close("slope at low speed is α, (5)", slope, alpha, 1e-4))
    return Reproduction(figure=figure, checks=checks)


@reproduces(DOCUMENT, "Figure 4", title="Force against depth (m 1 kg, k 10 kN/m, 1 m/s)")
def figure_4() -> Reproduction:
    impacts = Impacts.of(1.0, 10e3, [0.01, 0.2, 0.4, 0.6], 1.0)
    figure, axis = new_figure()
    for alpha in impacts.alpha:
        x, f = loop(1.0, 10e3, float(alpha), 1.0)
        axis.plot(1e3 * x, f, label=f"α = {alpha:g} s/m")
    axis.set(xlabel="depth [mm]", ylabel="contact force [N]")
    axis.legend(frameon=False)
    at = {"speed": 1.0, "dissipation": 0.6, "mass": 1.0, "stiffness": 10e3}
    depths = [
        float(impact.peak_depth(**{**at, "dissipation": 1.5 * float(a)})) for a in impacts.alpha
    ]
    loss = float(impact.energy_lost(1.0, 0.6, 1.0))
    return Reproduction(
        figure=figure,
        checks=[
            check_close(
                "α 0.4: peak depth in mm", 1e3 * float(impact.peak_depth(**at)), 8.49825, 1e-5
            ),
            check_close("α 0.4: peak force in N", float(impact.peak_force(**at)), 94.871, 1e-3),
            check_close("α 0.4: loop area in J", loss, 0.246563, 1e-6),
            check_close(
                "α 0.4: duration in ms", 1e3 * float(impact.contact_duration(**at)), 31.757, 1e-3
            ),
            *check_loops(impacts),
            Check("more damping, less depth", bool(np.all(np.diff(depths) < 0))),
        ],
    )


SPRINGS = Impacts.of(50.0, [10e3, 30e3, 50e3, 70e3], 0.5, 1.0)


@reproduces(DOCUMENT, "Figure 5", title="Force against depth for four stiffnesses (m 50 kg, 1 m/s)")
def figure_5() -> Reproduction:
    figure, axis = new_figure()
    for k in SPRINGS.stiffness:
        x, f = loop(50.0, float(k), 0.5, 1.0)
        axis.plot(1e3 * x, f, label=f"k = {k / 1e3:g} kN/m")
    axis.set(xlabel="depth [mm]", ylabel="contact force [N]")
    axis.legend(frameon=False)
    areas = np.asarray(SPRINGS.integrate().energy_lost)
    return Reproduction(
        figure=figure,
        checks=[
            *(
                check_close(f"loop area, k {k / 1e3:g} kN/m, in J", float(a), 14.01203, 1e-5)
                for k, a in zip(SPRINGS.stiffness, areas, strict=True)
            ),
            *check_loops(SPRINGS),
        ],
    )


@reproduces(DOCUMENT, "Figure 6", title="Force against time for four stiffnesses (m 50 kg, 1 m/s)")
def figure_6() -> Reproduction:
    figure, axis = new_figure()
    ends, impulses, lowest = [], [], []
    for k in SPRINGS.stiffness:
        law = HuntCrossley.from_alpha(stiffness=float(k), alpha=0.5)
        at = {"speed": 1.0, "dissipation": 0.75, "mass": 50.0, "stiffness": float(k)}
        duration = impact.contact_duration(**at)
        course = _course(law, mass=50.0, speed=1.0, duration=duration)
        t, f = np.asarray(course.time), np.asarray(course.force)
        axis.plot(1e3 * t, f, label=f"k = {k / 1e3:g} kN/m")
        ends.append(max(f[0], f[-1]) / f.max())
        lowest.append(f.min())
        impulses.append(50.0 * float(course.velocity[0] - course.velocity[-1]))
    axis.set(xlabel="time [ms]", ylabel="contact force [N]")
    axis.legend(frameon=False)
    exact = 50.0 * (1.0 + float(impact.rebound_speed(1.0, 0.75)))
    spread = max(abs(p / exact - 1) for p in impulses)
    return Reproduction(
        figure=figure,
        checks=[
            check_below("force starts and ends at zero, relative to its peak", max(ends), 1e-7),
            Check("the force is never negative", bool(min(lowest) >= 0), min(lowest), ">= 0"),
            check_below("the impulse is m (v_i + v_o) for every k, relative", spread, 1e-8),
        ],
    )


@reproduces(DOCUMENT, "Figure 7", title="Force against depth for three masses (k 25 kN/m, 0.5 m/s)")
def figure_7() -> Reproduction:
    # The fourth is not drawn; with it the batch has the size of the others, and their program.
    impacts = Impacts.of([1.0, 10.0, 100.0, 1000.0], 25e3, 0.5, 0.5)
    figure, axis = new_figure()
    for m in impacts.mass[:3]:
        x, f = loop(float(m), 25e3, 0.5, 0.5)
        axis.plot(1e3 * x, f, label=f"m = {m:g} kg")
    axis.set(xlabel="depth [mm]", ylabel="contact force [N]")
    axis.legend(frameon=False)
    per_mass = np.asarray(impacts.integrate().energy_lost) / impacts.mass
    spread = np.ptp(per_mass) / per_mass[0]
    return Reproduction(
        figure=figure,
        checks=[
            check_below("loop area is proportional to mass, relative spread", float(spread), 1e-8),
            *check_loops(impacts),
        ],
    )


@reproduces(DOCUMENT, "Figure 8", title="Foot contact: placement, support and lift")
def figure_8() -> Reproduction:
    run = foot.foot_run()
    t = run.trajectory
    force, depth, rate = t.force[:, 0, -1], foot.compliance(run).depth[:, 0], -t.v[:, 0]
    placed, lift = foot.phase_ends(run)
    figure, axes = new_figure(3, 1, figsize=(6.4, 7.0), sharex=True)
    ms = 1e3 * t.time
    axes[0].plot(ms, 1e3 * depth, label="foot")
    axes[0].plot(ms, 1e3 * foot.desired_depth(run), "--", lw=1.2, label="desired")
    axes[0].set(ylabel="penetration [mm]")
    axes[0].legend(frameon=False)
    axes[1].plot(ms, rate)
    axes[1].set(ylabel="velocity [m/s]")
    axes[2].plot(ms, force)
    axes[2].set(ylabel="ground force [N]", xlabel="time [ms]")
    for axis in axes:
        for end in (placed, lift):
            axis.axvline(1e3 * end, color="0.6", lw=0.8)
    for begin, phase in ((0.0, "placement"), (placed, "support"), (lift, "lift")):
        axes[0].annotate(phase, (1e3 * begin + 3, 1.02), xycoords=("data", "axes fraction"),
                         fontsize=9, color="0.4")  # fmt: skip

    events = events_of(t, run.contact_names)
    parted = [e.time for e in events if e.kind == "lift-off"]
    last_force = force[np.searchsorted(t.time, parted[0]) - 1] if parted else np.nan
    # What the force can be at the last sample before parting, if it falls to zero there.
    steepest = np.max(np.abs(np.diff(force))) / force.max()
    support = (t.time > placed) & (t.time < lift)
    speed = np.abs(rate[support])
    n = len(speed) // 4
    static = 500 / 50e3
    long = foot.foot_run(lift=4.0, until=4.1)
    settled = float(np.interp(3.99, long.trajectory.time, foot.compliance(long).depth[:, 0]))
    exchanged = t.kinetic[0] + np.max(np.abs(t.actuator_work))
    unaccounted = float(np.max(np.abs(t.ledger_error)) / exchanged)
    return Reproduction(
        figure=figure,
        note="The document leaves the support force and the times open: 500 N from 0.1 s to 0.5 s,"
        " lift at 2 m/s from the position the foot has then.",
        table=[{"time [s]": e.time, "event": e.kind} for e in events],
        checks=[
            check_below("force at touch, of its peak", float(force[0] / force.max()), 1e-9),
            check_below(
                "force before parting, of its peak, is at most a sample's change",
                float(last_force / force.max()),
                float(steepest),
            ),
            Check(
                "the force is never negative", bool(force.min() >= 0), float(force.min()), ">= 0"
            ),
            Check(
                "the oscillation is damped: the last quarter of support moves least",
                bool(speed[-n:].max() < 0.5 * speed[:n].max()),
                float(speed[-n:].max()),
                f"below half of {speed[:n].max():.3g}",
            ),
            check_close(
                "depth in lasting support is 500 N / k, in mm", 1e3 * settled, 1e3 * static, 1e-6
            ),
            Check("the foot lifts off once", len(parted) == 1 and bool(depth[-1] < 0)),
            check_below("energy ledger closes, of the energy exchanged", unaccounted, 1e-8),
        ],
    )
