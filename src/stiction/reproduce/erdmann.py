"""Figures 4 to 6 and Table 1 of Erdmann 1994, with the statements of Sections 5.2 and 5.3."""

import numpy as np

from stiction.motions import (
    contact_state,
    load_problem,
    motions_of,
    validity_intervals,
)
from stiction.motions.cone import PolyhedralCone
from stiction.motions.drawing import draw_applied, draw_body, draw_motion
from stiction.motions.drawing_forces import draw_cone
from stiction.motions.files import PlanarProblem
from stiction.report.figures import new_figure
from stiction.reproduce.registry import Check, Reproduction, check_close, reproduces

EXACT = 1e-12


@reproduces("erdmann", "Figure 4", title="Friction cones in real space and configuration space")
def figure_4() -> Reproduction:
    """One contact: the real cone, the planar sheet, and the plane of the contact."""
    problem = _problem(force=(0.3, -1.0), contacts=((-0.4, -0.6),), mu=0.5, gyration_radius=0.5)
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
    length, formula = _delta(n, n0, r, rho)
    sheet = PolyhedralCone.from_edges(edges)
    return Reproduction(
        figure=figure,
        checks=[
            check_close("Δ_n = |(n_x, n_y, n_q/ρ)|", length, formula, EXACT),
            check_close("rotation about the contact keeps it: t_r·n = 0", t_r @ n, 0.0, EXACT),
            check_close("and does not slide: t_r·v_f = 0", t_r @ v_f, 0.0, EXACT),
            Check("the cone is a planar sheet", sheet.dimension == 2, sheet.dimension, 2),
            check_close("the sheet is perpendicular to t_r", np.abs(edges @ t_r).max(), 0.0, EXACT),
        ],
        note="The figure is lost from the text at hand; it is drawn from Section 4 for a body with"
        " r = (0.4, 0.6), ρ = 0.5 and μ = 0.5.",
    )


@reproduces("erdmann", "Figure 5", title="Three-point contact: sliding, and rotation at the ends")
def figure_5() -> Reproduction:
    """The two principal motions of Section 5.3."""
    cases = {
        "push: slides": ((5.0, -9.81), 0.0),
        "torque: turns at an end": ((0.0, -9.81), 30.0),
        "the other torque": ((0.0, -9.81), -30.0),
    }
    figure, panels = new_figure(1, 3, figsize=(10.2, 3.8))
    answers = {}
    for axes, (name, (force, torque)) in zip(panels, cases.items(), strict=True):
        problem = load_problem("three-points").model_copy(update={"force": force, "torque": torque})
        assert isinstance(problem, PlanarProblem)
        state = problem.state()
        answer = answers[name] = motions_of(state, force=force, torque=torque)
        size = draw_body(axes, problem, state, cones=False)
        draw_motion(axes, state, answer.motions[0], size)
        axes.set_title(name)
    push, left, right = answers.values()
    slides = push.motions[0]
    return Reproduction(
        figure=figure,
        checks=[
            Check("each force has one motion", all(len(a.motions) == 1 for a in answers.values())),
            Check("a push keeps all three points", "break" not in slides.modes, slides.modes),
            check_close("and slides with F_x/m - μ g", slides.acceleration[0], 2.5475, EXACT),
            check_close("without turning", slides.acceleration[2], 0.0, EXACT),
            _turns_about("a large torque leaves only the left point", left, 0),
            _turns_about("the opposite torque only the right point", right, 1),
        ],
        note="The body of Section 5.2 under its weight, with μ = 0.25 and ρ = 1.",
    )


