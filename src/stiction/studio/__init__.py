"""The studio: a scene in the browser that can be seen, changed and understood (`stiction[studio]`).

`start_studio` serves it. Every browser has a bench of its own (`bench`: the scene, its last good
run, what it was before), a stage (`stage`: what is seen at a time) and controls (`controls`).
"""

from stiction._base.lazy import lazy_names

__getattr__, __dir__, _names = lazy_names(__name__, __file__)
__all__ = list(_names)  # pyright: ignore[reportUnsupportedDunderAll]
