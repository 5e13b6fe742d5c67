"""`stiction translate`: a contact in another engine's words, and back."""

from typing import Annotated, Any

import typer

from stiction._errors import InputError, unknown
from stiction.cli.options import Force, Json, Out
from stiction.cli.output import OutputDirectory, print_json, text_table

Number = float | None


def translate(
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="ENGINE", help="mujoco, drake, simbody, chrono or exudyn."),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="ENGINE", help="Start from this engine's parameters."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="One of its parameters (with --from)."),
    ] = None,
    stiffness: Annotated[
        Number, typer.Option("--stiffness", metavar="K", help="Stiffness of the pair [N/m^n].")
    ] = None,
    alpha: Annotated[
        Number,
        typer.Option("--alpha", metavar="A", help="Slope of restitution at low speed [s/m]."),
    ] = None,
    dissipation: Annotated[
        Number, typer.Option("--dissipation", metavar="D", help="Dissipation [s/m], 3/2 of alpha.")
    ] = None,
    restitution: Annotated[
        Number, typer.Option("--restitution", metavar="E", help="Restitution at the speed instead.")
    ] = None,
    exponent: Annotated[
        float, typer.Option("--exponent", metavar="N", help="Exponent: 1 flat, 1.5 spheres.")
    ] = 1.0,
    mass: Annotated[
        float, typer.Option("--mass", metavar="M", help="Mass at the contact [kg].")
    ] = 1.0,
    speed: Annotated[
        float, typer.Option("--speed", metavar="V", help="Speed of approach [m/s].")
    ] = 1.0,
    friction: Annotated[
        float, typer.Option("--friction", metavar="MU", help="Coefficient of (static) friction.")
    ] = 0.0,
    dynamic_friction: Annotated[
        Number, typer.Option("--dynamic-friction", metavar="MU", help="If it differs.")
    ] = None,
    radius: Annotated[
        Number,
        typer.Option("--radius", metavar="R", help="Relative radius of curvature [m] (simbody)."),
    ] = None,
    time_step: Annotated[
        Number, typer.Option("--time-step", metavar="S", help="The engine's time step [s].")
    ] = None,
    impedance: Annotated[
        Number, typer.Option("--impedance", metavar="D", help="Constant impedance (mujoco).")
    ] = None,
    check: Annotated[
        str | None,
        typer.Option("--check", metavar="ENGINE", help="Drop a ball in it: mujoco or drake."),
    ] = None,
    out: Out = None,
    force: Force = False,
    json: Json = False,
) -> int:
    """Contact parameters for MuJoCo, Drake, Simbody, Chrono or EXUDYN, and back.

    From a stiffness and one of alpha, dissipation and restitution at a speed; or, with --from and
    --set, from an engine's own parameters. Says what the engine cannot express; --check drops a
    ball in the engine and compares the restitution asked with the one got.
    """
    from stiction.laws.translate import ENGINES, Check

    for option, name in (("--to", to), ("--from", source), ("--check", check)):
        if name is not None and name not in ENGINES:
            raise unknown(f"engine for {option}", name, ENGINES)
    target = to or check
    if target is None and source is None:
        raise InputError(f"give `--to` or `--from`, one of: {', '.join(ENGINES)}")
    if check is not None and check != target:
        raise InputError(f"`--check {check}` must name the engine of `--to`, got {target}")
    if check is not None and ENGINES[check].check is None:
        able = ", ".join(n for n, e in ENGINES.items() if e.check)
        raise InputError(f"`--check` can drop a ball in: {able}; got {check}")
    lost: tuple[str, ...] = ()
    if source is not None:
        contact, lost = _read(source, settings or [], mass, speed)
    else:
        if settings:
            raise InputError("`--set` names an engine's parameters and needs `--from`")
        contact = _ask(
            stiffness, alpha, dissipation, restitution, exponent, mass, speed, friction,
            dynamic_friction, radius,
        )  # fmt: skip
    result: dict[str, Any] = {"contact": _describe(contact), "lost": list(lost)}
    checked: Check | None = None
    if target is not None:
        engine = ENGINES[target]
        options = _options(target, time_step=time_step, impedance=impedance)
        translation = engine.to(contact, **options)
        result |= {
            "engine": target,
            "parameters": dict(translation.parameters),
            "limits": list(translation.limits),
            "snippet": translation.snippet,
            "time_step": translation.time_step,
        }
        if check is not None and engine.check is not None:
            checked = engine.check(contact, translation)
            result["check"] = {
                "engine": checked.engine,
                "version": checked.version,
                "drops": [{**vars(d), "error": d.error} for d in checked.drops],
            }
    if out is not None:
        _write(OutputDirectory(out, force=force), result)
    if json:
        print_json(result)
    else:
        _print(result)
    return 0


