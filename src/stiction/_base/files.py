"""Files of fields: TOML or YAML as plain values, and what is wrong with a field in one line."""

import stat
import tomllib
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from stiction._base.errors import InputError, nearest

MOST_BYTES = 1e9  # more text than this cannot be held as numbers by a usual machine

MODEL_SUFFIXES = (".xml", ".mjcf", ".urdf")  # of files that describe a mechanism


class _PlainLoader(yaml.SafeLoader):
    """YAML without aliases: a few lines of them stand for more values than any memory holds."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases (*name) are not read; write the value itself")
        return super().compose_node(parent, index)


class Fields(BaseModel):
    """A table of a file: unknown fields and numbers that are not finite are errors."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)


def check_file(path: Path, *, most: float = MOST_BYTES) -> Path:
    """The path itself if it is a regular file of at most so many bytes.

    Pipes and devices are refused: reading them may never end.
    """
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"no file '{path}'; check the path") from None
    except (OSError, ValueError) as error:
        raise InputError(f"`{path}` cannot be read: {error}") from None
    if not stat.S_ISREG(found.st_mode):
        what = "a directory" if stat.S_ISDIR(found.st_mode) else "a pipe or a device"
        raise InputError(f"`{path}` must be a file, got {what}; copy it into a file first")
    if found.st_size > most:
        size = f"{found.st_size / 1e6:.0f} MB"
        raise InputError(f"`{path}` must have at most {most / 1e6:.0f} MB, got {size}")
    return path


def read_text(path: Path, *, most: float = MOST_BYTES) -> str:
    """The text of a regular file in UTF-8, with or without its byte order mark."""
    try:
        return check_file(path, most=most).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"`{path}` cannot be read as text: {error}") from None


def read_fields(path: Path) -> dict[str, Any]:
    """The content of a TOML or YAML file, which must be a table of fields."""
    return parse_fields(read_text(path, most=1e7), path.suffix[1:].lower(), str(path))


def parse_fields(text: str, language: str, name: str) -> dict[str, Any]:
    """The fields of a text in TOML, or otherwise YAML; `name` is what messages call it."""
    try:
        data = tomllib.loads(text) if language == "toml" else yaml.load(text, _PlainLoader)
    except RecursionError:
        raise InputError(f"`{name}` is not valid {language.upper()}: nested too deep") from None
    except (ValueError, yaml.YAMLError) as error:  # also integers without end
        what = str(error).partition("; use sys.")[0]  # which is for programmers
        raise InputError(f"`{name}` is not valid {language.upper()}: {what}") from None
    if not isinstance(data, dict):
        raise InputError(f"`{name}` must hold a table of fields, got {type(data).__name__}")
    return data


def explain(error: ValidationError, model: type[BaseModel]) -> str:
    """The first thing wrong with the fields of a model, in one line: field, bound, value."""
    first = error.errors(include_url=False)[0]
    place = [str(p) for p in first["loc"]]
    more = f" ({error.error_count() - 1} more)" if error.error_count() > 1 else ""
    path = ".".join(_resolve(model, place)[0]) or model.__name__.lower()
    if first["type"] == "extra_forbidden":
        return _no_field(path, *_resolve(model, place[:-1])[1:]) + more
    if first["type"] == "missing":
        return f"`{path}` is required but absent{more}"
    if first["type"] == "union_tag_invalid":
        context = first.get("ctx", {})
        word, known = context["tag"], context["expected_tags"]
        meant = nearest(word, known.replace("'", "").split(", "))
        return f"`{path}` must be one of {known}, got '{word}'{meant}{more}"
    if first["type"] in ("tuple_type", "too_long", "too_short"):
        wanted = first.get("ctx", {}).get("max_length") or first.get("ctx", {}).get("min_length")
        count = f" of {wanted} numbers" if wanted else ""
        return f"`{path}` must be a list{count}, got {first['input']!r}{more}"
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "value_error" and isinstance(first["input"], dict):  # of a whole table
        return (f"`{path}`: {message}" if place else message) + more
    message = message.replace("Input should be", "must be")
    value = repr(first["input"])
    value = value if len(value) <= 60 else value[:57] + "..."
    return f"`{path}` {message}, got {value}{more}"


def _no_field(path: str, models: list[type[BaseModel]], others: list[type[BaseModel]]) -> str:
    """A field that does not exist here: perhaps another member of a union has it."""
    name, known = path.rpartition(".")[2], list(models[0].model_fields) if models else []
    having = [m for m in others if name in m.model_fields]
    if having:
        field = _telling(models + others)
        here, there = (
            [w for m in some for w in _literals(m, [field])] for some in (models, having)
        )
        return (
            f"no field `{path}` where {field} is '{here[0]}';"
            f" it belongs to {field} {', '.join(map(repr, there))}"
        )
    return f"no field `{path}`{nearest(name, known)} (known here: {', '.join(known)})"


def _resolve(
    model: type[BaseModel], place: list[str]
) -> tuple[list[str], list[type[BaseModel]], list[type[BaseModel]]]:
    """A location as its fields are written; the models there, and other members of their union."""
    shown, models, others = [], [model], []
    for key in place:
        having = [m for m in models if key in m.model_fields]
        told = [m for m in models if key in _words(m)]
        if having:
            shown.append(key)
            inner = _members(having[0].model_fields[key].annotation)
            models = [m for m in inner if isinstance(m, type) and issubclass(m, BaseModel)]
            others = []
        elif told:  # the word that tells the members of a union apart
            models, others = told, [m for m in models if m not in told]
        elif not _is_type_tag(key):  # the number of an entry, the key of a table
            shown.append(key)
    return shown, models, others


def _words(model: type[BaseModel]) -> list[str]:
    """The words by which a model may be told from others."""
    return _literals(model, list(model.model_fields))


def _literals(model: type[BaseModel], names: list[str]) -> list[str]:
    fields = [model.model_fields[n].annotation for n in names if n in model.model_fields]
    return [w for f in fields for w in _members(f) if isinstance(w, str)]


def _telling(models: list[type[BaseModel]]) -> str:
    """The field that tells the members of a union apart: each has words of its own in it."""
    for name in models[0].model_fields:
        words = [tuple(_literals(m, [name])) for m in models]
        if all(words) and len(set(words)) == len(words):
            return name
    return ""


def _is_type_tag(part: str) -> bool:
    """Whether a part of a location names a member of a union rather than a field."""
    return "[" in part or part in ("float", "int", "str", "list", "dict")


def _members(annotation: Any) -> list[Any]:
    """The types inside an annotation: of a union, of a list, of a dictionary's values."""
    arguments = get_args(annotation)
    if not arguments:
        return [annotation]
    return [member for a in arguments for member in _members(a)]
