"""rodic's figures of walking, made anew from an open recording.

The motion of rodic's subject is not public. Here a man of 72.6 kg walks on a treadmill at 1.14 m/s
between force plates (inverse kinematics that never saw the forces; see `walk/NOTICE`), and
the human of 38 degrees of freedom with his mass and stature moves as he did. Arms, neck and toes
are at rest, as in rodic.
"""

import functools
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from stiction.biped import (
    TOUCHED,
    Comparison,
    GroundReactions,
    Measured,
    Subject,
    compare,
    ground_reactions,
    human,
    m_shape,
    measured_on_frames,
    read_motion,
    read_plates,
    subject_of_mechanism,
    with_soles,
)
from stiction.mechanism import load_mechanism
from stiction.report.figures import COLORS, new_figure
from stiction.report.grf_figures import MEASURED, directions, legend_above, shade
from stiction.report.stick_figure import stick_figures
from stiction.reproduce.registry import (
    Check,
    Document,
    Reproduction,
    check_below,
    check_less,
    check_more,
    stated,
)
from stiction.tables import Table, intervals

item = Document("rodic").item
RECORDING = Path(__file__).parent / "walk"  # its NOTICE says whence
MOTION, PLATES = "motion.mot", "plates.mot"
STATURE, MASS = 1.80, 72.6  # m, kg: of the man in the recording
HALF_STEPS = 4
FEET = ("right", "left")
POINTS = ("heel_inner", "heel_outer", "toe_inner", "toe_outer")
POINT_NAMES = [name.replace("_", " ") for name in POINTS]


@dataclass(frozen=True)
class Walk:
    """Four half-steps: what was computed, what was measured, and when."""

    reactions: GroundReactions
    measured: Measured
    comparison: Comparison
    window: tuple[float, float]


@functools.cache
def recorded_walk(folder: Path = RECORDING) -> Walk:
    """The recording on the 38-DOF human, beside the plates."""
    subject = person(STATURE, MASS)
    reactions = ground_reactions(read_motion(folder / MOTION, subject), subject)
    # The plates have y up and z to the right; the human z up and y to the left.
    plates = read_plates(folder / PLATES, axes="x,-z,y")
    measured = measured_on_frames(plates, reactions)
    return Walk(reactions, measured, compare(reactions, measured), four_half_steps(reactions))


def person(stature: float, mass: float) -> Subject:
    """The human of 38 degrees of freedom on feet that bend at the ball."""
    mechanism = load_mechanism(human(stature, mass, sole="hinged"))
    return with_soles(subject_of_mechanism(mechanism), mechanism=mechanism)


def landings(reactions: GroundReactions) -> np.ndarray:
    """Frames at which a foot begins to bear a twentieth of the weight, and the foot, in order."""
    load = reactions.shares.foot_force @ reactions.axes.up
    down = load > 0.05 * reactions.subject.weight
    return np.argwhere(down[1:] & ~down[:-1]) + np.array([1, 0])


def four_half_steps(reactions: GroundReactions) -> tuple[float, float]:
    """From the first landing in the record to the fourth after it [s]."""
    frames = landings(reactions)[:, 0]
    last = frames[min(HALF_STEPS, len(frames) - 1)]
    return float(reactions.time[frames[0]]), float(reactions.time[last])


def _points(reactions: GroundReactions, foot: str) -> list[int]:
    names = reactions.subject.soles.names
    return [names.index(f"{foot}_{point}") for point in POINTS]


def _inside(walk: Walk) -> np.ndarray:
    start, end = walk.window
    return (walk.reactions.time >= start) & (walk.reactions.time <= end)


@item("Figure 6", of=recorded_walk)
def figure_6(walk: Walk) -> Reproduction:
    measured, reactions = walk.measured, walk.reactions
    foot = reactions.feet.index("right")
    force = measured.feet[:, foot]
    first, after = whole_stance(force @ reactions.axes.up)
    part = slice(max(first - 4, 0), after + 4)
    stance = slice(first - part.start, after - part.start)
    time, force = measured.time[part], force[part]
    arm = measured.pressure[part, foot] - reactions.center[measured.frames][part]
    moment = np.nan_to_num(np.cross(arm, force))
    figure, (top, bottom) = new_figure(2, sharex=True, figsize=(6.4, 5.2))
    for name, along in directions(reactions).items():
        top.plot(time, force @ along, label=name)
        bottom.plot(time, moment @ along, label=f"about {name}")
    top.set_ylabel("force [N]")
    bottom.set(xlabel="time [s]", ylabel="moment about the\ncentre of mass [N m]")
    legend_above(figure, top)
    load, ahead = force @ reactions.axes.up, (force @ reactions.axes.forward)[stance]
    half = len(ahead) // 2
    brake, push = float(ahead[:half].mean()), float(ahead[half:].mean())
    checks = [
        *stated(
            Check("the vertical force is M-shaped", m_shape(time[stance], load[stance]) is not None)
        ),
        Check("it is nothing before and after", bool(max(load[0], load[-1]) < 0.02 * load.max())),
        Check("the foot brakes first and pushes later", brake < 0 < push, [brake, push]),
    ]
    return Reproduction(figure, checks=checks)


