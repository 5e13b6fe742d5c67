"""What the commands about stances have in common: which model, posture, contacts and point."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stiction._errors import InputError

if TYPE_CHECKING:
    from stiction.agility import Stance

Model = Annotated[
    str, typer.Argument(help="A scene's name, a scenario (.toml, .yaml) or a model (.xml, .urdf).")
]
Direction = Annotated[
    str,
    typer.Option("--direction", metavar="X,Y,Z", help="Direction in the world; z is up."),
]
Posture = Annotated[
    str | None,
    typer.Option(
        "--posture",
        metavar="JOINT=VALUE,…",
        help="Joints that differ from the scene's start, or the name of a keyframe.",
    ),
]
Point = Annotated[
    str,
    typer.Option("--point", help="Body, site or 'com' that is accelerated; else the first body."),
]
Feet = Annotated[
    str | None,
    typer.Option("--feet", metavar="NAME,…", help="Sites and geoms to stand on; else the scene's."),
]
Mu = Annotated[
    float | None, typer.Option("--mu", help="Static friction of the feet; else the scene's.")
]
Base = Annotated[
    str | None, typer.Option("--base", help="How a URDF's root is held: fixed or free.")
]


def read_direction(text: str) -> Any:
    """A unit vector from 'x,y,z'."""
    from stiction.agility import unit_vector

    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"`--direction` must be three numbers as X,Y,Z, got '{text}'") from None
    return unit_vector("--direction", numbers)


def read_stance(
    model: str,
    *,
    posture: str | None,
    point: str,
    feet: str | None,
    mu: float | None,
    base: str | None = None,
) -> tuple["Stance", Any, Any]:
    """The stance, its posture on the ground, and the scenario."""
    from stiction.agility import make_stance, place
    from stiction.scenes.contact import build_ground
    from stiction.scenes.read import read_scenario
    from stiction.scenes.run import build_mechanism, initial_state
    from stiction.surfaces import find_contacts, planes

    settings = [f"mechanism.base={base}"] if base else []
    settings += _posture_settings(posture)
    scenario, folder = read_scenario(model, settings)
    mechanism = build_mechanism(scenario, folder)
    pushing = scenario.jump.feet if scenario.jump else None
    names = feet.split(",") if feet else pushing or scenario.contact.points
    ground = build_ground(scenario.ground, mechanism, has_field=False)
    if not ground.names:
        import numpy as np

        ground = planes([np.zeros(3)], [np.eye(3)], ["ground"])
    contacts = find_contacts(mechanism, points=names, ground=ground, pairs=False)
    friction = scenario.contact.mu_static if mu is None else mu
    if isinstance(friction, dict):
        raise InputError("`contact.mu_static` by name is not read here; give `--mu`")
    stance = make_stance(mechanism, contacts=contacts, mu=friction, point=point)
    q, _ = initial_state(scenario, mechanism)
    return stance, place(stance, q)[0], scenario


def _posture_settings(posture: str | None) -> list[str]:
    if not posture:
        return []
    if "=" not in posture:
        return [f"start.keyframe={posture}"]
    settings = []
    for part in posture.split(","):
        name, equals, value = part.partition("=")
        try:
            number = float(value)
        except ValueError:
            number = None
        if not equals or number is None:
            raise InputError(
                f"`--posture` must read JOINT=VALUE,… or name a keyframe, got '{posture}'"
            )
        settings.append(f"start.q.{name.strip()}={number!r}")
    return settings


def output_path(out: Path | None, plot: bool, name: str) -> Path | None:
    """Where files go: where asked, or a place of their own if there is something to draw."""
    return Path("out") / name if out is None and plot else out
