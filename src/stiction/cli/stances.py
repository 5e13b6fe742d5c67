"""What the commands about stances have in common: which model, posture, contacts and point."""

from typing import Any

from stiction._base.errors import InputError
from stiction.cli.options import read_scene


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
    base: str | None,
) -> tuple[Any, Any, Any]:
    """The stance, its posture on the ground, and the scenario, as the options name them."""
    from stiction.scenes.stance import build_stance

    described = read_scene(model, _posture_settings(posture), base)
    names = feet.split(",") if feet else None
    return *build_stance(described, point=point, feet=names, mu=mu), described.scenario


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
