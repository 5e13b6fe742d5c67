"""Noise-free logs give the parameters exactly, whatever touches what and whatever is asked."""

from dataclasses import replace

import numpy as np
import pytest
from rigs import record, star_setup

from stiction.identify import identify

# Rates come from a spline of degree 7 through samples 1 ms apart; what is left is its error.
EXACT = 1e-8

RIGS = {
    "one point": {"bottom": "steel"},
    "two surfaces": {"right": "brass", "bottom": "steel"},
    "three surfaces": {"right": "brass", "far": "rubber", "bottom": "steel"},
    "five points, one material": dict.fromkeys(("right", "left", "far", "near", "bottom"), "brass"),
    "five points, three surfaces": {
        "right": "brass", "left": "brass", "far": "rubber", "near": "rubber", "bottom": "steel",
    },
}  # fmt: skip


def worst(found, truth) -> float:
    return max(abs(found.parameters[n].value / v - 1) for n, v in truth.items())


@pytest.mark.parametrize("name", RIGS)
def test_parameters_are_exact(name):
    setup = star_setup(RIGS[name])
    found = identify([record(setup)], setup)
    assert found.method == "least-squares"
    assert worst(found, setup.testbed.truth) < EXACT
    assert np.max(np.sum(found.traces[0].touched, axis=1)) == len(RIGS[name])


@pytest.mark.parametrize(
    ("wanted", "truth"),
    [
        (("k", "c", "mu", "lambda"), {"k": 2.1e5, "c": 300.0, "mu": 0.3, "lambda": 1.5}),
        (("k", "alpha", "mu"), {"k": 9e3, "alpha": 0.4, "mu": 0.3}),
        (("k", "alpha", "lambda"), {"k": 4e5, "alpha": 0.7, "lambda": 1.7}),
        (("k", "c", "mu", "offset"), {"k": 9e3, "c": 300.0, "mu": 0.3, "offset": 4e-4}),
    ],
    ids=["exponent", "Hunt-Crossley", "exponent and Hunt-Crossley", "misplaced plate"],
)
def test_nonlinear_parameters_are_exact_too(wanted, truth):
    """Variable projection ends at the truth, not near it."""
    named = {f"steel.{n}": v for n, v in truth.items()}
    start = {"exponent": 1.2} if "lambda" in wanted else {}
    setup = star_setup({"bottom": "steel"}, wanted=wanted, truth=named)
    surface = setup.surfaces[0].model_copy(update=start)
    setup = setup.model_copy(update={"surfaces": [surface]})
    found = identify([record(setup)], setup)
    assert worst(found, named) < 1e-7  # λ and k are nearly interchangeable: a digit less


def test_friction_of_the_whole_normal_force():
    """(4) rather than (6): friction on spring and damper alike."""
    setup = star_setup({"bottom": "steel"})
    surface = setup.surfaces[0].model_copy(update={"friction_of": "normal"})
    setup = setup.model_copy(update={"surfaces": [surface]})
    found = identify([record(setup)], setup)
    assert worst(found, setup.testbed.truth) < EXACT


@pytest.mark.parametrize("gravity", [[0.0, 0.0, 0.0], [0.0, 0.0, -9.81]])
def test_inertia_is_taken_off(gravity):
    """A sensor on the wrist also feels the peg (24); left in, it spoils the damping."""
    setup = star_setup(
        {"right": "brass", "bottom": "steel"},
        wrench__frame="body",
        wrench__point=[0.0, 0.0, 0.1],
        inertia={
            "mass": 2.0,
            "center": [0.0, 0.01, 0.02],
            "matrix": [[3e-3, 1e-4, 0.0], [1e-4, 2e-3, 0.0], [0.0, 0.0, 1e-3]],
            "gravity": gravity,
        },
    )
    recording = record(setup)
    # Second derivatives of the spline are one power of the step worse than first ones.
    assert worst(identify([recording], setup), setup.testbed.truth) < 1e-6
    without = setup.model_copy(update={"inertia": None})
    assert worst(identify([recording], without), setup.testbed.truth) > 1e-3


def test_measured_velocities_are_used_as_they_are():
    """With rates in the log even 50 Hz, too coarse to differentiate, is exact."""
    setup = star_setup(
        {"bottom": "steel"},
        bed={"motion_rate": 50.0, "wrench_rate": 50.0},
        pose__velocity=["vx", "vy", "vz"],
        pose__angular_velocity=["wx", "wy", "wz"],
    )
    assert worst(identify([record(setup)], setup), setup.testbed.truth) < EXACT


def test_clocks_of_different_rates_are_brought_together():
    setup = star_setup({"bottom": "steel"}, bed={"motion_rate": 450.0, "wrench_rate": 1000.0})
    assert worst(identify([record(setup)], setup), setup.testbed.truth) < 1e-6


def test_a_known_delay_is_taken_off_and_an_unknown_one_found():
    late = 0.0337
    known = star_setup({"bottom": "steel"}, bed={"delay": late}, wrench__delay=late)
    shifted = record(known)
    # `record` gives the wrench's own clock; reading a log takes a known delay off.
    on_time = replace(shifted, wrench_time=shifted.wrench_time - late)
    assert worst(identify([on_time], known), known.testbed.truth) < EXACT
    unknown = star_setup({"bottom": "steel"}, bed={"delay": late}, wrench__delay="estimate")
    found = identify([shifted], unknown)
    assert abs(found.notes["delay"] - late) < 2e-5  # a fiftieth of a sample
    assert worst(found, unknown.testbed.truth) < 1e-2


def test_bristles_and_the_switch_between_holding_and_sliding():
    """k_f, μ and s_max from one test (22, 23): the switch is found, not given."""
    truth = {"k": 8000.0, "c": 400.0, "mu": 0.2, "k_f": 12000.0, "s_max": 1.1e-3}
    named = {f"steel.{n}": v for n, v in truth.items()}
    back_and_forth = [
        [0.0, 0.000, 0.000, 0.0010, 0, 0, 0],
        [0.3, 0.000, 0.000, -0.0040, 0, 0, 0],
        [0.7, 0.004, 0.001, -0.0045, 0, 0, 0],
        [1.1, -0.003, 0.002, -0.0040, 0, 0, 0],
        [1.5, 0.004, -0.001, -0.0050, 0, 0, 0],
        [1.9, 0.003, -0.003, -0.0040, 0, 0, 0],
        [2.2, 0.003, -0.003, 0.0010, 0, 0, 0],
    ]
    setup = star_setup(
        {"bottom": "steel"},
        wanted=("k", "c", "mu", "k_f", "mu_s"),
        truth=named,
        waypoints=back_and_forth,
    )
    found = identify([record(setup)], setup)
    assert worst(found, {n: v for n, v in named.items() if not n.endswith("s_max")}) < 1e-5
    mu_s = found.parameters["steel.mu_s"].value
    # At break-away the bristle pulls with k_f s_max; the spring pushes with k d, d about 9.5 mm.
    assert mu_s == pytest.approx(12000 * 1.1e-3 / (8000 * 9.6e-3), rel=0.15)


def test_several_tests_are_fitted_together_and_alone():
    setup = star_setup({"bottom": "steel"}, bed={"repeatability": 2e-4})
    found = identify([record(setup, i) for i in range(3)], setup)
    assert [t["test"] for t in found.tests] == ["test-01", "test-02", "test-03"]
    for test in found.tests:
        assert test["steel.k"] == pytest.approx(setup.testbed.truth["steel.k"], rel=EXACT)
