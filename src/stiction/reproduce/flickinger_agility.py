"""Flickinger 2011, chapter 6: capability, the posture that jumps best, and the jump itself."""

import functools
from functools import partial

import jax.numpy as jnp
import numpy as np

from stiction.agility import (
    JumpOutcome,
    PostureLimits,
    Search,
    Stance,
    best_posture,
    capability,
    jump_outcome,
    make_stance,
    place,
    posture_limits,
    unit_vector,
)
from stiction.agility.study import (
    Correlation,
    Study,
    capability_field,
    correlation,
    hold,
    jump_study,
)
from stiction.engines import events_of
from stiction.report.agility import (
    duration_figure,
    error_figure,
    field_figure,
    height_figure,
    jump_heights,
    partial_figure,
    path_figure,
    posture_figure,
    sampling_figure,
)
from stiction.report.figures import new_figure
from stiction.report.progress import progress
from stiction.reproduce.registry import Check, Reproduction, check_below, reproduces
from stiction.scenes.contact import hybrid_law
from stiction.scenes.library import load
from stiction.scenes.read import read_scenario
from stiction.scenes.run import Run, run_scenario

reproduces_6 = partial(reproduces, "flickinger", chapter=6)

DIRECTION = (-1.0, 0.0, 1.0)  # (6.12)
JOINTS = ("femur", "tibia")
JUMPS = 500  # of the study; `stiction posture --study 2000` makes more
TORQUE = 2.5  # [N·m], Table 6.1


@functools.cache
def leg() -> tuple[Stance, PostureLimits]:
    """The jumping leg on its foot, with the friction of Table 6.1."""
    stance = make_stance(load("jumping-leg"), contacts=["foot"], mu=0.5, point="body")
    return stance, posture_limits(stance)


def direction():
    """(6.12)."""
    return unit_vector("direction", DIRECTION)


@functools.cache
def posture(name: str) -> np.ndarray:
    """A keyframe of the leg, on the ground."""
    stance, _ = leg()
    frames = {key: np.array(q) for key, q, _ in stance.mechanism.keyframes}
    return np.asarray(place(stance, jnp.asarray(frames[name]))[0])


@functools.cache
def optimum() -> Search:
    """The search for the best posture, from the guess among others."""
    stance, limits = leg()
    return best_posture(stance, limits, direction(), guess=jnp.asarray(posture("guess")))


@functools.cache
def jump(name: str) -> tuple[Run, JumpOutcome]:
    """The jump from a posture."""
    settings = [f"start.keyframe={name}", "until=0.6"]
    run = run_scenario(*read_scenario("jumping-leg", settings))
    return run, jump_outcome(run.control, run.trajectory)


@functools.cache
def study() -> tuple[Study, Correlation]:
    """Jumps from random postures of the femur and the tibia, coxa and body straight."""
    stance, limits = leg()
    scenario, _ = read_scenario("jumping-leg")
    law = hybrid_law(scenario.contact, stance.contacts)
    narrow = hold(stance, limits, jnp.asarray(posture("guess")), JOINTS)
    done = jump_study(stance, narrow, direction(), JUMPS, law=law,
                      each=lambda batches: progress(batches, "jumping"))  # fmt: skip
    kept = done.stood & (done.motors > 0)
    return done, correlation(done.motors[kept], done.outcome.stance_duration[kept])


@reproduces_6("Figure 6.1", title="Acceleration capability in configuration space")
def figure_6_1() -> Reproduction:
    stance, limits = leg()
    guess = posture("guess")
    field = capability_field(stance, limits, jnp.asarray(guess), direction(), JOINTS)
    islands = [_islands(x > 0.5 * np.nanmax(x)) for x in (field.motors, field.exact)]
    share = [float(np.mean(x > 0)) for x in (field.motors, field.exact)]
    return Reproduction(
        figure=field_figure(field, marks={"guess": tuple(guess[-2:])}),
        note="Coxa at zero and body upright, as in the document. White: the posture does not stand,"
        " or the direction cannot be accelerated along. The document's field is the left one.",
        table=[{"limits": n, "share with capability > 0": s, "largest [m/s²]": float(np.nanmax(x)),
                "regions above half of it": i}
               for n, s, x, i in zip(("motors", "contacts too"), share,
                                     (field.motors, field.exact), islands, strict=True)],
        checks=[
            Check("regions of high capability are not contiguous", islands[0] > 1, islands[0],
                  "> 1"),
            Check("contacts only take capability away",
                  bool(np.nanmax(field.exact - field.motors, initial=-1.0) < 1e-6)),
        ],
    )  # fmt: skip


def _islands(mask: np.ndarray) -> int:
    from scipy import ndimage

    labels = np.zeros(mask.shape, int)
    ndimage.label(np.nan_to_num(mask), output=labels)
    sizes = np.bincount(labels.ravel())[1:]
    return int(np.sum(sizes >= 4))  # single points of the grid are no region


def _joint_angles(done: Study) -> tuple[np.ndarray, np.ndarray]:
    return done.q[:, -2], done.q[:, -1]


