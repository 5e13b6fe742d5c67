"""Flickinger 2011, chapter 6: capability, the posture that jumps best, and the jump itself."""

import functools
import itertools
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy import ndimage

from stiction.agility import (
    Correlation,
    JumpOutcome,
    JumpStudy,
    PostureLimits,
    PostureSearch,
    Stance,
    best_posture,
    capability,
    capability_field,
    correlation,
    hold,
    jump_outcome,
    jump_study,
    make_stance,
    place,
    posture_limits,
    stance_gaps,
    unit_vector,
)
from stiction.engines import Trajectory
from stiction.mechanism import point_position
from stiction.report.agility import (
    duration_figure,
    error_figure,
    field_figure,
    jump_heights,
    partial_figure,
    path_figure,
    posture_figure,
    sampling_figure,
)
from stiction.report.figures import new_figure
from stiction.report.progress import progress
from stiction.reproduce.flickinger_runs import item
from stiction.reproduce.registry import Check, Reproduction, stated
from stiction.scenes import rigid_law, scene
from stiction.scenes.library import load

DIRECTION = (-1.0, 0.0, 1.0)  # (6.12)
JOINTS = ("femur", "tibia")
JUMPS = 500  # of the study; `stiction posture --study 2000` makes more
TORQUE, MU = 2.5, 0.5  # [N·m], and of static friction, Table 6.1
POSTURES = ("guess", "optimized")  # keyframes of the leg, as printed in Table 6.2
HEIGHTS = {"guess": 0.17, "optimized": 0.18}  # of the body, printed there [m]
RISES = {"guess": 0.02, "optimized": 0.40}  # Secs. 6.4.2 and 6.4.3 [m]
FIRST = 0.015  # of a jump, drawn closer [s]
WEIGHT = 0.176 * 9.81  # of the leg [N]
CEILINGS = (200.0, 250.0, 300.0, np.inf)  # up to which the relation is looked for [m/s²]
LINEAR = 200.0  # up to here the document sees stance duration rise with capability [m/s²]


@functools.cache
def leg() -> tuple[Stance, PostureLimits]:
    """The jumping leg on its foot, with the friction of Table 6.1."""
    stance = make_stance(load("jumping-leg"), contacts=["foot"], mu=MU, point="body")
    return stance, posture_limits(stance)


@functools.cache
def unsprung() -> Stance:
    """The leg without its springs: (6.1) has inertia, velocities and gravity, and no springs."""
    stance, _ = leg()
    joints = stance.mechanism.joints
    return eqx.tree_at(
        lambda s: s.mechanism.joints.stiffness, stance, jnp.zeros_like(joints.stiffness)
    )


def direction():
    """(6.12)."""
    return unit_vector("direction", DIRECTION)


@functools.cache
def posture(name: str) -> np.ndarray:
    """A keyframe of the leg, on the ground."""
    stance, _ = leg()
    frames = {key.name: np.array(key.q) for key in stance.mechanism.keyframes}
    return np.asarray(place(stance, jnp.asarray(frames[name]))[0])


@functools.cache
def optimum() -> PostureSearch:
    """The search for the best posture, from the document's among others."""
    _, limits = leg()
    return best_posture(unsprung(), limits, direction(), guess=jnp.asarray(posture("optimized")))


@functools.cache
def jump(name: str) -> tuple[Trajectory, JumpOutcome]:
    """The jump from a posture."""
    run = scene("jumping-leg").run(until=0.6, start={"keyframe": name})
    return run, jump_outcome(run.control, run)


@functools.cache
def study() -> tuple[JumpStudy, Correlation]:
    """Jumps from random postures of the femur and the tibia, coxa and body straight.

    The correlation is that of stance duration and capability up to `LINEAR`.
    """
    stance, limits = leg()
    law = rigid_law(scene("jumping-leg").scenario.contact, stance.contacts)
    narrow = hold(stance, limits, jnp.asarray(posture("guess")), JOINTS)
    done = jump_study(stance, narrow, direction(), JUMPS, law=law,
                      each=lambda batches: progress(batches, "jumping"))  # fmt: skip
    motors, exact = capabilities(unsprung(), jnp.asarray(done.q))
    done = replace(done, motors=motors, exact=exact)
    kept = done.stood & (done.motors > 0) & (done.motors < LINEAR)
    return done, correlation(done.motors[kept], done.outcome.stance_duration[kept])


def capabilities(stance: Stance, q: jax.Array) -> list[np.ndarray]:
    """By the motors alone and with the contacts, of several postures."""

    def one(q, contact_limits):
        return capability(stance, q, direction(), contact_limits=contact_limits).value

    return [np.asarray(jax.jit(jax.vmap(partial(one, contact_limits=c)))(q)) for c in (False, True)]


