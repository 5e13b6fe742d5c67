"""Both evaluators, the engine's own dynamics and MuJoCo's, on the scenes that both know whole."""

import mujoco
import numpy as np
import pytest

import stiction
from stiction.surfaces import world_contacts

SCENES = {
    "bicycle": 1.5,
    "bouncing-ball": 1.5,
    "box": 1.5,
    "double-pendulum": 1.5,
    "foot": 1.5,
    "human": 0.3,
    "mass-spring-friction": 1.5,
    "rod": 1.5,
    "sphere": 1.5,
}


def both(name, until, changes=None):
    """The scene by its own evaluator and by MuJoCo's; the first knows no limits of joints.

    With as many samples: fixed steps are shortened to fit between them.
    """
    scene = stiction.scene(name).change(changes or {})
    own = scene.run(until=until, samples=501)
    model = scene.mechanism.compiled.model
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_LIMIT)
    points = world_contacts(scene.mechanism, points=scene.contacts, touches="nothing")
    options = {"law": scene.law, "control": scene.control, "solver": scene.solver}
    return own, stiction.simulate(
        scene.mechanism, scene.q, scene.v, contacts=points, until=until, samples=501, **options
    )  # the ground is that of the points


@pytest.mark.parametrize("name", SCENES)
def test_ten_events_agree(name):
    own, other = both(name, SCENES[name])
    assert other.success
    count = min(int(own.n_events), 10)
    assert int(other.n_events) >= count
    if count:
        np.testing.assert_allclose(other.log.time[:count], own.log.time[:count], atol=1e-7)
        at = count - 1
        np.testing.assert_allclose(other.log.q[at], own.log.q[at], atol=1e-6)
        np.testing.assert_allclose(other.log.v_after[at], own.log.v_after[at], atol=1e-6)
    else:
        np.testing.assert_allclose(other.q[-1], own.q[-1], atol=1e-9)


def test_the_evaluators_agree_as_exactly_as_they_are_told():
    """The jumping leg's springs turn its light foot at some 500 rad/s."""
    own, other = both("jumping-leg", 0.02, {"solver.rtol": 1e-11, "solver.atol": 1e-12})
    assert int(own.n_events) == int(other.n_events) == 5
    np.testing.assert_allclose(other.log.time[:5], own.log.time[:5], atol=1e-11)
    np.testing.assert_allclose(other.log.q[4], own.log.q[4], atol=1e-8)
    speed = np.abs(own.log.v_after[4]).max()
    np.testing.assert_allclose(other.log.v_after[4], own.log.v_after[4], atol=1e-8 * speed)


@pytest.mark.parametrize(("name", "until"), [("human-drop", 0.25), ("human-jump", 0.05)])
def test_fixed_steps_of_points_on_ground_that_the_model_has_not(name, until):
    """The human's soles touch the scenario's ground, not one of the model's."""
    own, other = both(name, until)
    assert int(own.n_events) == int(other.n_events)
    np.testing.assert_allclose(other.q[-1], own.q[-1], atol=1e-9)
    np.testing.assert_allclose(other.v[-1], own.v[-1], atol=1e-7)
