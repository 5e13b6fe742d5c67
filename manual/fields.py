"""The pages of fields: the tables of scenario, setup and problem files, from their models."""

import ast
import inspect
import re
import textwrap
import types
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import annotated_types
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from manual import head

HEADER = (
    "| field | value | unit | default | range | meaning |\n| --- | --- | --- | --- | --- | --- |"
)
_UNIT = re.compile(r"\s*\[([^\],]*)\]")
_BOUNDS = {"gt": ">", "ge": "≥", "lt": "<", "le": "≤"}


def scenario_page() -> str:
    """Every field of a scenario."""
    from stiction.scenes.scenario import Scenario

    return "\n".join([head("scenario"), *_tables("", Scenario, {})])


def setup_page() -> str:
    """Every field of a setup, kind by kind."""
    from stiction.identify.setups import KINDS

    lines, seen = [head("setup")], {}
    for kind, entry in KINDS.items():
        lines.append(f'## kind = "{kind}"\n')
        lines += _tables("", entry.setup, seen, level=3)
    return "\n".join(lines)


def problem_page() -> str:
    """Every field of a problem of `stiction motions`."""
    from stiction.motions.files import PlanarProblem, SpatialProblem

    lines, seen = [head("problem")], {}
    for title, model in (("A planar body", PlanarProblem), ("A body in space", SpatialProblem)):
        lines.append(f"## {title}\n")
        lines += _tables("", model, seen, level=3)
    return "\n".join(lines)


def _tables(
    path: str, model: type[BaseModel], seen: dict[type, str], level: int = 2, note: str = ""
) -> Iterator[str]:
    """The table of a model, then those of the models inside of it, each once."""
    title = f"`[{path}]`{note}" if path else "The file itself"
    yield f"{'#' * level} {title}\n"
    yield _first_paragraph(model) + "\n"
    yield HEADER
    inner: list[tuple[str, list[type[BaseModel]], str]] = []
    comments = _comments(model)
    for name, field in model.model_fields.items():
        described = describe(name, field, comments.get(name, ""))
        models = _models(field.annotation)
        if models:
            inner.append((name, models, ""))
        yield "| " + " | ".join(_cell(part) for part in described) + " |"
    yield ""
    for name, models, _ in inner:
        telling = _telling(models)
        for m in models:
            below = f"{path}.{name}" if path else name
            words = "" if telling is None else _words(m, telling)
            if seen.get(m) is not None:
                if seen[m] != below:
                    yield f"`[{below}]`{words}: as `[{seen[m]}]` above.\n"
                continue
            seen[m] = below
            yield from _tables(below, m, seen, level, words)


