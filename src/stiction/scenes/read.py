"""Read a scenario from a file or a scene's name, apply overrides, and check every field."""

import tomllib
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError

from stiction._errors import InputError
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
        raise InputError(_explain(error)) from None


def _read(source: str | Path) -> tuple[dict[str, Any], Path]:
    path = Path(source)
    suffix = path.suffix.lower()
    if suffix in _MODEL_SUFFIXES:
        if not path.is_file():
            raise InputError(f"no file '{path}'; check the path")
        return {"title": path.stem, "mechanism": {"file": path.name}}, path.resolve().parent
    if suffix in (".toml", ".yaml", ".yml"):
        return _parse(path), path.resolve().parent
    return _parse(find_scene(str(source))), LIBRARY


def _parse(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"no file '{path}'; check the path") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"`{path}` cannot be read as text: {error}") from None
    try:
        data = tomllib.loads(text) if path.suffix.lower() == ".toml" else yaml.safe_load(text)
    except (tomllib.TOMLDecodeError, yaml.YAMLError) as error:
        raise InputError(f"`{path}` is not valid {path.suffix[1:].upper()}: {error}") from None
    if not isinstance(data, dict):
        raise InputError(f"`{path}` must hold a table of fields, got {type(data).__name__}")
    return data


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


def _explain(error: ValidationError) -> str:
    """The first thing wrong, in one line: field, bound, value, what to do."""
    first = error.errors(include_url=False)[0]
    where = [str(p) for p in first["loc"] if not _is_type_tag(str(p))]
    path = ".".join(where) or "scenario"
    more = f" ({error.error_count() - 1} more)" if error.error_count() > 1 else ""
    if first["type"] == "extra_forbidden":
        known = ", ".join(_fields_at(where[:-1]))
        return f"no field `{path}`; known here: {known}{more}"
    if first["type"] == "missing":
        return f"`{path}` is required but absent{more}"
    message = first["msg"].removeprefix("Value error, ")
    message = message.replace("Input should be", "must be")
    value = repr(first["input"])
    shown = value if len(value) <= 60 else value[:57] + "..."
    return f"`{path}` {message}, got {shown}{more}"


def _is_type_tag(part: str) -> bool:
    """Whether a part of a location names a member of a union rather than a field."""
    return "[" in part or part in ("float", "int", "str", "list", "dict")


def _fields_at(path: list[str]) -> list[str]:
    model: type[BaseModel] = Scenario
    for key in path:
        annotation = model.model_fields[key].annotation if key in model.model_fields else None
        inner = (a for a in _members(annotation) if isinstance(a, type))
        model = next((a for a in inner if issubclass(a, BaseModel)), model)
    return list(model.model_fields)


def _members(annotation: Any) -> list[Any]:
    """The types inside an annotation: of a union, of a dictionary's values."""
    arguments = get_args(annotation)
    if not arguments:
        return [annotation]
    return [member for a in arguments for member in _members(a)]
