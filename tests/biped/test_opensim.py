"""OpenSim's models against OpenSim itself (answers recorded by opensim/record.py)."""

import functools

import numpy as np
import pytest
from helpers_biped import ANSWERS, EVERY_JOINT, HERE, WALKS
from numpy.testing import assert_allclose

from stiction import InputError
from stiction.biped import read_osim
from stiction.biped.grf.momentum import total_reaction

MODELS = ["every_joint", "every_joint_3", *WALKS]
# OpenSim rounds the lengths of older files to six digits when it reads them: 3e-7 m, 2e-4 N m.
POSE_TOLERANCE = {"every_joint": 1e-11, "every_joint_3": 1e-11, "rajagopal": 1e-11}
# Its accelerations are not quite the second derivatives of its positions where splines move a body
# (the patella); numerical derivatives of its positions agree with ours to 1e-5 N.
FORCE_TOLERANCE = {"every_joint": 1e-8, "every_joint_3": 1e-8, "rajagopal": 0.1}


def model_path(name, request):
    if name.startswith("every"):
        return HERE / "opensim" / f"{name}.osim"
    return request.getfixturevalue("shared_data") / WALKS[name]["model"]


@functools.cache
def computed(path, name):
    """The subject, the state of every recorded sample, its motion and its reaction."""
    subject = read_osim(path)
    samples = ANSWERS[name]["samples"]
    state = [
        np.array([[sample[key][c.name] for c in subject.coordinates] for sample in samples])
        for key in ("q", "rate", "acceleration")
    ]
    motion = subject.motion(*state)
    return subject, samples, state, motion, total_reaction(subject.bodies, motion)


@pytest.mark.parametrize("name", MODELS)
def test_poses_are_those_of_opensim(name, request):
    subject, samples, _, motion, _ = computed(model_path(name, request), name)
    assert_allclose(subject.mass, ANSWERS[name]["mass"], rtol=1e-12)
    atol = POSE_TOLERANCE.get(name, 1e-6)
    for k, sample in enumerate(samples):
        assert set(sample["poses"]) == set(subject.body_names) - {"ground"}
        for body, (position, rotation) in sample["poses"].items():
            i = subject.body(body)
            assert_allclose(motion.pose.position[k, i], position, atol=atol)
            assert_allclose(motion.pose.rotation[k, i], rotation, atol=atol)


@pytest.mark.parametrize("name", MODELS)
def test_total_force_and_moment_are_those_of_opensims_inverse_dynamics(name, request):
    """Its generalised forces along the base's coordinates are the ground's virtual power."""
    subject, samples, (q, _, _), motion, reaction = computed(model_path(name, request), name)
    position, rotation = motion.pose.position[:, 1], motion.pose.rotation[:, 1]
    about_body = reaction.moment - np.cross(position, reaction.force)
    for i, coordinate in enumerate(subject.base):
        along = np.zeros_like(q)
        along[:, i] = 1
        moved = subject.motion(q, along, 0 * q).rate
        for k, sample in enumerate(samples):
            W = moved.rotation[k, 1] @ rotation[k].T
            turn = [W[2, 1], W[0, 2], W[1, 0]]
            power = about_body[k] @ turn + reaction.force[k] @ moved.position[k, 1]
            expected = sample["base"][coordinate]
            tolerance = FORCE_TOLERANCE.get(name, 2e-4) * max(1, abs(expected) / 100)
            assert_allclose(power, expected, atol=tolerance)


def test_derivatives_of_poses_agree_with_differences():
    """Through splines, polynomials and couplings alike, the first and the second."""
    subject, _, (q, v, a), motion, _ = computed(EVERY_JOINT, "every_joint")
    h = 1e-4
    after, before = (
        subject.motion(q + s * h * v + h**2 * a / 2, v + s * h * a, a).pose for s in (1, -1)
    )
    for name in ("position", "rotation"):
        x0, x1, x2 = (getattr(p, name) for p in (before, motion.pose, after))
        assert_allclose(getattr(motion.rate, name), (x2 - x0) / (2 * h), atol=1e-6)
        assert_allclose(getattr(motion.acceleration, name), (x0 - 2 * x1 + x2) / h**2, atol=2e-5)


def test_a_coordinate_that_follows_another_is_not_its_own():
    subject = read_osim(EVERY_JOINT)
    names = [c.name for c in subject.coordinates]
    follower = subject.coordinates[names.index("follower")]
    assert follower.follows == ("knee",)
    q = np.tile(subject.defaults, (2, 1))
    q[1, names.index("follower")] += 1.0
    poses = subject.poses(q)
    assert_allclose(poses.position[0], poses.position[1], atol=0)


BROKEN = {
    "no file": None,
    "not XML": "hello",
    "another document": "<robot/>",
    "no model": '<OpenSimDocument Version="40000"><Tool/></OpenSimDocument>',
    "unknown joint": ("PinJoint", "ScrewJoint"),
    "unknown function": ("PolynomialFunction", "SineFunction"),
    "a missing body": ("/bodyset/gimbal", "/bodyset/gymbal"),
    "bad numbers": ("<mass>1</mass>", "<mass>heavy</mass>"),
    "negative mass": ("<mass>1</mass>", "<mass>-1</mass>"),
    "nan": ("<axis>-0.6 0 0.8</axis>", "<axis>nan 0 0.8</axis>"),
    "zero axis": ("<axis>-0.6 0 0.8</axis>", "<axis>0 0 0</axis>"),
    "wrong coordinate": ("<coordinates>follower</coordinates>", "<coordinates>other</coordinates>"),
    "falling x": ("<x>-1 0.2 1</x>", "<x>-1 -2 1</x>"),
    "coupling to nothing": (
        "<independent_coordinate_names>knee<",
        "<independent_coordinate_names>nee<",
    ),
}


@pytest.mark.parametrize("how", BROKEN)
def test_broken_models_are_refused_by_name(how, tmp_path):
    path, change = tmp_path / "model.osim", BROKEN[how]
    if isinstance(change, str):
        path.write_text(change)
    elif change is not None:
        text = EVERY_JOINT.read_text()
        assert change[0] in text
        path.write_text(text.replace(*change))
    with pytest.raises(InputError) as error:
        read_osim(path)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) > 20


def test_closed_loops_are_refused(tmp_path):
    text = EVERY_JOINT.read_text()
    joint = text[text.index('<WeldJoint name="to_welded">') : text.index("</WeldJoint>") + 12]
    path = tmp_path / "loop.osim"
    path.write_text(text.replace(joint, joint + joint.replace("to_welded", "again")))
    with pytest.raises(InputError, match="closed loops"):
        read_osim(path)
