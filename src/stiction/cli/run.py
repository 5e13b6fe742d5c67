"""`stiction run`: simulate a scene and show what happened."""

from typing import Annotated

import typer

from stiction._errors import RunError
from stiction.cli.options import Force, Json, Out
from stiction.cli.output import OutputDirectory, print_json, text_table

Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Override a field of the scenario, the value read as TOML: --set start.q=[0,0].",
    ),
]


def run(
    scene: Annotated[
        str,
        typer.Argument(help="A scene's name, a scenario (.toml, .yaml) or a model (.xml, .urdf)."),
    ],
    set_: Set = None,
    out: Out = None,
    force: Force = False,
    json: Json = False,
) -> int:
    """Simulate a scene or a model, and write data, figures and a report."""
    from stiction.report.progress import working
    from stiction.scenes.read import read_scenario

    scenario, folder = read_scenario(scene, set_)
    from pathlib import Path

    directory = OutputDirectory(out or Path("out") / Path(scene).stem, force=force)

    with working("simulating"):
        from stiction.scenes.run import run_scenario

        done = run_scenario(scenario, folder)
    with working("writing the report"):
        from stiction.report.run import summarize_run, write_run

        page = write_run(done, directory)
    summary = summarize_run(done)
    if json:
        print_json({**summary, "report": page, "files": directory.files})
    else:
        _print_summary(done.scenario.title or scene, summary)
        print(f"report: {page}")
    if not summary["success"]:
        raise RunError(f"{summary['message']} What was computed is in '{directory.path}'.")
    return 0


def _print_summary(title: str, summary: dict) -> None:
    from rich.console import Console
    from rich.markup import escape

    from stiction.report.run import story

    table = text_table(title=title, title_justify="left", show_header=False)
    for what, how_much in story(summary):
        table.add_row(what, escape(how_much))
    Console().print(table)
