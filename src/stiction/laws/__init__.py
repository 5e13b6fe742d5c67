"""What one compliant contact does: normal laws, friction laws, and the impacts that follow.

`normal` and `tangential` hold a file a law, written for one contact (callers `vmap`), each with its
range of validity; `patch` is contact over an area. `impact` holds exact relations of a free
impact: restitution, its inverse, peaks, duration. What the numbers are called in other engines is
in `stiction.interop`.
"""

from stiction._base.lazy import lazy_names

__getattr__, __dir__, _names = lazy_names(__name__, __file__)
__all__ = list(_names)  # pyright: ignore[reportUnsupportedDunderAll]