@reproduces_6("Figure 6.2", title="Total configuration space sampling")
def figure_6_2() -> Reproduction:
    done, _ = study()
    left, stood, timeouts = (int(x.sum()) for x in (done.outcome.left, done.stood, done.timeout))
    return Reproduction(
        figure=sampling_figure(done, *_joint_angles(done), JOINTS),
        table=[{"postures": len(done.q), "left the ground": left, "after a stance": stood,
                "timeouts": timeouts, "slipped before": int((done.outcome.slips > 0).sum())}],
        note="A timeout is a run that used up its steps or events; the document's ran for 30"
        " minutes each. Only postures that can accelerate along the direction by (6.6) are drawn.",
        checks=[
            Check("most postures that were tried leave the ground", left > len(done.q) / 2, left),
            check_below("share of timeouts", timeouts / len(done.q), 0.2),
        ],
    )  # fmt: skip


@reproduces_6("Figure 6.3", title="Stance phase duration versus acceleration capability")
def figure_6_3() -> Reproduction:
    done, found = study()
    sure = found.low > 0 or found.high < 0
    way = "rises" if found.pearson > 0 else "falls"
    words = (
        f"stance duration {way} with capability" if sure else "no relation can be told from chance"
    )
    return Reproduction(
        figure=duration_figure(done, found),
        table=[vars(found)],
        note="The document says that stance duration increases with capability, most of its data"
        f" being linear below 200 m/s². Here: {words} (r = {found.pearson:.2f}).",
        checks=[
            Check("enough jumps for an interval narrower than 0.4",
                  bool(found.high - found.low < 0.4), found.high - found.low, "< 0.4"),
        ],
    )  # fmt: skip


@reproduces_6("Figure 6.4", title="Stance phase duration and capability in the partial space")
def figure_6_4() -> Reproduction:
    done, _ = study()
    return Reproduction(
        figure=partial_figure(done, *_joint_angles(done), JOINTS),
        checks=[Check("stance durations are of milliseconds, as small legs' are",
                      bool(np.nanmedian(done.outcome.stance_duration[done.outcome.left]) < 0.02))],
    )  # fmt: skip


def _motors_alone(q: np.ndarray):
    stance, _ = leg()
    return capability(stance, jnp.asarray(q), direction(), contact_limits=False).value


@reproduces_6("Table 6.2", title="Initial and optimized configurations")
def table_6_2() -> Reproduction:
    stance, _ = leg()
    found = optimum()
    best = found.optima[0]
    names = stance.mechanism.tree.coordinate_names
    at = {n: float(_motors_alone(posture(n))) for n in ("guess", "optimized")}
    rows = []
    for name, q in (("guess", posture("guess")), ("optimized", posture("optimized"))):
        rows.append({"posture": name, **dict(zip(names, q.tolist(), strict=True))})
    kept = float(capability(stance, jnp.asarray(posture("optimized")), direction()).value)
    printed = "printed optimum: rotations 0.52, -0.5, -0.46; coxa 0.15, femur 0.03, tibia 0.67"
    turn = np.linalg.norm(np.asarray(posture("optimized"))[4:7])
    return Reproduction(
        table=rows,
        note=f"The document's {printed}, for a geometry that it does not give. (6.6) at the guess:"
        f" {at['guess']:.4g}, at the optimum: {at['optimized']:.4g} m/s².",
        checks=[
            check_below("KKT conditions at the optimum", best.residual, 1e-6),
            Check("at least the best of 10,000 random postures",
                  best.capability >= found.best_sample, best.capability, found.best_sample),
            check_below("the scene's posture is this optimum, relative",
                        abs(kept / best.capability - 1), 1e-6),
            Check("the body is turned, and the coxa with it", bool(turn > 0.1 and abs(
                posture("optimized")[7]) > 0.1)),
            Check("all three motors work", bool(np.all(np.abs(best.effort) > 0.01 * TORQUE)),
                  best.effort.tolist()),
        ],
    )  # fmt: skip


@reproduces_6("Figure 6.5", title="Absolute position error for jump simulations")
def figure_6_5() -> Reproduction:
    runs = {name: jump(name)[0] for name in ("guess", "optimized")}
    ends = {name: float(np.nanmin(jump_heights(run)[2])) for name, run in runs.items()}
    return Reproduction(
        figure=error_figure(runs),
        table=[{"posture": n, "least distance to the goal [m]": e} for n, e in ends.items()],
        checks=[Check("the optimised posture comes nearer to the goal",
                      ends["optimized"] < ends["guess"], ends["optimized"], ends["guess"])],
    )  # fmt: skip


def _posture_figure(name: str) -> Reproduction:
    stance, _ = leg()
    q = posture(name)
    gap = float(stance_height(stance, q))
    figure = posture_figure(stance, q[None], np.asarray(direction()), [name])
    return Reproduction(figure=figure, checks=[check_below("the foot touches [m]", abs(gap), 1e-9)])


def stance_height(stance: Stance, q: np.ndarray) -> float:
    """Height of the foot [m]."""
    from stiction.agility.postures import stance_gaps

    return float(stance_gaps(stance, jnp.asarray(q))[0])


