"""One leg in the plane, against the reference results of another program (gait_2d_invdyn).

Markers and a force plate on a treadmill, filtered without lag, Winter's segments: three joint
angles, their rates, and the forces from Newton's law of each segment, away from the ends.

Two things about the reference had to be found out. Its filter, called 6 Hz, cuts off at 4.0 Hz by
the measure used here (gain 1/√2 in all): there everything agrees to some thousandths, at 6 Hz the
rates are off by a tenth. And its forces at knee and hip were made with the foot's mass for shank
and thigh too: with 0.0145 of body mass everywhere they are met as well as the ankle's, with
Winter's masses they are off by the weight that is missing.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.io import loadmat

from stiction.biped.grf.smoothing import low_pass, smooth
from stiction.tables import make_even, read_table

pytestmark = pytest.mark.shared

# proximal and distal marker, centre of mass from the proximal one
SHOULDER, HIP, KNEE, ANKLE, HEEL, TOE = range(6)
SEGMENTS = {
    "trunk": (SHOULDER, HIP, 0.5),
    "thigh": (HIP, KNEE, 0.433),
    "shank": (KNEE, ANKLE, 0.433),
    "foot": (HEEL, TOE, 0.5),
}
JOINTS = [("trunk", "thigh", 1), ("thigh", "shank", -1), ("shank", "foot", -1)]
FOOT_MASS, MASS = 0.0145, 67.2  # of body mass; kg
CUTOFF = 4.0  # Hz
INNER = slice(40, -40)


@pytest.fixture(scope="module")
def leg(shared_data):
    folder = shared_data / "gait_2d_invdyn"
    table = make_even(read_table(folder / "rawdata.txt").by_time())
    assert "22 missing values" in table.notes[0]
    motion = smooth(table.time, table.values[:, :12], filter="butterworth", cutoff=CUTOFF)
    period = table.time[1] - table.time[0]
    plate = low_pass(table.values[:, 12:14], period, CUTOFF, "butterworth") / MASS
    return motion, plate, loadmat(folder / "refresults.mat")["refresults"]


def marker(values, index):
    return values[:, 2 * index : 2 * index + 2]


def turns(motion):
    """Angle of each segment and its rate."""
    found = {}
    for name, (proximal, distal, _) in SEGMENTS.items():
        r, v = (marker(x, distal) - marker(x, proximal) for x in (motion.q, motion.rate))
        angle = np.unwrap(np.arctan2(r[:, 1], r[:, 0]))
        found[name] = angle, (r[:, 0] * v[:, 1] - r[:, 1] * v[:, 0]) / np.sum(r**2, axis=1)
    return found


def relative(ours, reference):
    difference = (ours - reference)[INNER]
    return np.sqrt(np.mean(difference**2)) / np.sqrt(np.mean(reference[INNER] ** 2))


@pytest.mark.parametrize("joint", range(3))
def test_joint_angles_and_rates(leg, joint):
    motion, _, reference = leg
    segments = turns(motion)
    before, after, sign = JOINTS[joint]
    angle, rate = (sign * (segments[after][k] - segments[before][k]) for k in (0, 1))
    assert relative(angle, reference[:, joint]) < 1e-3
    assert relative(rate, reference[:, 3 + joint]) < 4e-3


def test_joint_forces(leg):
    motion, plate, reference = leg
    force = -plate
    for joint, name in ((2, "foot"), (1, "shank"), (0, "thigh")):
        proximal, distal, along = SEGMENTS[name]
        a, b = (marker(motion.acceleration, m) for m in (proximal, distal))
        force = force + FOOT_MASS * ((1 - along) * a + along * b + [0, 9.81])
        theirs = reference[:, 9 + 2 * joint : 11 + 2 * joint]
        assert relative(force[:, 0], theirs[:, 0]) < 0.03  # small: its noise shows
        assert relative(force[:, 1], theirs[:, 1]) < 2e-3
        assert_allclose((force - theirs)[INNER].mean(0), 0, atol=2e-3)
