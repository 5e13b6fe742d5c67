"""What a contact is called in other engines, and back: MuJoCo, Drake, Simbody, Chrono, EXUDYN.

Each engine has a file, with a function to its parameters, one from them, a drop of a ball where the
engine can be run, and a `ForeignEngine` that describes all of it; `ENGINES` lists these by name.
Most engines have another law than Hunt and Crossley's: what they keep, they keep for one mass, and
often at one speed, so a `CompliantContact` has both. A `Translation` says what was not kept.
"""

from stiction._base.lazy import lazy_names

__getattr__, __dir__, _names = lazy_names(__name__, __file__)
__all__ = list(_names)  # pyright: ignore[reportUnsupportedDunderAll]
