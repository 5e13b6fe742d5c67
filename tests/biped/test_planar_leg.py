"""One leg in the plane, against the reference results of another program (gait_2d_invdyn).

Markers and a force plate on a treadmill, Winter's segments: three joint angles, their rates, and
the moments and forces of the joints, away from the ends.

Three things about the reference had to be found out. Its filter, called 6 Hz, is of second order
and run forth and back with a gain of 1/√2 in all at 4.0 Hz; its accelerations are backward
differences of the rates. And its shank and thigh were given the foot's mass and radius of gyration:
with these everything is met, with Winter's own the forces are off by the weight that is missing.
"""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.io import loadmat
from scipy.signal import bilinear, lfilter

from stiction.biped import FootLoads, Subject, joint_loads
from stiction.biped.subject.subject import SubjectBodies
from stiction.mechanism import Pose
from stiction.tables import make_even, read_table

pytestmark = pytest.mark.shared

SHOULDER, HIP, KNEE, ANKLE, HEEL, TOE = range(6)
# proximal and distal marker, centre of mass from the proximal one, marker of the joint
SEGMENTS = {
    "thigh": (HIP, KNEE, 0.433, HIP),
    "shank": (KNEE, ANKLE, 0.433, KNEE),
    "foot": (HEEL, TOE, 0.5, ANKLE),
}
SIGNS = (1, -1, -1)  # flexion of hip and knee, plantarflexion
MASS, GYRATION, BODY_MASS = 0.0145, 0.475, 67.2  # of body mass; of length; kg
CORNER = 4.0 / (np.sqrt(2) - 1) ** 0.25  # of one pass [Hz]
INNER = slice(40, -40)


def filtered(x, period):
    """Low-passed forth and back, and two derivatives, as the reference has them."""
    w = 2 * np.pi * CORNER

    def once(x, numerator):
        b, a = bilinear(w**2 * np.array(numerator), [1, np.sqrt(2) * w, w**2], fs=1 / period)
        return lfilter(b, a, x, axis=0)

    back = once(x[::-1], [1.0])[::-1]
    rate = once(back, [1.0, 0.0])
    return once(back, [1.0]), rate, np.diff(rate, axis=0, prepend=0) / period


def marker(values, index):
    return values[..., 2 * index : 2 * index + 2]


def leg_of_markers(q):
    """A subject whose coordinates are those of the markers, in units of body mass."""

    def poses(q):
        p, R = [jnp.zeros(3)], [jnp.eye(3)]
        for proximal, distal, along, _ in SEGMENTS.values():
            a, b = marker(q, proximal), marker(q, distal)
            x, y = (b - a) / jnp.linalg.norm(b - a)
            p.append(jnp.append(a + along * (b - a), 0.0))
            R.append(jnp.array([[x, -y, 0.0], [y, x, 0.0], [0.0, 0.0, 1.0]]))
        return Pose(jnp.stack(p), jnp.stack(R))

    lengths = [
        np.linalg.norm(marker(q, b) - marker(q, a), axis=1).mean() for a, b, *_ in SEGMENTS.values()
    ]
    inertia = np.zeros((4, 3, 3))
    inertia[1:, 2, 2] = MASS * (GYRATION * np.array(lengths)) ** 2
    numbers = (np.array([0, *[MASS] * 3]), np.zeros((4, 3)), inertia, np.array([0, -9.81, 0]))
    bodies = SubjectBodies(poses, *jax.device_put(numbers))
    names = ("ground", *SEGMENTS)
    return Subject("leg", bodies, (), names, (0, 0, 1, 2), np.zeros((4, 3)))


@pytest.fixture(scope="module")
def leg(shared_data):
    """Markers with two derivatives, reactions of the joints, and the reference's columns."""
    folder = shared_data / "gait_2d_invdyn"
    table = make_even(read_table(folder / "rawdata.txt").by_time())
    assert "22 missing values" in table.notes[0]
    period = table.time[1] - table.time[0]
    q, rate, acceleration = filtered(table.values[:, :12], period)
    plate = filtered(table.values[:, 12:15], period)[0] / BODY_MASS
    force, moment = np.zeros((2, len(q), 1, 3))
    force[:, 0, :2], moment[:, 0, 2] = plate[:, :2], plate[:, 2]  # at the origin
    loads = FootLoads(("foot",), (3,), force, np.zeros_like(force), moment, np.ones((len(q), 1)))
    subject = leg_of_markers(q)
    motion = subject.motion(q, rate, acceleration)
    joints = joint_loads(subject, q, rate, motion, loads)
    reference = loadmat(folder / "refresults.mat")["refresults"]
    return SimpleNamespace(q=q, rate=rate, joints=joints, reference=reference)


def turns(leg, proximal, distal):
    """Angle of a segment and its rate."""
    r, v = (marker(x, distal) - marker(x, proximal) for x in (leg.q, leg.rate))
    angle = np.unwrap(np.arctan2(r[:, 1], r[:, 0]))
    return np.stack([angle, (r[:, 0] * v[:, 1] - r[:, 1] * v[:, 0]) / np.sum(r**2, axis=1)])


@pytest.mark.parametrize("joint", range(3))
def test_joint_angles_and_rates(leg, joint):
    segments = [turns(leg, SHOULDER, HIP), *(turns(leg, a, b) for a, b, *_ in SEGMENTS.values())]
    angle, rate = SIGNS[joint] * (segments[joint + 1] - segments[joint])
    assert relative(angle, leg.reference[:, joint]) < 1e-3
    assert relative(rate, leg.reference[:, 3 + joint]) < 4e-3


def relative(ours, reference):
    difference = (ours - reference)[INNER]
    return np.sqrt(np.mean(difference**2)) / np.sqrt(np.mean(reference[INNER] ** 2))


@pytest.mark.parametrize("joint", range(3))
def test_joint_moments_and_forces(leg, joint):
    """Within 2 % of the peak of each: 1.1 % (hip), 0.5 % and 0.06 % of moments were reached.

    Gaps of markers, which the reference bridges after filtering, make up what is left.
    """
    force = leg.joints.reaction[:, joint + 1]
    arm = leg.joints.joint[:, joint + 1, :2] - marker(leg.q, list(SEGMENTS.values())[joint][3])
    moment = leg.joints.reaction_moment[:, joint + 1, 2]
    moment = moment + arm[:, 0] * force[:, 1] - arm[:, 1] * force[:, 0]
    for found, column in (
        (SIGNS[joint] * moment, 6 + joint),
        (force[:, 0], 9 + 2 * joint),
        (force[:, 1], 10 + 2 * joint),
    ):
        theirs = leg.reference[INNER, column]
        assert_allclose(found[INNER], theirs, atol=0.02 * np.abs(theirs).max())
