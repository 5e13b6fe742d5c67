"""Recordings of real machines give the published values. Skipped where these are absent."""

import numpy as np
import pytest

from stiction.identify import identify_logs, read_setup
from stiction.identify.kinds import rollouts
from stiction.tables import read_table

pytestmark = pytest.mark.shared


def run(name, log):
    setup, folder = read_setup(name)
    return identify_logs([log], setup, folder)


def test_emps_axis(shared_data):
    """Within 2 % of [Janot2019]'s M, viscous and Coulomb values and 0.05 N of the offset."""
    found = run("emps", shared_data / "emps" / "DATA_EMPS.mat")
    p = {n: v.value for n, v in found.parameters.items()}
    assert p["M"] == pytest.approx(95.109, rel=0.02)
    assert p["viscous"] == pytest.approx(203.50, rel=0.02)
    assert p["coulomb"] == pytest.approx(20.394, rel=0.02)
    assert p["offset"] == pytest.approx(-3.165, abs=0.05)
    for value, published in zip(
        found.parameters.values(), (95.109, 203.50, 20.394, -3.165), strict=True
    ):
        assert value.interval[0] < published < value.interval[1]


def test_reciprocating_friction(shared_data):
    """Kinetic 0.46 ± 0.01; break-away above it; stiffness from the pre-sliding part."""
    found = run(
        "reciprocating-friction", shared_data / "friction_reciprocating" / "test_data_2.txt"
    )
    p = found.parameters
    assert p["mu"].value == pytest.approx(0.46, abs=0.01)
    assert p["mu"].std < 0.005
    assert p["mu_s"].value > p["mu"].value
    assert found.notes["breakaway_peak"] == pytest.approx(0.488, abs=0.01)
    assert found.notes["strokes"] > 80
    # The slope of force against position between -0.2 and 0.2 of the load, stroke by stroke.
    assert p["k_f"].value == pytest.approx(local_slope(found.curves), rel=0.1)


def local_slope(c) -> float:
    ratio = c["force"] / c["normal"]
    steady = c["moving"][1:] & c["moving"][:-1] & (np.abs(ratio[1:]) < 0.2)
    df, dx = np.diff(c["force"])[steady], np.diff(c["position"])[steady]
    return float(-np.sum(df * dx) / np.sum(dx * dx))


def test_oblique_impacts_of_a_sphere(shared_data):
    """μ within 0.005 of 0.092 [Kharaz2001], and both regimes of the curve."""
    found = run("oblique-impacts", shared_data / "sphere_oblique_impact")
    assert found.parameters["mu"].value == pytest.approx(0.092, abs=0.005)
    assert 0.9 < found.parameters["restitution"].value <= 1.0
    # The recording's readme puts the change of regime at about 28 degrees.
    assert found.notes["sliding_above_deg"] == pytest.approx(28, abs=4)
    for regime in ("sliding", "sticking"):
        assert found.residuals[f"tangential_restitution_{regime}"] < 0.02
        assert found.residuals[f"rebound_angle_{regime}"] < 0.5
        assert found.residuals[f"spin_{regime}"] < 25
    # The curve falls to its least value near the change of regime and rises on both sides.
    angle, fit = found.curves["angle"], found.curves["tangential_restitution.fit"]
    least = angle[np.argmin(fit)]
    assert 10 < least < 28
    assert fit[angle < 3].mean() > fit.min() + 0.1
    assert fit[angle > 55].min() > fit.min() + 0.2


def test_cube_tosses(shared_data):
    """Between 0.17 and 0.24 from the 428 development tosses, by sliding phases alone."""
    found = run("cube-tosses", shared_data / "cube_toss" / "cube_toss_dev.npz")
    mu = found.parameters["mu"]
    assert 0.17 < mu.interval[0] < mu.value < mu.interval[1] < 0.24
    # The recording's readme: free flight gives 9.61 (least squares over arcs); here a median.
    assert found.notes["gravity_of_the_recording"] == pytest.approx(9.61, abs=0.1)
    assert found.notes["tosses"] > 300


@pytest.mark.slow
def test_cube_rollouts(shared_data):
    """Every twelfth toss is enough for friction between 0.17 and 0.24, and for rollouts kept aside
    that end nearer than those of MuJoCo with its published parameters (22 % of the cube's width).
    """
    setup, folder = read_setup("cube-rollouts")
    table = read_table(shared_data / "cube_toss" / "cube_toss_dev.npz", setup.units)
    for name in ("start", "length"):
        table.columns[name] = table.columns[name][::12]
    found = rollouts.identify([table], setup, folder)
    mu = found.parameters["mu"]
    assert 0.17 < mu.interval[0] < mu.value < mu.interval[1] < 0.24
    # The recording falls with 9.61 m/s², says its readme.
    assert found.notes["length_scale"] == pytest.approx(9.81 / 9.61, rel=0.005)
    assert found.notes["errors_kept_aside"]["position_mean_m"] < 0.2 * 0.1048
