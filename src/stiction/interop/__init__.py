"""What a contact is called in other engines, and back: MuJoCo, Drake, Simbody, Chrono, EXUDYN.

Each engine has a file, with a function to its parameters, one from them, a drop of a ball where the
engine can be run, and a `ForeignEngine` that describes all of it; `ENGINES` lists these by name.
Most engines have another law than Hunt and Crossley's: what they keep, they keep for one mass, and
often at one speed, so a `CompliantContact` has both. A `Translation` says what was not kept.
"""

from collections.abc import Mapping

from stiction.interop.chrono import CHRONO, from_chrono, to_chrono
from stiction.interop.contact import CompliantContact, ForeignEngine, Translation
from stiction.interop.drake import DRAKE, check_drake, from_drake, to_drake
from stiction.interop.drop import GRAVITY, Drop, DropCheck
from stiction.interop.exudyn import EXUDYN, from_exudyn, to_exudyn
from stiction.interop.formats import FORMATS, EngineContact, ExportedSurface
from stiction.interop.linear import Oscillator, from_oscillator, to_oscillator
from stiction.interop.mujoco import IMPEDANCE, MUJOCO, check_mujoco, from_mujoco, to_mujoco
from stiction.interop.mujoco_pair import linear_to_mujoco, needed_impratio, write_pairs
from stiction.interop.replay import (
    POINT,
    ReplayMotion,
    ReplayPiece,
    ReplayPlate,
    ReplayScene,
    replayer,
)
from stiction.interop.simbody import SIMBODY, from_simbody, to_simbody

ENGINES: Mapping[str, ForeignEngine] = {
    "mujoco": MUJOCO,
    "drake": DRAKE,
    "simbody": SIMBODY,
    "chrono": CHRONO,
    "exudyn": EXUDYN,
}

__all__ = [
    "ENGINES",
    "FORMATS",
    "GRAVITY",
    "IMPEDANCE",
    "POINT",
    "CompliantContact",
    "Drop",
    "DropCheck",
    "EngineContact",
    "ExportedSurface",
    "ForeignEngine",
    "Oscillator",
    "ReplayMotion",
    "ReplayPiece",
    "ReplayPlate",
    "ReplayScene",
    "Translation",
    "check_drake",
    "check_mujoco",
    "from_chrono",
    "from_drake",
    "from_exudyn",
    "from_mujoco",
    "from_oscillator",
    "from_simbody",
    "linear_to_mujoco",
    "needed_impratio",
    "replayer",
    "to_chrono",
    "to_drake",
    "to_exudyn",
    "to_mujoco",
    "to_oscillator",
    "to_simbody",
    "write_pairs",
]
