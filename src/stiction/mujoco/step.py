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

from stiction.engines.worlds.sensors import fill_in
from stiction.engines.worlds.start import missed
from stiction.mujoco.drive import STATE, Driver
from stiction.mujoco.law import RigidLaw

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
    fill_in(model, data, driver.look(), driver.acceleration)


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
