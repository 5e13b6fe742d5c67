"""`stiction motions`: every possible motion of a body in frictional contact."""

from pathlib import Path
from typing import Any

from stiction._base.errors import InputError
from stiction.cli.command import Answer, Output, command
from stiction.cli.options import (
    BASE,
    SET,
    Number,
    Text,
    Texts,
    argument,
    complete_scene,
    option,
    read_scene,
)
from stiction.cli.terminal import say, show_table
from stiction.report import working

EXAMPLES = "three-points, block-on-slope, block-in-corner, peg-jamming, painleve-ambiguous, …"


@command("Simulate")
def motions(
    output: Output,
    source: Text = argument(
        None,
        f"A TOML or YAML file, or a ready example ({EXAMPLES}).",
        metavar="FILE|EXAMPLE",
        show_default=False,
    ),
    scene: Text = option(
        None,
        "SCENE",
        "Take the state of a simulated scene or model instead, at --at.",
        autocompletion=complete_scene,
    ),
    at: Number = option(None, "TIME", "When, in the simulated scene [s]."),
    set_: Texts = SET,
    base: Text = BASE,
) -> Answer:
    """Every acceleration that rigid-body mechanics allows: none, one, several or a continuum.

    Examples:
      stiction motions peg-jamming
      stiction motions part.toml --plot
      stiction motions --scene box --at 0.5 --set contact.mu_dynamic=0.3
    """
    if (source is None) == (scene is None):
        raise InputError("give a file or an example, or else a scene by --scene")
    if (at is None) != (scene is None):
        raise InputError("`--scene` and `--at` must be given together: a scene, and when in it")
    if (set_ or base) and scene is None:
        raise InputError("`--set` and `--base` change a scene: give one by --scene")
    output.open(f"motions-{Path(source or scene or '').stem}")
    content: dict[str, Any]
    if source is not None:
        from stiction.motions.files import PlanarProblem, load_problem
        from stiction.motions.summary import cone_and_directions

        problem = load_problem(source)
        with working("looking for motions"):
            answer = problem.motions()
        content = {"dimension": problem.dimension}
        if isinstance(problem, PlanarProblem):
            content |= cone_and_directions(problem)
    else:
        assert scene is not None and at is not None  # noqa: PT018
        described = read_scene(scene, set_, base)
        with working("simulating, then looking for motions"):
            from stiction.scenes import motions_at

            problem = motions_at(described, at)
        answer = problem.answer
        content = {"t": at, "q": problem.q, "v": problem.v}
    content = {"title": problem.title, "contacts": problem.names, **answer.as_dict(), **content}

    def write(directory):
        from stiction.report.motions import write_motions

        return write_motions(directory, problem, answer, content)

    return Answer(content, lambda: _show(problem, answer, content), write)


def _show(problem, answer, content: dict[str, Any]) -> None:
    from stiction.report.motions import motion_rows

    if problem.title:
        say(problem.title, bold=True)
    say(f"{answer.verdict}: {answer.explanation}", bold=True)
    for i, speed in answer.collisions.items():
        say(f"  contact {problem.names[i]} closes at {speed:.4g} m/s")
    show_table(motion_rows(problem, answer), lines=True)
    tests = {"zero reaction": answer.zero_reaction, "zero net force": answer.zero_net_force}
    for name, value in ({} if answer.collisions else tests).items():
        say(f"{name}: {'possible' if value else 'not possible'}")
    if "directions" in content:
        parts = [
            f"{' or '.join(d['response']) or 'none'}"
            f" {d['from_degrees']:.2f}° to {d['to_degrees']:.2f}°"
            for d in content["directions"]
        ]
        say("pushes through the center of mass: " + "; ".join(parts))
