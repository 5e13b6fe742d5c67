"""Compliant contacts that are found on the way: closed forms, and the engine's own dynamics."""

import warnings

import numpy as np
import pytest

import stiction
from stiction.scenes import Scene
from stiction.surfaces import world_contacts

G = 9.81
K = 2e4
SOFT = {"law": "compliant", "stiffness": K, "alpha": 1.0}
FLOOR = '<geom name="floor" type="plane" size="5 5 .1"/>'


def check(run):
    """It came to its end, and its energy is accounted for."""
    assert run.success, run.message
    lost = run.damping_loss[-1] + run.friction_loss[-1] + run.impact_loss[-1]
    exchanged = lost + np.ptp(run.potential) + np.abs(run.actuator_work).max()
    assert np.abs(run.ledger_error).max() < 1e-6 * exchanged


def run_of(bodies, *, until=2.0, contact=SOFT, extra="", **fields):
    text = f"<mujoco><worldbody>{bodies}</worldbody>{extra}</mujoco>"
    return stiction.scene(text, until=until, contact=contact, **fields).run()


def test_both_evaluators_agree():
    """The box on its corners, by the engine's own dynamics and by MuJoCo's, found on the way."""
    own = stiction.scene("box", until=1.0, contact={**SOFT, "alpha": 0.5})
    other = Scene(own.scenario, own.folder)
    found = world_contacts(own.mechanism, own_friction=False)
    vars(other).update(mechanism=own.mechanism, contacts=found)
    ours, theirs = own.run(), other.run()
    check(theirs)
    assert len(ours.events()) > 5
    np.testing.assert_allclose(theirs.q[-1], ours.q[-1], atol=1e-7)
    np.testing.assert_allclose(theirs.impact_loss[-1], ours.impact_loss[-1], rtol=1e-6)
    np.testing.assert_allclose(theirs.friction_loss[-1], ours.friction_loss[-1], rtol=1e-6)


def test_a_box_on_a_box_sinks_in_as_deep_as_its_weight_says():
    """Four corners each: m g / 4 k; the floor bears both."""
    box = """<body pos="0 0 {0}"><freejoint/>
      <geom name="{1}" type="box" size="{2}" mass="{3}"/></body>"""
    lower, upper = box.format(0.2, "low", ".3 .3 .2", 2), box.format(0.51, "up", ".1 .1 .1", 1)
    run = run_of(FLOOR + lower + upper)
    check(run)
    low, up = 3 * G / (4 * K), 1 * G / (4 * K)
    np.testing.assert_allclose(run.q[-1, 2], 0.2 - low, atol=1e-8)
    np.testing.assert_allclose(run.q[-1, 9], 0.5 - low - up, atol=1e-8)
    depth = dict(zip(run.contact_names, np.asarray(run.compliance.depth)[-1], strict=True))
    np.testing.assert_allclose(depth["low[0] on floor"], low, atol=1e-8)


def test_what_is_coupled_bears_on_one_spring():
    """A ball on the floor carries its own 1 kg, and 3 kg that go down half as far: (1 + 1.5) g."""
    bodies = """
      <body pos="0 0 .1"><joint name="near" type="slide" axis="0 0 1" damping="20"/>
        <geom type="sphere" size=".1" mass="1"/></body>
      <body pos="1 0 1"><joint name="far" type="slide" axis="0 0 1"/>
        <geom type="sphere" size=".1" mass="3" contype="0" conaffinity="0"/></body>"""
    tie = '<equality><joint joint1="far" joint2="near" polycoef="0 .5 0 0 0"/></equality>'
    run = run_of(FLOOR + bodies, extra=tie)
    check(run)
    np.testing.assert_allclose(run.q[-1, 0], -2.5 * G / K, atol=1e-7)
    np.testing.assert_allclose(run.q[:, 1], run.q[:, 0] / 2, atol=1e-9)


def test_a_limit_gives_way_as_solref_says():
    """A force of 5 N against the limit of a slider of 2 kg: K = d / (1 - d) m / (t ζ)²."""
    slider = """<body><joint name="x" type="slide" axis="1 0 0" range="-1 .1" limited="true"
      solreflimit=".05 1" solimplimit=".8 .8 .001"/>
      <geom type="sphere" size=".1" mass="2"/></body>"""
    motor = '<actuator><motor name="push" joint="x"/></actuator>'
    run = run_of(slider, extra=motor, control={"push": {"offset": 5.0}})
    check(run)
    stiffness = 0.8 / 0.2 * 2.0 / 0.05**2
    np.testing.assert_allclose(run.q[-1, 0], 0.1 + 5.0 / stiffness, atol=1e-8)
    assert "x at its upper limit" in run.contact_names


@pytest.mark.parametrize(("push", "held"), [(0.99, True), (1.5, False)])
def test_dry_friction_holds_without_creep(push, held):
    slider = """<body><joint name="x" type="slide" axis="1 0 0" frictionloss="1"/>
      <geom type="sphere" size=".1" mass="2"/></body>"""
    motor = '<actuator><motor name="push" joint="x"/></actuator>'
    run = run_of(slider, extra=motor, control={"push": {"offset": push}})
    check(run)
    if held:  # the sudden push swings, and slips a little, once
        assert 0 < run.q[-1, 0] < 1e-5
        np.testing.assert_allclose(run.q[250:, 0], run.q[-1, 0], atol=1e-12)
    else:
        np.testing.assert_allclose(run.v[-1, 0], (push - 1) / 2 * 2.0, rtol=1e-3)


@pytest.mark.parametrize(
    ("robot", "stiffness"), [("anybotics_anymal_c", 1e5), ("umi_gripper", 1e6)]
)
def test_a_robot_comes_to_the_rest_of_rigid_contact(shared_data, robot, stiffness):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scene = stiction.scene(str(shared_data / "menagerie" / robot / "scene.xml"))
        frames = scene.mechanism.keyframes
        start = {"resolve": True} | ({"keyframe": frames[0].name} if frames else {})
        contact = {"law": "compliant", "stiffness": stiffness, "alpha": 1.0, "max_events": 10000}
        run = scene.run(until=1.0, start=start, contact=contact)
        rigid = scene.run(until=1.0, start=start)
    check(run)
    np.testing.assert_allclose(run.q[-1, :3], rigid.q[-1, :3], atol=2e-3)
