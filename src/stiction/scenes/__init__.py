"""Scenes: what moves, from where, what it touches, for how long and under which law.

A scenario is a file of fields (`scenario`, `read`); a `Scene` is what they mean, ready to be run.
`scene` makes one from a name, a file or text. What needs JAX is imported when it is first used.
"""

from stiction._base.lazy import lazy_names

__getattr__, __dir__, _names = lazy_names(__name__, __file__)
__all__ = list(_names)  # pyright: ignore[reportUnsupportedDunderAll]