# ------------------------------------------------------------------- capability over postures


@item("Figure 6.1")
def figure_6_1() -> Reproduction:
    _, limits = leg()
    guess = posture("guess")
    field = capability_field(unsprung(), limits, jnp.asarray(guess), direction(), JOINTS)
    values = {"motors": field.motors, "contacts too": field.exact}
    islands = [_islands(x > 0.5 * np.nanmax(x)) for x in values.values()]
    taken = bool(np.nanmax(field.exact - field.motors, initial=-1.0) < 1e-6)
    return Reproduction(
        field_figure(field, marks={"guess": tuple(guess[-2:])}),
        table=[
            {
                "limits": name,
                "share with capability > 0": float(np.mean(x > 0)),
                "largest [m/s²]": float(np.nanmax(x)),
                "regions above half of it": count,
            }
            for (name, x), count in zip(values.items(), islands, strict=True)
        ],
        checks=[
            *stated(Check.more("regions of high capability, not contiguous", islands[0], 1)),
            Check("contacts only take capability away", taken),
        ],
        arrays={"femur [rad]": field.first, "tibia [rad]": field.second}
        | {f"capability by {name} [m/s²]": x for name, x in values.items()},
    )


def _islands(mask: np.ndarray) -> int:
    """Connected regions of a grid, without those of less than four points."""
    labels = np.zeros(mask.shape, int)
    ndimage.label(np.nan_to_num(mask), output=labels)
    return int(np.sum(np.bincount(labels.ravel())[1:] >= 4))


def _in_joints(draw: Callable[..., Any]) -> Callable[[Any], Any]:
    """A figure of the study over the angles of the two joints."""
    return lambda found: draw(found[0], found[0].q[:, -2], found[0].q[:, -1], JOINTS)


def _counts(found: tuple[JumpStudy, Correlation]) -> list[dict[str, int]]:
    done, _ = found
    names = {
        "left the ground": done.outcome.left,
        "after a stance": done.stood,
        "timeouts": done.timeout,
        "slipped before": done.outcome.slips > 0,
        "still on the ground after 30 ms": ~done.outcome.left & ~done.timeout,
    }
    return [{"postures": len(done.q)} | {name: int(x.sum()) for name, x in names.items()}]


@item("Figure 6.2", of=study, draw=_in_joints(sampling_figure), table=_counts)
def figure_6_2(found: tuple[JumpStudy, Correlation]) -> list[Check]:
    done, _ = found
    kinds = [int(x.sum()) for x in (done.timeout, done.jumped, done.stood)]
    words = "timeouts, jumps at once and jumps after a stance all occur"
    return [
        *stated(Check(words, min(kinds) > 0, kinds)),
        Check.below("share of timeouts", kinds[0] / len(done.q), 0.2),
    ]


@item("Figure 6.3", of=study)
def figure_6_3(found: tuple[JumpStudy, Correlation]) -> Reproduction:
    done, r = found
    figure = duration_figure(done, r)
    axis = figure.axes[0]
    axis.axvline(LINEAR, color="0.5", ls="--", lw=1)
    axis.set_title(f"up to {LINEAR:g} m/s²: {axis.get_title()}", fontsize=10)
    sprung, held = capabilities(leg()[0], jnp.asarray(done.q))
    kinds = {
        "by (6.6)": done.motors,
        "with the contact": done.exact,
        "against the springs": sprung,
        "against the springs, with the contact": held,
    }
    rows = []
    for (name, value), top in itertools.product(kinds.items(), CEILINGS):
        kept = done.stood & (value > 0) & (value < top)
        row = vars(correlation(value[kept], done.outcome.stance_duration[kept]))
        shown = "all" if np.isinf(top) else top
        rows.append({"capability": name, "up to [m/s²]": shown} | row)
    rises = f"stance duration rises with capability below {LINEAR:g} m/s²: least r of the interval"
    return Reproduction(figure, rows, stated(Check.more(rises, r.low, 0.0)))


@item("Figure 6.4", of=study, draw=_in_joints(partial_figure))
def figure_6_4(found: tuple[JumpStudy, Correlation]) -> list[Check]:
    rank = "small dots are dark: rank correlation of duration and capability up to 200 m/s²"
    return stated(Check.more(rank, found[1].spearman, 0.0))


# ---------------------------------------------------------------------------- the best posture


