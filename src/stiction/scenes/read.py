"""Read a scenario from a file or a scene's name, apply overrides, and check every field."""

import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from stiction._errors import InputError
from stiction._files import explain, read_fields
from stiction.scenes.library import LIBRARY, find_scene
from stiction.scenes.scenario import Scenario

_MODEL_SUFFIXES = (".xml", ".mjcf", ".urdf")


def read_scenario(source: str | Path, overrides: list[str] | None = None) -> tuple[Scenario, Path]:
    """The scenario of a scene's name, a TOML or YAML file, or a bare model file, and its folder.

    Args:
        source: `double-pendulum`, `my-scene.toml`, `robot.urdf`, …
        overrides: `path=value` each, the value read as TOML: `start.q=[0,0]`, `until=3`. A bare
            word is a string.
    """
    data, folder = _read(source)
    for override in overrides or []:
        _override(data, override)
    try:
        return Scenario.model_validate(data), folder
    except ValidationError as error:
        raise InputError(explain(error, Scenario)) from None


def _read(source: str | Path) -> tuple[dict[str, Any], Path]:
    path = Path(source)
    suffix = path.suffix.lower()
    if suffix in _MODEL_SUFFIXES:
        if not path.is_file():
            raise InputError(f"no file '{path}'; check the path")
        return {"title": path.stem, "mechanism": {"file": path.name}}, path.resolve().parent
    if suffix in (".toml", ".yaml", ".yml"):
        return read_fields(path), path.resolve().parent
    return read_fields(find_scene(str(source))), LIBRARY


def _override(data: dict[str, Any], override: str) -> None:
    path, equals, text = override.partition("=")
    keys = _keys(path)
    if not equals or not all(keys):
        raise InputError(f"`--set` must read path=value, got '{override}'")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        if any(c in text for c in "[]{}\"'="):
            raise InputError(f"`--set {path}` must be a TOML value, got {text}") from None
        value = text.strip()
    here = data
    for key in keys[:-1]:
        here = here.setdefault(key, {})
        if not isinstance(here, dict):
            raise InputError(f"`--set {path}`: '{key}' is not a table")
    here[keys[-1]] = value


def _keys(path: str) -> list[str]:
    """The keys of a path. What follows `mechanism.edits.` is one key, dots and all."""
    head = "mechanism.edits."
    if path.startswith(head):
        return ["mechanism", "edits", path[len(head) :].strip()]
    return [key.strip() for key in path.split(".")]
