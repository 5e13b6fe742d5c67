"""All that is written: the output directory, tables, figures, the page and its player.

Each command has a file here under its own name, which turns its answer into data, tables, figures
and `report.html`. These files, `figures` and `strobe` are imported by name, only when something is
drawn: they bring matplotlib. What is light stands at this door.
"""

from stiction.report.output import MANIFEST, OutputDirectory, json_text, jsonable
from stiction.report.page import Report
from stiction.report.progress import counting, progress, working

__all__ = [
    "MANIFEST",
    "OutputDirectory",
    "Report",
    "counting",
    "json_text",
    "jsonable",
    "progress",
    "working",
]
