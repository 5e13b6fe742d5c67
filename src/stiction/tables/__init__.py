"""Tables: what is read from files of numbers, each format by one reader behind one door.

`read_table` gives a `Table`: columns by label, as the file has them, with their units and what was
odd about the file. Identification asks it for columns by name. Recordings of motion and force go on
with `Table.by_time` (SI units, one time for all columns) and `make_even` (equal steps, no gaps).
"""

from stiction.tables.c3d import has_plates, read_c3d_events, read_c3d_plates
from stiction.tables.even import interpolate, intervals, make_even
from stiction.tables.read import MARKERS, SUFFIXES, read_table
from stiction.tables.table import Table, is_number, to_number
from stiction.tables.text import read_lines
from stiction.tables.units import SI, Units

__all__ = [
    "MARKERS",
    "SI",
    "SUFFIXES",
    "Table",
    "Units",
    "has_plates",
    "interpolate",
    "intervals",
    "is_number",
    "make_even",
    "read_c3d_events",
    "read_c3d_plates",
    "read_lines",
    "read_table",
    "to_number",
]
