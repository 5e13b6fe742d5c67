"""The engines by name."""

from collections.abc import Mapping

from stiction.interop.chrono import CHRONO
from stiction.interop.contact import ForeignEngine
from stiction.interop.drake import DRAKE
from stiction.interop.exudyn import EXUDYN
from stiction.interop.mujoco import MUJOCO
from stiction.interop.simbody import SIMBODY

ENGINES: Mapping[str, ForeignEngine] = {
    "mujoco": MUJOCO,
    "drake": DRAKE,
    "simbody": SIMBODY,
    "chrono": CHRONO,
    "exudyn": EXUDYN,
}
