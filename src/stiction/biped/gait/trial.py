"""One trial, from coordinates to the clinic: the map of this folder.

The motion and its ground reactions (`grf.reactions`), plates beside it (`grf.measured`), loads on
the feet (`loads`), joint moments, powers and reactions (`dynamics`), events and strides (`events`),
cycles in per cent (`cycles`), and how far motion and loads agree (`residual`).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stiction.biped.gait.cycles import PERCENT, Cycles, make_cycles
from stiction.biped.gait.dynamics import FootLoads, JointLoads, joint_loads
from stiction.biped.gait.events import (
    FootStance,
    GaitStride,
    find_stances,
    find_strides,
    spatiotemporal,
    summarize_strides,
)
from stiction.biped.gait.flight import Flight, find_flights, kind_of_gait, landing_table
from stiction.biped.gait.loads import foot_loads
from stiction.biped.gait.residual import ResidualReport, report_residual
from stiction.biped.grf.measured import TOUCHED, Measured
from stiction.biped.grf.reactions import GroundReactions
from stiction.biped.subject.subject import Subject

if TYPE_CHECKING:
    import xarray as xr

_STANDING = 0.05  # of body weight: a foot that bears more by the motion stands


@dataclass(frozen=True)
class Gait:
    """What a trial says.

    Attributes:
        reactions: The motion and what the ground does by it.
        measured: Plates on the same frames; none where there are none.
        loads: What was taken to act on the feet.
        joints: What the joints do.
        stances: Every foot's, in order.
        strides: The whole ones.
        cycles: By foot.
        flights: Between stances; of runs and jumps.
        kind: "walking", "running", "jumping" or "standing".
        stride_rows: Times, lengths and phases, a row a stride.
        stance_rows: Peaks and stiffness, a row a stance; of runs and jumps alone.
        residual: Whether motion and loads agree.
    """

    reactions: GroundReactions
    measured: Measured | None
    loads: FootLoads
    joints: JointLoads
    stances: list[FootStance]
    strides: list[GaitStride]
    cycles: tuple[Cycles, ...]
    flights: list[Flight]
    kind: str
    stride_rows: list[dict[str, Any]]
    stance_rows: list[dict[str, Any]]
    residual: ResidualReport

    @property
    def coordinates(self) -> list[int]:
        """The coordinates that moments and cycles are of."""
        return joint_coordinates(self.reactions.subject)

    @property
    def summary_rows(self) -> list[dict[str, Any]]:
        """Means by foot and their asymmetry."""
        return summarize_strides(self.stride_rows)

    def to_dataset(self) -> "xr.Dataset":
        """Everything, with names and units; cycles as means and standard deviations."""
        import xarray as xr

        subject, joints, loads = self.reactions.subject, self.joints, self.loads
        own = self.coordinates
        joint = [subject.coordinates[i].name for i in own]
        units = {"units": "N m (angles), N (lengths)"}
        variables = {
            "joint_moment": (("time", "joint"), joints.moment[:, own], units),
            "joint_power": (("time", "joint"), joints.power[:, own], {"units": "W"}),
            "joint_reaction": (
                ("time", "body", "axis"),
                joints.reaction[:, 1:],
                {"units": "N", "on": "the body, by the joint that carries it, muscles included"},
            ),
            "joint_reaction_moment": (
                ("time", "body", "axis"),
                joints.reaction_moment[:, 1:],
                {"units": "N m", "about": "the joint"},
            ),
            "residual_force": (("time", "axis"), joints.residual_force, {"units": "N"}),
            "residual_moment": (("time", "axis"), joints.residual_moment, {"units": "N m"}),
            "load_force": (("time", "foot", "axis"), loads.force, {"units": "N"}),
            "load_point": (("time", "foot", "axis"), loads.point, {"units": "m"}),
            "load_moment": (("time", "foot", "axis"), loads.moment, {"units": "N m"}),
            "load_measured": (("time", "foot"), loads.measured),
        }
        coords = {"joint": joint, "body": list(subject.body_names[1:]), "percent": PERCENT}
        for name in ("angle", "moment", "power"):
            for kind, take in (("mean", Cycles.mean), ("band", Cycles.band)):
                values = [take(c, name) for c in self.cycles]
                dims = ("foot", "percent", "joint")
                variables[f"cycle_{name}_{kind}"] = (dims, np.array(values))
        return self.reactions.to_dataset().merge(xr.Dataset(variables, coords))


def analyze(
    reactions: GroundReactions, measured: Measured | None = None, *, loads: str = "auto"
) -> Gait:
    """Joint moments, events and cycles of a trial.

    Args:
        reactions: Of the motion, by `ground_reactions`.
        measured: Plates, by `measured_on_frames`.
        loads: "auto", plates where they know and the motion elsewhere; "plates"; or "motion".
    """
    subject, motion, axes = reactions.subject, reactions.motion, reactions.axes
    acting = foot_loads(reactions, measured, loads)
    time, up = reactions.time, axes.up
    joints = joint_loads(subject, motion.q, motion.rate, reactions.bodies, acting)
    by_plate = acting.measured.any()
    threshold = TOUCHED if by_plate else _STANDING * subject.weight
    stances = find_stances(time, acting, up, threshold)
    whole = time[motion.settled]
    strides = [
        s
        for s in find_strides(stances, acting.feet)
        if s.start >= whole[0] and s.end <= whole[-1] and _known_all_through(s, time, acting)
    ]
    height = reactions.center @ up
    flights = find_flights(time, acting, height, up, threshold)
    kind = kind_of_gait(time, acting, stances, flights, up, threshold)
    flying = kind in ("running", "jumping")
    speed = float(
        np.mean((reactions.total.center_velocity - reactions.touch.support_velocity) @ axes.forward)
    )
    return Gait(
        reactions=reactions,
        measured=measured,
        loads=acting,
        joints=joints,
        stances=stances,
        strides=strides,
        cycles=_cycles(reactions, acting, joints, strides),
        flights=flights if flying else [],
        kind=kind,
        stride_rows=spatiotemporal(strides, time, _heels(reactions), speed, axes),
        stance_rows=landing_table(stances, flights, time, acting, height, up, subject.weight)
        if flying
        else [],
        residual=report_residual(
            joints,
            acting,
            float(np.mean(reactions.center @ up) - reactions.ground),
            motion.settled,
            axes.left if reactions.planar else None,
        ),
    )


def _known_all_through(stride: GaitStride, time: np.ndarray, acting: FootLoads) -> bool:
    inside = (time >= stride.start) & (time <= stride.end)
    return bool(acting.known[inside, acting.feet.index(stride.foot)].all())


def _cycles(
    reactions: GroundReactions, acting: FootLoads, joints: JointLoads, strides: list[GaitStride]
) -> tuple[Cycles, ...]:
    """Angles [deg], moments [N·m/kg], powers [W/kg] and forces [body weights] of every foot."""
    subject, motion = reactions.subject, reactions.motion
    own = joint_coordinates(subject)
    turning = np.array([subject.coordinates[i].rotational for i in own], bool)
    series = {
        "angle": motion.q[:, own] * np.where(turning, 180 / np.pi, 1.0),
        "moment": joints.moment[:, own] / subject.mass,
        "power": joints.power[:, own] / subject.mass,
    }
    return tuple(
        make_cycles(
            reactions.time,
            strides,
            foot,
            series | {"force": acting.force[:, k] @ reactions.axes.matrix.T / subject.weight},
        )
        for k, foot in enumerate(acting.feet)
    )


def joint_coordinates(subject: Subject) -> list[int]:
    """The coordinates that joints have: neither the base's nor such as cannot move."""
    return [
        i
        for i, c in enumerate(subject.coordinates)
        if c.name not in subject.base
        and not (c.locked or c.follows)
        and c.name.rpartition(".")[2] not in ("qw", "qx", "qy", "qz")
    ]


def _heels(reactions: GroundReactions) -> dict[str, np.ndarray]:
    """The rearmost points of each foot, their mean in every frame [m]."""
    touch, axes = reactions.touch, reactions.axes
    feet = np.array(reactions.subject.soles.feet)
    heels = {}
    for foot in reactions.feet:
        points = touch.position[:, feet == foot]
        along = np.mean((points - points.mean(axis=1, keepdims=True)) @ axes.forward, axis=0)
        heels[foot] = points[:, along <= along.min() + 0.02].mean(axis=1)
    return heels
