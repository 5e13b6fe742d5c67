"""Flickinger 2011, chapter 2: the flow of an impact, and the three mechanisms."""

import time

import jax.numpy as jnp
import numpy as np

from stiction.impacts import impact_law, no_slip
from stiction.mechanism import world_poses
from stiction.report.figures import new_figure
from stiction.report.strobe import draw_strobe
from stiction.reproduce.flickinger_oblique import MU_STATIC, first_impact
from stiction.reproduce.flickinger_runs import RUNS, item
from stiction.reproduce.registry import Check, Reproduction, stated
from stiction.reproduce.schemes import flow_figure
from stiction.scenes import scene

LOOP = ("integrate (2.1)", "an event: gap, force, slip or cone", "velocities after (Figure 2.2)",
        "contact forces (3.17)-(3.21)", "start again from there")  # fmt: skip
RESOLVE = ("no slip: e_t = 0 (3.14)", "inside all static cones?", "if not: dissipation (4.4)",
           "T⁺ > e* T⁻?", "if so: scale by ẽ (5.2)")  # fmt: skip
# Tables 2.1 to 2.3: mass of each body [kg], and the distances between joints [m].
MASSES = {
    "double-pendulum": {"bar_a": 4.04, "bar_b": 4.04},
    "bicycle": {"bar": 1.0, "wheel_c": 2.0, "wheel_d": 2.0},
    "jumping-leg": {"body": 0.1 + 3 * 0.004, "coxa": 0.018, "femur": 0.024, "tibia": 0.022},
}
LENGTHS = {
    "double-pendulum": {("world", "bar_a"): 1.5, ("bar_a", "bar_b"): 1.0},
    "bicycle": {("bar", "wheel_c"): 1.0, ("bar", "wheel_d"): 1.0},
    "jumping-leg": {("coxa", "femur"): 0.03, ("femur", "tibia"): 0.0646},
}
DRAWN = {"double-pendulum": (-0.4, -0.8), "bicycle": (0.0, 0.25, 0.0, 0.0, 0.0)}  # not at the start


@item("Figure 2.1")
def figure_2_1() -> Reproduction:
    run = RUNS["3.4.1"]()
    log, n = run.trajectory.log, int(run.trajectory.n_events)
    turned = np.abs(np.asarray(log.v_after)[:n] - np.asarray(log.v_before)[:n]).max(axis=1)
    hit = np.array([e.kind == "impact" for e in run.events])
    return Reproduction(
        flow_figure(LOOP, back=True),
        checks=stated(
            Check("the integration stops at every impact and goes on with other velocities",
                  bool((turned[hit] > 0).all()), int(hit.sum())),
        ),
    )  # fmt: skip


@item("Figure 2.2")
def figure_2_2() -> Reproduction:
    law = impact_law("dissipation", "scale")
    slopes, wrong, rows = (0, 15, 30, 45), [], []
    for slope in slopes:
        problem = first_impact(slope)
        found, held = law(problem), no_slip(problem)
        sticks = bool(jnp.all(held.mu <= MU_STATIC))
        T = found.scale**2 * (problem.kinetic + jnp.sum(problem.work(found.impulse)))
        bounded = bool(problem.energetic * problem.kinetic * (1 + 1e-9) >= T)
        if bool(jnp.all(found.sticks | ~problem.active)) != sticks or not bounded:
            wrong.append(slope)
        rows.append(
            {"slope [degrees]": slope, "μ that no slip needs": f"{float(held.mu.max()):.4f}",
             "after": "sticks" if sticks else "slips", "ẽ": f"{float(found.scale):.4f}",
             "T⁺ / T⁻": f"{float(T / problem.kinetic):.4f}"}
        )  # fmt: skip
    return Reproduction(
        flow_figure(RESOLVE),
        rows,
        checks=stated(
            Check("first impacts on four slopes stick where no slip is inside the cones, and"
                  " leave at most e* T⁻", not wrong, wrong),
        ),
    )  # fmt: skip


def _mechanism(name: str) -> Reproduction:
    """The mechanism at its start, with its printed masses and lengths."""
    s = scene(name)
    m = s.mechanism
    figure, axis = new_figure(figsize=(5.4, 4.6))
    q = np.asarray(DRAWN.get(name, s.q))[None]
    draw_strobe(axis, m, q, path=q, ground=[(np.zeros(3), np.array([0, 0, 1.0]))])
    axis.set(xlabel="N1 [m]", ylabel="N2 [m]")
    bodies = {n: i for i, n in enumerate(m.tree.body_names)} | {"world": 0}
    mass, place = np.asarray(m.bodies.mass), np.asarray(world_poses(m, s.q).position)
    off = max(abs(mass[bodies[b]] - value) for b, value in MASSES[name].items())
    long = max(
        abs(np.linalg.norm(place[bodies[a]] - place[bodies[b]]) - d)
        for (a, b), d in LENGTHS[name].items()
    )
    total = sum(MASSES[name].values())
    return Reproduction(
        figure,
        table=[{"body": b, "mass [kg]": value} for b, value in MASSES[name].items()],
        checks=stated(
            Check.below("masses as printed, off by [kg]", off, 1e-9),
            Check.below("joints as far apart as printed, off by [m]", float(long), 1e-9),
            Check.close("mass of all [kg]", float(mass.sum()), total, 1e-9),
        ),
    )


@item("Table 2.4")
def table_2_4() -> Reproduction:
    rows = []
    for section, made in RUNS.items():
        run = made()
        begin = time.process_time()
        run.trajectory.scene.run()  # once more: now everything is compiled
        rows.append(
            {"section": section, "simulated [s]": f"{run.time[-1]:g}",
             "steps": int(run.trajectory.steps), "events": int(run.trajectory.n_events),
             "processor time here [s]": f"{time.process_time() - begin:.2f}"}
        )  # fmt: skip
    return Reproduction(table=rows)


for _number, _name in ((3, "double-pendulum"), (4, "bicycle"), (5, "jumping-leg")):
    item(f"Figure 2.{_number}")(lambda name=_name: _mechanism(name))
