"""Fixed steps in worlds of MuJoCo: bodies on bodies, loops, limits, dry friction, servos."""

import numpy as np
import pytest

import stiction
from stiction.surfaces import world_contacts

G = 9.81
FLOOR = '<geom name="floor" type="plane" size="5 5 .1"/>'
BOX = (
    '<body name="{0}" pos="0 0 {1}"><freejoint/>'
    '<geom name="{0}" type="box" size=".1 .1 .1" mass="1"/></body>'
)


def world(bodies, *, extra="", **fields):
    """A scene of bodies on a floor, in fixed steps."""
    text = (
        f'<mujoco><compiler angle="radian"/><worldbody>{FLOOR}{bodies}</worldbody>{extra}</mujoco>'
    )
    return stiction.scene(text, contact={"law": "stepping"}, **fields)


def test_the_upper_of_two_boxes_rests_on_the_lower():
    run = world(BOX.format("low", 0.1) + BOX.format("high", 0.35), until=0.6).run()
    assert run.success
    assert not run.penetrations
    # What the step of the impact leaves: 6e-7 m of fall.
    np.testing.assert_allclose(run.q[-1, [2, 9]], [0.1, 0.3], atol=2e-6)
    ground = (run.contacts.bodies == 0).any(axis=1)
    force = np.abs(run.places.force[-1, :, 2])
    np.testing.assert_allclose([force[ground].sum(), force[~ground].sum()], [2 * G, G], rtol=1e-6)


@pytest.mark.parametrize("name", ["double-pendulum", "bicycle", "box", "sphere"])
def test_both_evaluators_agree(name):
    """The engine's own dynamics and MuJoCo's, on the same contacts, step by step."""
    scene = stiction.scene(name).change({"contact.law": "stepping"})
    own = scene.run(until=0.5)
    points = world_contacts(scene.mechanism, points=scene.contacts, touches="nothing")
    other = stiction.simulate(
        scene.mechanism, scene.q, scene.v, until=0.5, contacts=points, law=scene.law,
        control=scene.control,
    )  # fmt: skip
    np.testing.assert_allclose(other.q, own.q, atol=1e-9)
    np.testing.assert_allclose(other.ledger_error, own.ledger_error, atol=1e-9)


def test_dry_friction_stops_an_oscillator_where_it_should():
    """Each half cycle the amplitude falls by 2 f / k; it stops inside ± f / k."""
    slide = (
        '<body pos="0 0 1"><joint name="x" type="slide" axis="1 0 0" stiffness="100"'
        ' frictionloss="2"/><geom type="sphere" size=".05" mass="1" contype="0"'
        ' conaffinity="0"/></body>'
    )
    run = world(slide, until=1.5, start={"q": [0.11]}, solver={"dt": 1e-4}).run(samples=1501)
    turns = np.flatnonzero(np.diff(np.sign(run.v[:, 0])) != 0)
    half = np.pi / 10
    for i, amplitude in enumerate((0.07, 0.03)):
        at = np.searchsorted(run.time, (i + 1) * half)
        np.testing.assert_allclose(abs(run.q[at, 0]), amplitude, atol=1e-5)
    assert turns.size
    assert abs(run.q[-1, 0]) <= 0.02
    np.testing.assert_allclose(run.v[-1], 0, atol=1e-12)


def test_a_loop_stays_closed_and_moves_as_the_hinge_that_it_is():
    """A bar that a connection holds at its end swings as one on a hinge."""
    bar = '<geom type="capsule" size=".02" fromto="0 0 0 .5 0 0" mass="1"/>'
    held = f'<body name="bar" pos="0 0 1"><freejoint/>{bar}</body>'
    hinged = f'<body name="bar" pos="0 0 1"><joint axis="0 1 0"/>{bar}</body>'
    connect = '<equality><connect body1="bar" anchor="0 0 0"/></equality>'
    options = {"until": 0.5, "solver": {"dt": 2e-4}}
    loose, hinge = world(held, extra=connect, **options).run(), world(hinged, **options).run()
    np.testing.assert_allclose(loose.q[:, :3], [[0, 0, 1]] * len(loose.q), atol=1e-9)
    turn = 2 * np.arctan2(loose.q[:, 5], loose.q[:, 3])
    np.testing.assert_allclose(turn, hinge.q[:, 0], atol=1e-6)


def test_a_stiff_servo_is_stable_at_any_step():
    arm = (
        '<body pos="0 0 1"><joint name="a" axis="0 1 0" frictionloss=".01"/>'
        '<geom type="capsule" size=".02" fromto="0 0 0 .2 0 0" mass=".1" contype="0"'
        ' conaffinity="0"/></body>'
    )
    servo = '<actuator><position name="p" joint="a" kp="5000" kv="100"/></actuator>'
    run = world(arm, extra=servo, until=0.5, control={"p": {"offset": 0.3}}).run()
    assert run.success
    np.testing.assert_allclose(run.q[-1, 0], 0.3, atol=1e-3)


def test_limits_are_kept_and_rebound():
    """A pendulum against its limit: the speed is e times that before."""
    arm = (
        '<body pos="0 0 1"><joint name="a" axis="0 1 0" range="-.5 .5"/>'
        '<geom type="sphere" size=".02" pos=".5 0 0" mass="1" contype="0" conaffinity="0"/></body>'
    )
    scene = world(arm, until=0.45, solver={"dt": 1e-4}).change({"contact.restitution": 0.5})
    run = scene.run()
    hit = next(e for e in run.events() if e.kind == "impact")
    assert hit.contact == "a at its upper limit"
    np.testing.assert_allclose(hit.velocity_after[-1], -0.5 * hit.velocity_before[-1], rtol=2e-3)
    assert run.q[:, 0].max() < 0.5 + 1e-9


def test_steps_that_a_tendon_makes_unstable_are_no_success():
    """Forces of tendons are explicit: with h √(k/m) above 2 the motion grows by itself."""
    ball = (
        '<body pos="0 0 1"><joint name="z" type="slide" axis="0 0 1"/>'
        '<geom type="sphere" size=".05" mass="1"/></body>'
    )
    tendon = '<tendon><fixed stiffness="42000"><joint joint="z" coef="1"/></fixed></tendon>'
    scene = world(ball, extra=tendon, until=0.15, samples=16)
    runs = {h: scene.run({"solver.dt": h, "start.q": [1e-3]}) for h in (0.01, 0.0005)}
    assert not runs[0.01].success
    assert "gained energy that nothing gave it" in runs[0.01].message
    assert runs[0.01].energy_from_nowhere > 0.9
    assert runs[0.0005].success
    assert runs[0.0005].energy_from_nowhere < 0.01
