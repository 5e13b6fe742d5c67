"""Flickinger 2011: its tables of properties, parameters and starts beside what is simulated.

What is compared is read off the scenes that the figures run: masses, inertias and places of the
loaded mechanism, the law's numbers, the start. Sizes of bars come from their moments of inertia.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from stiction.mechanism import world_poses
from stiction.reproduce.flickinger_agility import TORQUE
from stiction.reproduce.flickinger_appendix import INCH, POUND, STEP, by_events
from stiction.reproduce.flickinger_oblique import rolling_bicycle
from stiction.reproduce.flickinger_runs import (
    NO_CONTROL,
    RUNS,
    Outcome,
    bicycle,
    flat_bicycle,
    item,
)
from stiction.reproduce.registry import Check, Reproduction, stated
from stiction.scenes import Scene, scene
from stiction.scenes.run import build_solver
from stiction.surfaces import Contacts

ROUNDING = 1e-6  # relative: units are converted to seven digits


class Printed(NamedTuple):
    """A number of the document, and the one that is simulated."""

    name: str
    printed: float
    here: float
    bound: bool = False  # whether less is as good: errors and steps of an integrator


def _beside(rows: list[Printed]) -> Reproduction:
    """A table with a check for each of its rows."""
    checks = [
        Check.below(r.name, r.here, r.printed * (1 + ROUNDING))
        if r.bound
        else Check.close(r.name, r.here, r.printed, ROUNDING * max(abs(r.printed), 1e-3))
        for r in rows
    ]
    table = [
        {"parameter": r.name, "printed": f"{r.printed:.6g}", "here": f"{r.here:.6g}"} for r in rows
    ]
    return Reproduction(table=table, checks=stated(*checks))


def _integrator(s: Scene, step: float, absolute: float, relative: float) -> list[Printed]:
    fields = s.scenario
    saved, solver = fields.until / (fields.samples - 1), build_solver(fields.solver, s.law)
    return [
        Printed("integrator step, at most [s]", step, saved, bound=True),
        Printed("absolute integrator error, at most", absolute, float(solver.atol), bound=True),
        Printed("relative integrator error, at most", relative, float(solver.rtol), bound=True),
    ]


def _law(s: Scene, name: str) -> float:
    """A number of the contact law, the same for all contacts."""
    return float(getattr(s.scenario.contact, name))


def _touching(s: Scene) -> Contacts:
    assert isinstance(s.contacts, Contacts)
    return s.contacts


def _friction(s: Scene, static: float, dynamic: float) -> list[Printed]:
    return [
        Printed("μ_s", static, _law(s, "mu_static")),
        Printed("μ_d", dynamic, _law(s, "mu_dynamic")),
    ]


def _masses(s: Scene) -> dict[str, float]:
    m = s.mechanism
    return dict(zip(m.tree.body_names, np.asarray(m.bodies.mass).tolist(), strict=True))


def _places(s: Scene) -> dict[str, np.ndarray]:
    m = s.mechanism
    places = np.asarray(world_poses(m, s.q).position)
    return dict(zip(m.tree.body_names, places, strict=True))


def _apart(s: Scene, first: str, second: str) -> float:
    places = _places(s)
    return float(np.linalg.norm(places[first] - places[second]))


@item("Table 2.1", of=RUNS["3.4.1"])
def table_2_1(run: Outcome) -> Reproduction:
    s = run.trajectory.scene
    masses = _masses(s)
    bar = s.mechanism.tree.body_names.index("bar_b")
    inertia = np.sort(np.linalg.eigvalsh(np.asarray(s.mechanism.bodies.inertia)[bar]))
    # Of a box: I_i = m (sum of squares of the other two edges) / 12.
    edges = np.sqrt(6 * (inertia.sum() - 2 * inertia) / masses["bar_b"])
    tip = float(np.linalg.norm(np.asarray(_touching(s).point_plane.point)[0]))
    return _beside([
        *_friction(s, 0.74, 0.57),
        Printed("L1 [m]", 1.0, _apart(s, "bar_a", "bar_b")),
        Printed("L2 [m]", 1.0, tip),
        Printed("L3 [m]", 1.5, float(_places(s)["bar_a"][2])),
        Printed("length by inertia [m]", 1.0, float(edges[0])),
        Printed("width of bars [m]", 0.05, float(edges[1])),
        Printed("depth of bars [m]", 0.01, float(edges[2])),
        Printed("ρ [kg/m³]", 8080.0, float(masses["bar_b"] / np.prod(edges))),
        Printed("M_A [kg]", 4.04, masses["bar_a"]),
        Printed("M_B [kg]", 4.04, masses["bar_b"]),
        Printed("v_s [m/s]", 1e-5, _law(s, "stribeck_speed")),
        Printed("a", 1.0, _law(s, "stribeck_exponent")),
        *_integrator(s, 0.01, 1e-9, 1e-8),
    ])  # fmt: skip


@item("Table 2.2", of=RUNS["3.4.2"])
def table_2_2(run: Outcome) -> Reproduction:
    s = run.trajectory.scene
    masses = _masses(s)
    along, _, upright = (2 * float(a) for a in _touching(s).round_plane.semi_axes[0])
    return _beside([
        Printed("d, across a round wheel [m]", 1.0, along),
        Printed("and upright [m]", 1.0, upright),
        Printed("L1, half of the bar [m]", 1.0, _apart(s, "bar", "wheel_c")),
        Printed("m_B [kg]", 1.0, masses["bar"]),
        Printed("m_C [kg]", 2.0, masses["wheel_c"]),
        Printed("m_D [kg]", 2.0, masses["wheel_d"]),
    ])  # fmt: skip


@item("Table 2.3", of=partial(scene, "jumping-leg"))
def table_2_3(s: Scene) -> Reproduction:
    masses, joints = _masses(s), s.mechanism.joints
    foot = _touching(s).names.index("foot")
    lengths = {
        "coxa": _apart(s, "coxa", "femur"),
        "femur": _apart(s, "femur", "tibia"),
        "tibia": float(np.linalg.norm(np.asarray(_touching(s).point_plane.point)[foot])),
    }
    printed = {
        "coxa": (0.018, 0.03, 0.0),
        "femur": (0.024, 0.0646, 5 * np.pi / 36),
        "tibia": (0.022, 0.09, -np.pi / 4),
    }
    rows = [Printed("body with its three rotors [kg]", 0.1 + 3 * 0.004, masses["body"])]
    for k, (name, (mass, length, zero)) in enumerate(printed.items()):
        at = k - len(printed)  # the last joints of all
        rows += [
            Printed(f"{name}: mass [kg]", mass, masses[name]),
            Printed(f"{name}: axial length [m]", length, lengths[name]),
            Printed(f"{name}: spring [N·m/rad]", 5.0, float(joints.stiffness[at])),
            Printed(f"{name}: its zero [rad]", zero, float(joints.spring_zero[at])),
        ]
    return _beside(rows)


# ------------------------------------------------------------------------------------- starts


def _start(run: Outcome, q: tuple[float, ...], v: tuple[float, ...]) -> list[Printed]:
    first = run.trajectory.q[0], run.trajectory.v[0]
    rows = []
    for letter, printed, here in zip(("q", "q̇"), (q, v), first, strict=True):
        rows += [
            Printed(f"{letter}{i + 1}", a, float(b))
            for i, (a, b) in enumerate(zip(printed, np.asarray(here), strict=True))
        ]
    return rows


def _wheels(run: Outcome, d1: float, d2: float) -> list[Printed]:
    """Semi-axes, the longer first: which is upright is open."""
    axes = np.asarray(_touching(run.trajectory.scene).round_plane.semi_axes)[0]
    high, low = np.sort(axes[[0, 2]])[::-1]
    return [Printed("d1 [m]", d1, float(high)), Printed("d2 [m]", d2, float(low))]


def _starts(name: str, run: Callable[[], Outcome], q: Any, v: Any, wheels: Any = None) -> None:
    """Register a table of initial conditions."""

    @item(name, of=run)
    def table(made: Outcome) -> Reproduction:
        return _beside([*_start(made, q, v), *(_wheels(made, *wheels) if wheels else ())])


_DROPPED = (5.0, 5.0, 0.0, 0.0, 0.0)
_STILL, _THROWN = (0.0,) * 5, (2.0, 0.0, 0.0, 0.0, 0.0)
_starts("Table 3.1", RUNS["3.4.1"], (0.0, 0.0), (0.0, 0.0))
_starts("Table 3.2", partial(flat_bicycle, 1.0, NO_CONTROL), _DROPPED, _THROWN, (0.5, 0.5))
_starts("Table 3.3", RUNS["3.6.1"], (0.0, 0.0), (0.0, 0.0))
_starts("Table 3.4", partial(bicycle, 0.75, 0.5), _DROPPED, _STILL, (0.5, 0.25))
_starts("Table 4.1", partial(rolling_bicycle, 15), _DROPPED, _STILL, (0.5, 0.25))
_starts("Table 5.1", RUNS["5.2.1"], (0.0, 0.0), (0.0, 0.0))
_starts("Table 5.2", RUNS["5.3.1"], _DROPPED, _THROWN, (0.5, 0.5))


# --------------------------------------------------------------------------------- parameters


@item("Table 5.3", of=RUNS["5.5, scaled"])
def table_5_3(run: Outcome) -> Reproduction:
    s = run.trajectory.scene
    return _beside([
        Printed("coefficient of restitution", 1.0, _law(s, "restitution")),
        Printed("e*", 1.0, _law(s, "energetic")),
        *_friction(s, 0.74, 0.57),
        Printed("T_final [s]", 5.0, float(run.time[-1])),
        *_start(run, (np.pi / 4, -3 * np.pi / 4), (0.0, 0.0)),
        *_integrator(s, 0.01, 1e-9, 1e-8),
    ])  # fmt: skip


@item("Table 6.1", of=partial(scene, "jumping-leg"))
def table_6_1(s: Scene) -> Reproduction:
    limits = np.asarray(s.mechanism.actuators.control_range)
    return _beside([
        Printed("coefficient of restitution", 0.0, _law(s, "restitution")),
        Printed("e*", 1.0, _law(s, "energetic")),
        *_friction(s, 0.5, 0.25),
        Printed("largest torque of a motor [N·m]", TORQUE, float(np.abs(limits).max())),
        Printed("and the smallest of these limits [N·m]", TORQUE, float(np.abs(limits).min())),
        *_integrator(s, 0.001, 1e-4, 1e-3),
    ])  # fmt: skip


@item("Table A.1", of=by_events)
def table_a_1(made: Any) -> Reproduction:
    s = made[1].trajectory.scene
    spring = float(np.abs(np.asarray(s.mechanism.actuators.gain)).max())
    return _beside([
        Printed("M [lbf·s²/in]", 1 / 386, _masses(s)["mass"] * INCH / POUND),
        Printed("K [lbf/in]", 2.0, spring * INCH / POUND),
        *_friction(s, 0.3, 0.2),
    ])  # fmt: skip


@item("Table A.2", of=by_events)
def table_a_2(made: Any) -> Reproduction:
    s = made[1].trajectory.scene
    rows = [Printed("step of Runge and Kutta [s]", 0.01, STEP), *_integrator(s, 0.01, 1e-5, 1e-4)]
    return _beside(rows)
