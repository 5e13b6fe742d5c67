"""What `step` leaves in the data, beside `mj_step` at small steps: at rest and in flight."""

import mujoco
import numpy as np

import stiction.mujoco

MODEL = """
<mujoco>
  <option timestep="{step}" cone="elliptic" integrator="RK4"><flag energy="enable"/></option>
  <worldbody>
    <geom type="plane" size="5 5 .1" solref=".002 1"/>
    <body pos="0 0 {height}">
      <freejoint/>
      <geom type="box" size=".1 .15 .2" mass="1" solref=".002 1"/>
      <site name="middle" type="box" size=".12 .17 .22"/>
      <body pos="0 0 .3">
        <site name="wrist" pos="0 0 -.1"/>
        <geom type="box" size=".05 .05 .05" pos=".05 0 0" mass=".5" contype="0" conaffinity="0"/>
      </body>
    </body>
  </worldbody>
  <sensor>
    <touch site="middle"/><accelerometer site="middle"/><gyro site="middle"/>
    <velocimeter site="middle"/><force site="wrist"/><torque site="wrist"/>
    <subtreecom body="world"/>
  </sensor>
</mujoco>"""


def both(height, v, until):
    """The data after `step`, and after `mj_step` with tenth steps."""
    found = []
    for step, advance in ((0.005, stiction.mujoco.step), (0.0005, mujoco.mj_step)):
        model = mujoco.MjModel.from_xml_string(MODEL.format(step=step, height=height))
        data = mujoco.MjData(model)
        data.qvel[:] = v
        for _ in range(round(until / step)):
            advance(model, data)
        found.append((model, data))
    return found


def test_at_rest_all_sensors_and_forces_are_mujoco_s():
    (model, ours), (other, theirs) = both(0.2, 0.0, 1.0)
    np.testing.assert_allclose(ours.sensordata, theirs.sensordata, atol=5e-5)
    np.testing.assert_allclose(ours.energy, theirs.energy, atol=5e-5)
    assert ours.ncon == theirs.ncon == 4
    force = np.zeros((2, 6))
    for k, (m, data) in enumerate(((model, ours), (other, theirs))):
        for i in range(4):
            one = np.zeros(6)
            mujoco.mj_contactForce(m, data, i, one)
            force[k] += one
    np.testing.assert_allclose(force[0, :3], [1.5 * 9.81, 0, 0], atol=1e-9)
    np.testing.assert_allclose(force[0, :3], force[1, :3], atol=1e-6)
    np.testing.assert_allclose(ours.qfrc_constraint[2], 1.5 * 9.81, rtol=1e-9)


def test_in_flight_all_sensors_are_mujoco_s():
    (_, ours), (model, theirs) = both(2.0, [0.3, 0.2, 0, 1, 2, 3], 0.2)
    mujoco.mj_forward(model, theirs)  # its sensors are those of the step's beginning
    np.testing.assert_allclose(ours.qpos, theirs.qpos, atol=1e-7)
    np.testing.assert_allclose(ours.sensordata, theirs.sensordata, atol=1e-6)
    np.testing.assert_allclose(ours.energy, theirs.energy, atol=1e-6)
    assert ours.ncon == 0


def test_steps_and_a_controller_of_its_own_rate_are_one_run():
    """A servo that is told anew every 20 ms: steps of 5 ms and of 20 ms lead to the same."""
    text = """
    <mujoco><option timestep="{0}"/><worldbody><geom type="plane" size="5 5 .1"/>
      <body pos="0 0 .6"><joint name="x" type="slide" axis="1 0 0"/>
        <joint name="z" type="slide" axis="0 0 1"/><joint name="turn" axis="0 1 0"/>
        <geom type="box" size=".1 .1 .2" mass="1"/></body></worldbody>
      <actuator><motor joint="x"/></actuator></mujoco>"""
    ends = []
    for step in (0.005, 0.02):
        model = mujoco.MjModel.from_xml_string(text.format(step))
        data = mujoco.MjData(model)
        data.qvel[:] = [1.0, 0.0, 2.0]
        law = stiction.mujoco.RigidLaw(restitution=0.3)
        for k in range(round(2.0 / step)):
            if k % round(0.02 / step) == 0:
                data.ctrl[:] = 5.0 * (0.2 - data.qpos[0]) - 2.0 * data.qvel[0]
            stiction.mujoco.step(model, data, law)
        ends.append(np.concatenate([data.qpos, data.qvel]))
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-8)
