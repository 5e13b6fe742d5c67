"""What MuJoCo fills in at a state besides the state: contact forces, sensors, energies."""

from typing import Any

import mujoco
import numpy as np

from stiction._base.arrays import Float
from stiction.engines.core import part
from stiction.engines.result import Trajectory

_TOUCHES = 1e-7  # contacts nearer than this are listed in `data.contact` [m]


def sensors_along(
    model: mujoco.MjModel, run: Trajectory, places: np.ndarray
) -> Float[np.ndarray, "n_samples n_sensor"]:
    """What the sensors of a model tell at every sample of a run."""
    time, q, v, dv = (np.asarray(x) for x in (run.time, run.q, run.v, run.acceleration))
    made = np.full((len(time), model.nsensordata), np.nan)
    if not model.nsensordata:
        return made
    signals = run.signals
    assert signals is not None
    data = mujoco.MjData(model)
    for k in np.flatnonzero(np.isfinite(q).all(axis=1)):
        data.time, data.qpos[:], data.qvel[:] = float(time[k]), q[k], v[k]
        data.ctrl[:], data.act[:] = signals.control[k], signals.activation[k]
        fill_in(model, data, places[k], dv[k])
        made[k] = data.sensordata
    return made


def fill_in(
    model: mujoco.MjModel, data: mujoco.MjData, places: np.ndarray, acceleration: np.ndarray
) -> None:
    """What `mj_step` leaves in the data besides the state, at the state that they have.

    Args:
        model: The model.
        data: With the state, and everything that acts.
        places: Of the contacts, as `core.layout` has them.
        acceleration: dv/dt.
    """
    margins = model.geom_margin.copy(), model.body_margin.copy()
    # What touches exactly is not inside: MuJoCo lists it only if it looks a little farther.
    model.geom_margin[:] += _TOUCHES
    model.body_margin[:] += _TOUCHES
    try:
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_sensorPos(model, data)
        mujoco.mj_fwdVelocity(model, data)
        mujoco.mj_subtreeVel(model, data)
        mujoco.mj_sensorVel(model, data)
        mujoco.mj_fwdActuation(model, data)
        mujoco.mj_fwdAcceleration(model, data)
        data.qacc[:] = acceleration
        inertia = np.zeros(model.nv)
        mujoco.mj_mulM(model, data, inertia, data.qacc)
        data.qfrc_constraint[:] = inertia - data.qfrc_smooth
        _give_forces(model, data, places)
        mujoco.mj_rnePostConstraint(model, data)
        mujoco.mj_sensorAcc(model, data)
        if model.opt.enableflags & mujoco.mjtEnableBit.mjENBL_ENERGY:
            mujoco.mj_energyPos(model, data)
            mujoco.mj_energyVel(model, data)
    finally:
        model.geom_margin[:], model.body_margin[:] = margins


def _give_forces(model: mujoco.MjModel, data: mujoco.MjData, places: np.ndarray) -> None:
    """Contact forces into `efc_force`: each to the nearest of MuJoCo's contacts of its geoms."""
    lay = part("layout")
    geoms, point = int(lay.PLACE_GEOMS), int(lay.PLACE_POINT)
    force, torque = int(lay.PLACE_FORCE), int(lay.PLACE_TORQUE)
    data.efc_force[:] = 0.0
    if not data.ncon:
        return
    contact = data.contact  # read once: each reading of a contact's field costs as much as a sum
    couples, points, frames = contact.geom, contact.pos, contact.frame.reshape(-1, 3, 3)
    wrenches = np.zeros((data.ncon, 6))
    for place in places[np.any(places[:, force : force + 3] != 0, axis=1)]:
        a, b = place[geoms : geoms + 2].astype(int)
        # MuJoCo's force is on the second geom; ours is on the first.
        forth = (couples[:, 0] == b) & (couples[:, 1] == a)
        same = np.flatnonzero(forth | ((couples[:, 0] == a) & (couples[:, 1] == b)))
        if not same.size:
            continue
        away = points[same] - place[point : point + 3]
        best = same[np.argmin(np.einsum("ij,ij->i", away, away))]
        turn = frames[best] if forth[best] else -frames[best]
        wrenches[best, :3] += turn @ place[force : force + 3]
        wrenches[best, 3:] += turn @ place[torque : torque + 3]
    for i in np.flatnonzero((contact.efc_address >= 0) & wrenches.any(axis=1)):
        _encode(model, data, contact[int(i)], wrenches[i])


def _encode(model: mujoco.MjModel, data: mujoco.MjData, c: Any, wrench: np.ndarray) -> None:
    """A contact's force as MuJoCo's cone has it: as it is, or in the edges of a pyramid."""
    at, dim = int(c.efc_address), int(c.dim)
    if dim == 1 or model.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC:
        data.efc_force[at : at + dim] = wrench[:dim]
        return
    edges = np.zeros(2 * (dim - 1))
    mujoco.mju_encodePyramid(edges, wrench[:dim].copy(), np.array(c.friction[: dim - 1]))
    data.efc_force[at : at + len(edges)] = edges
