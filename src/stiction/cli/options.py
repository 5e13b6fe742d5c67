"""How options are declared, and those that mean the same in every command."""

import dataclasses
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from stiction.engines import Trajectory
    from stiction.scenes import Scene

Number = float | None
Text = str | None
Texts = list[str] | None

_TAG = re.compile(r"(\[[a-z#/@][^[]*?])")  # what rich takes for markup, such as a unit: [m/s]


def option(default: Any, metavar: str, help: str, **settings: Any) -> Any:
    """An option, named after its parameter unless `param_decls` says otherwise.

    Args:
        default: Its value if it is not given; `...` if it must be.
        metavar: What stands for the value in the help.
        help: In plain words, with the unit in brackets.
        **settings: Others of `typer.Option`.
    """
    names = settings.pop("param_decls", ())
    return typer.Option(default, *names, metavar=metavar, help=as_written(help), **settings)


def flag(help: str, **settings: Any) -> Any:
    """An option without a value."""
    return typer.Option(False, help=as_written(help), **settings)


def argument(default: Any, help: str, **settings: Any) -> Any:
    """What stands without a name after the command; `...` as default if it must be given."""
    return typer.Argument(default, help=as_written(help), **settings)


def member(declared: Any) -> Any:
    """A field of a dataclass that is an option or argument: commands share such groups."""
    default = dataclasses.MISSING if declared.default is ... else declared.default
    return dataclasses.field(default=default, metadata={"declared": declared})


def as_written(text: str) -> str:
    """Text that rich's markup leaves as it is, units in brackets included."""
    return _TAG.sub(r"\\\1", text)


def complete_scene(incomplete: str) -> list[str]:
    """The built-in scenes, and the model and scenario files, that begin so (for the shell)."""
    from stiction.scenes import scene_names

    suffixes = (".toml", ".yaml", ".yml", ".xml", ".mjcf", ".urdf")
    found = [p for p in Path().glob(f"{incomplete}*") if p.is_dir() or p.suffix in suffixes]
    files = [f"{p}/" if p.is_dir() else str(p) for p in sorted(found)]
    return [name for name in scene_names() if name.startswith(incomplete)] + files


SCENE = argument(
    ...,
    "A scene's name, a scenario file (.toml, .yaml) or a model (.xml, .urdf).",
    autocompletion=complete_scene,
)
SET = option(
    None,
    "FIELD=VALUE",
    "Change a field of the scenario; the value is read as TOML: start.q=[0,0].",
)
BASE = option(None, "fixed|free", "Hold the root of a URDF, or let it move freely.")

# A compliant contact, in `restitution` and in `translate`.
ALPHA = option(None, "A", "By how much restitution falls with speed [s/m].")
DISSIPATION = option(None, "D", "Hunt-Crossley dissipation [s/m], 3/2 of alpha.")
STIFFNESS = option(None, "K", "Stiffness of the contact [N/m^n].")
EXPONENT = option(1.0, "N", "Exponent n of the depth: 1 flat, 1.5 spheres.")

# What every command takes, under a heading of its own.
_PANEL = {"rich_help_panel": "Output"}
JSON = flag("Print one JSON object, and nothing else, on standard output.", **_PANEL)
PLOT = flag("Write data, figures and a report into a directory under out/.", **_PANEL)
OUT = option(
    None,
    "DIR",
    "Write data, figures and a report into DIR.",
    param_decls=("--out", "-o"),
    **_PANEL,
)
FORCE = flag("Write into DIR even if stiction did not make it.", **_PANEL)


def read_or_run(source: str, settings: Texts = None, base: Text = None) -> "Trajectory":
    """The run of a directory, or that of a scene; with other numbers a directory's scene runs."""
    from stiction.scenes import read_run, scene_names
    from stiction.scenes.recorded import SCENARIO

    if not Path(source).is_dir():
        return read_scene(source, settings, base).run()
    if not settings and not base:
        return read_run(source)
    known = source in scene_names()
    return read_scene(source if known else str(Path(source) / SCENARIO), settings, base).run()


def read_scene(source: str, settings: Texts = None, base: Text = None) -> "Scene":
    """The scene that SCENE, --set and --base describe."""
    from stiction.scenes import parse_settings, scene

    root = [f"mechanism.base={base}"] if base else []
    return scene(source, parse_settings([*(settings or []), *root]))
