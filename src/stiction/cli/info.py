"""`stiction info`: what a model consists of, and what of its file was ignored."""

from collections import Counter
from typing import Any

from stiction.cli.command import Answer, Output, command
from stiction.cli.options import BASE, SCENE, Text, read_scene
from stiction.cli.terminal import say, show_table


@command("Look", writes="never")
def info(output: Output, model: str = SCENE, base: Text = BASE) -> Answer:
    """Summarize a model: joints, masses, actuators, contact points, and what was left out.

    Examples:
      stiction info robot.urdf --base free
      stiction info jumping-leg --json
    """
    from dataclasses import asdict

    from stiction.scenes.scenario import HybridContact
    from stiction.surfaces import WorldContacts, find_contacts, level_ground, tell_not_treated

    described = read_scene(model, base=base)
    mechanism, contacts = described.mechanism, described.contacts
    summary = asdict(mechanism.summary())
    world = isinstance(contacts, WorldContacts)
    if world:
        contacts = contacts.points
    elif described.scenario.contact == HybridContact() and not described.ground.names:
        # A robot's own file seldom has a floor: what would touch one?
        contacts = find_contacts(mechanism, ground=level_ground(), required=False)
    summary["contact_points"] = [] if contacts is None else [t._asdict() for t in contacts.touches]
    table = described.touching
    summary["found_on_the_way"] = [p._asdict() for p in table if p.treated] if world else []
    summary["not_treated"] = [p._asdict() for p in table if not p.treated]
    summary["ignored"] += filter(None, [tell_not_treated(table)])
    return Answer(summary, lambda: _show(summary))


def _show(summary: dict[str, Any]) -> None:
    pairs = len(summary["found_on_the_way"])
    touching = f"{len(summary['contact_points'])} candidate contact points"
    if pairs:
        touching = f"{pairs} pairs of geoms that may touch"
    say(
        f"{summary['name']}: {summary['nq']} coordinates, {summary['nv']} degrees of"
        f" freedom, {summary['n_bodies']} bodies, {summary['mass']:.6g} kg,"
        f" {summary['nu']} actuators, {touching}",
        bold=True,
    )
    numbers = ("stiffness", "damping", "armature")
    numbers = [k for k in numbers if any(j[k] for j in summary["joints"])]
    show_table(
        [
            {"joint": j["name"], "type": j["type"], "moves": j["body"], "range": _range(j["range"])}
            | {k: f"{j[k]:g}" if j[k] else "" for k in numbers}
            for j in summary["joints"]
        ]
    )
    show_table(
        [
            {
                "actuator": a["name"],
                "kind": "servo" if a["servo"] else "motor",
                "control": _range(a["control_range"]),
                "force": _range(a["force_range"]),
            }
            for a in summary["actuators"]
        ]
    )
    for key in summary["keyframes"]:
        commands = ", ".join(f"{u:g}" for u in key["control"]) if any(key["control"]) else ""
        say(f"keyframe: {key['name']}{commands and f' (control {commands})'}")
    points = Counter((p["shape"], p["body"], p["kind"]) for p in summary["contact_points"])
    show_table(
        [
            {"contact points of": shape, "body": body, "kind": kind, "count": count}
            for (shape, body, kind), count in points.items()
        ]
    )
    for note in [*summary["bounds"], *summary["beyond"]]:
        say(f"has: {note}")
    for note in summary["ignored"]:
        say(f"left out: {note}")


def _range(ends: Any) -> str:
    return f"{ends[0]:.4g} to {ends[1]:.4g}" if ends else ""
