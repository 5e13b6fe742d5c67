"""Flickinger 2011, Secs. 6.4.2 and 6.4.3: the jumps from the guess and from the printed optimum."""

import functools
from functools import partial
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from stiction.agility import JumpOutcome, jump_outcome, stance_gaps
from stiction.engines import Event, Trajectory
from stiction.mechanism import point_position
from stiction.report.agility import error_figure, jump_heights, path_figure, posture_figure
from stiction.report.figures import new_figure
from stiction.reproduce.flickinger_agility import (
    HEIGHTS,
    MU,
    TORQUE,
    direction,
    item,
    leg,
    posture,
)
from stiction.reproduce.registry import Check, stated
from stiction.scenes import scene

RISES = {"guess": 0.02, "optimized": 0.40}  # Secs. 6.4.2 and 6.4.3 [m]
FIRST = 0.015  # of a jump, drawn closer [s]
WEIGHT = 0.176 * 9.81  # of the leg [N]


class JumpRun(NamedTuple):
    """A run from a posture, and what came of it."""

    name: str
    run: Trajectory
    outcome: JumpOutcome

    @property
    def foot_events(self) -> list[Event]:
        """What happened at the foot."""
        return [e for e in self.run.events() if e.contact == "foot"]

    @property
    def largest_torques(self) -> np.ndarray:
        """Of each motor [N·m]."""
        return np.nanmax(np.abs(np.asarray(self.run.effort)), axis=0)

    def check_rise(self) -> Check:
        """It rises as far as the text says."""
        rise = RISES[self.name]
        return Check.close("rise of the body [m]", float(self.outcome.rise), rise, 0.25 * rise)

    def check_oscillation(self) -> Check:
        """Motor angles swing: their turns, of the joint that turns least often, femur or tibia."""
        steps = np.sign(np.diff(np.asarray(self.run.q)[:, 8:], axis=0))
        turns = (np.diff(steps, axis=0) != 0).sum(axis=0)
        return Check.more("femur and tibia oscillate: turns of their motors", turns.min(), 10)

    def check_mechanics(self) -> list[Check]:
        """The ground only pushes, motors keep their limits, energies close."""
        run = self.run
        worked = max(np.nanmax(np.abs(np.asarray(run.actuator_work))), 1e-3)
        normal = np.asarray(run.force)[:, 0, 2]
        return [
            Check.more("the ground pushes: largest normal force [N]", np.nanmax(normal), 1.0),
            Check.below("torques over their limit", self.largest_torques.max() / TORQUE, 1 + 1e-12),
            Check.more("the ground never pulls; the least [N]", np.nanmin(normal), -1e-6),
            Check.below("energy unaccounted for, relative to the motors' work",
                        np.nanmax(np.abs(run.ledger_error)) / worked, 1e-3),
        ]  # fmt: skip


@functools.cache
def jump(name: str) -> JumpRun:
    """The jump from a posture."""
    run = scene("jumping-leg").run(until=0.6, start={"keyframe": name})
    return JumpRun(name, run, jump_outcome(run.control, run))


GUESS, OPTIMIZED = partial(jump, "guess"), partial(jump, "optimized")


def _both() -> dict[str, Trajectory]:
    return {name: jump(name).run for name in HEIGHTS}


def _least_distances(runs: dict[str, Trajectory]) -> list[dict[str, Any]]:
    return [
        {"posture": n, "least distance to the goal [m]": float(np.nanmin(jump_heights(run)[2]))}
        for n, run in runs.items()
    ]


@item("Figure 6.5", of=_both, draw=error_figure, table=_least_distances)
def figure_6_5(runs: dict[str, Trajectory]) -> list[Check]:
    guess, best = (row["least distance to the goal [m]"] for row in _least_distances(runs))
    return stated(Check.less("the optimised posture comes nearer to the goal", best, guess, "m"))


# ------------------------------------------------------------------------------ the two postures


def _draw_posture(q: np.ndarray, name: str):
    return posture_figure(leg()[0], q[None], np.asarray(direction()), [name])


def _touches(q: np.ndarray) -> Check:
    return Check.below(
        "the foot touches [m]", abs(float(stance_gaps(leg()[0], jnp.asarray(q))[0])), 1e-9
    )


@item("Figure 6.6", of=partial(posture, "guess"), draw=partial(_draw_posture, name="guess"))
def figure_6_6(q: np.ndarray) -> list[Check]:
    stance, _ = leg()
    at = stance.contacts.point_plane
    foot = point_position(stance.mechanism, jnp.asarray(q), at.bodies[0], at.point[0])
    line = q[:3] - np.asarray(foot)
    angle = np.degrees(np.arccos(line @ np.asarray(direction()) / np.linalg.norm(line)))
    words = "the line from the foot to the body is about along the jump [degrees off]"
    return [_touches(q), *stated(Check.below(words, float(angle), 15.0))]


@item("Figure 6.7", of=partial(posture, "optimized"), draw=partial(_draw_posture, name="optimized"))
def figure_6_7(q: np.ndarray) -> list[Check]:
    turned = 2 * np.degrees(np.arccos(abs(q[3])))
    return [
        _touches(q),
        *stated(
            Check.more("the body is rotated [degrees]", turned, 10.0),
            Check.more("and the coxa's angle is not zero [rad]", abs(q[7]), 0.1),
        ),
    ]


# --------------------------------------------------------------------------- forces and torques


