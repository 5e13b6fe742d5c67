"""Faults of ma's testbed: friction and backlash in bearings, plates that tilt, static friction."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from stiction._base.errors import InputError
from stiction.identify import read_setup, virtual_test
from stiction.identify.bench.imperfections import play
from stiction.identify.contact.plates import compound_stiffness, plate_stiffness

SPRINGS = [1800.0, 2000.0, 2100.0, 1900.0]
CORNERS = [[0.05, 0.05], [-0.05, 0.05], [-0.05, -0.05], [0.05, -0.05]]


def bed(name="single-point", surface=None, **changes):
    setup, folder = read_setup(name)
    surfaces = setup.surfaces
    if surface is not None:
        surfaces = [surfaces[0].model_copy(update=surface), *surfaces[1:]]
    testbed = setup.testbed.model_copy(update=changes)
    setup = setup.model_copy(update={"testbed": testbed, "surfaces": surfaces})
    return virtual_test(setup, folder, quiet=True)


@pytest.fixture(scope="module")
def ideal():
    return bed()


def test_play_follows_at_its_ends_and_rests_between():
    d = np.array([0.0, 1.0, 3.0, 2.5, 2.1, 1.5, 4.0])
    assert play(d, 1.0).tolist() == [0.0, 0.0, 2.0, 2.0, 2.0, 1.5, 3.0]
    assert play(d, 0.0).tolist() == d.tolist()


def test_bearing_friction_adds_to_pressing_and_takes_from_release(ideal):
    name = read_setup("single-point")[0].surfaces[0].name
    rough = bed(bearing_friction={name: 3.0})
    extra = (rough.wrench - ideal.wrench)[:, 2]
    rate = -np.asarray(ideal.motion.velocity)[:, 2]
    deep = np.abs(ideal.wrench[:, 2]) > 10
    fast = deep & (np.abs(rate) > 1e-3)
    assert fast.sum() > 20
    # As large as it can be, against the plate's motion; it takes energy in both ways.
    assert np.abs(extra).max() <= 3.0 * (1 + 1e-12)
    assert np.mean(np.abs(extra[fast]) > 2.999) > 0.95  # less only where the spring bears less
    signs = np.sign(extra[fast]) * np.sign(rate[fast])
    assert abs(signs.sum()) == fast.sum()
    assert np.abs(extra[np.abs(ideal.wrench[:, 2]) < 1e-9]).max(initial=0) == 0


def test_backlash_presses_the_springs_less(ideal):
    setup, _ = read_setup("single-point")
    name = setup.surfaces[0].name
    loose = bed(backlash={name: 2e-4})
    change = np.abs(loose.wrench[:, 2]) - np.abs(ideal.wrench[:, 2])
    k = setup.testbed.truth[f"{name}.k"]
    assert change.max() < 1e-9
    assert_allclose(change.min(), -k * 2e-4, rtol=0.05)


def test_a_plate_pressed_in_its_middle_yields_as_16_says_and_more_elsewhere():
    middle = plate_stiffness(SPRINGS, CORNERS, [0.0, 0.0])
    assert_allclose(middle, compound_stiffness(SPRINGS), rtol=1e-12)
    # ma Sec. 3: within 5 % of the distance between springs it changes by less than 1 %.
    even = [2000.0] * 4
    near = plate_stiffness(even, CORNERS, [0.005, 0.0])
    assert 0 < 1 - near / plate_stiffness(even, CORNERS, [0, 0]) < 0.011
    assert plate_stiffness(even, CORNERS, [0.05, 0.05]) < 0.4 * 8000


def test_a_tilting_plate_is_softer_off_its_middle():
    setup, _ = read_setup("single-point")
    k = setup.testbed.truth[f"{setup.surfaces[0].name}.k"]
    own = {"springs": [k / 4] * 4, "spring_positions": CORNERS}
    straight, tilted = bed(surface=own), bed(surface=own, tilting_plates=True)
    change = np.abs(tilted.wrench[:, 2]) - np.abs(straight.wrench[:, 2])
    assert change.max() < 1e-9
    assert change.min() < -0.01


def test_static_friction_is_in_the_truth_and_not_in_what_is_asked(ideal):
    setup, _ = read_setup("single-point")
    name = setup.surfaces[0].name
    truth = dict(setup.testbed.truth) | {f"{name}.k_f": 4e4, f"{name}.s_max": 1e-3}
    sticky = bed(truth=truth)
    assert "k_f" not in setup.surfaces[0].wanted
    assert np.abs(sticky.wrench - ideal.wrench)[:, :2].max() > 0.05


def test_a_plate_with_bristles_beside_one_without():
    setup, _ = read_setup("two-point")
    truth = dict(setup.testbed.truth) | {"bottom.k_f": 2e4, "bottom.s_max": 5e-4}
    assert np.all(np.isfinite(bed("two-point", truth=truth).wrench))


def test_a_name_that_is_no_surface_is_refused():
    with pytest.raises(InputError, match="must name surfaces"):
        bed(backlash={"ceiling": 1e-4})
