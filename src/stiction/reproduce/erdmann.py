"""Figures 1 to 6 and Table 1 of Erdmann 1994, with the statements of Sections 4, 5.2 and 5.3."""

from typing import Any

import numpy as np

from stiction.motions import (
    PlanarBody,
    PlanarContact,
    PlanarProblem,
    PolyhedralCone,
    contact_state,
    load_problem,
    possible_motions,
    validity_intervals,
)
from stiction.report.figures import new_figure
from stiction.report.motions_body import draw_applied, draw_body, draw_motion
from stiction.report.motions_forces import draw_cone
from stiction.reproduce.registry import Check, Document, Reproduction, stated

item = Document("erdmann").item
EXACT = 1e-12


# A body on its lowest corner, with r = (0.4, 0.6): the generic contact of Section 4.
GENERIC: dict[str, Any] = {
    "mass": 1.0,
    "radius_of_gyration": 0.5,
    "force": (0.3, -1.0),
    "outline": ((-0.4, -0.6), (0.7, -0.3), (0.5, 0.6), (-0.7, 0.4)),
}
CORNER: dict[str, Any] = {"point": (-0.4, -0.6), "normal": (0.0, 1.0), "friction": 0.5}


def _generic(**changes) -> PlanarProblem:
    return PlanarProblem(**GENERIC | changes, contacts=(PlanarContact(**CORNER),))


@item("Figure 1")
def figure_1() -> Reproduction:
    """Normal, sliding tangent and radius vector of a contact."""
    problem = _generic()
    state = problem.state()
    r, n0 = -state.points[0], state.unit_normals[0]
    t_s = np.array([n0[1], -n0[0]])
    figure, axes = new_figure(figsize=(5.0, 4.6))
    draw_body(axes, problem, state, cones=False)
    for vector, name in ((0.4 * n0, "$n_0$"), (0.4 * t_s, "$t_s$"), (r, "$r$")):
        axes.annotate("", state.points[0] + vector, state.points[0],
                      arrowprops={"arrowstyle": "->", "lw": 1.5})  # fmt: skip
        axes.annotate(name, state.points[0] + 0.6 * vector + 0.03)
    n_q, v_q = (a[0] * r[1] - a[1] * r[0] for a in (n0, t_s))
    rho, rows = state.gyration_radius, state.rows
    return Reproduction(
        figure,
        checks=stated(
            Check.close("n_q / ρ = (n_0 × r) / ρ", rows.normals[0, 2], n_q / rho, EXACT),
            Check.close("v_q / ρ = (t_s × r) / ρ", rows.tangents[0, 2], v_q / rho, EXACT),
        ),
    )


@item("Figure 2")
def figure_2() -> Reproduction:
    """Applied force at the reference point, reaction at the contact point."""
    problem = _generic(torque=0.2)
    state = problem.state()
    answer = possible_motions(state, force=problem.force, torque=problem.torque)
    motion = answer.motions[0]
    figure, axes = new_figure(figsize=(5.0, 4.6))
    size = draw_body(axes, problem, state)
    draw_applied(axes, problem, state, size)
    draw_motion(axes, state, motion, size)
    n0, point = state.unit_normals[0], state.points[0]
    reaction = motion.forces[0, 0] * np.array([n0[1], -n0[0]]) + motion.forces[0, 1] * n0
    torque = problem.torque + point[0] * reaction[1] - point[1] * reaction[0]
    net = np.array(
        [*(np.array(problem.force) + reaction), torque / GENERIC["radius_of_gyration"] ** 2]
    )
    off = np.abs(net - motion.acceleration * GENERIC["mass"]).max()
    return Reproduction(
        figure,
        checks=stated(Check.close("applied and reaction forces add up to m a", off, 0.0, 1e-9)),
    )


@item("Figure 3")
def figure_3() -> Reproduction:
    """A vertex on an edge and an edge on a vertex: the same vectors, other ways of changing."""
    kinds = {"a vertex on an edge": {}, "an edge on a vertex": {"kind": "edge-on-vertex"}}
    flat = ((-1.0, -0.6), (0.7, -0.6), (0.5, 0.6), (-0.7, 0.4))
    figure, panels = new_figure(1, 2, figsize=(8.6, 4.0))
    states = []
    for axes, (name, kind) in zip(panels, kinds.items(), strict=True):
        shape: dict[str, Any] = {"outline": flat} if kind else {}
        problem = PlanarProblem(
            **GENERIC | shape, velocity=(0.6, 0.4, 1.0), contacts=(PlanarContact(**CORNER, **kind),)
        )
        states.append(problem.state())
        draw_body(axes, problem, states[-1], cones=False)
        axes.set_title(name)
    one, two = (state.rows for state in states)
    same = max(np.abs(one.normals - two.normals).max(), np.abs(one.tangents - two.tangents).max())
    return Reproduction(
        figure,
        checks=stated(
            Check.close("both have the same vectors, off by", same, 0.0, EXACT),
            Check.more("which change in other ways: h differs by [m/s²]",
                       float(np.abs(one.h - two.h).max()), 0.1),
        ),
    )  # fmt: skip


