"""The built-in scenes: a TOML file each, beside the MJCF file of its mechanism."""

from pathlib import Path
from typing import TYPE_CHECKING

from stiction._base.errors import unknown

if TYPE_CHECKING:
    from stiction.mechanism import Mechanism
    from stiction.mechanism.load import Base

LIBRARY = Path(__file__).parent / "library"


def scene_names() -> list[str]:
    """The names of the built-in scenes."""
    return sorted(path.stem for path in LIBRARY.glob("*.toml"))


def find_scene(name: str) -> Path:
    """The file of a built-in scene."""
    if name not in scene_names():
        raise unknown("scene or file", name, scene_names())
    return LIBRARY / f"{name}.toml"


def load(source: str | Path, *, base: "Base | None" = None) -> "Mechanism":
    """A mechanism from an MJCF or URDF file, their text, a scenario file or a scene's name.

    Args:
        source: "robot.xml", "robot.urdf", the XML itself, "my-scene.toml" or "double-pendulum".
        base: How a URDF's root is held, "fixed" (the default) or "free".

    Returns:
        A `Mechanism`: pass it, with q and v, to `stiction.mass_matrix`, `stiction.engines`, …
    """
    from stiction.scenes.run import scene

    return scene(source, {"mechanism.base": base} if base else {}).mechanism
