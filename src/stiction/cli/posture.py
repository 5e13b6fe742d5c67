"""`stiction posture`: the posture from which a mechanism accelerates best."""

from pathlib import Path
from typing import Annotated, Any

import typer

from stiction._errors import InputError
from stiction.cli.options import Force, Json, Out
from stiction.cli.output import OutputDirectory, print_json, text_table
from stiction.cli.stances import Base, Direction, Feet, Model, Mu, Point, Posture


def posture(
    model: Model,
    direction: Direction,
    start: Posture = None,
    point: Point = "",
    feet: Feet = None,
    mu: Mu = None,
    base: Base = None,
    max_tilt: Annotated[
        float, typer.Option("--max-tilt", help="How far a free body may lean [rad].")
    ] = 0.5235987755982988,
    samples: Annotated[
        int, typer.Option("--samples", help="Random postures to begin with.")
    ] = 10_000,
    starts: Annotated[int, typer.Option("--starts", help="Of them, those that climb.")] = 32,
    seed: Annotated[int, typer.Option("--seed", help="Of the random postures.")] = 0,
    study: Annotated[
        int, typer.Option("--study", metavar="N", help="Jump from N random postures besides.")
    ] = 0,
    vary: Annotated[
        str | None,
        typer.Option("--vary", metavar="JOINT,JOINT", help="The two joints of the study's map."),
    ] = None,
    out: Out = None,
    force: Force = False,
    json: Json = False,
) -> int:
    """Find the posture with the largest capability, and the other local optima."""
    from stiction.cli.stances import read_direction, read_stance
    from stiction.report.progress import working

    for name, value in (("samples", samples), ("starts", starts)):
        if value < 1:
            raise InputError(f"`--{name}` must be at least 1, got {value}")
    if study < 0:
        raise InputError(f"`--study` must not be negative, got {study}")
    if max_tilt < 0:
        raise InputError(f"`--max-tilt` must not be negative, got {max_tilt}")
    d = read_direction(direction)
    stance, q, scenario = read_stance(
        model, posture=start, point=point, feet=feet, mu=mu, base=base
    )
    from stiction.agility import best_posture, posture_limits

    limits = posture_limits(stance, max_tilt=max_tilt)
    joints = _joints(stance, vary) if study else ("", "")
    directory = None
    if out is not None or study:
        name = f"posture-{Path(model).stem}"
        directory = OutputDirectory(out or Path("out") / name, force=force)
    with working("looking for postures"):
        found = best_posture(stance, limits, d, seed=seed, samples=samples, starts=starts, guess=q)
    answer = _answer(stance, d, found)
    if study:
        answer["study"] = _study(directory, stance, limits, q, d, scenario, study, seed, joints)
    if directory is not None:
        with working("drawing"):
            _write(directory, stance, d, found, answer)
    if json:
        print_json(answer | ({"files": directory.files} if directory else {}))
    else:
        _print(answer)
        if directory is not None:
            print(f"report: {directory.path / 'report.html'}")
    return 0


def _joints(stance, vary: str | None) -> tuple[str, str]:
    """The two joints of the map: as asked, or the last two."""
    tree = stance.mechanism.tree
    names = vary.split(",") if vary else [n for n in tree.joint_names if n][-2:]
    if len(names) != 2:
        raise InputError(f"`--vary` must name two joints, got '{vary}'")
    for name in names:
        stance.mechanism.joint(name)
    return names[0], names[1]


def _answer(stance, d, found) -> dict[str, Any]:
    import numpy as np

    names = stance.mechanism.tree.coordinate_names
    return {
        "mechanism": stance.mechanism.name,
        "direction": np.asarray(d),
        "sampled": found.sampled,
        "feasible": found.feasible,
        "best_sample": found.best_sample,
        "starts": found.starts,
        "converged": found.converged,
        "optima": [
            {
                "capability": o.capability,
                "posture": dict(zip(names, o.q.tolist(), strict=True)),
                "effort": dict(zip(stance.motors.names, o.effort.tolist(), strict=True)),
                "force": dict(zip(stance.contacts.names, o.force.tolist(), strict=True)),
                "limits": o.binding,
                "kkt_residual": o.residual,
                "starts": o.starts,
            }
            for o in found.optima
        ],
    }


