"""Read a scenario from a scene's name, a file or text, change it, and check every field."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from stiction._base.errors import InputError
from stiction._base.files import MODEL_SUFFIXES, check_file, explain, parse_fields, read_fields
from stiction.scenes.library import LIBRARY, find_scene
from stiction.scenes.scenario import LAWS, Scenario, law_name

SCENARIO_SUFFIXES = (".toml", ".yaml", ".yml")
Changes = Mapping[str, Any]  # of a scenario's fields, by dotted path


def read_scenario(source: str | Path, changes: Changes | None = None) -> tuple[Scenario, Path]:
    """The scenario of a scene, and the folder that its files are relative to.

    Args:
        source: `double-pendulum`, `my-scene.toml`, `robot.urdf`, or the text of any of these files.
        changes: Fields to change, by their paths: `{"start.q": [0, 0], "until": 3}`.
    """
    data, folder = _read(source)
    return change_fields(data, changes or {}), folder


def change_fields(data: dict[str, Any], changes: Changes) -> Scenario:
    """A scenario from its fields with changes.

    Another law of contact takes over those of the file's fields that it has; the others were for
    the law that was there.
    """
    before = law_name(data.get("contact") or {})
    for path, value in changes.items():
        _set(data, path, value)
    contact = data.get("contact")
    if isinstance(contact, dict) and law_name(contact) != before and law_name(contact) in LAWS:
        fields = LAWS[law_name(contact)].model_fields
        for name in set(contact) - set(fields):
            if f"contact.{name}" not in changes:
                del contact[name]
    try:
        return Scenario.model_validate(data)
    except ValidationError as error:
        raise InputError(explain(error, Scenario)) from None


def parse_settings(settings: list[str] | None) -> dict[str, Any]:
    """Changes from `path=value` each, the value read as TOML; a bare word is a string."""
    changes = {}
    for setting in settings or []:
        path, equals, text = setting.partition("=")
        if not equals or not all(_keys(path)):
            raise InputError(f"`--set` must read path=value, got '{setting}'")
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except (ValueError, RecursionError):  # also integers without end, and nesting
            if any(c in text for c in "[]{}\"'="):
                raise InputError(f"`--set {path}` must be a TOML value, got {text}") from None
            value = text.strip()
        changes.pop(path, None)  # the last one counts, in its place
        changes[path] = value
    return changes


def _read(source: str | Path) -> tuple[dict[str, Any], Path]:
    text = str(source)
    if text.lstrip().startswith("<"):
        return {"mechanism": {"file": text}}, Path()
    if isinstance(source, str) and "\n" in text:
        return parse_fields(text, "toml", "text"), Path()
    path = Path(source)
    suffix = path.suffix.lower()
    if suffix in MODEL_SUFFIXES:
        check_file(path)
        return {"title": path.stem, "mechanism": {"file": path.name}}, path.resolve().parent
    if suffix in SCENARIO_SUFFIXES:
        return read_fields(path), path.resolve().parent
    if suffix:
        known = ", ".join((*SCENARIO_SUFFIXES, *MODEL_SUFFIXES))
        raise InputError(f"`{path}` must end in {known}, got '{suffix}'; give a scene or a model")
    return read_fields(find_scene(text)), LIBRARY


def _set(data: dict[str, Any], path: str, value: Any) -> None:
    keys = _keys(path)
    here = data
    for key in keys[:-1]:
        if not isinstance(here.get(key, {}), dict):
            raise InputError(f"`{path}` cannot be set: '{key}' is not a table")
        here = here.setdefault(key, {})
    here[keys[-1]] = value


def _keys(path: str) -> list[str]:
    """The keys of a path. What follows `mechanism.edits.` is one key, dots and all."""
    head = "mechanism.edits."
    if path.startswith(head):
        return ["mechanism", "edits", path[len(head) :].strip()]
    return [key.strip() for key in path.split(".")]
