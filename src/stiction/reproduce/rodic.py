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
from stiction.reproduce.registry import Check, Document, stated
from stiction.tables import Table, intervals

item = Document("rodic").item
RECORDING = Path(__file__).parent / "walk"  # its NOTICE says whence
MOTION, PLATES = "motion.mot", "plates.mot"
STATURE, MASS = 1.80, 72.6  # m, kg: of the man in the recording
HALF_STEPS = 4
FEET = ("right", "left")
POINTS = ("heel_inner", "heel_outer", "toe_inner", "toe_outer")
SHOWN = ("of", "direction", "RMSE [% BW]", "correlation")
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


# ------------------------------------------------------------------- Figure 6: on the force plate


def _right_stance(walk: Walk) -> tuple[np.ndarray, np.ndarray, np.ndarray, slice]:
    """A whole stance of the right foot: time, force, moment about the centre of mass, and which of
    these samples are the stance, four before and after it left out."""
    measured, reactions = walk.measured, walk.reactions
    foot = reactions.feet.index("right")
    force = measured.feet[:, foot]
    first, after = whole_stance(force @ reactions.axes.up)
    part = slice(max(first - 4, 0), after + 4)
    arm = measured.pressure[part, foot] - reactions.center[measured.frames][part]
    moment = np.nan_to_num(np.cross(arm, force[part]))
    return measured.time[part], force[part], moment, slice(first - part.start, after - part.start)


def _draw_stance(walk: Walk):
    time, force, moment, _ = _right_stance(walk)
    figure, (top, bottom) = new_figure(2, sharex=True, figsize=(6.4, 5.2))
    for name, along in directions(walk.reactions).items():
        top.plot(time, force @ along, label=name)
        bottom.plot(time, moment @ along, label=f"about {name}")
    top.set_ylabel("force [N]")
    bottom.set(xlabel="time [s]", ylabel="moment about the\ncentre of mass [N m]")
    legend_above(figure, top)
    return figure


@item("Figure 6", of=recorded_walk, draw=_draw_stance)
def figure_6(walk: Walk) -> list[Check]:
    time, force, _, stance = _right_stance(walk)
    load = force @ walk.reactions.axes.up
    ahead = (force @ walk.reactions.axes.forward)[stance]
    brake, push = (float(half.mean()) for half in np.array_split(ahead, 2))
    m_shaped = m_shape(time[stance], load[stance]) is not None
    return [
        *stated(Check("the vertical force is M-shaped", m_shaped)),
        Check("it is nothing before and after", bool(max(load[0], load[-1]) < 0.02 * load.max())),
        Check("the foot brakes first and pushes later", brake < 0 < push, [brake, push]),
    ]


# ----------------------------------------------------------------- Figures 3 and 7: feet and body


def _draw_points(walk: Walk):
    subject = walk.reactions.subject
    pose, bodies = subject.poses(subject.defaults[None]), list(subject.soles.bodies)
    places = np.asarray(subject.soles.position)
    points = pose.position[0][bodies] + np.einsum("nij,nj->ni", pose.rotation[0][bodies], places)
    figure, axis = new_figure(figsize=(5.4, 4.6))
    for foot, color in zip(FEET, COLORS, strict=False):
        index = _points(walk.reactions, foot)
        outline = points[[*(index[i] for i in (0, 1, 3, 2)), index[0]]]
        axis.plot(*outline[:, :2].T, "o-", color=color, label=f"{foot} foot")
    axis.set(xlabel="forward [m]", ylabel="left [m]", aspect="equal")
    axis.legend()
    return figure


@item("Figure 3", of=recorded_walk, draw=_draw_points)
def figure_3(walk: Walk) -> list[Check]:
    names, rates = walk.reactions.subject.soles.names, walk.reactions.touch.rate.shape[1:]
    axes = walk.reactions.axes
    frame = np.array([axes.forward, axes.left, axes.up])
    ends = [f"{foot}_{end}" for foot in FEET for end in ("heel", "toe")]
    counts = [sum(name.startswith(end) for name in names) for end in ends]
    return [
        *stated(
            Check("eight points: two at each heel, two at each front", counts == [2] * 4, counts),
            Check("each has a normal and two tangential coordinates", rates == (8, 3), list(rates)),
        ),
        Check.below("normal and tangents are at right angles, off by",
                    np.abs(frame @ frame.T - np.eye(3)).max(), 1e-12),
    ]  # fmt: skip


JOINTS = {"hip": 6, "knee": 2, "ankle": 4, "toe": 2, "waist": 3, "neck": 3,
          "shoulder": 6, "elbow": 2, "wrist": 4}  # fmt: skip


def _freedoms(subject: Subject) -> dict[str, int]:
    """How many the joints of each name have."""
    names = [c.name for c in subject.coordinates]
    return {joint: sum(joint in name for name in names) for joint in JOINTS}


def _draw_body(subject: Subject):
    _, lines = stick_figures(subject, subject.defaults[None])
    figure, axis = new_figure(figsize=(4.2, 5.6))
    for (_, y0, z0), (_, y1, z1) in lines[0]:
        axis.plot([y0, y1], [z0, z1], "o-", color=COLORS[0], ms=3)
    axis.set(xlabel="left [m]", ylabel="up [m]", aspect="equal")
    return figure


@item(
    "Figure 7",
    of=lambda: person(1.90, 84.0728),
    draw=_draw_body,
    table=lambda s: [{"joint": j, "degrees of freedom": n} for j, n in _freedoms(s).items()],
)
def figure_7(subject: Subject) -> list[Check]:
    found = _freedoms(subject)
    freedoms = 6 + sum(not c.name.startswith("base.") for c in subject.coordinates)
    return stated(
        Check("38 degrees of freedom, six of the base", freedoms == 38, freedoms, 38),
        Check("as many at each joint as in the text", found == JOINTS, list(found.values())),
    )


