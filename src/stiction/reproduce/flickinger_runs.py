"""The runs of Flickinger 2011, each made once, and how its figures draw them.

Contact forces last and impulses do not: each has an axis of its own. The document draws estimates
of impact forces (3.25) to show where impacts happened: they have panels below, as the least forces
that do an impact's work in a millisecond. Its energy balance (3.24) multiplies forces by
coordinates, so that its own estimates depend on where the origin is (`Outcome.printed_estimates`).
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from stiction.engines.forces import OPEN
from stiction.report.contacts import event_rows
from stiction.report.figures import COLORS, new_figure
from stiction.report.strobe import draw_strobe
from stiction.reproduce.flickinger_outcome import Outcome, outcome
from stiction.reproduce.flickinger_rims import rims
from stiction.reproduce.registry import Document

item = Document("flickinger").item
NO_CONTROL = 5.0  # e* of the document where energy is not controlled
BENT = "start.q=[0.7853981633974483,-2.356194490192345]"  # (π/4, -3π/4)
ROUND = tuple(
    setting
    for wheel in ("wheel_c", "wheel_d")
    for setting in (
        f"mechanism.edits.geom.{wheel}.size=[0.5,0.02,0.5]",
        f"mechanism.edits.body.{wheel}.inertia=[0.125,0.25,0.125]",  # a disc: m r²/4, m r²/2
    )
)
TALL = tuple(
    setting
    for wheel in ("wheel_c", "wheel_d")
    for setting in (
        f"mechanism.edits.geom.{wheel}.size=[0.25,0.02,0.5]",
        f"mechanism.edits.body.{wheel}.inertia=[0.125,0.15625,0.03125]",
    )
)
# So little that it is rounding, and enough that one wheel is found to strike before the other.
ONE_FIRST = "start.q=[5,5,1e-9,0,0]"
NO_REBOUND = 0.1  # of the pendulum's tip: the threshold of Sec. 3.1, which is open [m/s]
_INSTANTS = 10  # at which a mechanism is drawn, at most
_ROWS = 8  # of impacts in a table


def pendulum(restitution: float, energetic: float, *settings: str) -> Outcome:
    """The double pendulum of Sec. 2.3."""
    slow = f"contact.rest_speed={NO_REBOUND}"
    return outcome("double-pendulum", *_law(restitution, energetic), slow, *settings)


def bicycle(restitution: float, energetic: float, *settings: str) -> Outcome:
    """The bicycle of Sec. 2.4."""
    return outcome("bicycle", *_law(restitution, energetic), *settings)


def flat_bicycle(restitution: float, energetic: float, *settings: str) -> Outcome:
    """The bicycle with round wheels on level ground, thrown forward at 2 m/s (Tables 3.2, 5.2)."""
    start = "start.v=[2,0,0,0,0]"
    return bicycle(restitution, energetic, *ROUND, "ground.slope_deg=0", start, *settings)


def bent(energetic: float, method: str = "scale") -> Outcome:
    """The pendulum of Table 5.3."""
    return pendulum(1.0, energetic, BENT, "until=5", f"contact.energy_method={method}")


# What the document simulates in chapters 3 and 5, by section: coefficients e and e*.
RUNS: dict[str, partial[Outcome]] = {
    "3.4.1": partial(pendulum, 1.0, NO_CONTROL),
    "3.4.2": partial(flat_bicycle, 1.0, NO_CONTROL, ONE_FIRST),
    "3.6.1": partial(pendulum, 0.0, 0.5),
    "3.7.1": partial(rims, 0.75, 0.5),
    "3.7.2": partial(rims, 0.5, 0.5),
    "3.7.3": partial(rims, 0.25, 0.5),
    "5.2.1": partial(pendulum, 1.0, 1.0),
    "5.2.2": partial(pendulum, 1.0, 0.5),
    "5.2.3": partial(pendulum, 0.1, 0.5),
    "5.3.1": partial(flat_bicycle, 1.0, 0.95),
    "5.3.2": partial(flat_bicycle, 0.5, 1.0),
    "5.3.3": partial(flat_bicycle, 0.0, 1.0),
    "5.5, free": partial(bent, NO_CONTROL),
    "5.5, scaled": partial(bent, 1.0),
    "5.5, constrained": partial(bent, 1.0, "constrain"),
}


def _law(restitution: float, energetic: float) -> tuple[str, str]:
    return f"contact.restitution={restitution}", f"contact.energetic={energetic}"


# ------------------------------------------------------------------------------------- figures


def draw_trajectory(axis, outcome: Outcome) -> None:
    """The mechanism at the start, at its impacts and at the end."""
    time, q, v = outcome.time, np.asarray(outcome.trajectory.q), np.asarray(outcome.trajectory.v)
    hits = sorted({e.time for e in outcome.impacts})
    far = [hits[0]] if hits else []
    for t in hits[1:]:  # the last of an endless sequence would only blacken the picture
        if t - far[-1] > 0.03 * time[-1]:
            far.append(t)
    if len(far) > _INSTANTS:
        far = [far[i] for i in np.linspace(0, len(far) - 1, _INSTANTS).astype(int)]
    before = np.maximum(np.searchsorted(time, far) - 1, 0)
    at_hits = q[before] + (np.array(far) - time[before])[:, None] * v[before]
    ground = outcome.trajectory.contacts.planes  # type: ignore[union-attr]
    planes = zip(np.asarray(ground.position), np.asarray(ground.rotation), strict=True)
    draw_strobe(
        axis,
        outcome.mechanism,
        np.concatenate([q[:1], at_hits, q[-1:]]),
        path=q,
        ground=[(p, R[:, 2]) for p, R in planes],
    )
    axis.set(xlabel="N1 [m]", ylabel="N2 [m]")


def draw_energy(axis, outcome: Outcome, *, potential: bool = False) -> None:
    """Total and kinetic energy against time."""
    t = outcome.trajectory
    axis.plot(outcome.time, outcome.energy, label="total", color=COLORS[0])
    axis.plot(outcome.time, t.kinetic, label="kinetic", color=COLORS[1], lw=1.2)
    if potential:
        axis.plot(outcome.time, t.potential, label="potential", color=COLORS[2], lw=1.2)
    axis.set(xlabel="time [s]", ylabel="energy [J]", xlim=(0, outcome.time[-1]))
    axis.legend(frameon=False, ncols=3, loc="lower right", bbox_to_anchor=(1, 0.99))


def trajectory_figure(outcome: Outcome):
    """A trajectory alone."""
    figure, axis = new_figure(figsize=(7.0, 4.4))
    draw_trajectory(axis, outcome)
    return figure


def energy_figure(outcome: Outcome):
    """Energies alone."""
    figure, axis = new_figure()
    draw_energy(axis, outcome)
    return figure


def motion_figure(outcome: Outcome, *, potential: bool = False):
    """(a) trajectory, (b) energy."""
    figure, (left, right) = new_figure(1, 2, figsize=(10.4, 4.0), width_ratios=(1.15, 1))
    draw_trajectory(left, outcome)
    draw_energy(right, outcome, potential=potential)
    left.set_title("(a) trajectory", loc="left")
    right.set_title("(b) energy", loc="left")
    return figure


def force_figure(outcome: Outcome):
    """(a) tangential, (b) normal: forces as lines, impulses as stems on an axis of their own; below
    the forces that would have done the impacts' work in a millisecond."""
    figure, grid = new_figure(2, 2, figsize=(10.4, 6.2), height_ratios=(1.6, 1))
    panels, below = grid
    names = outcome.names
    force, closed = outcome.force, outcome.modes != OPEN
    lasting = np.where(closed[:, :, None], force, 0.0)
    stems = np.array([e.impulse for e in outcome.hits])
    for axis, row, title in zip(panels, (0, -1), ("(a) tangential", "(b) normal"), strict=True):
        right = axis.twinx() if closed.any() else axis
        for c, name in enumerate(names):
            # Narrower for each further contact: what coincides is still seen.
            color, width = COLORS[c], 1.0 + 1.4 * (len(names) - 1 - c)
            these = [e for e in outcome.hits if e.contact == name]
            times, sizes = [e.time for e in these], [e.impulse[row] for e in these]
            right.vlines(times, 0, sizes, color=color, lw=width, alpha=0.6)
            right.plot(times, sizes, "o", color=color, ms=2.5 + width, alpha=0.6)
            line = np.where(closed[:, c], force[:, c, row], np.nan)
            label = name.replace("_", " ")
            axis.plot(outcome.time, line, color=color, lw=width + 0.4, label=label)
        if closed.any():
            axis.set_ylabel("force [N], lines")
            _share_zero(axis, lasting[:, :, row], signed=row == 0, scale=np.abs(lasting).max())
            right.grid(False)
            right.spines["right"].set_visible(True)
        right.set_ylabel("impulse [N·s], stems")
        _share_zero(right, stems[:, row], signed=row == 0, scale=np.abs(stems).max())
        axis.axhline(0, color="0.6", lw=0.8, zorder=0)
        axis.set_title(title, loc="left")
        axis.set(xlabel="time [s]", xlim=(0, outcome.time[-1]))
    times, least = outcome.estimates
    for axis, row, word in zip(below, (0, -1), ("tangential", "normal"), strict=True):
        for c, name in enumerate(names):
            width = 1.0 + 1.4 * (len(names) - 1 - c)
            size = least[:, c, row] / 1e3 if len(least) else np.zeros(0)
            axis.vlines(times, 0, size, color=COLORS[c], lw=width, alpha=0.6)
            label = name.replace("_", " ")
            axis.plot(times, size, "o", color=COLORS[c], ms=2.5 + width, alpha=0.6, label=label)
        axis.axhline(0, color="0.6", lw=0.8, zorder=0)
        axis.set_title(f"impact force (3.25), {word}", loc="left", fontsize=9)
        axis.set(xlabel="time [s]", ylabel="in 1 ms [kN]", xlim=(0, outcome.time[-1]))
    if len(names) > 1:
        panels[1].legend(frameon=False, ncols=len(names), loc="lower right", bbox_to_anchor=(1, 1))
    return figure


def _share_zero(axis, values: np.ndarray, *, signed: bool, scale: float) -> None:
    """Limits with zero at the same height on both axes; rounding is not blown up to fill them."""
    size = 1.15 * np.max(np.abs(values), initial=1e-3 * scale)
    axis.set_ylim(-size if signed else -0.03 * size, size)


def impact_table(outcome: Outcome) -> list[dict[str, str]]:
    """The first impacts."""
    return event_rows(outcome.impacts[:_ROWS])


FIGURES = {
    "trajectory": trajectory_figure,
    "energy": energy_figure,
    "motion": motion_figure,
    "motion, potential": partial(motion_figure, potential=True),
    "forces": force_figure,
}


def shows(name: str, run: str | Callable[[], Outcome], what: str):
    """Register what must hold of a run as one item: a figure of `FIGURES`, a table, the checks.

    Args:
        name: Of the item.
        run: Its section, or what makes it.
        what: The figure. The table of the first impacts goes with those of a trajectory.
    """
    of = RUNS[run] if isinstance(run, str) else run
    table = impact_table if what.startswith(("trajectory", "motion")) else None
    return item(name, of=of, draw=FIGURES[what], table=table)