@item("Figure 3", of=recorded_walk)
def figure_3(walk: Walk) -> Reproduction:
    soles, frame = walk.reactions.subject.soles, walk.reactions.touch
    figure, axis = new_figure(figsize=(5.4, 4.6))
    pose, bodies = walk.reactions.subject.poses(walk.reactions.subject.defaults[None]), soles.bodies
    turned = np.einsum("nij,nj->ni", pose.rotation[0][list(bodies)], np.asarray(soles.position))
    points = pose.position[0][list(bodies)] + turned
    for foot, color in zip(FEET, COLORS, strict=False):
        index = _points(walk.reactions, foot)
        outline = points[[*(index[i] for i in (0, 1, 3, 2)), index[0]]]
        axis.plot(*outline[:, :2].T, "o-", color=color, label=f"{foot} foot")
    axis.set(xlabel="forward [m]", ylabel="left [m]", aspect="equal")
    axis.legend()
    right_angle = np.array([walk.reactions.axes.forward, walk.reactions.axes.left,
                            walk.reactions.axes.up])  # fmt: skip
    off = np.abs(right_angle @ right_angle.T - np.eye(3)).max()
    counts = [sum(n.startswith(f"{foot}_{end}") for n in soles.names)
              for foot in FEET for end in ("heel", "toe")]  # fmt: skip
    return Reproduction(
        figure,
        checks=[
            *stated(
                Check("eight points: two at each heel, two at each front",
                      counts == [2, 2, 2, 2], counts),
                Check("each has a normal and two tangential coordinates",
                      frame.rate.shape[1:] == (8, 3), list(frame.rate.shape[1:])),
            ),
            check_below("normal and tangents are at right angles, off by", float(off), 1e-12),
        ],
    )  # fmt: skip


@item("Figure 7", of=lambda: person(1.90, 84.0728))
def figure_7(subject: Subject) -> Reproduction:
    _, lines = stick_figures(subject, subject.defaults[None])
    figure, axis = new_figure(figsize=(4.2, 5.6))
    for (_, y0, z0), (_, y1, z1) in lines[0]:
        axis.plot([y0, y1], [z0, z1], "o-", color=COLORS[0], ms=3)
    axis.set(xlabel="left [m]", ylabel="up [m]", aspect="equal")
    names = [c.name for c in subject.coordinates]
    joints = {"hip": 6, "knee": 2, "ankle": 4, "toe": 2, "waist": 3, "neck": 3,
              "shoulder": 6, "elbow": 2, "wrist": 4}  # fmt: skip
    found = {j: sum(j in n for n in names) for j in joints}
    freedoms = 6 + sum(not n.startswith("base.") for n in names)
    return Reproduction(
        figure,
        table=[{"joint": j, "degrees of freedom": n} for j, n in found.items()],
        checks=stated(
            Check("38 degrees of freedom, six of the base", freedoms == 38, freedoms, 38),
            Check("as many at each joint as in the text", found == joints, list(found.values())),
        ),
    )


@item("Figure 9", of=recorded_walk)
def figure_9(walk: Walk) -> Reproduction:
    reactions, gap = walk.reactions, walk.reactions.touch.gap
    figure, axes = new_figure(2, sharex=True, sharey=True, figsize=(6.4, 5.2))
    checks = []
    for axis, foot in zip(axes, FEET, strict=True):
        down = reactions.shares.down[:, reactions.feet.index(foot)]
        index = _points(reactions, foot)
        shade(axis, reactions.time, down)
        axis.plot(reactions.time, 100 * gap[:, index], label=POINT_NAMES)
        axis.set_ylabel(f"{foot} foot\nheight [cm]")
        lowest = gap[:, index].min(axis=1)[down].max()
        heel = float(gap[:, index[:2]].max())
        loaded = f"the {foot} foot bears load only where a point is within the tolerance"
        clear = Check(f"the {foot} heel swings clear of the ground", heel > 0.1, heel, "> 0.1 m")
        checks += [check_less(loaded, lowest, 0.03, "m"), clear]
    axes[0].set_xlim(*walk.window)
    legend_above(figure, axes[0])
    axes[1].set_xlabel("time [s]; shaded: the foot bears load")
    always = bool(reactions.shares.down[_inside(walk)].any(axis=1).all())
    checks.append(Check("some foot is always down: he walks, he does not run", always))
    lands = landings(reactions)[: HALF_STEPS + 1, 1]  # what is shown
    turns = "heights change by turns: feet that land, in order"
    order = [reactions.feet[k] for k in lands]
    checks += stated(Check(turns, bool((np.diff(lands) != 0).all()) and len(lands) > 3, order))
    return Reproduction(figure, checks=checks)


