"""`stiction restitution`: what comes out of an impact, exactly."""

from typing import Annotated

import typer

from stiction._errors import InputError
from stiction.cli.options import Force, Json, Out
from stiction.cli.output import OutputDirectory, print_json, text_table

# Shares of the given speed for which a table is made if no speeds are named.
TABLE_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)

Number = float | None


def restitution(
    speed: Annotated[
        Number, typer.Option("--speed", metavar="V", help="Speed of approach [m/s].")
    ] = None,
    alpha: Annotated[
        Number,
        typer.Option("--alpha", metavar="A", help="Slope of restitution at low speed [s/m]."),
    ] = None,
    dissipation: Annotated[
        Number,
        typer.Option("--dissipation", metavar="D", help="Dissipation [s/m], 3/2 of alpha."),
    ] = None,
    wanted: Annotated[
        Number,
        typer.Option("--restitution", metavar="E", help="Find alpha for this restitution instead."),
    ] = None,
    mass: Annotated[Number, typer.Option("--mass", metavar="M", help="Mass [kg].")] = None,
    stiffness: Annotated[
        Number, typer.Option("--stiffness", metavar="K", help="Stiffness [N/m^n].")
    ] = None,
    exponent: Annotated[
        float, typer.Option("--exponent", metavar="N", help="Exponent: 1 flat, 1.5 spheres.")
    ] = 1.0,
    table: Annotated[bool, typer.Option("--table", help="A table over speeds.")] = False,
    speeds: Annotated[
        str | None,
        typer.Option(
            "--speeds", metavar="LIST", help="Speeds of the table: 0.1,1,10 or START:STOP:COUNT."
        ),
    ] = None,
    plot: Annotated[
        bool, typer.Option("--plot", help="Draw restitution against speed, and the force loop.")
    ] = False,
    out: Out = None,
    force: Force = False,
    json: Json = False,
) -> int:
    """Restitution, rebound and energy lost of a Hunt-Crossley impact, exactly (no integration).

    Give --alpha or --dissipation to get the restitution at a speed, or --restitution to get the
    alpha that has it there. With --mass and --stiffness also peak depth, peak force and duration.
    """
    from stiction._checks import require_at_least, require_positive, require_restitution
    from stiction.laws import alpha_from_dissipation, impact

    given = {"--alpha": alpha, "--dissipation": dissipation, "--restitution": wanted}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        raise InputError(
            "give exactly one of `--alpha`, `--dissipation` and `--restitution`, got"
            f" {' and '.join(named) or 'none'}"
        )
    if speed is None:
        raise InputError("`--speed` is needed: the speed of approach in m/s")
    require_positive("--speed", speed, "m/s")
    require_at_least("--exponent", exponent, 1.0)
    body = None
    if mass is not None and stiffness is not None:
        require_positive("--mass", mass, "kg")
        require_positive("--stiffness", stiffness, "N/m^n")
        body = {"mass": mass, "stiffness": stiffness, "exponent": exponent}
    elif mass is not None or stiffness is not None:
        raise InputError("`--mass` and `--stiffness` must be given together")
    if wanted is not None:
        require_restitution("--restitution", wanted, zero=False)
        d = float(impact.dissipation_for_restitution(wanted, speed))
    else:
        value = 1.5 * alpha if alpha is not None else dissipation
        d = 0.0 if value is None else value
        require_at_least(named[0], d if alpha is None else alpha, 0.0, "s/m")
    rows = _speeds(speeds, speed) if table or speeds else None
    directory = OutputDirectory(out or "out/restitution", force=force) if plot or out else None

    result = {
        "alpha": float(alpha_from_dissipation(d)),
        "dissipation": d,
        "sticky_speed": float(impact.sticky_speed(d)) if d else None,
        **_impact(speed, d, body),
    }
    if rows:
        result["table"] = [_impact(v, d, body) for v in rows]
    if directory is not None:
        result["files"] = _write(directory, speed, d, body, result, plot)
    if json:
        print_json(result)
    else:
        _print(result)
        if directory is not None:
            print(f"report: {directory.path / 'report.html'}")
    return 0


def _impact(speed: float, d: float, body: dict | None) -> dict:
    """The numbers of one impact, under the names that `--json` has."""
    from stiction.laws import impact

    row = {
        "speed": speed,
        "restitution": float(impact.restitution(speed, d)),
        "rebound_speed": float(impact.rebound_speed(speed, d)),
        "energy_lost_fraction": float(impact.energy_lost_fraction(speed, d)),
    }
    if body is not None:
        at = {"speed": speed, "dissipation": d, **body}
        row["energy_lost"] = float(impact.energy_lost(speed, d, body["mass"]))
        row["peak_depth"] = float(impact.peak_depth(**at))
        row["peak_force"] = float(impact.peak_force(**at))
        row["duration"] = float(impact.contact_duration(**at))
    return row


