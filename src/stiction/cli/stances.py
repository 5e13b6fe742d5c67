"""What the commands about stances have in common: which model, posture, contacts and point."""

from dataclasses import dataclass
from typing import Any

from stiction._base.errors import InputError
from stiction.cli.options import BASE, SCENE, Number, Text, member, option, read_scene


@dataclass
class StanceOptions:
    """The options of a stance and of the direction in which it accelerates."""

    model: str = member(SCENE)
    direction: str = member(option(..., "X,Y,Z", "Direction in the world; z is up."))
    posture: Text = member(
        option(
            None,
            "JOINT=VALUE,…",
            "Joints that differ from the scene's start, or the name of a keyframe.",
        )
    )
    point: str = member(
        option("", "NAME", "Body, site or 'com' to accelerate; by default the first body.")
    )
    feet: Text = member(
        option(None, "NAME,…", "Sites and geoms to stand on; by default those of the scene.")
    )
    mu: Number = member(
        option(None, "MU", "Coefficient of static friction; by default the scene's.")
    )
    base: Text = member(BASE)


def read_direction(text: str) -> Any:
    """A unit vector from 'x,y,z'."""
    from stiction.agility import unit_vector

    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"`--direction` must be three numbers as X,Y,Z, got '{text}'") from None
    return unit_vector("--direction", numbers)


def read_stance(options: StanceOptions) -> tuple[Any, Any, Any]:
    """The stance, its posture on the ground, and the scenario, as the options name them."""
    from stiction.scenes.stance import build_stance

    o = options
    described = read_scene(o.model, _posture_settings(o.posture), o.base)
    names = o.feet.split(",") if o.feet else None
    return *build_stance(described, point=o.point, feet=names, mu=o.mu), described.scenario


def _posture_settings(posture: str | None) -> list[str]:
    if not posture:
        return []
    if "=" not in posture:
        return [f"start.keyframe={posture}"]
    settings = []
    for part in posture.split(","):
        name, _, value = part.partition("=")
        try:
            settings.append(f"start.q.{name.strip()}={float(value)!r}")
        except ValueError:
            raise InputError(
                f"`--posture` must read JOINT=VALUE,… or name a keyframe, got '{posture}'"
            ) from None
    return settings
