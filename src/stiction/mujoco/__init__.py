"""MuJoCo's model as the world: whatever MuJoCo can describe, with exact rigid contact.

MuJoCo's own functions give the smooth motion and find what is near; the event machine of
`stiction.engines.worlds` adds events, modes, impacts and energy. A `Driver` carries one world on
its way, and `step` takes the place of `mj_step`. Nothing is compiled for another model, and nothing
here needs JAX.
"""

from stiction.engines.worlds.start import Missed, missed, settle_start
from stiction.mujoco.drive import Driver
from stiction.mujoco.law import RigidLaw
from stiction.mujoco.step import step

__all__ = ["Driver", "Missed", "RigidLaw", "missed", "settle_start", "step"]