@reproduces("erdmann", "Figure 6", title="Friction cone of the three-point contact")
def figure_6() -> Reproduction:
    """The three sheets and the volume between them."""
    mu, rho = 0.25, 1.0
    state = contact_state(
        mass=1.0,
        inertia=rho**2,
        points=[[-1.0, -1.0], [1.0, -1.0], [0.0, -1.0]],
        normals=[[0.0, 1.0]] * 3,
        mu=mu,
    )
    figure, axes = new_figure(subplot_kw={"projection": "3d"}, figsize=(6.0, 5.2))
    draw_cone(axes, state, names=["contact 1", "contact 2", "contact 3"])
    axes.legend(loc="upper left")
    printed = np.array(  # 5.2.2
        [
            [(mu, 1, (mu - 1) / rho), (-mu, 1, -(mu + 1) / rho)],
            [(mu, 1, (mu + 1) / rho), (-mu, 1, -(mu - 1) / rho)],
            [(mu, 1, mu / rho), (-mu, 1, -mu / rho)],
        ]
    )
    extreme = state.cone.extreme_edges()
    outer = printed[:2].reshape(-1, 3)
    outer = outer / np.linalg.norm(outer, axis=1, keepdims=True)
    gap = np.abs(extreme[:, None] - outer[None]).max(axis=-1).min(axis=0).max()
    middle = state.cone.facets @ printed[2].T
    return Reproduction(
        figure=figure,
        table=[
            {
                "contact": i + 1,
                "positive edge": tuple(map(float, e[0])),
                "negative edge": tuple(map(float, e[1])),
            }
            for i, e in enumerate(state.sheets)
        ],
        checks=[
            check_close(
                "the six edges are those of 5.2.2", np.abs(state.sheets - printed).max(), 0.0, EXACT
            ),
            Check("the composite cone has four edges", len(extreme) == 4, len(extreme), 4),
            check_close("they are those of contacts 1 and 2", gap, 0.0, EXACT),
            check_close(
                "the middle edges lie in faces formed by the exterior ones",
                np.abs(middle).min(axis=0).max(),
                0.0,
                EXACT,
            ),
        ],
    )


@reproduces("erdmann", "Table 1", title="Validity intervals of friction-cone edges")
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
        words = ["> 0", "= 0", "< 0"]
        signs = [words[1 - int(np.sign(x))] for x in row[:3]]
        table.append(
            {
                "v·v_f": signs[0],
                "t_c·v_f": "—" if row[0] else signs[1],
                "F_i·v_f": "—" if row[0] or row[1] else signs[2],
                "I+": _interval(p),
                "I-": _interval(m),
            }
        )
        good = _same(p, row[3]) and _same(m, row[4])
        checks.append(Check(f"row {i + 1}", good, (_interval(p), _interval(m))))
    axes.set_yticks(range(7), [f"row {i + 1}" for i in range(7)])
    axes.invert_yaxis()
    axes.set_xlim(-4, 1)
    axes.set_xticks([-2], ["$c_i$"])
    axes.plot([], [], color="C0", lw=5, label="$I^+$")
    axes.plot([], [], color="C1", lw=5, label="$I^-$")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.12), ncols=2)
    return Reproduction(
        figure=figure,
        table=table,
        checks=checks,
        note="Rows 3 and 4 occur for bodies at rest only: a moving body that keeps contacts with"
        " two independent normals moves along t_c, so that a contact which does not slide has"
        " t_c·v_f = 0. At rest all c_i are 0 when h' is the smallest solution of (6).",
    )


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


def _delta(n, n0, r, rho) -> tuple[float, float]:
    """Δ_n as the length of the row, and from its formula."""
    n_q = n0[0] * r[1] - n0[1] * r[0]
    return float(np.linalg.norm(n)), float(np.sqrt(rho**2 + n_q**2) / rho)


def _turns_about(claim: str, answer, contact: int) -> Check:
    modes = answer.motions[0].modes
    alone = [i for i, mode in enumerate(modes) if mode != "break"] == [contact]
    return Check(claim, alone, modes)


def _problem(*, force, contacts, mu: float, gyration_radius: float) -> PlanarProblem:
    return PlanarProblem.model_validate(
        {
            "mass": 1.0,
            "radius_of_gyration": gyration_radius,
            "force": force,
            "outline": [(-0.4, -0.6), (0.7, -0.3), (0.5, 0.6), (-0.7, 0.4)],
            "contacts": [
                {"point": point, "normal": (0.0, 1.0), "friction": mu} for point in contacts
            ],
        }
    )
