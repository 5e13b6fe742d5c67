"""Flickinger 2011, appendix A: a mass on a driven spring with dry friction, in two ways.

Friction acts where the damper of a vehicle would: between the mass and the driven end, on
$\\dot{dZ} = \\dot Z - \\dot U$. By events this is a mass on ground that moves as U does.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Scalar
from stiction._base.errors import unknown
from stiction.engines.forces import STICK
from stiction.report.figures import COLORS, new_figure
from stiction.reproduce.flickinger_runs import Outcome, item, outcome
from stiction.reproduce.registry import Check, Reproduction, stated

INCH, POUND = 0.0254, 4.4482216152605  # [m], [N]
# Table A.1, in inches, pounds of force and seconds; U and the normal load are open there.
M, K, MU_STATIC, MU_DYNAMIC = 1 / 386, 2.0, 0.3, 0.2
LOAD, AMPLITUDE, OMEGA = 1.0, 1.0, 2 * np.pi * 2.0
STEP, UNTIL = 0.01, 2.0  # [s]
CAPTURES = ("crossing", "predicted", "threshold")


class DamperMotion(NamedTuple):
    """Deflection dZ [in], its rate dVs [in/s], and whether the damper sticks, against time [s]."""

    time: np.ndarray
    deflection: np.ndarray
    rate: np.ndarray
    sticks: np.ndarray

    @property
    def stuck(self) -> float:
        """Time for which the damper sticks [s]."""
        return float(np.mean(self.sticks) * self.time[-1])

    @property
    def captures(self) -> int:
        """How often it comes to stick."""
        return int(np.sum(self.sticks[1:] & ~self.sticks[:-1]))


def drive(t: np.ndarray) -> np.ndarray:
    """U(t) [in]."""
    return AMPLITUDE * np.sin(OMEGA * t)


def _pull(t: Scalar, d: Scalar) -> Scalar:
    """Force on the mass in the frame of the driven end: spring and inertia [lbf]."""
    return -K * d + M * AMPLITUDE * OMEGA**2 * jnp.sin(OMEGA * t)


def fixed_step(
    step: float = STEP, capture: str = "threshold", threshold: float | None = None
) -> DamperMotion:
    """Runge and Kutta's fourth order in equal steps, with projection to zero velocity (A.3).

    From velocity zero the mass sticks as long as static friction holds it at the steps' ends (A.1),
    and slips otherwise (A.2). When it comes to zero the document's words leave open:

    - "crossing": a step in which the velocity changes sign ends with velocity zero;
    - "predicted": a step that begins slower than its acceleration times the step ends so;
    - "threshold": so does one that ends slower than a threshold, which is what friction takes in a
      step: "the current acceleration, based upon the friction force, [...] multiplied by the fixed
      step size" (A.1). Faster crossings are missed, as the document says they may be.

    Args:
        step: [s].
        capture: One of these rules.
        threshold: Another one for the last [in/s].
    """
    if capture not in CAPTURES:
        raise unknown("rule of capture", capture, CAPTURES)
    threshold = MU_DYNAMIC * LOAD / M * step if threshold is None else threshold
    start = (0.0, -AMPLITUDE * OMEGA)  # the mass is at rest, the driven end is not

    def one(state: tuple[Scalar, Scalar], t: Scalar):
        d, w = state
        pull = _pull(t, d)
        holds = (w == 0) & (jnp.abs(pull) <= MU_STATIC * LOAD)
        along = jnp.where(w == 0, jnp.sign(pull), jnp.sign(w))

        def rates(t: Scalar, y: Array) -> Array:
            return jnp.stack([y[1], (_pull(t, y[0]) - MU_DYNAMIC * LOAD * along) / M])

        y = jnp.stack([d, w])
        h = step
        k1 = rates(t, y)
        k2 = rates(t + h / 2, y + h / 2 * k1)
        k3 = rates(t + h / 2, y + h / 2 * k2)
        k4 = rates(t + h, y + h * k3)
        d_next, w_next = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        if capture == "crossing":
            w_next = jnp.where(w_next * along <= 0, 0.0, w_next)
        elif capture == "threshold":
            w_next = jnp.where(jnp.abs(w_next) < threshold, 0.0, w_next)
        else:
            a = k1[1]
            soon = (w != 0) & (a * w < 0) & (jnp.abs(w) <= jnp.abs(a) * h)
            d_next, w_next = jnp.where(soon, d + w * h / 2, d_next), jnp.where(soon, 0.0, w_next)
        new = jnp.where(holds, d, d_next), jnp.where(holds, 0.0, w_next)
        return new, jnp.stack(new)

    n = round(UNTIL / step)
    first = jnp.asarray(start[0]), jnp.asarray(start[1])
    time = step * np.arange(n + 1)
    _, path = jax.jit(lambda t: jax.lax.scan(one, first, t))(jnp.asarray(time[:-1]))
    path = np.concatenate([[start], np.asarray(path)])
    return DamperMotion(time, path[:, 0], path[:, 1], path[:, 1] == 0)


def by_events() -> tuple[DamperMotion, Outcome]:
    """The same motion, simulated from event to event."""
    run = outcome("mass-spring-friction")
    t = run.time
    z, v = (np.asarray(x)[:, 0] / INCH for x in (run.trajectory.q, run.trajectory.v))
    sticks = run.modes[:, 0] == STICK
    rate = np.where(sticks, 0.0, v - AMPLITUDE * OMEGA * np.cos(OMEGA * t))
    return DamperMotion(t, z - drive(t), rate, sticks), run


@item("Figure A.1")
def figure_a_1() -> Reproduction:
    figure, axis = new_figure(figsize=(6.4, 3.0))
    axis.fill([3.2, 4.6, 4.6, 3.2], [0.3, 0.3, 1.7, 1.7], fc="0.85", ec="black")
    axis.annotate("M", (3.9, 1.0), ha="center", va="center", fontsize=14)
    axis.plot([0, 5.6], [0.3, 0.3], color="0.5", lw=1)
    axis.plot([0.6, 0.6], [0.4, 1.6], color="black", lw=2)
    x = np.linspace(1.0, 2.8, 200)
    coil = 1.35 + 0.12 * np.sin(2 * np.pi * 6 * (x - 1.0) / 1.8)
    axis.plot([0.6, 1.0, *x, 2.8, 3.2], [1.35, 1.35, *coil, 1.35, 1.35], color=COLORS[0])
    axis.annotate("K", (1.9, 1.6), ha="center", color=COLORS[0])
    axis.plot([0.6, 2.1], [0.7, 0.7], color=COLORS[1])
    axis.plot([1.5, 2.4, 2.4], [0.58, 0.58, 0.7], color=COLORS[1])
    axis.plot([1.5, 2.4, 2.4, 3.2], [0.82, 0.82, 0.7, 0.7], color=COLORS[1])
    axis.annotate("FRC", (1.9, 0.4), ha="center", color=COLORS[1])
    for at, name in ((0.6, "U"), (3.9, "Z")):
        axis.annotate("", (at + 0.6, 2.05), (at, 2.05), arrowprops={"arrowstyle": "->"})
        axis.annotate(name, (at + 0.7, 2.05), va="center")
        axis.plot([at, at], [1.75, 2.15], color="0.5", lw=0.8)
    axis.annotate("", (3.2, 0.12), (0.6, 0.12), arrowprops={"arrowstyle": "<->"})
    axis.annotate("dZ = Z - U (at rest: 0)", (1.9, -0.12), ha="center")
    axis.set(xlim=(0, 5.6), ylim=(-0.25, 2.3))
    axis.set_aspect("equal")
    axis.axis("off")
    _, run = by_events()
    body = float(np.asarray(run.trajectory.mechanism.bodies.mass).sum())
    weight = run.force[:, 0, 1]
    return Reproduction(
        figure=figure,
        checks=[
            *stated(Check.close("mass, of Table A.1 [kg]", body, M * POUND / INCH, 1e-5)),
            Check.close("normal load of 1 lbf [N]", weight.mean(), POUND, 1e-4),
        ],
    )


@item("Figure A.2")
def figure_a_2() -> Reproduction:
    event, _ = by_events()
    figure, panels = _two_ways("position [in]")
    for axis, motion in panels:
        u = drive(motion.time)
        axis.plot(motion.time, u, color="0.5", lw=1, label="U")
        axis.plot(motion.time, u + motion.deflection, label="Z")
        axis.plot(motion.time, motion.deflection, label="dZ")
    panels[0][0].legend(ncols=3, loc="lower right", bbox_to_anchor=(1, 1))
    fine = [apart(fixed_step(STEP / n, "crossing"), event) for n in (1, 10, 100)]
    nearer = fine[0] > 3 * fine[1] > 9 * fine[2]
    fixed = fixed_step()
    z, dz = (
        [np.abs(drive(m.time) * moves + m.deflection).max() for m in (event, fixed)]
        for moves in (1, 0)
    )
    return Reproduction(
        figure=figure,
        checks=[
            *stated(
                Check.below(
                    "similar motion: rms difference of dZ over its amplitude",
                    apart(fixed, event),
                    0.2,
                ),
                Check.less("by events Z swings less than by fixed steps", z[0], z[1], "in"),
                Check.less("and so does dZ", dz[0], dz[1], "in"),
            ),
            Check("with no crossing missed shorter steps come ever nearer", nearer, fine),
            Check.below("steps of 0.1 ms: rms difference over amplitude", fine[2], 5e-3),
        ],
    )


@item("Figure A.3")
def figure_a_3() -> Reproduction:
    fixed, (event, run) = fixed_step(), by_events()
    figure, panels = _two_ways("dVs [in/s]", "time [s]; shaded: sticks")
    for (axis, motion), style in zip(panels, (".-", "-"), strict=True):
        axis.plot(motion.time, motion.rate, style, ms=3, lw=1.2)
        shade = {"color": COLORS[1], "alpha": 0.3, "lw": 0, "step": "mid"}
        whole = axis.get_xaxis_transform()
        axis.fill_between(motion.time, 0, 1, where=list(motion.sticks), transform=whole, **shade)
        title = (
            f"{axis.get_title(loc='left')}; sticks {motion.captures} times, {motion.stuck:.3f} s"
        )
        axis.set_title(title, loc="left")
    pull = np.abs(jax.vmap(_pull)(jnp.asarray(event.time), jnp.asarray(event.deflection)))
    held = (pull[event.sticks] / LOAD).max(initial=0.0)
    slips = np.array([e.time for e in run.events if e.kind == "slip"])
    at_slip = np.interp(slips, event.time, pull)
    off = np.abs(at_slip / LOAD - MU_STATIC).max(initial=0.0)
    longer = f"> {event.stuck:.4f}"
    fastest = [float(np.abs(m.rate[m.time > 0.1]).max()) for m in (event, fixed)]
    return Reproduction(
        figure=figure,
        table=[
            {"t [s]": f"{e.time:.6f}", "event": e.kind}
            for e in run.events
            if e.kind in ("stick", "slip", "reversal")
        ],
        checks=[
            *stated(
                Check.more("the fixed step sticks more often", fixed.captures, event.captures),
                Check("and for longer [s]", fixed.stuck > event.stuck, fixed.stuck, longer),
                Check.more("by events the fastest slip is faster [in/s]", *fastest),
            ),
            Check.below("by events: friction needed while it sticks", held, MU_STATIC + 1e-6),
            Check.below("and it slips when that is all used up, error", off, 1e-3),
        ],
    )


def _two_ways(y_label: str, x_label: str = "time [s]"):
    """A figure with a panel for each way, and the panels with their motions."""
    figure, panels = new_figure(2, 1, sharex=True, sharey=True, figsize=(6.8, 5.4))
    for axis, title in zip(panels, ("(b) Runge-Kutta, 0.01 s", "(c) events"), strict=True):
        axis.set_title(title, loc="left")
        axis.set_ylabel(y_label)
    panels[1].set(xlabel=x_label, xlim=(0, UNTIL))
    return figure, list(zip(panels, (fixed_step(), by_events()[0]), strict=True))


def apart(fixed: DamperMotion, event: DamperMotion) -> float:
    """Rms difference of the deflections over the amplitude of the events'."""
    there = np.interp(fixed.time, event.time, event.deflection)
    return float(np.sqrt(np.mean((fixed.deflection - there) ** 2)) / np.abs(there).max())
