"""Models that need MuJoCo's own functions, through the door that everybody uses."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import stiction
from stiction.scenes.stance import build_stance
from stiction.surfaces import world_contacts

G = 9.81
FLOOR = '<geom name="floor" type="plane" size="5 5 .1"/>'
BOX = (
    '<body name="{0}" pos="0 0 {1}"><freejoint/>'
    '<geom name="{0}" type="box" size=".1 .1 .1" mass="1"/></body>'
)


def world(bodies, *, extra="", **fields):
    """A scene of bodies on a floor."""
    text = (
        f'<mujoco><compiler angle="radian"/><worldbody>{FLOOR}{bodies}</worldbody>{extra}</mujoco>'
    )
    return stiction.scene(text, **fields)


def test_the_upper_of_two_boxes_rests_on_the_lower():
    run = world(BOX.format("low", 0.1) + BOX.format("high", 0.35), until=1.0).run()
    assert run.success
    assert not run.penetrations
    np.testing.assert_allclose(run.q[-1, [2, 9]], [0.1, 0.3], atol=1e-12)
    # Each carries what is above it.
    ground = (run.contacts.bodies == 0).any(axis=1)
    force = np.abs(run.places.force[-1, :, 2])
    np.testing.assert_allclose([force[ground].sum(), force[~ground].sum()], [2 * G, G])


@pytest.mark.parametrize(
    ("shape", "height"),
    [
        ('type="cylinder" size=".1 .2" euler="1.5707963267948966 0 0"', 0.1),
        ('type="cylinder" size=".1 .2"', 0.2),
        ('type="capsule" size=".1 .2" euler="0 1.5707963267948966 0"', 0.1),
        ('type="ellipsoid" size=".1 .2 .05"', 0.05),
    ],
    ids=["lying-cylinder", "standing-cylinder", "capsule", "ellipsoid"],
)
def test_a_body_falls_on_a_fixed_box_and_rests_there(shape, height):
    block = '<geom name="block" type="box" size=".5 .5 .1" pos="0 0 .1"/>'
    body = f'<body pos="0 0 {height + 0.3}"><freejoint/><geom name="body" {shape} mass="2"/></body>'
    run = world(block + body, until=1.0).run()
    assert run.success, run.message
    np.testing.assert_allclose(run.q[-1, 2], 0.2 + height, atol=1e-9)
    np.testing.assert_allclose(run.places.force[-1].sum(axis=0), [0, 0, 2 * G], atol=1e-6)


def test_limits_of_joints_are_kept_and_named():
    arm = (
        '<body><joint name="elbow" axis="0 1 0" range="-.5 .5"/>'
        '<geom type="capsule" size=".02" fromto="0 0 0 .5 0 0" mass="1" contype="0"'
        ' conaffinity="0"/></body>'
    )
    run = world(arm, until=2.0).run()
    assert run.success
    np.testing.assert_allclose(run.q[-1], 0.5, atol=1e-12)
    assert run.contact_names == ("elbow at its upper limit",)
    torque = G * 0.25 * np.cos(0.5)
    np.testing.assert_allclose(run.force[-1, 0, -1], torque, rtol=1e-9)
    assert {e.kind for e in run.events()} == {"impact", "rest"}


def test_what_a_mechanism_has_beyond_a_tree_is_named():
    hinge = '<joint name="{0}" axis="0 1 0"/><geom type="sphere" size=".05" pos="{1} 0 0"/>'
    two = "".join(
        f'<body pos="0 {y} 1">{hinge.format(name, y)}</body>' for name, y in (("a", 0), ("b", 1))
    )
    coupled = '<equality><joint joint1="a" joint2="b" polycoef="0 2 0 0 0"/></equality>'
    scene = world(two, extra=coupled, until=0.5)
    assert scene.mechanism.beyond == ("1 equality constraint (loops, welds and couplings)",)
    run = scene.run()
    np.testing.assert_allclose(run.q[:, 0], 2 * run.q[:, 1], atol=1e-12)
    with pytest.raises(stiction.InputError, match="world_contacts"):
        stiction.simulate(scene.mechanism, scene.q, scene.v, until=0.1)
    with pytest.raises(stiction.InputError, match="equality constraint"):
        build_stance(scene)


def test_sensors_tell_what_contacts_do():
    sensors = (
        '<sensor><touch site="all"/><accelerometer site="middle"/>'
        '<framepos objtype="body" objname="box"/></sensor>'
    )
    sites = '<site name="all" type="box" size=".2 .2 .2"/><site name="middle"/>'
    body = BOX.format("box", 0.2).replace("</body>", f"{sites}</body>")
    lid = BOX.format("lid", 0.5)
    run = world(body + lid, extra=sensors, until=1.0).run()
    sensor = np.asarray(run.signals.sensor)
    np.testing.assert_allclose(sensor[:, 4:], run.q[:, :3], atol=1e-12)
    np.testing.assert_allclose(sensor[1, :4], [0, 0, 0, 0], atol=1e-9)  # it falls
    np.testing.assert_allclose(sensor[-1, :4], [3 * G, 0, 0, G], rtol=1e-6, atol=1e-6)


def test_friction_is_the_model_s_unless_the_scenario_says_otherwise():
    """A block on a block that is pushed along: it slides off if friction is less than needed."""
    slab = '<body name="slab"><joint type="slide" axis="1 0 0"/><geom name="slab" type="box"' \
           ' size="1 .3 .1" pos="0 0 .2" mass="1" friction=".5"/></body>'  # fmt: skip
    rider = (
        '<body pos="0 0 .4"><freejoint/><geom name="rider" type="box" size=".1 .1 .1" mass="1"'
        ' friction=".5"/></body>'
    )
    push = '<actuator><motor name="push" joint="along"/></actuator>'
    slab = slab.replace("<joint ", '<joint name="along" ')
    scene = world(slab + rider, extra=push, until=0.2, control={"push": {"offset": 6.0}})
    held, slides = scene.run(), scene.run({"contact.mu_static": 0.2, "contact.mu_dynamic": 0.2})
    np.testing.assert_allclose(held.v[-1, :2], [0.6, 0.6], atol=1e-8)  # 6 N on 2 kg
    np.testing.assert_allclose(slides.v[-1, 1], 0.2 * G * 0.2, atol=1e-7)
    np.testing.assert_allclose(slides.v[-1, 0], (6 - 0.2 * G) * 0.2, atol=1e-7)


def test_restitution_may_differ_by_geom():
    ball = '<body pos="{1} 0 1.1"><freejoint/><geom name="{0}" type="sphere" size=".1"/></body>'
    both = ball.format("steel", 0) + ball.format("clay", 1)
    tall = '<body pos="3 0 1"><freejoint/><geom type="cylinder" size=".1 .1"/></body>'
    run = world(both + tall, until=0.6, contact={"restitution": {"steel": 0.8}}).run()
    speed = np.sqrt(2 * G)
    first = {e.contact: e for e in reversed(run.events()) if e.kind == "impact"}
    np.testing.assert_allclose(first["steel on floor"].velocity_after[-1], 0.8 * speed)
    np.testing.assert_allclose(first["clay on floor"].velocity_after[-1], 0, atol=1e-12)


def test_contacts_that_are_found_agree_with_those_that_are_given():
    scene = stiction.scene("box")
    own = scene.run(until=1.0)
    found = world_contacts(scene.mechanism, own_friction=False)
    law = jax.tree.map(lambda x: x.ravel()[0], scene.law)  # the same for all contacts
    other = stiction.simulate(scene.mechanism, scene.q, scene.v, until=1.0, contacts=found, law=law)
    count = min(int(own.n_events), int(other.n_events), 10)
    np.testing.assert_allclose(other.log.time[:count], own.log.time[:count], atol=1e-7)
    np.testing.assert_allclose(other.log.q[count - 1], own.log.q[count - 1], atol=1e-6)


def test_a_start_inside_of_another_body_is_refused_or_moved_out():
    scene = world(BOX.format("low", 0.1) + BOX.format("high", 0.29), until=0.1)
    with pytest.raises(stiction.InputError, match=r"0\.01 m inside"):
        scene.run()
    with pytest.warns(UserWarning, match="moved out"):
        run = scene.run({"start.resolve": True})
    assert run.success
    np.testing.assert_allclose(run.q[0, 9] - run.q[0, 2], 0.2, atol=1e-9)


def test_a_run_comes_back_from_disk(tmp_path):
    from stiction.report import OutputDirectory
    from stiction.report.run import summarize_run, write_run
    from stiction.scenes import read_run

    run = world(BOX.format("low", 0.1) + BOX.format("high", 0.35), until=0.3).run()
    write_run(run, summarize_run(run), OutputDirectory(tmp_path / "run"))
    again = read_run(tmp_path / "run")
    assert again.contact_names == run.contact_names
    assert repr(again.events()) == repr(run.events())  # not a number equals itself
    np.testing.assert_array_equal(again.places.force, run.places.force)


def test_no_derivatives_are_pretended():
    scene = world(BOX.format("low", 0.1) + BOX.format("high", 0.35))

    def height(z):
        q = scene.q.at[9].set(z)
        run = stiction.simulate(scene.mechanism, q, scene.v, until=0.1, contacts=scene.contacts)
        return run.q[-1, 9]

    with pytest.raises(stiction.InputError, match="no derivatives"):
        jax.grad(height)(jnp.asarray(0.35))


@pytest.mark.parametrize("law", ["hybrid", "stepping"])
def test_dynamic_friction_above_static_friction_is_refused(law):
    with pytest.raises(stiction.InputError, match="must not exceed"):
        stiction.scene("stairs", until=0.01).run({"contact.law": law, "contact.mu_dynamic": 3.0})


def _boxes(count):
    def place(i):
        return f'pos="{0.3 * (i % 12)} {0.3 * (i // 12)} '

    return "".join(BOX.format(f"b{i}", 0.1).replace('pos="0 0 ', place(i)) for i in range(count))


@pytest.mark.parametrize("law", ["hybrid", "stepping"])
def test_room_is_made_for_as_many_contacts_as_there_are(law):
    """Eighty corners on the floor, sixty-four of which have room at first."""
    run = world(_boxes(20), until=0.02, samples=3).run({"contact.law": law})
    assert run.success
    np.testing.assert_allclose(np.asarray(run.q)[-1, 2::7], 0.1, atol=1e-9)


def test_more_contacts_than_anybody_waits_for_are_said_at_once():
    """None is forgotten: 500 contacts do not fall through the floor."""
    run = world(_boxes(125), until=0.02, samples=3).run({"contact.law": "stepping"})
    assert not run.success
    assert "More contacts touch at once than the 400 (1,200 rows)" in run.message
    assert "`contact.points`" in run.message