@reproduces_6("Figure 6.6", title="Initial, non-optimized configuration")
def figure_6_6() -> Reproduction:
    return _posture_figure("guess")


@reproduces_6("Figure 6.7", title="Optimized initial configuration")
def figure_6_7() -> Reproduction:
    return _posture_figure("optimized")


def _forces_and_torques(name: str) -> Reproduction:
    run, outcome = jump(name)
    t = run.trajectory
    figure, (left, right) = new_figure(1, 2, figsize=(10.0, 3.8))
    for i, label in enumerate(("tangential, x", "tangential, y", "normal")):
        left.plot(t.time, t.force[:, 0, i], label=label)
    left.set(xlabel="time [s]", ylabel="contact force [N]")
    left.legend()
    for i, motor in enumerate(run.mechanism.actuators.names):
        right.plot(t.time, t.effort[:, i], label=motor)
    right.set(xlabel="time [s]", ylabel="motor torque [N·m]")
    right.legend()
    effort = np.asarray(t.effort)
    used = int(np.sum(np.nanmax(np.abs(effort), axis=0) > 0.01 * TORQUE))
    events = events_of(t, run.contact_names)
    slips = sum(e.kind == "slip" for e in events)
    size = max(np.nanmax(np.abs(np.asarray(t.actuator_work))), 1e-3)
    checks = [
        check_below("torques, over their limit", float(np.nanmax(np.abs(effort))) / TORQUE,
                    1 + 1e-12),
        Check("the ground never pulls", bool(np.nanmin(t.force[:, 0, 2]) >= -1e-6)),
        check_below("energy unaccounted for, relative to the motors' work",
                    float(np.nanmax(np.abs(t.ledger_error))) / size, 1e-3),
    ]  # fmt: skip
    if name == "optimized":
        checks.append(Check("all three motors are used", used == 3, used, 3))
    row = {"stance [ms]": 1e3 * float(outcome.stance_duration), "slips before lift-off":
           int(outcome.slips), "slipping [ms]": 1e3 * float(outcome.slipped), "slip events": slips,
           "rise [m]": float(outcome.rise)}  # fmt: skip
    return Reproduction(figure=figure, table=[row], checks=checks)


def _angles_and_heights(name: str) -> Reproduction:
    run, outcome = jump(name)
    t = run.trajectory
    figure = height_figure(run)
    axis = figure.axes[0]
    figure.set_size_inches(10.0, 3.8)
    axis.set_position((0.56, 0.15, 0.41, 0.78))
    figure.set_layout_engine("none")
    other = figure.add_axes((0.08, 0.15, 0.4, 0.78))
    for i, motor in enumerate(run.mechanism.actuators.names):
        other.plot(t.time, t.q[:, 7 + i], label=motor)
    other.set(xlabel="time [s]", ylabel="motor angle [rad]")
    other.grid(alpha=0.25)
    other.legend()
    guess, best = (jump(n)[1] for n in ("guess", "optimized"))
    thesis = {"guess": 0.02, "optimized": 0.40}[name]
    checks = [
        Check("rise of the body, beside the document's [m]", True, float(outcome.rise), thesis)
    ]
    if name == "optimized":
        checks += [
            Check("rises clearly higher than from the guess",
                  bool(best.rise > 5 * guess.rise + 0.1), float(best.rise), float(guess.rise)),
            Check("leaves the ground within 10 ms",
                  bool(best.left and best.stance_duration < 0.01)),
        ]  # fmt: skip
    return Reproduction(figure=figure, checks=checks)


def _trajectory(name: str) -> Reproduction:
    run, outcome = jump(name)
    guess, best = (jump(n)[1] for n in ("guess", "optimized"))
    checks = []
    if name == "optimized":
        worse = np.inf if np.isnan(guess.off_course) else float(guess.off_course)
        checks = [Check("leaves closer to the wanted direction than from the guess [rad]",
                        bool(best.off_course < worse), float(best.off_course), worse)]  # fmt: skip
    else:
        checks = [Check("hardly rises", bool(outcome.rise < 0.05), float(outcome.rise), "< 0.05 m")]
    return Reproduction(figure=path_figure(run), checks=checks)


@reproduces_6("Figure 6.8", title="Jump from the guess: contact forces, motor torques")
def figure_6_8() -> Reproduction:
    return _forces_and_torques("guess")


@reproduces_6("Figure 6.9", title="Jump from the guess: motor angles, heights")
def figure_6_9() -> Reproduction:
    return _angles_and_heights("guess")


@reproduces_6("Figure 6.10", title="Body center trajectory, jump from the guess")
def figure_6_10() -> Reproduction:
    return _trajectory("guess")


@reproduces_6("Figure 6.11", title="Jump from the optimum: contact forces, motor torques")
def figure_6_11() -> Reproduction:
    return _forces_and_torques("optimized")


@reproduces_6("Figure 6.12", title="Jump from the optimum: motor angles, heights")
def figure_6_12() -> Reproduction:
    return _angles_and_heights("optimized")


@reproduces_6("Figure 6.13", title="Body center trajectory, jump from the optimum")
def figure_6_13() -> Reproduction:
    return _trajectory("optimized")
