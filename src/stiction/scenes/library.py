"""The built-in scenes: a TOML file each, beside the MJCF file of its mechanism."""

from pathlib import Path
from typing import TYPE_CHECKING

from stiction._errors import unknown

if TYPE_CHECKING:
    from stiction.mechanism import Mechanism

LIBRARY = Path(__file__).parent / "library"


def scene_names() -> list[str]:
    """The names of the built-in scenes."""
    return sorted(path.stem for path in LIBRARY.glob("*.toml"))


def find_scene(name: str) -> Path:
    """The file of a built-in scene."""
    if name not in scene_names():
        raise unknown("scene or file", name, scene_names())
    return LIBRARY / f"{name}.toml"


def load(source: str | Path, *, base: str | None = None) -> "Mechanism":
    """A mechanism from an MJCF or URDF file, their text, a scenario file or a scene's name.

    Args:
        source: "robot.xml", "robot.urdf", the XML itself, "my-scene.toml" or "double-pendulum".
        base: How a URDF's root is held, "fixed" (the default) or "free".

    Returns:
        A `Mechanism`: pass it, with q and v, to `stiction.mass_matrix`, `stiction.engines`, …
    """
    from stiction.mechanism import load_mechanism
    from stiction.scenes.read import read_scenario
    from stiction.scenes.run import build_mechanism

    text = str(source)
    is_model = text.lstrip().startswith("<") or Path(text).suffix.lower() in (
        ".xml",
        ".mjcf",
        ".urdf",
    )
    # A name with a suffix that nobody knows is a file of the wrong type, not a scene.
    known = Path(text).suffix.lower() in ("", ".toml", ".yaml", ".yml")
    if is_model or not known:
        return load_mechanism(source, base=base)  # type: ignore[arg-type]
    scenario, folder = read_scenario(source, [f"mechanism.base={base}"] if base else [])
    return build_mechanism(scenario, folder)
