"""Marhefka and Orin 1996, Section 5: a foot is placed, bears weight and is lifted (Figure 8).

Placement by position control, support by a constant force, lift by position control from where the
foot is then. The document leaves the force and the times open; the values are the scene's.
"""

import numpy as np

from stiction.engines import Compliance, Trajectory
from stiction.report.figures import new_figure
from stiction.reproduce.registry import Check, Document, Reproduction, stated
from stiction.scenes import scene

item = Document("marhefka").item


def foot_run() -> Trajectory:
    """The scene `foot`."""
    return scene("foot").run()


def _long_support(run: Trajectory) -> float:
    """Depth of a foot after four seconds of support [m]."""
    phases = [p.model_dump(exclude_unset=True) for p in run.scene.scenario.control["leg"].phases]
    phases[1]["until"] = 4.0
    long = run.scene.run({"until": 4.1, "control.leg.phases": phases})
    return float(np.interp(3.99, long.time, foot_depth(long)))


def foot_depth(run: Trajectory) -> np.ndarray:
    """Depth of the foot in the ground at each sample [m]."""
    found = run.compliance
    assert isinstance(found, Compliance)
    return np.asarray(found.depth)[:, 0]


def desired(run: Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """Depth [m] and velocity [m/s] that the control wants at each sample; nan while it pushes."""
    time, depth = np.asarray(run.time), foot_depth(run)
    wanted, speed = np.full((2, *time.shape), np.nan)
    begin = 0.0
    for phase in run.scene.scenario.control["leg"].phases:
        end = float(phase.until or np.inf)
        if phase.gain != 0:
            now = (time >= begin) & (time <= end)
            origin = -np.interp(begin, time, depth) if phase.relative else 0.0
            path = np.polynomial.Polynomial(phase.desired)
            wanted[now] = -origin - path(time[now] - begin)
            speed[now] = -path.deriv()(time[now] - begin)
        begin = end
    return wanted, speed


def _foot_figure(run: Trajectory, phases: dict[str, float]):
    """Depth, velocity and force of the foot, with the beginnings of the phases."""
    t, ms = run, 1e3 * run.time
    wanted, speed = desired(run)
    figure, axes = new_figure(3, 1, figsize=(6.4, 7.0), sharex=True)
    axes[0].plot(ms, 1e3 * foot_depth(run), label="foot")
    axes[0].plot(ms, 1e3 * wanted, "--", lw=1.2, label="desired")
    axes[0].legend()
    axes[1].plot(ms, -t.v[:, 0])
    axes[1].plot(ms, speed, "--", lw=1.2)
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


def _oscillation(run: Trajectory) -> tuple[float, float]:
    """The foot's greatest speed in the first and in the last quarter of support [m/s]."""
    placed, lift = (float(p.until or 0) for p in run.scene.scenario.control["leg"].phases[:2])
    speed = np.abs(run.v[:, 0])[(run.time > placed) & (run.time < lift)]
    quarter = len(speed) // 4
    return float(speed[:quarter].max()), float(speed[-quarter:].max())


@item("Figure 8", of=foot_run)
def figure_8(run: Trajectory) -> Reproduction:
    t, depth = run, foot_depth(run)
    force = t.force[:, 0, -1]
    placed, lift = (float(p.until or 0) for p in run.scene.scenario.control["leg"].phases[:2])
    events = run.events()
    parted = [e.time for e in events if e.kind == "lift-off"]
    last_force = force[np.searchsorted(t.time, parted[0]) - 1] if parted else np.nan
    # What the force can be at the last sample before parting, if it falls to zero there.
    steepest = np.max(np.abs(np.diff(force))) / force.max()
    first, last = _oscillation(run)
    exchanged = t.kinetic[0] + np.max(np.abs(t.actuator_work))
    unaccounted = float(np.max(np.abs(t.ledger_error)) / exchanged)
    static = 1e3 * 500 / 50e3
    damped = _oscillation(run.scene.run({"contact.alpha": 2 * run.scene.scenario.contact.alpha}))
    wanted, speed_wanted = desired(run)
    just = t.time <= placed
    ramp = np.abs(speed_wanted[just] - 2.0 * (1 - t.time[just] / placed)).max()
    missed = float(np.nanmax(np.abs(wanted - depth)[just]))
    says = stated(
        Check.below("desired velocity falls from 2 m/s to 0 in 0.1 s; error [m/s]", ramp, 1e-9),
        Check.close("desired position ends under ground [m]", float(wanted[just][-1]), 0.1, 1e-3),
        Check.more("the ground keeps the foot from following, off by [m]", missed, 0.05),
        Check.close("desired velocity in lift [m/s]", float(speed_wanted[-1]), -2.0, 1e-9),
        Check.more("the collision's force, over that of support", float(force.max() / 500), 2.0),
        Check("the force is never negative", bool(force.min() >= 0), float(force.min()), ">= 0"),
        Check.below("it is continuous at touch, of its peak", float(force[0] / force.max()), 1e-9),
        Check.below("and before parting, of its peak, is at most a sample's change",
                    float(last_force / force.max()), float(steepest)),
        Check.less("the oscillation is damped: speed in the last quarter of support",
                   last, 0.5 * first, "m/s, half of the first's"),
        Check.less("and more so with twice the α", damped[1], last, "m/s"),
    )  # fmt: skip
    return Reproduction(
        _foot_figure(run, {"placement": 0.0, "support": placed, "lift": lift}),
        table=[{"time [s]": e.time, "event": e.kind} for e in events],
        checks=[
            *says,
            Check.close("depth in lasting support is 500 N / k, in mm",
                        1e3 * _long_support(run), static, 1e-6),
            Check("the foot lifts off once", len(parted) == 1 and bool(depth[-1] < 0)),
            Check.below("energy ledger closes, of the energy exchanged", unaccounted, 1e-8),
        ],
    )  # fmt: skip
