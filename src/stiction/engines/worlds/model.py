"""MuJoCo's model of a mechanism, with its ground as a scenario tilts it."""

import copy

import mujoco
import numpy as np

from stiction.mechanism import Mechanism
from stiction.surfaces import WorldContacts, still_planes
from stiction.surfaces.touching import may_touch_ground


def model_of(mechanism: Mechanism, contacts: WorldContacts) -> mujoco.MjModel:
    """A model of one's own, with the planes that stand still in it where those of `contacts` are.

    Where points were chosen to touch the ground, MuJoCo does not look for contact with it.
    """
    model, planes = copy.copy(mechanism.compiled.model), contacts.planes
    if contacts.touches_what == "nothing":
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    ground = list(still_planes(mechanism))
    if contacts.touches_what == "ground":
        _only_ground(model, mechanism, ground)
    if contacts.points is not None:
        model.geom_contype[ground] = model.geom_conaffinity[ground] = 0
    position, rotation = np.asarray(planes.position), np.asarray(planes.rotation)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    for k, geom in enumerate(ground):
        body = int(model.geom_bodyid[geom])
        R, p = data.xmat[body].reshape(3, 3), data.xpos[body]
        model.geom_pos[geom] = R.T @ (position[k] - p)
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(R.T @ rotation[k]).ravel())
        model.geom_quat[geom] = quaternion
    return model


def _only_ground(model: mujoco.MjModel, mechanism: Mechanism, ground: list[int]) -> None:
    """Let geoms touch the ground that they may touch, and nothing else."""
    may = may_touch_ground(mechanism, [mechanism.shapes.names[g] for g in ground]).any(axis=1)
    model.geom_contype[:], model.geom_conaffinity[:] = 0, may
    model.geom_contype[ground], model.geom_conaffinity[ground] = 1, 0
