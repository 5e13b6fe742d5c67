"""Controls: what the actuators are told to do.

A control is a function of (t, q, v, modes), or an `AbstractSwitchingControl` with a memory and
events of its own: `harmonic` (constant or swinging commands), `phased` (one phase after the other),
`tracking` (joints follow a motion). The control of a jump is in `stiction.agility`, with the stance
that it pushes from.
"""

from stiction._base.lazy import lazy_names

__getattr__, __dir__, _names = lazy_names(__name__, __file__)
__all__ = list(_names)  # pyright: ignore[reportUnsupportedDunderAll]
