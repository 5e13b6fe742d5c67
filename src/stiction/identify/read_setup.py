"""Read a setup from a file or by the name of a built-in one, and check every field."""

from pathlib import Path

from pydantic import BaseModel, ValidationError

from stiction._errors import InputError, unknown
from stiction._files import explain, read_fields
from stiction.identify.axis import AxisSetup
from stiction.identify.impacts import ImpactSetup
from stiction.identify.rollouts import RolloutSetup
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
    "rollouts": RolloutSetup,
}
Setup = ContactSetup | AxisSetup | SlidingSetup | ImpactSetup | TossSetup | RolloutSetup


def setup_names() -> list[str]:
    """The names of the built-in setups."""
    return sorted(path.stem for path in LIBRARY.glob("*.toml"))


def read_setup(source: str | Path) -> tuple[Setup, Path]:
    """The setup of a TOML or YAML file or of a built-in name, and the folder it lies in."""
    path = _find(source)
    data = read_fields(path)
    kind = data.get("kind", "contact")
    if str(kind) not in KINDS:
        raise unknown("kind of setup", kind, KINDS)
    try:
        return KINDS[kind].model_validate(data), path.resolve().parent  # type: ignore[return-value]
    except ValidationError as error:
        raise InputError(explain(error, KINDS[kind])) from None


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
