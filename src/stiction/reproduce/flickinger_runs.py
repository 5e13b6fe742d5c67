"""The runs of Flickinger 2011, each made once, and how its figures draw them.

Contact forces last and impulses do not: each has an axis of its own. The document draws estimates
of impact forces instead (3.25), only to show where impacts happened; its energy balance multiplies
forces by coordinates, so that they depend on where the origin is.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stiction.engines import Event, Trajectory, events_of, rest_time
from stiction.engines.forces import OPEN
from stiction.report.figures import COLORS, new_figure
from stiction.report.strobe import draw_strobe
from stiction.reproduce.registry import Check, check_below
from stiction.scenes.read import read_scenario
from stiction.scenes.run import Run, run_scenario

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
_SAMPLES = 2001
_INSTANTS = 10  # at which a mechanism is drawn, at most
_ROWS = 8  # of impacts in a table
_HITS = ("impact", "zeno", "jam")


@dataclass(frozen=True)
class Outcome:
    """A run, with its events."""

    run: Run
    trajectory: Trajectory
    events: list[Event]

    @property
    def time(self) -> np.ndarray:
        """Times of the samples [s]."""
        return np.asarray(self.trajectory.time)

    @property
    def energy(self) -> np.ndarray:
        """Kinetic and potential energy [J]."""
        return np.asarray(self.trajectory.kinetic + self.trajectory.potential)

    @property
    def impacts(self) -> list[Event]:
        """Rebounds, and impacts that end without one; one row for each contact."""
        return [e for e in self.events if e.kind == "impact"]

    @property
    def hits(self) -> list[Event]:
        """All events that have an impulse."""
        return [e for e in self.events if e.kind in _HITS]

    @property
    def rest(self) -> float | None:
        """When everything came to rest [s]."""
        return rest_time(self.trajectory)

    def kinds(self) -> list[str]:
        """What happened, in order."""
        return [e.kind for e in self.events]


@functools.cache
def outcome(scene: str, *settings: str) -> Outcome:
    """A built-in scene with some fields changed."""
    run = run_scenario(*read_scenario(scene, [f"samples={_SAMPLES}", *settings]))
    trajectory = run.trajectory.to_numpy()
    return Outcome(run, trajectory, events_of(trajectory, run.contact_names))


def pendulum(restitution: float, energetic: float, *settings: str) -> Outcome:
    """The double pendulum of Sec. 2.3."""
    return outcome("double-pendulum", *_law(restitution, energetic), *settings)


def bicycle(restitution: float, energetic: float, *settings: str) -> Outcome:
    """The bicycle of Sec. 2.4."""
    return outcome("bicycle", *_law(restitution, energetic), *settings)


def flat_bicycle(restitution: float, energetic: float) -> Outcome:
    """The bicycle with round wheels on level ground, thrown forward at 2 m/s (Tables 3.2, 5.2)."""
    start = "start.v=[2,0,0,0,0]"
    return bicycle(restitution, energetic, *ROUND, "ground.slope_deg=0", start)


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
    ground = outcome.run.contacts.planes  # type: ignore[union-attr]
    planes = zip(np.asarray(ground.position), np.asarray(ground.rotation), strict=True)
    draw_strobe(
        axis,
        outcome.run.mechanism,
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
    """(a) tangential, (b) normal: forces as lines, impulses as stems on an axis of their own."""
    figure, panels = new_figure(1, 2, figsize=(10.4, 3.9))
    names = outcome.run.contact_names
    force = np.asarray(outcome.trajectory.force)
    closed = np.asarray(outcome.trajectory.modes) != OPEN
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
    if len(names) > 1:
        panels[1].legend(frameon=False, ncols=len(names), loc="lower right", bbox_to_anchor=(1, 1))
    return figure


def _share_zero(axis, values: np.ndarray, *, signed: bool, scale: float) -> None:
    """Limits with zero at the same height on both axes; rounding is not blown up to fill them."""
    size = 1.15 * np.max(np.abs(values), initial=1e-3 * scale)
    axis.set_ylim(-size if signed else -0.03 * size, size)


def impact_table(outcome: Outcome) -> list[dict[str, str]]:
    """The first impacts: velocities, impulses, friction used and energy."""
    return [
        {
            "t [s]": f"{e.time:.6f}",
            "contact": e.contact,
            "velocity before (t, n) [m/s]": _vector(e.velocity_before),
            "after": _vector(e.velocity_after),
            "impulse [N·s]": _vector(e.impulse),
            "friction used": f"{e.mu:.4f}",
            "kinetic energy [J]": f"{e.kinetic_before:.5g} → {e.kinetic_after:.5g}",
        }
        for e in outcome.impacts[:_ROWS]
    ]


def _vector(values: Sequence[float]) -> str:
    return ", ".join(f"{v + 0.0:.4g}" if abs(v) > 1e-12 else "0" for v in values)


# -------------------------------------------------------------------------------------- checks


def gains(outcome: Outcome) -> np.ndarray:
    """Kinetic energy gained at each impact [J]."""
    return np.array([e.kinetic_after - e.kinetic_before for e in outcome.impacts])


def check_ledger(outcome: Outcome) -> Check:
    """Energies close."""
    error = np.abs(np.asarray(outcome.trajectory.ledger_error)).max() / outcome.energy.max()
    return check_below("energy unaccounted for, of the whole", error, 1e-6)


def check_never_gains(outcome: Outcome) -> Check:
    """No impact creates energy."""
    most = gains(outcome).max() / outcome.energy[0]
    return check_below("most energy gained at an impact, of the initial", most, 1e-12)


def check_forces(outcome: Outcome) -> list[Check]:
    """Nothing pulls, and friction stays inside its cones."""
    law = outcome.run.scenario.contact
    closed = np.asarray(outcome.trajectory.modes) != OPEN
    force = np.asarray(outcome.trajectory.force)[closed]
    impulse = np.array([e.impulse for e in outcome.hits])
    both = np.concatenate([force, impulse]) if impulse.size else force
    largest = np.abs(both).max()
    excess = (np.abs(both[:, 0]) - law.mu_static * both[:, 1]).max() / largest
    return [
        check_below("no force or impulse pulls; the most, of the largest",
                    -both[:, 1].min() / largest, 1e-9),
        check_below("friction beyond the static cone, of the largest", excess, 1e-6),
    ]  # fmt: skip


def check_rest(outcome: Outcome, within: float) -> Check:
    """It comes to rest in time."""
    rest = outcome.rest
    return Check("at rest", rest is not None and rest <= within, rest, f"within {within:g} s")


def check_no_rest(outcome: Outcome) -> Check:
    """It does not come to rest."""
    return Check(f"not at rest in {outcome.time[-1]:g} s", outcome.rest is None)
