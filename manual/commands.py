"""The page of commands: arguments, options and examples, from the command line itself."""

import inspect
import re
from typing import Any

from manual import head


def page() -> str:
    """All commands, under the headings of the help page."""
    import typer

    from stiction.cli.app import COMMANDS, app

    group: Any = typer.main.get_command(app)
    panels: dict[str, list[Any]] = {}
    for function in COMMANDS:
        panels.setdefault(function.panel, []).append(function)  # type: ignore[attr-defined]
    lines = [head("commands")]
    for panel, functions in panels.items():
        lines.append(f"## {panel}\n")
        for function in functions:
            name = function.__name__.rstrip("_")
            lines += _command(name, group.commands[name], function)
    return "\n".join(lines)


def _command(name: str, command: Any, function: Any) -> list[str]:
    text, _, examples = inspect.cleandoc(function.__doc__ or "").partition("Examples:\n")
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option"]
    usage = " ".join(["stiction", name, *(_usage(a) for a in arguments), "[OPTIONS]"])
    lines = [f"### stiction {name} {{ #{name} }}\n", _markdown(text.strip()) + "\n", f"`{usage}`\n"]
    lines += ["| argument or option | default | meaning |", "| --- | --- | --- |"]
    for p in arguments:
        lines.append(_row(f"`{_usage(p)}`", _default(p), _markdown(p.help or "")))
    for p in options:
        value = "" if p.is_flag else f" {p.metavar or p.type.name.upper()}"
        names = ", ".join(f"`{o}{value}`" for o in sorted(p.opts, key=len, reverse=True))
        lines.append(_row(names, "" if p.is_flag else _default(p), _markdown(p.help or "")))
    lines.append("")
    if examples.strip():
        lines += ["```console", inspect.cleandoc(examples).rstrip(), "```", ""]
    return lines


def _usage(argument: Any) -> str:
    name = (argument.metavar or argument.name).strip("{}[]").upper().removesuffix("...")
    name += "…" if argument.nargs == -1 else ""
    return name if argument.required else f"[{name}]"


def _row(*cells: str) -> str:
    return "| " + " | ".join(" ".join(c.split()).replace("|", "\\|") for c in cells) + " |"


def _markdown(text: str) -> str:
    """Help as Markdown: units in brackets stay brackets, stars and angles stay themselves."""
    text = re.sub(r"\\(\[)", r"\1", text)
    return re.sub(r"(?<![`\\])([<>*_])(?![^`]*`)", r"\\\1", text) if "`" not in text else text


def _default(parameter: Any) -> str:
    if parameter.required:
        return "**required**"
    value = parameter.default
    value = value() if callable(value) else value
    if value is None or value in ((), [], ""):
        return ""
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"
