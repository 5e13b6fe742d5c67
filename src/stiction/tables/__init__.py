"""Tables: what is read from files of numbers, each format by one reader behind one door.

`read_table` gives a `Table`: columns by label, as the file has them, with their units and what was
odd about the file. Identification asks it for columns by name. Recordings of motion and force go on
with `Table.by_time` (SI units, one time for all columns) and `make_even` (equal steps, no gaps).
"""

from stiction._base.lazy import lazy_names

__getattr__, __dir__, _names = lazy_names(__name__, __file__)
__all__ = list(_names)  # pyright: ignore[reportUnsupportedDunderAll]
