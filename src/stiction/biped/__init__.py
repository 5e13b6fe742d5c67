"""People on two legs: a human model, and ground reactions from recorded motion (rodic).

Names other than `human` are imported when first used: the model alone needs none of the rest.
"""

import importlib

from stiction.biped.human import human

# name -> the module that defines it
_PUBLIC = {
    "Comparison": "comparison",
    "GroundReactions": "reactions",
    "Jump": "jump",
    "JumpRecord": "jump",
    "Markers": "recording",
    "Measured": "measured",
    "Plates": "plates",
    "Subject": "subject",
    "Table": "recording",
    "compare": "comparison",
    "find_jumps": "jump",
    "ground_reactions": "reactions",
    "measured_on_frames": "measured",
    "read_markers": "recording",
    "read_motion": "recording",
    "read_osim": "opensim",
    "read_plates": "plates",
    "read_vertical_force": "jump",
    "subject_of_mechanism": "subject",
    "with_soles": "soles",
}

__all__ = ["human", *_PUBLIC]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str):
    if name not in _PUBLIC:
        raise AttributeError(f"module 'stiction.biped' has no attribute '{name}'")
    module = importlib.import_module(f"stiction.biped.{_PUBLIC[name]}")
    globals()[name] = value = getattr(module, name)
    return value
