"""`mj_step` with rigid, exact contact, and nothing else changed.

The user's model and data stay the user's: `step` advances the same `MjData` by `opt.timestep`, from
event to event instead of by one step, and fills in what `mj_step` fills in: accelerations, contacts
and their forces, sensors, energies. Between two calls commands, applied forces, mocap bodies and
the state itself may be changed, as with MuJoCo.
"""

import weakref
from typing import Any

import mujoco
import numpy as np

from stiction.engines.core import part
from stiction.mujoco.drive import STATE, Driver
from stiction.mujoco.law import RigidLaw
from stiction.mujoco.start import missed

_TOUCHES = 1e-7  # contacts nearer than this are listed in `data.contact` [m]
_drivers: dict[int, tuple[Any, Any, RigidLaw, Driver]] = {}


def step(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    law: RigidLaw | None = None,
    *,
    duration: float | None = None,
) -> None:
    """Advance `data` by `model.opt.timestep`, with rigid contacts and exact events.

    Args:
        model: A model of MuJoCo's.
        data: Its data; changed as `mujoco.mj_step` would change them.
        law: Restitution, friction and law of impacts; by default plastic impacts, with the friction
            that the model has.
        duration: Another length than the model's time step [s].

    Raises:
        InputError: The state is one that rigid bodies cannot have: inside of each other, loops
            open. `stiction.mujoco.settle_start` changes it to the nearest that they can.
        RunError: The motion could not be continued.
    """
    mujoco.mj_checkPos(model, data)
    driver = _driver(model, data, RigidLaw() if law is None else law)
    driver.take(data)
    driver.go_until(data.time + (model.opt.timestep if duration is None else duration))
    data.qpos[:], data.qvel[:], data.time = driver.q, driver.v, driver.time
    if model.na:
        data.act[:] = driver.act
    fill_in(model, data, driver)


def _driver(model: mujoco.MjModel, data: mujoco.MjData, law: RigidLaw) -> Driver:
    """The driver that has brought the data here; or a new one, if they were changed since."""
    kept = _drivers.get(id(data))
    if kept is not None and kept[0]() is data and kept[1]() is model and kept[2] == law:
        driver = kept[3]
        if not _is_where_it_was(driver, data):
            missed(model, data).refuse()
            driver.restart(data)
        return driver
    missed(model, data).refuse()
    driver = Driver(model, data, law, samples=2, max_events=0)
    here = id(data)
    forget = weakref.ref(data, lambda _: _drivers.pop(here, None))
    _drivers[here] = (forget, weakref.ref(model), law, driver)
    return driver


def _is_where_it_was(driver: Driver, data: mujoco.MjData) -> bool:
    now = (driver.q, driver.v, driver.act)
    same = all(np.array_equal(getattr(data, n), x) for n, x in zip(STATE, now, strict=True))
    return same and data.time == driver.time


def fill_in(model: mujoco.MjModel, data: mujoco.MjData, driver: Driver) -> None:
    """What `mj_step` leaves in the data besides the state, at the new state."""
    places = driver.look()
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
        data.qacc[:] = driver.acceleration
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
    wrenches = np.zeros((data.ncon, 6))
    for place in places[np.any(places[:, force : force + 3] != 0, axis=1)]:
        a, b = place[geoms : geoms + 2].astype(int)
        best, least, sign = -1, np.inf, 1.0
        for i, c in enumerate(data.contact):
            if {int(c.geom[0]), int(c.geom[1])} != {a, b}:
                continue
            away = float(np.linalg.norm(c.pos - place[point : point + 3]))
            if away < least:
                # MuJoCo's force is on the second geom; ours is on the first.
                best, least, sign = i, away, 1.0 if c.geom[1] == a else -1.0
        if best >= 0:
            frame = data.contact[best].frame.reshape(3, 3)
            wrenches[best, :3] += sign * frame @ place[force : force + 3]
            wrenches[best, 3:] += sign * frame @ place[torque : torque + 3]
    for i, c in enumerate(data.contact):
        if c.efc_address >= 0:
            _encode(model, data, c, wrenches[i])


def _encode(model: mujoco.MjModel, data: mujoco.MjData, c: Any, wrench: np.ndarray) -> None:
    """A contact's force as MuJoCo's cone has it: as it is, or in the edges of a pyramid."""
    at, dim = int(c.efc_address), int(c.dim)
    if dim == 1 or model.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC:
        data.efc_force[at : at + dim] = wrench[:dim]
        return
    edges = np.zeros(2 * (dim - 1))
    mujoco.mju_encodePyramid(edges, wrench[:dim].copy(), np.array(c.friction))
    data.efc_force[at : at + len(edges)] = edges
