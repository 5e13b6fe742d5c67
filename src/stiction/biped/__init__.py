"""People on two legs: a human model, and ground reactions from recorded motion (rodic).

`human` writes a person as MJCF. `subject` is who moves: a model's bodies, coordinates, markers and
soles, from OpenSim (`opensim`) or from a mechanism. `grf` goes from a recorded motion to ground
reactions: `read_motion`, `ground_reactions`, and beside force plates `read_plates`,
`measured_on_frames`, `compare`. `gait` goes on from there to joint moments, events and cycles:
`analyze`, `moment_bands`. `walk` makes of a recording a walk that the human can follow forward in
time. `jump` measures jumps on a force plate.
"""

from stiction.biped.gait.cycles import PERCENT, Cycles
from stiction.biped.gait.dynamics import FootLoads, JointLoads, joint_loads, mechanical_energy
from stiction.biped.gait.events import FootStance, GaitStride
from stiction.biped.gait.loads import foot_loads
from stiction.biped.gait.residual import ResidualReport
from stiction.biped.gait.summary import summarize_gait
from stiction.biped.gait.trial import Gait, analyze
from stiction.biped.gait.uncertainty import GaitNoise, moment_bands
from stiction.biped.grf.comparison import Comparison, compare, m_shape
from stiction.biped.grf.measured import TOUCHED, Measured, measured_on_frames
from stiction.biped.grf.plates import ForcePlate, ForcePlates, read_plates
from stiction.biped.grf.reactions import GroundReactions, ground_reactions
from stiction.biped.grf.sharing import Shares
from stiction.biped.grf.summary import describe_filter, summarize
from stiction.biped.grf.touch import FootTouch, Ground
from stiction.biped.human import human
from stiction.biped.jump import Jump, JumpRecord, find_jumps, read_vertical_force
from stiction.biped.opensim import read_osim
from stiction.biped.subject.coordinates import read_motion
from stiction.biped.subject.marker_sets import with_marker_sets
from stiction.biped.subject.markers import (
    MarkerFit,
    Markers,
    fit_markers,
    read_markers,
    read_weights,
)
from stiction.biped.subject.scaling import Scaling, scale_to_markers, scaled_subject
from stiction.biped.subject.soles import with_soles
from stiction.biped.subject.subject import MechanismPoses, Subject, side_of, subject_of_mechanism
from stiction.biped.walk.make import stairs_to_climb, walk_to_follow

__all__ = [
    "PERCENT",
    "TOUCHED",
    "Comparison",
    "Cycles",
    "FootLoads",
    "FootStance",
    "FootTouch",
    "ForcePlate",
    "ForcePlates",
    "Gait",
    "GaitNoise",
    "GaitStride",
    "Ground",
    "GroundReactions",
    "JointLoads",
    "Jump",
    "JumpRecord",
    "MarkerFit",
    "Markers",
    "Measured",
    "MechanismPoses",
    "ResidualReport",
    "Scaling",
    "Shares",
    "Subject",
    "analyze",
    "compare",
    "describe_filter",
    "find_jumps",
    "fit_markers",
    "foot_loads",
    "ground_reactions",
    "human",
    "joint_loads",
    "m_shape",
    "measured_on_frames",
    "mechanical_energy",
    "moment_bands",
    "read_markers",
    "read_motion",
    "read_osim",
    "read_plates",
    "read_vertical_force",
    "read_weights",
    "scale_to_markers",
    "scaled_subject",
    "side_of",
    "subject_of_mechanism",
    "summarize",
    "summarize_gait",
    "stairs_to_climb",
    "walk_to_follow",
    "with_marker_sets",
    "with_soles",
]