@item("Figure 10", of=recorded_walk)
def figure_10(walk: Walk) -> Reproduction:
    reactions, touch, up = walk.reactions, walk.reactions.touch, walk.reactions.axes.up
    along = {"normal": up, "longitudinal": reactions.axes.forward}
    along["transversal"] = reactions.axes.left
    weight = reactions.subject.weight
    figure, axes = new_figure(3, 2, sharex=True, sharey="row", figsize=(8.0, 6.0))
    checks = []
    for column, foot in enumerate(FEET):
        k, index = reactions.feet.index(foot), _points(reactions, foot)
        for axis, (name, direction) in zip(axes[:, column], along.items(), strict=True):
            shade(axis, reactions.time, reactions.shares.down[:, k])
            rates = touch.rate[:, index] @ direction
            axis.plot(reactions.time, rates, linewidth=1.2, label=POINT_NAMES)
            if column == 0:
                axis.set_ylabel(f"{name} [m/s]")
        axes[0, column].set_title(f"{foot} foot")
        axes[-1, column].set_xlabel("time [s]")
        # Points that bear load move with the support; before they touch they come down.
        heavy = reactions.shares.point_force[:, index] @ up > 0.2 * weight
        slip = np.median(np.linalg.norm(touch.rate[:, index], axis=-1)[heavy])
        still = f"loaded points of the {foot} foot move with the support (median)"
        stands = reactions.shares.foot_force[:, k] @ up > 0.05 * weight
        landing = np.flatnonzero(stands[1:] & ~stands[:-1])
        falling = touch.gap_rate[landing][:, index[:2]].min(axis=1)
        down = bool((falling < 0).all())
        checks.append(check_less(still, slip, 0.15, "m/s"))
        checks.append(Check(f"the {foot} heel comes down as it lands", down, falling.tolist()))
    axes[0, 0].set_xlim(*walk.window)
    legend_above(figure, axes[0, 0])
    return Reproduction(figure, checks=checks)


@item("Figure 12", of=recorded_walk)
def figure_12(walk: Walk) -> Reproduction:
    reactions, measured = walk.reactions, walk.measured
    k, up = reactions.feet.index("right"), walk.reactions.axes.up
    figure, axis = new_figure()
    axis.plot(measured.time, measured.feet[:, k] @ up, **MEASURED, label="force plate")
    axis.plot(
        reactions.time, reactions.shares.foot_force[:, k] @ up, color=COLORS[0], label="model"
    )
    axis.set(xlabel="time [s]", ylabel="vertical force [N]", xlim=walk.window)
    legend_above(figure, axis)
    compared = walk.comparison.components
    row = next(r for r in compared if (r["of"], r["direction"]) == ("right", "vertical"))
    shown = ("of", "direction", "RMSE [% BW]", "correlation")
    checks = [
        *stated(check_more("similar in shape: correlation", row["correlation"], 0.98)),
        check_less("error, all of the record", row["RMSE [% BW]"], 8, "% BW"),
        check_less("error in single support", row["single support [% BW]"], 8, "% BW"),
    ]
    return Reproduction(figure, [{key: r[key] for key in shown} for r in compared], checks)


@functools.cache
def standing_forces() -> tuple[float, float]:
    """Vertical force on the left and the right foot of rodic's subject, standing still [N]."""
    subject = person(1.90, 84.0728)
    time = np.linspace(0, 1, 51)
    values = np.tile(subject.defaults, (51, 1))
    still = Table.recording(
        "standing still", time, [c.name for c in subject.coordinates], values, degrees=False
    )
    reactions = ground_reactions(still, subject)
    left, right = (reactions.feet.index(foot) for foot in ("left", "right"))
    load = reactions.shares.foot_force @ reactions.axes.up
    return float(load[25, left]), float(load[25, right])


def whole_stance(load: np.ndarray) -> tuple[int, int]:
    """The first stance that begins and ends inside the record."""
    for first, after in intervals(load > TOUCHED):
        if first > 0 and after < len(load) and after - first > 10:
            return first, after
    raise ValueError("no whole stance in the record")


from stiction.reproduce import rodic_walk as rodic_walk  # noqa: E402 (needs what stands above)
