"""Worlds of MuJoCo for tests: a run of bodies given in MJCF."""

import mujoco

from stiction.mujoco import Driver, RigidLaw

G = 9.81
FLOOR = '<geom type="plane" size="5 5 .1"/>'


def make(bodies, *, extra="", option=""):
    """The model of a world of bodies."""
    xml = (
        f'<mujoco><compiler angle="radian"/>{option}<worldbody>{bodies}</worldbody>{extra}</mujoco>'
    )
    return mujoco.MjModel.from_xml_string(xml)


def drive(bodies, *, until, q=None, v=None, ctrl=0.0, law=None, extra="", option="", **options):
    """A run of a world of bodies, to its end."""
    model = make(bodies, extra=extra, option=option)
    data = mujoco.MjData(model)
    if q is not None:
        data.qpos[:] = q
    if v is not None:
        data.qvel[:] = v
    data.ctrl[:] = ctrl
    law = RigidLaw(restitution=0.3, mu_static=0.5) if law is None else law
    driver = Driver(model, data, law, until=until, **options)
    assert driver.go() == driver.design.core.layout.DONE
    return driver