# ------------------------------------------------------- Figures 9, 10 and 12: four half-steps


def _draw_heights(walk: Walk):
    reactions = walk.reactions
    figure, axes = new_figure(2, sharex=True, sharey=True, figsize=(6.4, 5.2))
    for axis, foot in zip(axes, FEET, strict=True):
        shade(axis, reactions.time, reactions.shares.down[:, reactions.feet.index(foot)])
        heights = 100 * reactions.touch.gap[:, _points(reactions, foot)]
        axis.plot(reactions.time, heights, label=POINT_NAMES)
        axis.set_ylabel(f"{foot} foot\nheight [cm]")
    axes[0].set_xlim(*walk.window)
    legend_above(figure, axes[0])
    axes[1].set_xlabel("time [s]; shaded: the foot bears load")
    return figure


@item("Figure 9", of=recorded_walk, draw=_draw_heights)
def figure_9(walk: Walk) -> list[Check]:
    reactions, checks = walk.reactions, []
    for foot in FEET:
        down = reactions.shares.down[:, reactions.feet.index(foot)]
        gap = reactions.touch.gap[:, _points(reactions, foot)]
        checks += [
            Check.less(f"the {foot} foot bears load only where a point is within the tolerance",
                       gap.min(axis=1)[down].max(), 0.03, "m"),
            Check.more(f"the {foot} heel swings clear of the ground [m]", gap[:, :2].max(), 0.1),
        ]  # fmt: skip
    always = bool(reactions.shares.down[_inside(walk)].any(axis=1).all())
    lands = landings(reactions)[: HALF_STEPS + 1, 1]  # what is shown
    order = [reactions.feet[k] for k in lands]
    by_turns = bool((np.diff(lands) != 0).all()) and len(lands) > 3
    return [
        *checks,
        Check("some foot is always down: he walks, he does not run", always),
        *stated(Check("heights change by turns: feet that land, in order", by_turns, order)),
    ]


def _draw_rates(walk: Walk):
    reactions, axes_of = walk.reactions, walk.reactions.axes
    along = {"normal": axes_of.up, "longitudinal": axes_of.forward, "transversal": axes_of.left}
    figure, axes = new_figure(3, 2, sharex=True, sharey="row", figsize=(8.0, 6.0))
    for column, foot in zip(axes.T, FEET, strict=True):
        rate = reactions.touch.rate[:, _points(reactions, foot)]
        for axis, direction in zip(column, along.values(), strict=True):
            shade(axis, reactions.time, reactions.shares.down[:, reactions.feet.index(foot)])
            axis.plot(reactions.time, rate @ direction, linewidth=1.2, label=POINT_NAMES)
        column[0].set_title(f"{foot} foot")
        column[-1].set_xlabel("time [s]")
    for axis, name in zip(axes[:, 0], along, strict=True):
        axis.set_ylabel(f"{name} [m/s]")
    axes[0, 0].set_xlim(*walk.window)
    legend_above(figure, axes[0, 0])
    return figure


@item("Figure 10", of=recorded_walk, draw=_draw_rates)
def figure_10(walk: Walk) -> list[Check]:
    reactions, touch, up = walk.reactions, walk.reactions.touch, walk.reactions.axes.up
    weight, checks = reactions.subject.weight, []
    for foot in FEET:
        index = _points(reactions, foot)
        # Points that bear load move with the support; before they touch they come down.
        heavy = reactions.shares.point_force[:, index] @ up > 0.2 * weight
        slip = np.median(np.linalg.norm(touch.rate[:, index], axis=-1)[heavy])
        stands = reactions.shares.foot_force[:, reactions.feet.index(foot)] @ up > 0.05 * weight
        landing = np.flatnonzero(stands[1:] & ~stands[:-1])
        falling = touch.gap_rate[landing][:, index[:2]].min(axis=1)
        checks += [
            Check.less(f"loaded points of the {foot} foot move with the support (median)", slip,
                       0.15, "m/s"),
            Check.less(f"the {foot} heel comes down as it lands, at least at [m/s]", falling.max(),
                       0.0),
        ]  # fmt: skip
    return checks


def _draw_beside_plate(walk: Walk):
    reactions, measured = walk.reactions, walk.measured
    k, up = reactions.feet.index("right"), walk.reactions.axes.up
    computed = reactions.shares.foot_force[:, k] @ up
    figure, axis = new_figure()
    axis.plot(measured.time, measured.feet[:, k] @ up, **MEASURED, label="force plate")
    axis.plot(reactions.time, computed, color=COLORS[0], label="model")
    axis.set(xlabel="time [s]", ylabel="vertical force [N]", xlim=walk.window)
    legend_above(figure, axis)
    return figure


@item(
    "Figure 12",
    of=recorded_walk,
    draw=_draw_beside_plate,
    table=lambda walk: [{key: row[key] for key in SHOWN} for row in walk.comparison.components],
)
def figure_12(walk: Walk) -> list[Check]:
    compared = walk.comparison.components
    row = next(r for r in compared if (r["of"], r["direction"]) == ("right", "vertical"))
    return [
        *stated(Check.more("similar in shape: correlation", row["correlation"], 0.98)),
        Check.less("error, all of the record", row["RMSE [% BW]"], 8, "% BW"),
        Check.less("error in single support", row["single support [% BW]"], 8, "% BW"),
    ]


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