@item("Figure 4")
def figure_4() -> Reproduction:
    """One contact: the real cone, the planar sheet, and the plane of the contact."""
    problem = _generic()
    state = problem.state()
    figure = new_figure(figsize=(9.0, 4.2))[0]
    figure.clear()
    flat = figure.add_subplot(1, 2, 1)
    draw_applied(flat, problem, state, draw_body(flat, problem, state))
    flat.set_title("real space")
    deep = figure.add_subplot(1, 2, 2, projection="3d")
    draw_cone(deep, state, names=["$\\Delta_n n \\pm \\mu v_f$"])
    n, v_f = state.rows.normals[0], state.rows.tangents[0]
    for vector, name in ((n, r"$\Delta_n n$"), (v_f, "$v_f$")):
        deep.plot(*np.array([np.zeros(3), vector])[:, [0, 2, 1]].T, color="black")
        x, y, z = 1.08 * vector[[0, 2, 1]]
        deep.text(x, y, z, name)
    deep.set_title("configuration space")

    r, n0, rho = -state.points[0], state.unit_normals[0], state.gyration_radius
    t_r = np.array([-r[1], r[0], rho])
    edges = state.sheets[0]
    length, n_q = float(np.linalg.norm(n)), n0[0] * r[1] - n0[1] * r[0]
    sheet = PolyhedralCone.from_edges(edges)
    return Reproduction(
        figure=figure,
        checks=stated(
            Check.close("Δ_n = |(n_x, n_y, n_q/ρ)|", length, np.hypot(rho, n_q) / rho, EXACT),
            Check.close("rotation about the contact keeps it: t_r·n = 0", t_r @ n, 0.0, EXACT),
            Check.close("and does not slide: t_r·v_f = 0", t_r @ v_f, 0.0, EXACT),
            Check("the cone is a planar sheet", sheet.dimension == 2, sheet.dimension, 2),
            Check.close("the sheet is perpendicular to t_r", np.abs(edges @ t_r).max(), 0.0, EXACT),
        ),
    )


@item("Figure 5")
def figure_5() -> Reproduction:
    """The two principal motions of Section 5.3."""
    cases = {
        "push: slides": ((5.0, -9.81), 0.0),
        "torque: turns at an end": ((0.0, -9.81), 12.0),
        "the other torque": ((0.0, -9.81), -12.0),
    }
    problem = load_problem("three-points")
    assert isinstance(problem, PlanarProblem)
    state, answers = problem.state(), {}
    figure, panels = new_figure(1, 3, figsize=(10.2, 3.8))
    for axes, (name, (force, torque)) in zip(panels, cases.items(), strict=True):
        answers[name] = answer = possible_motions(state, force=force, torque=torque)
        draw_motion(axes, state, answer.motions[0], draw_body(axes, problem, state, cones=False))
        axes.set_title(name)
    push, left, right = answers.values()
    slides = push.motions[0]
    return Reproduction(
        figure=figure,
        checks=[
            Check("each force has one motion", all(len(a.motions) == 1 for a in answers.values())),
            *stated(
                Check(
                    "a push slides on all three points", "break" not in slides.modes, slides.modes
                ),
                _turns_about("a torque turns it about the left point, which sticks", left, 0),
                _turns_about("the opposite torque about the right one", right, 1),
            ),
            Check.close("and slides with F_x/m - μ g", slides.acceleration[0], 2.5475, EXACT),
            Check.close("without turning", slides.acceleration[2], 0.0, EXACT),
        ],
    )


