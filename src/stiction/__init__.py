"""Contact dynamics for mechanisms.

One mechanism (MJCF or URDF), every contact law, simulated with exact events, checked for energy
and for uniqueness, fitted to measured data, and translated into the engines people already use.

    run = stiction.scene("box").run(until=2.0)
    run.events()

Names and folders (`stiction.laws`) are imported when first used, so that `import stiction` and
`stiction --help` stay light; they are listed in `__init__.pyi`.
"""

import importlib.metadata

from stiction._base.lazy import lazy_names

__getattr__, __dir__, _PUBLIC = lazy_names(__name__, __file__)
__version__ = importlib.metadata.version("stiction")
__all__ = ["__version__", *_PUBLIC]  # pyright: ignore[reportUnsupportedDunderAll]