def _study(directory, stance, limits, q, d, scenario, count, seed, joints) -> dict[str, Any]:
    import numpy as np

    from stiction.agility.study import capability_field, correlation, hold, jump_study
    from stiction.report import agility as figures
    from stiction.report.figures import save_figure
    from stiction.report.progress import progress, working
    from stiction.scenes.contact import hybrid_law

    if not stance.mechanism.nu:
        raise InputError("`--study` needs actuators, and the mechanism has none; add motors to it")
    with working("mapping the field"):
        field = capability_field(stance, limits, q, d, joints)
    save_figure(figures.field_figure(field), directory, "field")
    narrow = hold(stance, limits, q, joints)
    law = hybrid_law(scenario.contact, stance.contacts)
    done = jump_study(stance, narrow, d, count, law=law, seed=seed,
                      each=lambda batches: progress(batches, "jumping"))  # fmt: skip
    at = [int(stance.mechanism.tree.q_address[stance.mechanism.joint(n)]) for n in joints]
    x, y = done.q[:, at[0]], done.q[:, at[1]]
    kept = done.stood & (done.motors > 0)
    found = correlation(done.motors[kept], done.outcome.stance_duration[kept])
    save_figure(figures.sampling_figure(done, x, y, joints), directory, "sampling")
    save_figure(figures.duration_figure(done, found), directory, "duration")
    save_figure(figures.partial_figure(done, x, y, joints), directory, "partial")
    table = np.column_stack([x, y, done.motors, done.exact, done.outcome.stance_duration,
                             done.outcome.left, done.timeout, done.outcome.slips])  # fmt: skip
    header = (
        f"{joints[0]},{joints[1]},capability_motors,capability,stance_duration,left,timeout,slips"
    )
    np.savetxt(directory.file("study.csv"), table, delimiter=",", header=header, comments="")
    return {
        "postures": count,
        "left": int(done.outcome.left.sum()),
        "stood": int(done.stood.sum()),
        "timeouts": int(done.timeout.sum()),
        "correlation": vars(found),
    }


def _print(answer: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.markup import escape

    table = text_table(escape("acceleration [m/s²]"), "limited by", "posture", "starts")
    for o in answer["optima"][:8]:
        places = [f"{k} {v:.4g}" for k, v in o["posture"].items()]
        table.add_row(f"{o['capability']:.6g}", ", ".join(o["limits"]), ", ".join(places[:12]),
                      str(o["starts"]))  # fmt: skip
    console = Console()
    console.print(table)
    console.print(
        f"{answer['converged']} of {answer['starts']} starts came to an optimum; the best of"
        f" {answer['feasible']} feasible among {answer['sampled']} random postures has"
        f" {answer['best_sample']:.6g} m/s²",
        highlight=False,
    )
    if "study" in answer:
        s, c = answer["study"], answer["study"]["correlation"]
        console.print(
            f"{s['postures']} jumps: {s['left']} left the ground, {s['stood']} after a stance,"
            f" {s['timeouts']} timeouts; stance duration against capability: r = {c['pearson']:.3f}"
            f" ({100 * c['level']:.0f} % interval {c['low']:.3f} to {c['high']:.3f})",
            highlight=False,
        )


def _write(directory, stance, d, found, answer: dict[str, Any]) -> None:
    import json

    import numpy as np

    from stiction.cli.output import jsonable
    from stiction.report.agility import posture_figure
    from stiction.report.figures import save_figure
    from stiction.report.page import Report

    report = Report(f"Best postures of {stance.mechanism.name}")
    report.table([{"capability [m/s²]": o["capability"], "limited by": ", ".join(o["limits"]),
                   "KKT residual": o["kkt_residual"], "starts": o["starts"]}
                  for o in answer["optima"]])  # fmt: skip
    shown = found.optima[:3]
    figure = posture_figure(stance, np.stack([o.q for o in shown]), np.asarray(d),
                            [f"{o.capability:.4g} m/s²" for o in shown])  # fmt: skip
    report.figure(save_figure(figure, directory, "postures")[-1], "The best local optima")
    captions = {"field": "Capability over two joints", "sampling": "What became of each jump",
                "duration": "Stance duration against capability",
                "partial": "Jumps by posture: stance duration and capability"}  # fmt: skip
    for name, caption in captions.items() if "study" in answer else ():
        report.figure(directory.path / f"{name}.png", caption)
    directory.file("posture.json").write_text(json.dumps(jsonable(answer), indent=2) + "\n")
    report.write(directory.file("report.html"))
