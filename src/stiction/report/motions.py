"""What `stiction motions` leaves behind: a table of the motions, figures and a page."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from stiction.motions import BREAK, describe_family
from stiction.motions.files import PlanarProblem, SpatialProblem
from stiction.report.figures import COLORS, add_figures, new_figure
from stiction.report.output import OutputDirectory
from stiction.report.page import Report

MOST_SHOWN = 5  # motions in one picture
_LONGEST = 0.3  # of the picture's width: the arrow of the largest force


def write_motions(
    directory: OutputDirectory, problem: Any, answer: Any, content: Mapping[str, Any]
) -> Path:
    """Write the motions of a problem file or of a state of a scene."""
    in_scene = not isinstance(problem, PlanarProblem | SpatialProblem)
    subtitle = f"t = {problem.time:.9g} s" if in_scene else problem.note
    report = Report(title=problem.title or "Possible motions", subtitle=subtitle)
    report.text(f"{answer.verdict}: {answer.explanation}.")
    rows = motion_rows(problem, answer)
    report.table(rows)
    directory.json("motions.json", content)
    if rows:
        directory.csv("motions.csv", rows)
    if isinstance(problem, PlanarProblem):
        figures = planar_figures(problem, answer)
    elif isinstance(problem, SpatialProblem):
        figures = spatial_figures(problem, answer)
    else:
        figures = scene_figures(problem, answer)
    add_figures(report, directory, figures)
    return directory.page(report)


def motion_rows(problem: Any, answer: Any) -> list[dict[str, str]]:
    """The motions as a table for people."""
    rows = []
    for i, motion in enumerate(answer.motions):
        told = zip(problem.names, motion.modes, strict=True)
        choice = "" if motion.forces_unique else "\n(one choice of many)"
        rows.append(
            {
                "motion": str(i + 1),
                "contacts": "\n".join(f"{name}: {mode}" for name, mode in told),
                "acceleration [m/s², rad/s²]": _numbers(motion.acceleration),
                "forces: tangential, normal [N]": "\n".join(map(_numbers, motion.forces)) + choice,
                "range": describe_family(motion.family),
            }
        )
    if not any(row["range"] for row in rows):
        rows = [{k: v for k, v in row.items() if k != "range"} for row in rows]
    return rows


def _numbers(values: np.ndarray) -> str:
    return "(" + ", ".join(f"{float(x) + 0.0:.4g}" for x in values.round(12)) + ")"


def planar_figures(problem: PlanarProblem, answer: Any) -> dict[str, tuple[Any, str]]:
    """Body and motions, the friction cone, and the forces by what they do."""
    from stiction.motions import direction_ranges
    from stiction.report.motions_body import draw_applied, draw_body, draw_motion
    from stiction.report.motions_forces import (
        draw_cone,
        draw_directions,
        draw_force_map,
        draw_reactions,
    )

    whole, problem = problem, problem.drawn()
    state = problem.state()
    shown = answer.motions[:MOST_SHOWN]
    size = (3.4 * (1 + len(shown)), 3.6)
    figure, panels = new_figure(1, 1 + len(shown), figsize=size, squeeze=False)
    draw_applied(panels[0, 0], problem, state, draw_body(panels[0, 0], problem, state))
    panels[0, 0].set_title("contacts and applied force")
    for i, motion in enumerate(shown):
        axes = panels[0, 1 + i]
        draw_motion(axes, state, motion, draw_body(axes, problem, state, cones=False))
        axes.set_title(f"motion {i + 1}" + ("" if motion.family is None else " (one of a range)"))
        words = describe_family(motion.family)
        axes.text(0.5, 0.0, words, transform=axes.transAxes, ha="center", fontsize=7)
    figures = {"motions": (figure, "The body and its possible motions")}
    if whole.has_vertices:  # its cone and its pushes are those of several problems
        return figures

    figure, axes = new_figure(subplot_kw={"projection": "3d"}, figsize=(6.0, 5.2))
    height = draw_cone(axes, state, names=problem.names)
    applied = state.generalized_force(problem.force, problem.torque)
    draw_reactions(axes, state, applied, answer, height)
    axes.legend(loc="upper left", bbox_to_anchor=(-0.1, 1.0))
    figures["cone"] = (figure, "Friction cone in generalized force space")

    if not state.colliding.any():
        magnitude = float(np.hypot(*problem.force)) or 1.0
        figure = new_figure(1, 1, figsize=(9.0, 4.0))[0]
        figure.clear()
        polar = figure.add_subplot(1, 2, 1, projection="polar")
        draw_directions(polar, direction_ranges(state, magnitude=magnitude, torque=problem.torque))
        flat = figure.add_subplot(1, 2, 2)
        draw_force_map(flat, state, magnitude=magnitude)
        flat.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3)
        figures["directions"] = (figure, "Which forces jam, slide, tip or lift the body")
    return figures


def spatial_figures(problem: SpatialProblem, answer: Any) -> dict[str, tuple[Any, str]]:
    """Contacts and motions in space."""
    from stiction.report.motions_space import draw_space

    shown = [None, *answer.motions[:MOST_SHOWN]]
    figure, panels = new_figure(
        1,
        len(shown),
        figsize=(4.4 * len(shown), 4.2),
        squeeze=False,
        subplot_kw={"projection": "3d"},
    )
    for i, motion in enumerate(shown):
        draw_space(panels[0, i], problem, motion)
        panels[0, i].set_title(f"motion {i}" if i else "contacts and applied force")
    return {"motions": (figure, "The body and its possible motions")}


def scene_figures(state: Any, answer: Any) -> dict[str, tuple[Any, str]]:
    """The mechanism of a `SceneState` with the contact forces of each motion."""
    from stiction.report.strobe import draw_strobe, plane_pairs

    shown = answer.motions[:MOST_SHOWN] or [None]
    figure, panels = new_figure(1, len(shown), figsize=(4.6 * len(shown), 4.2), squeeze=False)
    m, q = state.mechanism, np.asarray(state.q)[None]
    ground = plane_pairs(state.planes)
    for i, (axis, how) in enumerate(zip(panels[0], shown, strict=True)):
        draw_strobe(axis, m, q, path=q, ground=ground)
        axis.margins(0.25)
        if how is None:
            axis.set_title("no motion is possible")
            continue
        world = np.einsum("nd,ndx->nx", how.forces, state.frame)
        low, high = axis.get_xlim()
        scale = _LONGEST * (high - low) / max(np.abs(world).max(initial=0.0), 1e-300)
        for p, f in zip(state.point, scale * world, strict=True):
            axis.annotate(
                "",
                xy=(p[0] + f[0], p[2] + f[2]),
                xytext=(p[0], p[2]),
                arrowprops={"arrowstyle": "-|>", "color": COLORS[3], "lw": 1.5},
                annotation_clip=False,
            )
        words = zip(state.names, how.modes, strict=True)
        modes = [f"{name} {word}" for name, word in words if word != BREAK]
        told = ", ".join(modes) if 0 < len(modes) < 3 else f"{len(modes)} contacts kept"
        axis.set_title(f"motion {i + 1}: {told}", fontsize=8)
        axis.text(0.02, 0.02, describe_family(how.family), transform=axis.transAxes, fontsize=7)
    return {"motions": (figure, "The state, and the contact forces of each possible motion")}
