"""Charts: curves that are described once, drawn as a file and, in a page, to be zoomed and read.

A `Chart` is panels over one axis. `draw` makes the matplotlib figure that is saved beside the page;
`fragment` is the same chart as HTML, drawn by uPlot (its licence is in `vendor/`) and tied to the
page's clock: pointing reads values, dragging zooms, a click sends the player to that time.
"""

from stiction.report.charts.chart import INK, SOFT, Chart, Line, Map, Panel, Timeline

__all__ = ["INK", "SOFT", "Chart", "Line", "Map", "Panel", "Timeline"]
