"""MuJoCo's model as the world: whatever MuJoCo can describe, with exact rigid contact.

MuJoCo's own functions give the smooth motion and find what is near (`machine`, `manifold`); the
event machine of `stiction.engines` adds events, modes, impacts and energy. Each side of a contact
is a part of a shape (`features`), each equality constraint a bond (`equality`), and a `Driver`
carries one world from step to step. Nothing is compiled for another model.
"""

from stiction.mujoco.drive import Driver

__all__ = ["Driver"]