def _ask(
    stiffness, alpha, dissipation, restitution, exponent, mass, speed, mu, mu_dynamic, radius
):  # fmt: skip
    """The contact that the options describe."""
    from stiction._checks import require_at_least
    from stiction.laws.translate import CompliantContact

    if stiffness is None:
        raise InputError("`--stiffness` is needed, of the pair in N/m^n")
    damping = {"--alpha": alpha, "--dissipation": dissipation, "--restitution": restitution}
    named = [name for name, value in damping.items() if value is not None]
    if len(named) != 1:
        raise InputError(
            "give exactly one of `--alpha`, `--dissipation` and `--restitution`, got"
            f" {' and '.join(named) or 'none'}"
        )
    if alpha is not None:
        require_at_least("--alpha", alpha, 0.0, "s/m")
        dissipation = 1.5 * alpha
    contact = CompliantContact(
        stiffness=stiffness,
        dissipation=0.0 if dissipation is None else dissipation,
        exponent=exponent,
        mass=mass,
        speed=speed,
        mu_static=mu,
        mu_dynamic=mu if mu_dynamic is None else mu_dynamic,
        radius=radius,
    )
    return contact if restitution is None else contact.with_restitution(restitution)


def _read(source: str, settings: list[str], mass: float, speed: float):
    """The contact that an engine's own parameters amount to."""
    from stiction._checks import require_positive
    from stiction.laws.translate import ENGINES

    require_positive("--mass", mass, "kg")
    require_positive("--speed", speed, "m/s")
    engine = ENGINES[source]
    parameters = {}
    for text in settings:
        name, sign, value = text.partition("=")
        if not sign:
            raise InputError(f"`--set` must be NAME=VALUE, got '{text}'")
        if name not in engine.names:
            raise unknown(f"parameter of {source}", name, engine.names)
        parameters[name] = value
    if not parameters:
        raise InputError(
            f"`--from {source}` needs `--set NAME=VALUE` of: {', '.join(engine.names)}"
        )
    return engine.back(parameters, mass=mass, speed=speed)


def _options(engine: str, *, time_step: float | None, impedance: float | None) -> dict[str, float]:
    """The options that this engine's translation takes; others are refused."""
    from stiction._checks import require_positive
    from stiction.laws.translate import ENGINES

    options = {}
    if time_step is not None:
        if not ENGINES[engine].has_time_step:
            raise InputError(
                f"`--time-step` has no part in the translation to {engine}; leave it out"
            )
        require_positive("--time-step", time_step, "s")
        options["time_step"] = time_step
    if impedance is not None:
        if engine != "mujoco":
            raise InputError(f"`--impedance` is MuJoCo's; leave it out for {engine}")
        options["impedance"] = impedance
    return options


def _describe(contact) -> dict[str, Any]:
    """The contact in this project's words, with what follows from it."""
    return {
        "stiffness": contact.stiffness,
        "exponent": contact.exponent,
        "dissipation": contact.dissipation,
        "alpha": contact.alpha,
        "restitution": contact.restitution,
        "speed": contact.speed,
        "mass": contact.mass,
        "mu_static": contact.mu_static,
        "mu_dynamic": contact.mu_dynamic,
        "peak_depth": contact.peak_depth,
        "duration": contact.duration,
    }


def _drop_rows(check: dict) -> list[dict[str, str]]:
    return [
        {
            "how": drop["how"],
            "gravity": "yes" if drop["gravity"] else "no",
            "asked": f"{drop['asked']:.6f}",
            "got": f"{drop['got']:.6f}",
            "error": f"{drop['error']:+.1e}",
            "range": f"{drop['lowest']:.4f}-{drop['highest']:.4f}",
        }
        for drop in check["drops"]
    ]


def _print(result: dict) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console()
    table = text_table("contact", "value")
    for name, value in result["contact"].items():
        table.add_row(name.replace("_", " "), f"{value:.8g}")
    console.print(table)
    for line in result["lost"]:
        console.print(f"  lost: {escape(line)}")
    if "engine" not in result:
        return
    table = text_table(result["engine"], "value")
    for name, value in result["parameters"].items():
        table.add_row(name, escape(_text(value)))
    console.print(table)
    console.print(escape(result["snippet"]), highlight=False, soft_wrap=True)
    console.print(f"\nwhat {result['engine']} cannot express or needs care:")
    for line in result["limits"]:
        console.print(f"  - {escape(line)}")
    if "check" in result:
        rows = _drop_rows(result["check"])
        table = text_table(
            *rows[0], title=f"a ball dropped in {result['engine']} {result['check']['version']}"
        )
        for row in rows:
            table.add_row(*row.values())
        console.print(table)


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k} {_text(v)}" for k, v in value.items())
    if isinstance(value, tuple):
        return " ".join(_text(v) for v in value)
    return f"{value:.8g}" if isinstance(value, float) else str(value)


def _write(directory: OutputDirectory, result: dict) -> None:
    """The translation as JSON, the snippet, and a report."""
    import json

    from stiction.cli.output import jsonable
    from stiction.report.page import Report

    report = Report("Contact parameters")
    report.table([{"contact": k, "value": v} for k, v in result["contact"].items()])
    if "engine" in result:
        report.heading(result["engine"])
        report.table([{"name": k, "value": _text(v)} for k, v in result["parameters"].items()])
        directory.file("snippet.txt").write_text(result["snippet"] + "\n")
    for line in [*result["lost"], *result.get("limits", ())]:
        report.text(line)
    if "check" in result:
        report.heading("A ball dropped")
        report.table(_drop_rows(result["check"]))
    directory.file("translation.json").write_text(json.dumps(jsonable(result), indent=2) + "\n")
    report.write(directory.file("report.html"))
