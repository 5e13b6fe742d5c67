"""People on two legs: a human model, and ground reactions from recorded motion (rodic)."""

from stiction.biped.compare import Comparison, compare
from stiction.biped.human import human
from stiction.biped.jump import Jump, JumpRecord, find_jumps, read_vertical_force
from stiction.biped.measured import Measured, measured_on_frames
from stiction.biped.opensim import read_osim
from stiction.biped.plates import Plates, read_plates
from stiction.biped.reactions import GroundReactions, ground_reactions
from stiction.biped.recording import Markers, Table, read_markers, read_motion
from stiction.biped.soles import with_soles
from stiction.biped.subject import Subject, subject_of_mechanism

__all__ = [
    "Comparison",
    "GroundReactions",
    "Jump",
    "JumpRecord",
    "Markers",
    "Measured",
    "Plates",
    "Subject",
    "Table",
    "compare",
    "find_jumps",
    "ground_reactions",
    "human",
    "measured_on_frames",
    "read_markers",
    "read_motion",
    "read_osim",
    "read_plates",
    "read_vertical_force",
    "subject_of_mechanism",
    "with_soles",
]