def describe(name: str, field: FieldInfo, comment: str = "") -> tuple[str, ...]:
    """Name, kind of value, unit, default, range and meaning of a field."""
    meaning = field.description or _annotated_description(field.annotation) or comment
    unit = ""
    found = _UNIT.search(meaning)
    if found:
        unit = found[1]
        meaning = (meaning[: found.start()] + meaning[found.end() :]).strip()
    return (
        f"`{name}`",
        _kind(field.annotation),
        unit,
        _default(field),
        ", ".join(_bounds(field)),
        meaning,
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _first_paragraph(model: type) -> str:
    return " ".join(inspect.cleandoc(model.__doc__ or "").split("\n\n")[0].split())


def _comments(model: type[BaseModel]) -> dict[str, str]:
    """What stands behind a field in the source, where it has no description."""
    found: dict[str, str] = {}
    for cls in reversed(model.__mro__):
        if not (isinstance(cls, type) and issubclass(cls, BaseModel)) or cls is BaseModel:
            continue
        try:
            lines = textwrap.dedent(inspect.getsource(cls)).splitlines()
        except (OSError, TypeError):
            continue
        for node in ast.parse("\n".join(lines)).body[0].body:  # type: ignore[attr-defined]
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                _, mark, comment = lines[node.end_lineno - 1].partition("  # ")
                if mark:
                    found[node.target.id] = comment.strip()
    return found


def _plain(annotation: Any) -> Any:
    """An annotation without what is annotated to it."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return annotation


def _members(annotation: Any) -> list[Any]:
    """The members of a union, without None."""
    annotation = _plain(annotation)
    if get_origin(annotation) in (Union, types.UnionType):
        return [m for a in get_args(annotation) for m in _members(a)]
    return [] if annotation is type(None) else [annotation]


def _models(annotation: Any) -> list[type[BaseModel]]:
    """The tables that a field may hold."""
    found = []
    for member in _members(annotation):
        if isinstance(member, type) and issubclass(member, BaseModel):
            found.append(member)
        elif get_origin(member) in (list, tuple, dict):
            found += [m for a in get_args(member) for m in _models(a) if a is not Ellipsis]
    return found


def _telling(models: list[type[BaseModel]]) -> str | None:
    """The field whose words tell the members of a union apart."""
    if len(models) < 2:
        return None
    for name in models[0].model_fields:
        fields = [m.model_fields.get(name) for m in models]
        if all(f is not None and get_origin(_members(f.annotation)[0]) is Literal for f in fields):
            return name
    return None


def _words(model: type[BaseModel], name: str) -> str:
    words = get_args(_members(model.model_fields[name].annotation)[0])
    return f" with `{name} = {', '.join(map(_shown, words))}`"


def _kind(annotation: Any) -> str:
    """What a field may hold, in words."""
    return " or ".join(dict.fromkeys(_one_kind(m) for m in _members(annotation)))


def _one_kind(member: Any) -> str:
    origin, arguments = get_origin(member), get_args(member)
    names = {float: "number", int: "integer", str: "text", bool: "true or false", Any: "any value"}
    if member in names:
        return names[member]
    if origin is Literal:
        return ", ".join(f"`{_shown(w)}`" for w in arguments)
    if origin is dict:
        return f"table of {_plural(_kind(arguments[1]))}"
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return f"list of {_plural(_kind(arguments[0]))}"
        return f"{len(arguments)} {_plural(_kind(arguments[0]))}"
    if origin is list:
        return f"list of {_plural(_kind(arguments[0]))}"
    return "table"


def _plural(kind: str) -> str:
    plurals = {"number": "numbers", "integer": "integers", "text": "texts", "table": "tables"}
    plurals |= {"any value": "any values"}
    words = [plurals.get(k, k.replace("list of", "lists of")) for k in kind.split(" or ")]
    return " or ".join(words)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "**required**"
    value = field.get_default(call_default_factory=True)
    if value is None or (isinstance(value, BaseModel)) or value in ("", [], {}, ()):
        return ""
    return f"`{_shown(value)}`"


def _shown(value: Any) -> str:
    """A value as TOML has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return str(value)


def _bounds(field: FieldInfo) -> list[str]:
    """The range of a number or the length of a list."""
    found: list[str] = []
    for bound in [*field.metadata, *_annotated(field.annotation)]:
        parts = list(bound) if isinstance(bound, annotated_types.GroupedMetadata) else [bound]
        for part in parts:
            for name, sign in _BOUNDS.items():
                limit = getattr(part, name, None)
                if limit is not None:
                    found.append(f"{sign} {_shown(limit)}")
            least, most = getattr(part, "min_length", None), getattr(part, "max_length", None)
            if least is not None and least == most:
                found.append(f"{least} entries")
            elif least is not None or most is not None:
                found.append(
                    f"{least or 0} to {most} entries" if most else f"{least} or more entries"
                )
            pattern = getattr(part, "pattern", None)
            if pattern is not None:
                found.append(f"as `{pattern}`")
    return list(dict.fromkeys(_joined(found)))


def _joined(found: list[str]) -> list[str]:
    """Lengths that pydantic notes in two halves, as one."""
    least = [f for f in found if f.endswith("or more entries")]
    most = [f for f in found if f.startswith("0 to ")]
    if least and most:
        a, b = least[0].split()[0], most[0].split()[2]
        rest = [f for f in found if f not in (least[0], most[0])]
        return [*rest, f"{a} entries" if a == b else f"{a} to {b} entries"]
    return found


def _annotated(annotation: Any) -> list[Any]:
    """What is annotated to a type or to the members of a union; not inside of lists."""
    if get_origin(annotation) is Annotated:
        inner, *data = get_args(annotation)
        found: list[Any] = _annotated(inner)
        for item in data:
            found += item.metadata if isinstance(item, FieldInfo) else [item]
        return found
    if get_origin(annotation) in (Union, types.UnionType):
        return [x for a in get_args(annotation) for x in _annotated(a)]
    return []


def _annotated_description(annotation: Any) -> str:
    if get_origin(annotation) is Annotated:
        for item in get_args(annotation)[1:]:
            if isinstance(item, FieldInfo) and item.description:
                return item.description
    return ""