@item("Table 6.2", of=optimum)
def table_6_2(found: PostureSearch) -> Reproduction:
    stance, _ = leg()
    names, best = stance.mechanism.tree.coordinate_names, found.optima[0]
    q = np.stack([posture(name) for name in POSTURES] + [best.q])
    motors, exact = capabilities(unsprung(), jnp.asarray(q))
    rows = zip(
        ("guess, printed", "optimized, printed", "best found here"), q, motors, exact, strict=True
    )
    bare = unsprung()
    effort = [
        np.abs(
            np.asarray(capability(bare, jnp.asarray(x), direction(), contact_limits=False).effort)
        )
        for x in q[:2]
    ]
    return Reproduction(
        table=[
            {"posture": name, **dict(zip(names, x.tolist(), strict=True)),
             "by motors alone [m/s²]": float(m), "with the contact [m/s²]": float(e)}
            for name, x, m, e in rows
        ],
        checks=[
            *stated(
                *(Check.close(f"height of the body, {name} [m]", float(posture(name)[2]), h, 0.005)
                  for name, h in HEIGHTS.items()),
                Check.more("the optimised posture can accelerate more by (6.6), times",
                           float(motors[1] / motors[0]), 1.0),
                Check.below("the coxa's motor does not help the guess [N·m]", effort[0][0], 1e-6),
                Check.more("and helps the optimised posture [N·m]", effort[1][0], 0.1 * TORQUE),
                Check.below("it is the best: (6.6) of the best found here, times",
                            float(motors[2] / motors[1]), 1.01),
                Check("its foot holds at that acceleration", bool(np.isfinite(exact[1]))),
            ),
            Check.below("KKT conditions at the best found here", best.residual, 1e-6),
        ],
    )  # fmt: skip


def _least_distances(runs: dict[str, Trajectory]) -> list[dict[str, Any]]:
    return [
        {"posture": n, "least distance to the goal [m]": float(np.nanmin(jump_heights(run)[2]))}
        for n, run in runs.items()
    ]


@item(
    "Figure 6.5",
    of=lambda: {name: jump(name)[0] for name in POSTURES},
    draw=error_figure,
    table=_least_distances,
)
def figure_6_5(runs: dict[str, Trajectory]) -> list[Check]:
    guess, best = (row["least distance to the goal [m]"] for row in _least_distances(runs))
    return stated(Check.less("the optimised posture comes nearer to the goal", best, guess, "m"))


# ----------------------------------------------------------------------- jumps from two postures


def _from_both(guess: int, optimized: int):
    """Register what is made for each posture: the numbers of the two figures."""

    def register(make: Callable[[str], Reproduction]):
        item(f"Figure 6.{guess}")(partial(make, "guess"))
        item(f"Figure 6.{optimized}")(partial(make, "optimized"))
        return make

    return register


@_from_both(6, 7)
def the_posture(name: str) -> Reproduction:
    stance, _ = leg()
    q = posture(name)
    gap = float(stance_gaps(stance, jnp.asarray(q))[0])
    checks = [Check.below("the foot touches [m]", abs(gap), 1e-9)]
    if name == "guess":
        at = stance.contacts.point_plane
        foot = point_position(stance.mechanism, jnp.asarray(q), at.bodies[0], at.point[0])
        line = q[:3] - np.asarray(foot)
        angle = np.degrees(np.arccos(line @ np.asarray(direction()) / np.linalg.norm(line)))
        words = "the line from the foot to the body is about along the jump [degrees off]"
        checks += stated(Check.below(words, float(angle), 15.0))
    figure = posture_figure(stance, q[None], np.asarray(direction()), [name])
    return Reproduction(figure, checks=checks)


