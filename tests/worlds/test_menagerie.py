"""Robots that nobody here prepared: smooth motion is MuJoCo's, and they run by rigid laws."""

import copy
import warnings

import mujoco
import numpy as np
import pytest

import stiction
from stiction.mujoco import Driver, settle_start

_OFF = ("CONTACT", "LIMIT", "FRICTIONLOSS", "EQUALITY")
SMOOTH = ["robotiq_2f85", "umi_gripper", "bitcraze_crazyflie_2", "unitree_go2"]


def scene_of(shared_data, robot):
    """A robot's scene, from its first keyframe."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # meshes that are absent
        scene = stiction.scene(str(shared_data / "menagerie" / robot / "scene.xml"))
    frames = scene.mechanism.keyframes
    return scene.change({"start.keyframe": frames[0].name} if frames else {})


@pytest.mark.parametrize("robot", SMOOTH)
def test_smooth_motion_is_that_of_small_steps(shared_data, robot):
    model = copy.copy(scene_of(shared_data, robot).mechanism.compiled.model)
    for name in _OFF:
        model.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}"))
    model.opt.integrator, model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, 2e-4
    start, reference = mujoco.MjData(model), mujoco.MjData(model)
    for data in (start, reference):
        if model.nkey:
            mujoco.mj_resetDataKeyframe(model, data, 0)
    driver = Driver(model, start, until=0.1, rtol=1e-11, atol=1e-12)
    assert driver.go() == driver.design.core.layout.DONE
    for _ in range(500):
        mujoco.mj_step(model, reference)
    np.testing.assert_allclose(driver.q, reference.qpos, atol=1e-7)
    np.testing.assert_allclose(driver.v, reference.qvel, atol=1e-7)


@pytest.mark.parametrize("robot", ["umi_gripper", "unitree_h1"])
@pytest.mark.parametrize("law", ["hybrid", "stepping"])
def test_a_robot_runs_to_the_end(shared_data, robot, law):
    """The gripper lands on its finger tips; the H1, without servos, falls on its knees' limits and
    jams there.
    """
    changes = {"contact.law": law, "start.resolve": True, "until": 0.4}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = scene_of(shared_data, robot).change(changes).run()
    assert run.success, run.message
    assert not run.penetrations
    assert int(run.n_events) < 400
    if law == "hybrid":
        lost = run.damping_loss[-1] + run.friction_loss[-1] + run.impact_loss[-1]
        exchanged = lost + np.ptp(run.potential) + np.abs(run.actuator_work).max()
        assert np.abs(run.ledger_error).max() < 2e-5 * exchanged


@pytest.mark.parametrize("robot", ["boston_dynamics_spot", "anybotics_anymal_c"])
def test_a_standing_robot_costs_little(shared_data, robot):
    """Its feet roll and hardly slide: a stiff motion. Implicit steps go where explicit ones go."""
    model = copy.copy(scene_of(shared_data, robot).mechanism.compiled.model)
    start = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, start, 0)
    settle_start(model, start)
    whole = Driver(model, start, until=1.0, max_steps=3000)
    assert whole.go() == whole.design.core.layout.DONE
    found = []
    for method in ("tsit5", "auto"):
        driver = Driver(model, start, until=0.02, max_steps=8000)
        driver.run.integrate(method, 1e-8, 1e-9, stiff=True)
        assert driver.go() == driver.design.core.layout.DONE
        found.append((driver.q.copy(), driver.v.copy(), driver.k[driver.machine.z.steps]))
    (q, v, steps), (other_q, other_v, fewer) = found
    assert fewer < steps / 5
    np.testing.assert_allclose(other_q, q, atol=1e-9)
    np.testing.assert_allclose(other_v, v, atol=1e-7)
