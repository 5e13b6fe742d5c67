"""`stiction impact`: one impact, resolved by every law."""

from typing import Annotated

import typer

from stiction._errors import InputError
from stiction.cli.options import Force, Json, Out
from stiction.cli.output import OutputDirectory, print_json, text_table
from stiction.cli.run import Set

Numbers = str | None


def impact(
    scene: Annotated[
        str,
        typer.Argument(help="A scene's name, a scenario (.toml, .yaml) or a model (.xml, .urdf)."),
    ],
    set_: Set = None,
    q: Annotated[
        Numbers,
        typer.Option("--q", metavar="LIST", help="A configuration in contact: 0.5,-0.2."),
    ] = None,
    v: Annotated[
        Numbers, typer.Option("--v", metavar="LIST", help="Its velocity just before the impact.")
    ] = None,
    friction_map: Annotated[
        bool,
        typer.Option(
            "--friction-map", help="Draw the friction that each slip afterwards would need."
        ),
    ] = False,
    out: Out = None,
    force: Force = False,
    json: Json = False,
) -> int:
    """Resolve the first impact of a scene, or that of a state given by --q and --v, by all laws.

    Laws: no-slip and dissipation (flickinger), newton, poisson, stronge, lcp (rodic); with energy
    under control by scaling or as a constraint; all contacts at once or in sequence. A law that
    creates energy is marked. Forces are the least that would do the impact's work in 1 ms.
    """
    from stiction.report.progress import working
    from stiction.scenes.read import read_scenario

    given = [
        f"start.{name}={_list(name, value)}"
        for name, value in (("q", q), ("v", v))
        if value is not None
    ]
    if len(given) == 1:
        raise InputError("`--q` and `--v` must be given together: a state just before an impact")
    scenario, folder = read_scenario(scene, [*(set_ or []), *given])
    wanted = out is not None or friction_map
    directory = OutputDirectory(out or "out/impact", force=force) if wanted else None

    with working("resolving the impact"):
        from stiction.scenes.impact import find_impact, resolve_by_all

        found = find_impact(scenario, folder, at_start=bool(given))
        rows = resolve_by_all(found)
    title = scenario.title or scene
    result = {
        "t": found.time,
        "q": found.q,
        "v": found.v,
        "velocity_before": dict(zip(found.names, found.problem.velocity, strict=True)),
        "kinetic_before": found.problem.kinetic,
        "laws": rows,
    }
    if directory is not None:
        with working("writing the report"):
            from stiction.report.impact import write_impact

            page = write_impact(directory, title, found, rows, friction_map=friction_map)
        result |= {"report": page, "files": directory.files}
    if json:
        print_json(result)
        return 0
    _print(title, found, rows)
    if directory is not None:
        print(f"report: {result['report']}")
    return 0


def _list(name: str, text: str) -> str:
    try:
        return str([float(word) for word in text.strip("[] ").replace(",", " ").split()])
    except ValueError:
        raise InputError(f"`--{name}` must be numbers as 0.5,-0.2, got '{text}'") from None


def _print(title: str, found, rows: list[dict]) -> None:
    from rich.console import Console
    from rich.markup import escape

    from stiction.report.impact import table_rows

    console = Console()
    console.print(escape(f"{title}: impact at t = {found.time:.6g} s"))
    shown = table_rows(found, rows)
    hidden = {"least force [N]", *(["contact"] if len(found.names) == 1 else [])}
    columns = [name for name in shown[0] if name not in hidden]  # the report has them all
    table = text_table(*(escape(name.replace(" [", "\n[")) for name in columns))
    for i, row in enumerate(shown):
        last = i + 1 == len(shown) or shown[i + 1]["law"] != ""
        table.add_row(*(escape(row[name]) for name in columns), end_section=last)
    console.print(table)
    guilty = [row["law"] for row in rows if row["creates_energy"]]
    if guilty:
        console.print(f"[bold red]creates energy:[/] {'; '.join(guilty)}")