def _draw_forces(made: JumpRun):
    t = made.run
    figure, grid = new_figure(2, 2, figsize=(10.0, 6.0))
    for (left, right), end in zip(grid, (t.time[-1], FIRST), strict=True):
        left.plot(t.time, t.force[:, 0], label=("tangential, x", "tangential, y", "normal"))
        left.set(xlabel="time [s]", ylabel="contact force [N]", xlim=(0, end))
        right.plot(t.time, t.effort, label=t.mechanism.actuators.names)
        right.set(xlabel="time [s]", ylabel="motor torque [N·m]", xlim=(0, end))
    for axis in grid[0]:
        axis.legend()
    return figure


def _jump_table(made: JumpRun) -> list[dict[str, Any]]:
    outcome = made.outcome
    row = {
        "stance [ms]": 1e3 * float(outcome.stance_duration),
        "slips before lift-off": int(outcome.slips),
        "slipping [ms]": 1e3 * float(outcome.slipped),
        "rise [m]": float(outcome.rise),
        "off the direction [degrees]": float(np.degrees(outcome.off_course)),
        "sideways at the top [m]": float(outcome.sideways),
    }
    return [row]


@item("Figure 6.8", of=GUESS, draw=_draw_forces, table=_jump_table)
def figure_6_8(made: JumpRun) -> list[Check]:
    pushed = np.asarray(made.run.force)[0, 0, 2]
    lifted = min(e.time for e in made.foot_events if e.kind == "lift-off")
    touches = sum(e.kind in ("impact", "zeno") for e in made.foot_events)
    return [
        *stated(
            Check.more("it stands on its foot at first: normal force [N]", pushed, WEIGHT),
            Check.less("the springs pull it out of contact before it can jump: after",
                       1e3 * lifted, 10.0, "ms"),
            Check.more("the foot touches several times", touches, 2),
            Check.more("torques of femur and tibia near their limit [N·m]",
                       made.largest_torques[1:].min(), 0.9 * TORQUE),
        ),
        *made.check_mechanics(),
    ]  # fmt: skip


@item("Figure 6.11", of=OPTIMIZED, draw=_draw_forces, table=_jump_table)
def figure_6_11(made: JumpRun) -> list[Check]:
    stance = 1e3 * float(made.outcome.stance_duration)
    return [
        *stated(
            Check.less("lifts off at once: in contact for", stance, 10.0, "ms"),
            Check.more("all three motors push: the least of their peaks [N·m]",
                       made.largest_torques.min(), 0.5 * TORQUE),
        ),
        *made.check_mechanics(),
    ]  # fmt: skip


# --------------------------------------------------------------------------- angles and heights


def _draw_heights(made: JumpRun):
    t, (x, foot, _) = made.run, jump_heights(made.run)
    figure, (left, right) = new_figure(1, 2, figsize=(10.0, 3.8))
    left.plot(t.time, t.q[:, 7:], label=t.mechanism.actuators.names)
    left.set(xlabel="time [s]", ylabel="motor angle [rad]")
    right.plot(t.time, np.stack([x[:, 2], foot], axis=1), label=("body", "foot"))
    right.set(xlabel="time [s]", ylabel="height [m]")
    left.legend()
    right.legend()
    return figure


def _in_the_air(made: JumpRun) -> np.ndarray:
    return jump_heights(made.run)[1] > 1e-3


@item("Figure 6.9", of=GUESS, draw=_draw_heights)
def figure_6_9(made: JumpRun) -> list[Check]:
    away = _in_the_air(made)
    times = int(np.sum(away[1:] & ~away[:-1]))
    return stated(
        made.check_rise(),
        made.check_oscillation(),
        Check.more("the foot leaves the ground several times", times, 1),
    )


@item("Figure 6.12", of=OPTIMIZED, draw=_draw_heights)
def figure_6_12(made: JumpRun) -> list[Check]:
    away, time = _in_the_air(made), made.run.time
    back = np.flatnonzero(~away[np.argmax(away) :])
    until = float(time[np.argmax(away) + back[0]]) if len(back) else np.inf
    return stated(
        made.check_rise(),
        made.check_oscillation(),
        Check.more("the foot stays in the air from then on, until [s]", until, 0.5),
    )


# ------------------------------------------------------------------------- the way of the body


def _draw_path(made: JumpRun):
    return path_figure(made.run)


@item("Figure 6.10", of=GUESS, draw=_draw_path)
def figure_6_10(made: JumpRun) -> list[Check]:
    # The document's leg has one contact point, its foot. Ours lands on its body then.
    run, x = made.run, jump_heights(made.run)[0]
    landed = next((e.time for e in run.events() if e.contact.startswith("body")), np.inf)
    ahead = x[np.searchsorted(run.time, landed) - 1, 0] - x[0, 0]
    return stated(
        Check.less("moves towards -N1, until the body lands", ahead, 0.0, "m"),
        Check.close("and hardly rises [m]", float(made.outcome.rise), RISES["guess"], 0.005),
    )


@item("Figure 6.13", of=OPTIMIZED, draw=_draw_path)
def figure_6_13(made: JumpRun) -> list[Check]:
    off = float(np.degrees(made.outcome.off_course))
    return [
        *stated(Check.below("flies along the wanted direction, off by [degrees]", off, 15.0)),
        Check.more("and no less than friction allows [degrees]", off, _least_off(made.outcome)),
    ]


def _least_off(outcome: JumpOutcome) -> float:
    """How far off (6.12) a push by forces inside the friction cone must be [degrees].

    The impulse of the ground is inside the cone, |P_t| ≤ μ P_n, and gravity takes g t from the
    velocity upwards: the velocity along the ground is at most μ (1 + g t / v_z) times that.
    """
    flat = MU * (1 + 9.81 * float(outcome.stance_duration) / float(outcome.take_off[2]))
    return 45.0 - float(np.degrees(np.arctan(flat)))
