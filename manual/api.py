"""The pages of the Python reference: every public name of a folder, file by file."""

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

# The folders a user imports from, in the order of the navigation.
FOLDERS = (
    "mechanism", "surfaces", "control", "engines", "scenes", "studies", "laws", "impacts",
    "motions", "complementarity", "identify", "biped", "agility", "interop", "mujoco", "tables",
)  # fmt: skip

_LONGEST = 120  # letters of a value

TOP = """\
# stiction

What a first-day user types. Every name has one import path: those of this page are names of
`stiction` itself, all others belong to a folder (`stiction.laws.HuntCrossley`).

| name | what it is |
| --- | --- |
"""


def pages() -> dict[str, Callable[[], str]]:
    """Page by path."""
    made: dict[str, Callable[[], str]] = {"api/index.md": top_page}
    for folder in FOLDERS:
        made[f"api/{folder}.md"] = lambda folder=folder: folder_page(folder)
    return made


def top_page() -> str:
    """The names of `stiction` itself, each with a link to where it is explained."""
    import stiction

    lines = [TOP.rstrip()]
    for name, module in stiction._PUBLIC.items():
        if name in FOLDERS:
            continue
        thing, folder = getattr(stiction, name), module.split(".")[1]
        where = f"[`{name}`][stiction.{folder}.{name}]" if folder in FOLDERS else f"`{name}`"
        lines.append(f"| {where} | {_first_line(thing)} |")
    lines += ["", "| folder | what it knows |", "| --- | --- |"]
    for folder in FOLDERS:
        module = importlib.import_module(f"stiction.{folder}")
        lines.append(f"| [`stiction.{folder}`]({folder}.md) | {_first_line(module)} |")
    return "\n".join(lines)


def folder_page(folder: str) -> str:
    """The public names of a folder, under the first line of the file that defines them."""
    package = importlib.import_module(f"stiction.{folder}")
    lines = [f"# stiction.{folder}\n", inspect.cleandoc(package.__doc__ or "") + "\n"]
    files: dict[str, list[str]] = {}
    for name in package.__all__:
        thing = getattr(package, name)
        if inspect.ismodule(thing):
            for inner in _public(thing):
                files.setdefault(thing.__name__, []).append(f"{folder}.{name}.{inner}")
            continue
        files.setdefault(_home(thing), []).append(f"{folder}.{name}")
    constants = files.pop("", [])
    for file, names in files.items():
        title = (
            "In the folder itself" if file == package.__name__ else _first_line(sys.modules[file])
        )
        lines.append(f"## {title.rstrip('.')}\n")
        lines += [f"::: stiction.{name}" for name in names]
        lines.append("")
    if constants:
        lines += ["## Constants and types\n", "| name | value |", "| --- | --- |"]
        lines += [f"| `stiction.{name}` | {_value(name)} |" for name in constants]
    return "\n".join(lines)


def _value(name: str) -> str:
    """A constant, as far as it fits into a line; of a table its keys."""
    value = importlib.import_module("stiction")
    for part in name.split("."):
        value = getattr(value, part)
    if isinstance(value, Mapping):
        return "table by " + ", ".join(f"`{k}`" for k in value)
    if hasattr(value, "shape"):
        return f"array of {' by '.join(map(str, value.shape))}"
    if isinstance(value, Path):
        return "a path inside of the installation"
    text = re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])", "", str(value))
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return f"`{text}`".replace("|", "\\|")


def _public(module: Any) -> list[str]:
    """What a module offers: its `__all__`, or what it defines itself."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    own = {n: t for n, t in vars(module).items() if not n.startswith("_")}
    return [n for n, t in own.items() if getattr(t, "__module__", "") == module.__name__]


def _home(thing: Any) -> str:
    """The file that a function or class is defined in; empty for numbers, tables and types."""
    home = str(getattr(thing, "__module__", "")) if callable(thing) else ""
    return home if home.startswith("stiction") and home in sys.modules else ""


def _first_line(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").split("\n")[0].replace("|", "\\|")
