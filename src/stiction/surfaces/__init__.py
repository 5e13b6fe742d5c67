"""What is touched: supports, contacts, gaps, frames, Jacobians; and what may touch at all.

`touching_table` is the one table of what the model allows to touch, with what of it the engines
treat; `find_contacts` makes the contacts of a run from it, and `find_penetrations` looks for the
rest after a run.
"""

from stiction._base.lazy import lazy_names

__getattr__, __dir__, _names = lazy_names(__name__, __file__)
__all__ = list(_names)  # pyright: ignore[reportUnsupportedDunderAll]
