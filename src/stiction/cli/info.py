"""`stiction info`: what a model consists of, and what of its file was ignored."""

from typing import Annotated

import typer

from stiction.cli.options import Json
from stiction.cli.output import print_json, text_table


def info(
    model: Annotated[
        str, typer.Argument(help="A model (.xml, .urdf), a scenario or a scene's name.")
    ],
    base: Annotated[
        str | None, typer.Option("--base", help="Hold a URDF's root 'fixed' or let it be 'free'.")
    ] = None,
    json: Json = False,
) -> None:
    """Say what a mechanism consists of."""
    from dataclasses import asdict

    from stiction.scenes.library import load
    from stiction.surfaces.candidates import contact_candidates

    mechanism = load(model, base=base)
    summary = asdict(mechanism.summary())
    summary["contact_points"] = [asdict(c) for c in contact_candidates(mechanism)]
    if json:
        print_json(summary)
    else:
        _print(summary)


def _print(summary: dict) -> None:
    from rich.console import Console

    console = Console()
    console.print(
        f"[bold]{summary['name']}[/bold]: {summary['nq']} coordinates, {summary['nv']} degrees of"
        f" freedom, {summary['n_bodies']} bodies, {summary['mass']:.6g} kg,"
        f" {summary['nu']} actuators, {len(summary['contact_points'])} candidate contact points"
    )
    numbers = ("stiffness", "damping", "armature")
    numbers = [k for k in numbers if any(j[k] for j in summary["joints"])]
    joints = text_table("joint", "type", "moves", "range", *numbers)
    for j in summary["joints"]:
        limits = f"{j['range'][0]:.4g} to {j['range'][1]:.4g}" if j["range"] else ""
        values = (f"{j[k]:g}" if j[k] else "" for k in numbers)
        joints.add_row(j["name"], j["type"], j["body"], limits, *values)
    console.print(joints)
    if summary["actuators"]:
        actuators = text_table("actuator", "kind", "control", "force")
        for a in summary["actuators"]:
            ranges = (
                f"{r[0]:.4g} to {r[1]:.4g}" if r else ""
                for r in (a["control_range"], a["force_range"])
            )
            actuators.add_row(a["name"], "servo" if a["servo"] else "motor", *ranges)
        console.print(actuators)
    if summary["contact_points"]:
        points = text_table("contact points of", "body", "kind", "count")
        for key, count in _counted(summary["contact_points"]).items():
            points.add_row(*key, str(count))
        console.print(points)
    for note in summary["ignored"]:
        console.print(f"left out: {note}")


def _counted(points: list[dict]) -> dict[tuple[str, str, str], int]:
    counts: dict[tuple[str, str, str], int] = {}
    for p in points:
        key = (p["shape"], p["body"], p["kind"])
        counts[key] = counts.get(key, 0) + 1
    return counts
