"""Files of fields: TOML or YAML as plain values, and what is wrong with a field in one line."""

import tomllib
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError

from stiction._errors import InputError


def read_fields(path: Path) -> dict[str, Any]:
    """The content of a TOML or YAML file, which must be a table of fields."""
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


def explain(error: ValidationError, model: type[BaseModel]) -> str:
    """The first thing wrong with the fields of a model, in one line: field, bound, value."""
    first = error.errors(include_url=False)[0]
    place = [str(p) for p in first["loc"]]
    path = ".".join(p for p in place if not _is_type_tag(p)) or model.__name__.lower()
    more = f" ({error.error_count() - 1} more)" if error.error_count() > 1 else ""
    if first["type"] == "extra_forbidden":
        return f"no field `{path}`; known here: {', '.join(_fields_at(model, place[:-1]))}{more}"
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


def _fields_at(model: type[BaseModel], place: list[str]) -> list[str]:
    """The fields that exist at a location."""
    models = [model]
    for key in place:
        having = [m for m in models if key in m.model_fields]
        if having:
            inner = _members(having[0].model_fields[key].annotation)
            models = [m for m in inner if isinstance(m, type) and issubclass(m, BaseModel)]
        else:  # the number of an entry, or the word that tells the members of a union apart
            fields = {m: m.model_fields.values() for m in models}
            told = [m for m in models if any(key in get_args(f.annotation) for f in fields[m])]
            models = told or models
    return list(models[0].model_fields) if models else []


def _members(annotation: Any) -> list[Any]:
    """The types inside an annotation: of a union, of a list, of a dictionary's values."""
    arguments = get_args(annotation)
    if not arguments:
        return [annotation]
    return [member for a in arguments for member in _members(a)]