@item("Figure 6")
def figure_6() -> Reproduction:
    """The three sheets and the volume between them."""
    mu, rho = 0.25, 1.0
    state = contact_state(
        PlanarBody(mass=1.0, inertia=rho**2),
        points=[[-1.0, -1.0], [1.0, -1.0], [0.0, -1.0]],
        normals=[[0.0, 1.0]] * 3,
        mu=mu,
    )
    figure, axes = new_figure(subplot_kw={"projection": "3d"}, figsize=(6.0, 5.2))
    draw_cone(axes, state, names=["contact 1", "contact 2", "contact 3"])
    axes.legend(loc="upper left")
    # 5.2.2, the positive and the negative edge of each contact.
    positive = [(mu, 1, (mu + x) / rho) for x in (-1, 1, 0)]
    negative = [(-mu, 1, -(mu - x) / rho) for x in (-1, 1, 0)]
    printed = np.stack([positive, negative], axis=1)
    extreme = state.cone.extreme_edges()
    outer = printed[:2].reshape(-1, 3)
    outer = outer / np.linalg.norm(outer, axis=1, keepdims=True)
    gap = np.abs(extreme[:, None] - outer[None]).max(axis=-1).min(axis=0).max()
    middle = np.abs(state.cone.facets @ printed[2].T).min(axis=0).max()
    off = np.abs(state.sheets - printed).max()
    return Reproduction(
        figure=figure,
        table=[
            {"contact": i + 1, "positive edge": tuple(plus), "negative edge": tuple(minus)}
            for i, (plus, minus) in enumerate(state.sheets.tolist())
        ],
        checks=[
            *stated(
                Check.close("the six edges are those of 5.2.2", off, 0.0, EXACT),
                Check("the composite cone has four edges", len(extreme) == 4, len(extreme), 4),
                Check.close("they are those of contacts 1 and 2", gap, 0.0, EXACT),
                Check.close("the middle edges lie in faces of the others", middle, 0.0, EXACT),
            )
        ],
    )


@item("Table 1")
def table_1() -> Reproduction:
    """Each row met by a contact state, its intervals against the motions that use the edge."""
    rows = [  # v·v_f, t_c·v_f, F_i·v_f at c = 0, and what the table prints with c_i = -2
        (1.0, 0.7, 0.3, None, _ALL),
        (-1.0, 0.7, 0.3, _ALL, None),
        (0.0, 0.5, 1.0, (-np.inf, -2.0), (-2.0, np.inf)),
        (0.0, -0.5, -1.0, (-2.0, np.inf), (-np.inf, -2.0)),
        (0.0, 0.0, 1.0, None, _ALL),
        (0.0, 0.0, -1.0, _ALL, None),
        (0.0, 0.0, 0.0, _ALL, _ALL),
    ]
    numbers = np.array([row[:3] for row in rows])
    plus, minus = validity_intervals(*numbers.T)
    figure, axes = new_figure(figsize=(6.6, 3.6))
    table, checks = [], []
    for i, (row, p, m) in enumerate(zip(rows, plus, minus, strict=True)):
        _bar(axes, i - 0.15, p, "C0")
        _bar(axes, i + 0.15, m, "C1")
        v, t, f = (["= 0", "> 0", "< 0"][int(np.sign(x))] for x in row[:3])
        signs = (v, "—" if row[0] else t, "—" if row[0] or row[1] else f)
        words = _interval(p), _interval(m)
        heads = ("v·v_f", "t_c·v_f", "F_i·v_f", "I+", "I-")
        table.append(dict(zip(heads, (*signs, *words), strict=True)))
        checks += stated(Check(f"row {i + 1}", _same(p, row[3]) and _same(m, row[4]), words))
    axes.set_yticks(range(7), [f"row {i + 1}" for i in range(7)])
    axes.invert_yaxis()
    axes.set_xlim(-4, 1)
    axes.set_xticks([-2], ["$c_i$"])
    axes.plot([], [], color="C0", lw=5, label="$I^+$")
    axes.plot([], [], color="C1", lw=5, label="$I^-$")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.12), ncols=2)
    return Reproduction(figure=figure, table=table, checks=checks)


_ALL = (-np.inf, np.inf)


def _same(interval, printed) -> bool:
    if printed is None:
        return bool(interval[0] > interval[1])
    return bool(np.allclose(interval, printed, rtol=0, atol=EXACT))


def _interval(ends) -> str:
    if ends[0] > ends[1]:
        return "∅"
    words = {-np.inf: "-∞", np.inf: "+∞"}
    return "[" + ", ".join(words.get(e, "c_i") for e in ends) + "]"


def _bar(axes, height: float, ends, color: str) -> None:
    low, high = np.clip(ends, -4, 1)
    if ends[0] <= ends[1]:
        axes.plot([low, high], [height, height], color=color, lw=5, solid_capstyle="butt")


def _turns_about(claim: str, answer, contact: int) -> Check:
    modes = answer.motions[0].modes
    alone = [i for i, mode in enumerate(modes) if mode != "break"] == [contact]
    return Check(claim, alone and modes[contact] == "stick", modes)
