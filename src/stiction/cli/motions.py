"""`stiction motions`: every possible motion of a body in frictional contact."""

from pathlib import Path
from typing import Annotated, Any

import typer

from stiction._errors import InputError
from stiction.cli.options import Force, Json, Out
from stiction.cli.output import OutputDirectory, print_json, text_table
from stiction.cli.run import Set

EXAMPLES = "three-points, block-on-slope, block-in-corner, peg-jamming, painleve-ambiguous, …"


MOST_SHOWN = 5  # motions in one picture


def motions(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE|EXAMPLE",
            help=f"A TOML or YAML file, or a ready example ({EXAMPLES}).",
            show_default=False,
        ),
    ] = None,
    from_: Annotated[
        str | None,
        typer.Option("--from", metavar="SCENE", help="Take a state of a simulated scene."),
    ] = None,
    at: Annotated[
        float | None, typer.Option("--at", metavar="TIME", help="When, in the scene [s].")
    ] = None,
    set_: Set = None,
    plot: Annotated[
        bool, typer.Option("--plot", help="Draw figures (into out/motions-NAME without --out).")
    ] = False,
    out: Out = None,
    force: Force = False,
    json: Json = False,
) -> int:
    """Every acceleration that rigid-body mechanics allows: none, one, several or a continuum."""
    from stiction.motions.files import PlanarProblem, load_problem
    from stiction.report.progress import working

    if (source is None) == (from_ is None):
        raise InputError("give a file or an example, or else a scene by --from")
    if (at is None) != (from_ is None):
        raise InputError("`--from` and `--at` must be given together: a scene, and when in it")
    if set_ and from_ is None:
        raise InputError("`--set` changes a scene: give one by --from")
    if plot and out is None:
        out = Path("out") / f"motions-{Path(source or from_ or '').stem}"
    directory = None if out is None else OutputDirectory(out, force=force)
    content: dict[str, Any] = {}
    if source is not None:
        problem = load_problem(source)
        with working("looking for motions"):
            answer = problem.motions()
        content = {"dimension": problem.dimension}
        if isinstance(problem, PlanarProblem):
            content |= _cone_and_directions(problem)
    else:
        problem = _state_of_scene(from_, at, set_)
        answer = problem.answer
        content = {"t": at, "q": problem.q, "v": problem.v}
    content = {
        "title": problem.title, "contacts": problem.names, **answer.as_dict(), **content,
    }  # fmt: skip
    if directory is not None:
        _write(directory, problem, answer, content)
    if json:
        print_json(content | ({"files": directory.files} if directory else {}))
    else:
        _print(problem, answer, content)
        if directory is not None:
            print(f"report: {directory.path / 'report.html'}")
    return 0


def _state_of_scene(scene, time, overrides):
    from stiction.report.progress import working
    from stiction.scenes.read import read_scenario

    scenario, folder = read_scenario(scene, overrides)
    with working("simulating, then looking for motions"):
        from stiction.scenes.motions import motions_at

        return motions_at(scenario, folder, time)


def _cone_and_directions(problem) -> dict[str, Any]:
    """The friction cone, and what pushes in every direction do."""
    import numpy as np

    from stiction.motions import direction_ranges

    state = problem.state()
    content: dict[str, Any] = {
        "cone": {
            "sheets": state.sheets,
            "edges": state.cone.extreme_edges(),
            "facets": state.cone.facets,
            "dimension": state.cone.dimension,
            "everything": state.cone.everything,
        }
    }
    if state.colliding.any():
        return content
    magnitude = float(np.hypot(*problem.force)) or 1.0
    ranges = direction_ranges(state, magnitude=magnitude, torque=problem.torque)
    content["directions"] = [
        {
            "from_degrees": float(np.degrees(r.start)),
            "to_degrees": float(np.degrees(r.end)),
            "response": r.response.words,
        }
        for r in ranges
    ]
    return content


def _rows(problem, answer) -> list[dict[str, str]]:
    """The motions as a table for people."""
    from stiction.motions.result import describe_family

    rows = []
    for i, motion in enumerate(answer.motions):
        told = zip(problem.names, motion.modes, strict=True)
        choice = "" if motion.forces_unique else "\n(one choice of many)"
        rows.append(
            {
                "motion": str(i + 1),
                "contacts": "\n".join(f"{name}: {mode}" for name, mode in told),
                "acceleration [m/s², rad/s²]": _numbers(motion.acceleration),
                "forces: normal, tangential [N]": "\n".join(map(_numbers, motion.forces)) + choice,
                "range": describe_family(motion.family),
            }
        )
    if not any(row["range"] for row in rows):
        rows = [{k: v for k, v in row.items() if k != "range"} for row in rows]
    return rows


def _numbers(values) -> str:
    return "(" + ", ".join(f"{float(x) + 0.0:.4g}" for x in values.round(12)) + ")"


