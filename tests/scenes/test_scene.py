"""Scenes in Python: from names, files and text, changed by field, refused by field."""

import numpy as np
import pytest

import stiction
from stiction import InputError, scene

SERVO = """<mujoco model="arm"><option gravity="0 0 0"/><worldbody><body name="arm">
<joint name="elbow" axis="0 1 0"/><geom type="capsule" size=".02 .2" mass="1"/></body></worldbody>
<actuator><position name="servo" joint="elbow" kp="5" kv="1"/></actuator>
<keyframe><key name="bent" qpos="0.5" ctrl="0.5"/></keyframe></mujoco>"""


def test_a_scene_is_a_name_a_file_or_text(tmp_path):
    (tmp_path / "arm.xml").write_text(SERVO)
    (tmp_path / "own.toml").write_text('until = 0.1\n[mechanism]\nfile = "arm.xml"\n')
    text = f"until = 0.1\n[mechanism]\nfile = '''{SERVO}'''\n"
    for source in (tmp_path / "arm.xml", str(tmp_path / "own.toml"), SERVO, text):
        assert scene(source).mechanism.tree.joint_names == ("elbow",)
        assert stiction.load(source).nq == 1
    assert scene("double-pendulum").mechanism.nq == 2
    with pytest.raises(InputError, match="did you mean 'double-pendulum'"):
        scene("double-pendulun")


def test_fields_are_changed_by_name_and_by_path():
    box = scene("box")
    assert box.scenario.contact.restitution == 0.3
    changed = box.change({"solver.rtol": 1e-6}, until=2.0, contact={"restitution": 0.5})
    assert changed.scenario.contact.restitution == 0.5
    assert changed.scenario.contact.mu_static == 0.5  # of the file
    assert (changed.scenario.until, changed.scenario.solver.rtol) == (2.0, 1e-6)
    assert scene("box", until=2.0).scenario.until == 2.0
    assert box.scenario.until == 3.0


def test_a_run_is_a_trajectory(tmp_path):
    run = scene(SERVO).run(until=0.1, samples=3, start={"keyframe": "bent"})
    assert isinstance(run, stiction.Trajectory)
    assert run.success
    assert run.message == ""
    assert run.to_dataset().q.shape == (3, 1)


def test_a_keyframe_brings_its_control():
    """The servo holds where the keyframe says; without gravity nothing moves."""
    held = scene(SERVO).run(until=0.3, samples=3, start={"keyframe": "bent"})
    np.testing.assert_allclose(held.q, 0.5, atol=1e-9)
    told = scene(SERVO, start={"keyframe": "bent"}, control={"servo": {"offset": 0.0}})
    assert told.run(until=0.3, samples=3).q[-1, 0] < 0.45
    (frame,) = stiction.load(SERVO).summary().keyframes
    assert frame == {"name": "bent", "q": (0.5,), "v": (0.0,), "control": (0.5,)}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"contact.stiffness": 1e4}, "`contact.stiffness` where law is 'hybrid'; it belongs to"
         " law 'compliant'"),
        ({"contact.law": "stepping", "contact.impact": "newton"}, "belongs to law 'hybrid'"),
        ({"contact.law": "compliant", "contact.sides": 8}, "belongs to law 'stepping'"),
        ({"contact.law": "hybird"}, "`contact` must be one of 'hybrid', 'stepping', 'compliant',"
         " 'none', got 'hybird'; did you mean 'hybrid'?"),
        ({"contact.mu_statik": 1.0}, "no field `contact.mu_statik`; did you mean 'mu_static'?"),
        ({"untill": 1.0}, "no field `untill`; did you mean 'until'?"),
        ({"solver.rtoll": 1.0}, "no field `solver.rtoll`; did you mean 'rtol'?"),
        ({"until.x": 1.0}, "`until.x` cannot be set: 'until' is not a table"),
    ],
)  # fmt: skip
def test_wrong_fields_are_told(changes, says):
    with pytest.raises(InputError) as error:
        scene("box", changes)
    assert says in str(error.value)


def test_another_law_takes_over_the_fields_that_it_has():
    """The box has a bound on energy, which compliant contacts know nothing of."""
    assert scene("box").scenario.contact.energetic == 1.0
    compliant = scene("box", contact={"law": "compliant"}).scenario.contact
    assert (compliant.mu_static, compliant.restitution) == (0.5, 0.3)
    assert not hasattr(compliant, "energetic")
    assert scene("box", contact={"law": "compliant"}).rigid().scenario.contact.law == "hybrid"


def test_defaults_are_those_of_the_engine():
    """A file that says nothing means what `Hybrid()` and `Stepping()` mean."""
    model = SERVO.replace("<worldbody>", '<worldbody><geom type="plane" size="1 1 1"/>')
    for name, law in (("hybrid", stiction.Hybrid()), ("stepping", stiction.Stepping())):
        ours = scene(model, contact={"law": name}).law
        for field, value in vars(law).items():
            np.testing.assert_array_equal(
                np.unique(getattr(ours, field)) if value is not None else [],
                np.unique(value) if value is not None else [],
            )
