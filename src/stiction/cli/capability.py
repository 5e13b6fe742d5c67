"""`stiction capability`: how fast a standing mechanism can accelerate a point."""

from pathlib import Path
from typing import Annotated, Any

import typer

from stiction._errors import InputError
from stiction.cli.options import Force, Json, Out
from stiction.cli.output import OutputDirectory, print_json, text_table
from stiction.cli.stances import Base, Direction, Feet, Model, Mu, Point, Posture


def capability(
    model: Model,
    direction: Direction,
    posture: Posture = None,
    point: Point = "",
    feet: Feet = None,
    mu: Mu = None,
    base: Base = None,
    plot: Annotated[
        bool, typer.Option("--plot", help="Draw all directions (into out/… without --out).")
    ] = False,
    out: Out = None,
    force: Force = False,
    json: Json = False,
) -> int:
    """The largest acceleration in a direction that motors can give while the feet hold."""
    from stiction.cli.stances import output_path, read_direction, read_stance
    from stiction.report.progress import working

    d = read_direction(direction)
    stance, q, _ = read_stance(model, posture=posture, point=point, feet=feet, mu=mu, base=base)
    out = output_path(out, plot, f"capability-{Path(model).stem}")
    directory = None if out is None else OutputDirectory(out, force=force)
    with working("looking for the limits"):
        answer = _answer(stance, q, d)
    if answer["capability"] is None:
        alone = answer["motors_alone"]["capability"]
        note = "" if alone is None else f" (on feet that cannot slip or lift: {alone:.4g} m/s²)"
        raise InputError(
            "`--direction`: no acceleration along it is possible at this posture while the feet"
            f" hold{note}; try another direction or posture, or more friction"
        )
    if directory is not None:
        with working("drawing all directions"):
            _write(directory, stance, q, d, answer)
    if json:
        print_json(answer | ({"files": directory.files} if directory else {}))
    else:
        _print(answer)
        if directory is not None:
            print(f"report: {directory.path / 'report.html'}")
    return 0


def _answer(stance, q, d) -> dict[str, Any]:
    import jax
    import jax.numpy as jnp
    import numpy as np

    from stiction.agility import check_posture, effort_range, limits_in_words
    from stiction.agility.directions import capability_in

    check_posture(stance, q)
    if stance.contacts.planar and abs(float(d[1])) > 1e-12:
        raise InputError("`--direction` must lie in the x-z plane, for the mechanism keeps to it")
    low, high = effort_range(stance, q, jnp.zeros(stance.mechanism.nv))
    endless = [n for n, a, b in zip(stance.motors.names, low, high, strict=True)
               if not np.isfinite([a, b]).all()]  # fmt: skip
    if endless:
        raise InputError(
            f"motor '{endless[0]}' has no limit of effort, so neither has the acceleration;"
            " give it a `ctrlrange` or `forcerange`"
        )
    motors, exact = (
        jax.tree.map(lambda x: np.asarray(x)[0], c)
        for c in capability_in(stance, q, jnp.asarray(d)[None])
    )

    def told(found, contact_limits: bool) -> dict[str, Any]:
        good = bool(np.isfinite(found.value))
        return {
            "capability": float(found.value) if good else None,
            "limits": limits_in_words(
                stance, found, low, high, contact_limits=contact_limits
            ),
            "effort": dict(zip(stance.motors.names, found.effort.tolist(), strict=True))
            if good else None,
            "force": dict(zip(stance.contacts.names, found.force.tolist(), strict=True))
            if good else None,
        }  # fmt: skip

    return {
        "mechanism": stance.mechanism.name,
        "direction": np.asarray(d),
        "posture": np.asarray(q),
        **told(exact, True),
        "motors_alone": told(motors, False),
    }


def _print(answer: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.markup import escape

    heads = ("", "acceleration [m/s²]", "limited by", "efforts [N·m or N]")
    table = text_table(*map(escape, heads))  # units are no markup
    for name, found in (
        ("while the feet hold", answer),
        ("motors alone (6.6)", answer["motors_alone"]),
    ):
        value = found["capability"]
        efforts = found["effort"] or {}
        table.add_row(
            name,
            "none" if value is None else f"{value:.6g}",
            ", ".join(found["limits"]) or "no acceleration along it is possible",
            ", ".join(f"{k} {v:.4g}" for k, v in list(efforts.items())[:6]),
        )
    Console().print(table)


def _write(directory, stance, q, d, answer: dict[str, Any]) -> None:
    import json

    import numpy as np

    from stiction.agility.directions import acceleration_set
    from stiction.cli.output import jsonable
    from stiction.report.agility import polytope_figure, posture_figure
    from stiction.report.figures import save_figure
    from stiction.report.page import Report

    everything = acceleration_set(stance, q)
    value = answer["capability"]
    text = "none" if value is None else f"{value:.4g} m/s²"
    report = Report(f"Capability of {stance.mechanism.name}", f"Along the direction: {text}.")
    report.table([
        {"limits": name, **{k: found[k] for k in ("capability", "limits", "effort")}}
        for name, found in (("all", answer), ("motors", answer["motors_alone"]))
    ])  # fmt: skip
    figures = {
        "polytope": (polytope_figure(everything, np.asarray(d), value),
                     "All accelerations that the point can have"),
        "posture": (posture_figure(stance, np.asarray(q)[None], np.asarray(d), ["posture"]),
                    "The posture and the direction"),
    }  # fmt: skip
    for name, (figure, caption) in figures.items():
        report.figure(save_figure(figure, directory, name)[-1], caption)
    directory.file("capability.json").write_text(json.dumps(jsonable(answer), indent=2) + "\n")
    report.write(directory.file("report.html"))
