"""Read a setup from a file or by the name of a built-in one, and check every field."""

import tomllib
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from stiction._errors import InputError, unknown
from stiction.identify.axis import AxisSetup
from stiction.identify.impacts import ImpactSetup
from stiction.identify.setup import ContactSetup
from stiction.identify.sliding import SlidingSetup
from stiction.identify.tosses import TossSetup

LIBRARY = Path(__file__).parent / "library"

KINDS: dict[str, type[BaseModel]] = {
    "contact": ContactSetup,
    "axis": AxisSetup,
    "sliding": SlidingSetup,
    "impacts": ImpactSetup,
    "tosses": TossSetup,
}
Setup = ContactSetup | AxisSetup | SlidingSetup | ImpactSetup | TossSetup


def setup_names() -> list[str]:
    """The names of the built-in setups."""
    return sorted(path.stem for path in LIBRARY.glob("*.toml"))


def read_setup(source: str | Path) -> tuple[Setup, Path]:
    """The setup of a TOML or YAML file or of a built-in name, and the folder it lies in."""
    path = _find(source)
    data = _parse(path)
    kind = data.get("kind", "contact")
    if kind not in KINDS:
        raise unknown("kind of setup", kind, KINDS)
    try:
        return KINDS[kind].model_validate(data), path.resolve().parent  # type: ignore[return-value]
    except ValidationError as error:
        raise InputError(_explain(error)) from None


def setup_text(source: str | Path) -> str:
    """A setup as it is written."""
    return _find(source).read_text(encoding="utf-8")


def _find(source: str | Path) -> Path:
    path = Path(source)
    if path.suffix.lower() in (".toml", ".yaml", ".yml"):
        return path
    if str(source) not in setup_names():
        raise unknown("setup or file", source, setup_names())
    return LIBRARY / f"{source}.toml"


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


def _explain(error: ValidationError) -> str:
    """The first thing wrong, in one line: field, bound, value."""
    first = error.errors(include_url=False)[0]
    path = ".".join(str(p) for p in first["loc"]) or "setup"
    more = f" ({error.error_count() - 1} more)" if error.error_count() > 1 else ""
    if first["type"] == "extra_forbidden":
        return f"no field `{path}` in a setup; see docs/identify.md for those that exist{more}"
    if first["type"] == "missing":
        return f"`{path}` is required but absent from the setup{more}"
    message = first["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    shown = repr(first["input"])
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    return f"`{path}` {message}, got {shown}{more}"