def _print(problem, answer, content: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console()
    if problem.title:
        console.print(problem.title, style="bold", highlight=False, markup=False)
    console.print(f"[bold]{answer.verdict}[/bold]: {answer.explanation}", highlight=False)
    for i, speed in answer.collisions.items():
        name = escape(problem.names[i])
        console.print(f"  contact {name} closes at {speed:.4g} m/s", highlight=False)
    if answer.motions:
        rows = _rows(problem, answer)
        table = text_table(*map(escape, rows[0]), show_lines=True)  # units are no markup
        for row in rows:
            table.add_row(*map(escape, row.values()))
        console.print(table)
    tests = {"zero reaction": answer.zero_reaction, "zero net force": answer.zero_net_force}
    for name, value in ({} if answer.collisions else tests).items():
        console.print(f"{name}: {'possible' if value else 'not possible'}", highlight=False)
    if "directions" in content:
        parts = [
            f"{' or '.join(d['response']) or 'none'}"
            f" {d['from_degrees']:.2f}° to {d['to_degrees']:.2f}°"
            for d in content["directions"]
        ]
        console.print("pushes through the center of mass: " + "; ".join(parts), highlight=False)


def _write(directory: OutputDirectory, problem, answer, content: dict[str, Any]) -> None:
    import csv
    import json

    from stiction.cli.output import jsonable
    from stiction.motions.files import PlanarProblem, SpatialProblem
    from stiction.report.figures import save_figure
    from stiction.report.page import Report

    in_scene = not isinstance(problem, PlanarProblem | SpatialProblem)
    subtitle = f"t = {problem.time:.9g} s" if in_scene else problem.note
    report = Report(title=problem.title or "Possible motions", subtitle=subtitle)
    report.text(f"{answer.verdict}: {answer.explanation}.")
    rows = _rows(problem, answer)
    report.table(rows)
    directory.file("motions.json").write_text(json.dumps(jsonable(content), indent=2) + "\n")
    if rows:
        with directory.file("motions.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    figures: Any = _figures if isinstance(problem, PlanarProblem) else _spatial_figures
    if in_scene:
        from stiction.report.motions import scene_figures

        figures = scene_figures
    for name, caption, figure in figures(problem, answer):
        report.heading(caption)
        report.figure(save_figure(figure, directory, name)[-1], caption=caption)
    report.write(directory.file("report.html"))


def _figures(problem, answer):
    """Body and motions, the friction cone, and the forces by what they do."""
    import numpy as np

    from stiction.motions import direction_ranges
    from stiction.motions.drawing import draw_applied, draw_body, draw_motion
    from stiction.motions.drawing_forces import (
        draw_cone,
        draw_directions,
        draw_force_map,
        draw_reactions,
    )
    from stiction.motions.result import describe_family
    from stiction.report.figures import new_figure

    state = problem.state()
    shown = answer.motions[:MOST_SHOWN]
    figure, panels = new_figure(
        1, 1 + len(shown), figsize=(3.4 * (1 + len(shown)), 3.6), squeeze=False
    )
    draw_applied(panels[0, 0], problem, state, draw_body(panels[0, 0], problem, state))
    panels[0, 0].set_title("contacts and applied force")
    for i, motion in enumerate(shown):
        axes = panels[0, 1 + i]
        draw_motion(axes, state, motion, draw_body(axes, problem, state, cones=False))
        axes.set_title(f"motion {i + 1}" + ("" if motion.family is None else " (one of a range)"))
        axes.text(
            0.5,
            0.0,
            describe_family(motion.family),
            transform=axes.transAxes,
            ha="center",
            fontsize=7,
        )
    yield "motions", "The body and its possible motions", figure

    figure, axes = new_figure(subplot_kw={"projection": "3d"}, figsize=(6.0, 5.2))
    height = draw_cone(axes, state, names=problem.names)
    applied = state.generalized_force(problem.force, problem.torque)
    draw_reactions(axes, state, applied, answer, height)
    axes.legend(loc="upper left", bbox_to_anchor=(-0.1, 1.0))
    yield "cone", "Friction cone in generalized force space", figure

    if not state.colliding.any():
        magnitude = float(np.hypot(*problem.force)) or 1.0
        figure = new_figure(1, 1, figsize=(9.0, 4.0))[0]
        figure.clear()
        polar = figure.add_subplot(1, 2, 1, projection="polar")
        draw_directions(polar, direction_ranges(state, magnitude=magnitude, torque=problem.torque))
        flat = figure.add_subplot(1, 2, 2)
        draw_force_map(flat, state, magnitude=magnitude)
        flat.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3)
        yield "directions", "Which forces jam, slide, tip or lift the body", figure


def _spatial_figures(problem, answer):
    """Contacts and motions in space."""
    from stiction.motions.drawing_space import draw_space
    from stiction.report.figures import new_figure

    shown = [None, *answer.motions[:MOST_SHOWN]]
    size = (4.4 * len(shown), 4.2)
    figure, panels = new_figure(
        1, len(shown), figsize=size, squeeze=False, subplot_kw={"projection": "3d"}
    )
    for i, motion in enumerate(shown):
        draw_space(panels[0, i], problem, motion)
        panels[0, i].set_title(f"motion {i}" if i else "contacts and applied force")
    yield "motions", "The body and its possible motions", figure
