"""Animations that play in a page: shapes on moving bodies, in three dimensions, from disk.

The player is written here, in a few small files of JavaScript that the page carries with it: no
library, no network. It draws with WebGL 2, or on a plain canvas where there is none.
"""

from stiction.report.player.animation import WORLD, Animation, Mark, Plane, Shape, Trail

__all__ = ["WORLD", "Animation", "Mark", "Plane", "Shape", "Trail"]
