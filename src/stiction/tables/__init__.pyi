"""What the folder has for others."""

from stiction.tables.c3d import has_plates as has_plates
from stiction.tables.c3d import read_c3d_events as read_c3d_events
from stiction.tables.c3d import read_c3d_plates as read_c3d_plates
from stiction.tables.even import interpolate as interpolate
from stiction.tables.even import intervals as intervals
from stiction.tables.even import make_even as make_even
from stiction.tables.read import MARKERS as MARKERS
from stiction.tables.read import SUFFIXES as SUFFIXES
from stiction.tables.read import read_table as read_table
from stiction.tables.table import Table as Table
from stiction.tables.table import is_number as is_number
from stiction.tables.table import to_number as to_number
from stiction.tables.text import read_lines as read_lines
from stiction.tables.units import SI as SI
from stiction.tables.units import Units as Units
