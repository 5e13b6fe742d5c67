"""People on two legs: a human model, and ground reactions from recorded motion (rodic).

`human` writes a person as MJCF. `subject` is who moves: a model's bodies, coordinates, markers and
soles, from OpenSim (`opensim`) or from a mechanism. `grf` goes from a recorded motion to ground
reactions: `read_motion`, `ground_reactions`, and beside force plates `read_plates`,
`measured_on_frames`, `compare`. `gait` goes on from there to joint moments, events and cycles:
`analyze`, `moment_bands`. `walk` makes of a recording a walk that the human can follow forward in
time. `jump` measures jumps on a force plate.
"""

from stiction._base.lazy import lazy_names
from stiction.biped.human import human as human  # a module has the same name

__getattr__, __dir__, _names = lazy_names(__name__, __file__)
__all__ = list(_names)  # pyright: ignore[reportUnsupportedDunderAll]
