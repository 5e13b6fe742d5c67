"""Contact dynamics for mechanisms.

One mechanism (MJCF or URDF), every contact law, simulated with exact events, checked for energy
and for uniqueness, fitted to measured data, and translated into the engines people already use.

Names are imported when first used, so that `import stiction` and `stiction --help` stay light.
"""

import importlib
import importlib.metadata

# name -> the module that defines it: the whole public surface, each name with one import path.
_PUBLIC = {
    "InputError": "stiction._errors",
    "RunError": "stiction._errors",
}

__version__ = importlib.metadata.version("stiction")
__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str):
    if name not in _PUBLIC:
        raise AttributeError(f"module 'stiction' has no attribute '{name}'")
    value = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