@_from_both(8, 11)
def forces_and_torques(name: str) -> Reproduction:
    run, outcome = jump(name)
    t, effort = run, np.abs(np.asarray(run.effort))
    figure, grid = new_figure(2, 2, figsize=(10.0, 6.0))
    for (left, right), end in zip(grid, (t.time[-1], FIRST), strict=True):
        left.plot(t.time, t.force[:, 0], label=("tangential, x", "tangential, y", "normal"))
        left.set(xlabel="time [s]", ylabel="contact force [N]", xlim=(0, end))
        right.plot(t.time, t.effort, label=run.mechanism.actuators.names)
        right.set(xlabel="time [s]", ylabel="motor torque [N·m]", xlim=(0, end))
    for axis in grid[0]:
        axis.legend()
    size = max(np.nanmax(np.abs(np.asarray(t.actuator_work))), 1e-3)
    unbooked = float(np.nanmax(np.abs(t.ledger_error))) / size
    most = np.nanmax(effort, axis=0)
    pushed = np.asarray(t.force)[0, 0, 2]
    events = [e for e in t.events() if e.contact == "foot"]
    touches = sum(e.kind in ("impact", "zeno") for e in events)
    lifts = [e.time for e in events if e.kind == "lift-off"]
    if name == "guess":
        says = [
            Check.more("it stands on its foot at first: normal force [N]", float(pushed), WEIGHT),
            Check.less("the springs pull it out of contact before it can jump: after",
                       1e3 * lifts[0], 10.0, "ms"),
            Check.more("the foot touches several times", touches, 2),
            Check.more("torques of femur and tibia near their limit [N·m]", float(most[1:].min()),
                       0.9 * TORQUE),
        ]  # fmt: skip
    else:
        stance = 1e3 * float(outcome.stance_duration)
        says = [
            Check.less("lifts off at once: in contact for", stance, 10.0, "ms"),
            Check.more("all three motors push: the least of their peaks [N·m]",
                       float(most.min()), 0.5 * TORQUE),
        ]  # fmt: skip
    checks = [
        *stated(*says),
        Check.more("the ground pushes: largest normal force [N]",
                   float(np.nanmax(t.force[:, 0, 2])), 1.0),
        Check.below("torques, over their limit", float(most.max()) / TORQUE, 1 + 1e-12),
        Check("the ground never pulls", bool(np.nanmin(t.force[:, 0, 2]) >= -1e-6)),
        Check.below("energy unaccounted for, relative to the motors' work", unbooked, 1e-3),
    ]  # fmt: skip
    row = {
        "stance [ms]": 1e3 * float(outcome.stance_duration),
        "slips before lift-off": int(outcome.slips),
        "slipping [ms]": 1e3 * float(outcome.slipped),
        "rise [m]": float(outcome.rise),
        "off the direction [degrees]": float(np.degrees(outcome.off_course)),
        "sideways at the top [m]": float(outcome.sideways),
    }
    return Reproduction(figure, [row], checks)


@_from_both(9, 12)
def angles_and_heights(name: str) -> Reproduction:
    run, outcome = jump(name)
    t, (x, foot, _) = run, jump_heights(run)
    figure, (left, right) = new_figure(1, 2, figsize=(10.0, 3.8))
    left.plot(t.time, t.q[:, 7:], label=run.mechanism.actuators.names)
    left.set(xlabel="time [s]", ylabel="motor angle [rad]")
    right.plot(t.time, np.stack([x[:, 2], foot], axis=1), label=("body", "foot"))
    right.set(xlabel="time [s]", ylabel="height [m]")
    left.legend()
    right.legend()
    away = foot > 1e-3
    rises = RISES[name]
    says = [Check.close("rise of the body [m]", float(outcome.rise), rises, 0.25 * rises)]
    if name == "guess":
        times = int(np.sum(away[1:] & ~away[:-1]))
        says.append(Check.more("the foot leaves the ground several times", times, 1))
    else:
        since = np.argmax(away)
        stays = float(t.time[since + np.argmin(away[since:])] if not away[since:].all() else np.inf)
        says.append(Check.more("the foot stays in the air from then on, until [s]", stays, 0.5))
    return Reproduction(figure, checks=stated(*says))


@_from_both(10, 13)
def path_of_body(name: str) -> Reproduction:
    run, outcome = jump(name)
    x, holds = jump_heights(run)[0], []
    if name == "guess":
        # The document's leg has one contact point, its foot. Ours lands on its body then.
        landed = next((e.time for e in run.events() if e.contact.startswith("body")), np.inf)
        end = float(x[np.searchsorted(run.time, landed) - 1, 0] - x[0, 0])
        says = [
            Check.less("moves towards -N1, until the body lands", end, 0.0, "m"),
            Check.close("and hardly rises [m]", float(outcome.rise), RISES[name], 0.005),
        ]
    else:
        off = float(np.degrees(outcome.off_course))
        says = [Check.below("flies along the wanted direction, off by [degrees]", off, 15.0)]
        holds.append(Check.more("and no less than friction allows [degrees]", off, _least_off(run)))
    return Reproduction(path_figure(run), checks=[*stated(*says), *holds])


def _least_off(run: Trajectory) -> float:
    """How far off (6.12) a push by forces inside the friction cone must be [degrees].

    The impulse of the ground is inside the cone, |P_t| ≤ μ P_n, and gravity takes g t from the
    velocity upwards: the velocity along the ground is at most μ (1 + g t / v_z) times that.
    """
    outcome = jump_outcome(run.control, run)
    rises = float(outcome.take_off[2])
    flat = MU * (1 + 9.81 * float(outcome.stance_duration) / rises)
    return 45.0 - float(np.degrees(np.arctan(flat)))
