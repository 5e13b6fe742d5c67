"""A free impact of one body: what comes out of it, exactly where a formula exists."""

from stiction._base.lazy import lazy_names

__getattr__, __dir__, _names = lazy_names(__name__, __file__)
__all__ = list(_names)  # pyright: ignore[reportUnsupportedDunderAll]
