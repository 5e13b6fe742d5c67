"""Touches read off the wrench: they bracket a plate's place, and tell it from stiffness."""

import numpy as np
import pytest
from fault_rig import FAULTS

from stiction.identify import read_setup, virtual_test
from stiction.identify.contact.from_setup import carried_inertia, contact_model
from stiction.identify.contact.parameters import model_values
from stiction.identify.fit.nuisances import nuisances_of
from stiction.identify.fit.samples import ContactProblem, take_samples
from stiction.identify.fit.touches import touch_rows
from stiction.identify.path.motion import smooth_path
from stiction.identify.path.noise import sensor_noise
from stiction.identify.path.segments import lay_out_poses

SPACING = 0.18


def rows_of(fault: str, number: int, z=None):
    """Touch rows of a single-point log, on the path of the poses, at the true parameters."""
    setup, folder = read_setup("single-point")
    recording = virtual_test(setup, folder, number=number).recording
    recording, stated = FAULTS[fault](recording, setup, np.random.default_rng(number))
    model, noise = contact_model(stated, folder), sensor_noise([recording], stated)
    nuisances = nuisances_of(stated, noise)
    problem = ContactProblem(model, noise, nuisances, carried_inertia(stated))
    track = lay_out_poses(recording, noise, SPACING)
    path = smooth_path(track, noise)
    s = take_samples(problem, recording, path, lambda _: track, SPACING, np.zeros(2))
    theta = np.asarray(model_values(model, setup.testbed.truth))
    none = np.zeros(len(nuisances.tolerance))
    place = {g.name: g.place for g in nuisances.groups}
    J, r = touch_rows(problem, [s], [path], theta, none if z is None else z(none, place), SPACING)
    return J[:, len(theta) :], r, place


def test_a_touch_brackets_the_surface():
    """Off by its own error, no more, and not one-sided: of the places of 12 touches."""
    found = [rows_of("none", i)[1] for i in range(12)]
    assert [len(r) for r in found] == [1] * 12
    r = np.concatenate(found)
    assert np.abs(r).max() < 3
    assert abs(r.mean()) < 3 / np.sqrt(12)


def test_a_plate_that_is_off_shifts_them():
    """By what it is off: the setup says that the plate lies 0.2 mm lower than it does."""
    for i in range(4):
        (J, r, place), (_, clean, _) = rows_of("plates 0.2 mm off", i), rows_of("none", i)
        by_plate = J[0, place["plates"]][0]
        assert (clean[0] - r[0]) / by_plate == pytest.approx(2e-4, rel=0.05)


@pytest.mark.parametrize("name", ["plates", "size", "tool_offset", "frame_turn", "delay", "rate"])
def test_derivatives_are_differences(name):
    J, _, place = rows_of("none", 3)
    i = place[name].start + {"tool_offset": 2, "frame_turn": 1}.get(name, 0)
    step = {"plates": 1e-6, "size": 1e-4, "tool_offset": 1e-6}.get(name, 1e-4)

    def moved(sign):
        def z(none, _):
            out = none.copy()
            out[i] = sign * step
            return out

        return rows_of("none", 3, z)[1][0]

    assert (moved(1) - moved(-1)) / (2 * step) == pytest.approx(J[0, i], rel=0.03)