def _speeds(text: str | None, speed: float) -> list[float]:
    """Speeds from '0.1,1,10' or '0.1:10:20', or shares of the given one."""
    import math

    if text is None:
        return [speed * share for share in TABLE_SHARES]
    try:
        if ":" in text:
            start, stop, count = text.split(":")
            low, high, n = float(start), float(stop), int(count)
            values = [low + (high - low) * i / max(n - 1, 1) for i in range(n)]
        else:
            values = [float(word) for word in text.split(",")]
    except ValueError:
        values = []
    if not values or not all(math.isfinite(v) and v > 0 for v in values):
        raise InputError(
            f"`--speeds` must be positive numbers as 0.1,1,10 or START:STOP:COUNT, got '{text}'"
        )
    return values


# Short enough for eight columns on a terminal.
SHORT = {
    "speed": "speed",
    "restitution": "restitution",
    "rebound_speed": "rebound",
    "energy_lost_fraction": "lost",
    "energy_lost": "lost",
    "peak_depth": "depth",
    "peak_force": "force",
    "duration": "time",
}
UNITS = {
    "speed": "m/s",
    "rebound_speed": "m/s",
    "sticky_speed": "m/s",
    "alpha": "s/m",
    "dissipation": "s/m",
    "energy_lost": "J",
    "peak_depth": "m",
    "peak_force": "N",
    "duration": "s",
}


def _label(name: str) -> str:
    unit = f" [{UNITS[name]}]" if name in UNITS else ""
    return name.replace("_", " ") + unit


def _print(result: dict) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console()
    if "table" in result:
        rows = result["table"]
        table = text_table(*(escape(f"{SHORT[k]}\n[{UNITS.get(k, '-')}]") for k in rows[0]))
        for row in rows:
            table.add_row(*(f"{v:.4g}" for v in row.values()))
        console.print(
            f"alpha {result['alpha']:.10g} s/m, dissipation {result['dissipation']:.10g} s/m"
        )
    else:
        table = text_table("quantity", "value")
        for name, value in result.items():
            if name != "files" and value is not None:
                table.add_row(escape(_label(name)), f"{value:.10g}")
    console.print(table)


def _write(directory, speed: float, d: float, body: dict | None, result: dict, plot: bool) -> list:
    """The report, and with `plot` its figures."""
    from stiction.report.page import Report

    report = Report("Restitution of a Hunt-Crossley impact")
    shown = {k: v for k, v in result.items() if k not in ("table", "files") and v is not None}
    report.table([{"quantity": _label(k), "value": v} for k, v in shown.items()])
    if "table" in result:
        rows = [{_label(k): v for k, v in row.items()} for row in result["table"]]
        report.table(rows)
        lines = [",".join(rows[0]), *(",".join(f"{v!r}" for v in row.values()) for row in rows)]
        directory.file("table.csv").write_text("\n".join(lines) + "\n")
    if plot:
        _plot(directory, report, speed, d, body)
    report.write(directory.file("report.html"))
    return directory.files


def _plot(directory, report, speed: float, d: float, body: dict | None) -> None:
    import jax
    import numpy as np

    from stiction.laws import impact
    from stiction.report.figures import new_figure, save_figure

    figure, axis = new_figure()
    v = np.linspace(0.0, 4 * speed, 400)
    axis.plot(v, np.asarray(jax.vmap(lambda s: impact.restitution(s, d))(v)), label="exact")
    line = 1 - d / 1.5 * v
    axis.plot(v[line > 0], line[line > 0], "--", lw=1, label="1 - α v, the low-speed limit")
    axis.plot([speed], [float(impact.restitution(speed, d))], "o")
    axis.set(xlabel="speed of approach [m/s]", ylabel="restitution", xlim=(0, None), ylim=(0, 1.02))
    axis.legend(frameon=False)
    paths = save_figure(figure, directory, "restitution")
    report.figure(paths[-1], f"Restitution against speed, α = {d / 1.5:.4g} s/m")
    if body is None:
        return
    figure, axis = new_figure()
    rebound = float(impact.rebound_speed(speed, d))
    # Closer where the loop turns into its ends, as the cosine is.
    velocity = 0.5 * (speed - rebound + (speed + rebound) * np.cos(np.linspace(0, np.pi, 400)))
    depth = np.asarray(
        jax.vmap(lambda w: impact.depth_at_velocity(w, speed=speed, dissipation=d, **body))(
            velocity
        )
    )
    axis.plot(1e3 * depth, body["stiffness"] * depth ** body["exponent"] * (1 + d * velocity))
    axis.set(xlabel="depth [mm]", ylabel="force [N]")
    paths = save_figure(figure, directory, "loop")
    report.figure(paths[-1], f"Force against depth at {speed:g} m/s; the area is the energy lost")
