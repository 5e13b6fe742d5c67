"""`stiction impact`: one impact, resolved by every law."""

from stiction._base.errors import InputError
from stiction.cli.command import Answer, Output, command
from stiction.cli.options import (
    BASE,
    SCENE,
    SET,
    Number,
    Text,
    Texts,
    flag,
    option,
    read_scene,
)
from stiction.cli.terminal import say, show_table
from stiction.report import working


@command("Simulate")
def impact(
    output: Output,
    scene: str = SCENE,
    set_: Texts = SET,
    base: Text = BASE,
    q: Text = option(None, "LIST", "A configuration in contact: 0.3,-0.2."),
    v: Text = option(None, "LIST", "The velocity there, just before the impact."),
    tangential: Number = option(
        None, "E_T", "Add a row in which every tangential velocity after is E_T times that before."
    ),
    friction_map: bool = flag("Draw how much friction each slip after the impact would need."),
) -> Answer:
    """Resolve the first impact of a scene, or that of a state given by --q and --v, by all laws.

    Laws: no-slip and dissipation (flickinger), newton, poisson, stronge, lcp (rodic); with energy
    limited by scaling or by a constraint; all contacts at once or in sequence. A law that
    creates energy is marked. Forces are the least that would do the impact's work in 1 ms.

    Examples:
      stiction impact double-pendulum
      stiction impact bicycle --friction-map --out out/impact
      stiction impact double-pendulum --q=-0.5236,-1.0472 --v=-3,0
      stiction impact double-pendulum --tangential -0.3
    """
    state = {"q": q, "v": v}
    given = [f"start.{k}={_list(k, text)}" for k, text in state.items() if text is not None]
    if len(given) == 1:
        raise InputError("`--q` and `--v` must be given together: a state just before an impact")
    described = read_scene(scene, [*(set_ or []), *given], base)
    output.open("impact", always=friction_map)
    with working("resolving the impact"):
        from stiction.scenes import find_impact, resolve_by_all

        found = find_impact(described, at_start=bool(given))
        rows = resolve_by_all(found, tangential)
    title = described.scenario.title or scene
    result = {
        "t": found.time,
        "q": found.q,
        "v": found.v,
        "velocity_before": dict(zip(found.names, found.problem.velocity, strict=True)),
        "kinetic_before": found.problem.kinetic,
        "laws": rows,
    }

    def write(directory):
        from stiction.report.impact import write_impact

        return write_impact(directory, title, found, rows, friction_map=friction_map)

    return Answer(result, lambda: _show(title, found, rows), write)


def _list(name: str, text: str) -> str:
    try:
        return str([float(word) for word in text.strip("[] ").replace(",", " ").split()])
    except ValueError:
        raise InputError(f"`--{name}` must be numbers as in 0.3,-0.2, got '{text}'") from None


def _show(title: str, found, rows: list[dict]) -> None:
    from stiction.report.impact import table_rows

    say(f"{title}: impact at t = {found.time:.6g} s")
    shown = table_rows(found, rows)
    hidden = {"least force [N]", *(["contact"] if len(found.names) == 1 else [])}
    columns = [name for name in shown[0] if name not in hidden]  # the report has them all
    show_table(
        [{name.replace(" [", "\n["): row[name] for name in columns} for row in shown],
        sections=[i for i, row in enumerate(shown[1:]) if row["law"] != ""],
    )
    guilty = [row["law"] for row in rows if row["creates_energy"]]
    if guilty:
        say(f"creates energy: {'; '.join(guilty)}", bold=True)
