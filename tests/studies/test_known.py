"""Studies whose answer is known beforehand."""

import numpy as np
import pytest
import xarray as xr
from scipy import stats
from scipy.special import lambertw

from stiction._base.errors import RunError
from stiction.studies import make_design, outcome_of, probability, sobol_indices, study
from stiction.studies.outcomes import usual_outcomes


def restitution(alpha, speed):
    """Of a Hunt-Crossley impact, as `stiction restitution` finds it."""
    from stiction.laws import impact

    return {"restitution": float(impact.restitution(speed, 1.5 * alpha))}


def test_restitution_over_random_impacts_is_the_closed_form_in_every_case():
    """1 - d v_o = -W0(-(1 + d v) exp(-(1 + d v))), from d (v + v_o) = ln((1 + d v)/(1 - d v_o))."""
    design = make_design(["alpha~loguniform(0.01, 10)", "speed~loguniform(0.01, 10)"], cases=400)
    found = study(restitution, design, workers=1, block=100).dataset()
    dv = 1.5 * found["alpha"] * found["speed"]
    exact = (1 + lambertw(-(1 + dv) * np.exp(-(1 + dv))).real) / dv
    error = np.abs(found["restitution"] - exact)
    small = dv < 1e-3  # there the closed form itself loses digits
    assert np.all(error[~small] < 1e-9)
    assert np.all(error[small] < 1e-4)


def additive(a, b, c):
    """Variances 9, 4 and 1 twelfths, and no interaction."""
    return 3 * a + 2 * b + c


def interacting(a, b):
    """a b on [-1, 1]²: nothing of the first order, everything in the interaction."""
    return a * b


def test_sobol_indices_of_an_additive_function():
    design = make_design(["a=0..1", "b=0..1", "c=0..1"], cases=512, sampler="saltelli")
    found = study(additive, design, workers=1, block=512).dataset()
    for index in sobol_indices(found["value"], list(design.targets)):
        truth = {"a": 9, "b": 4, "c": 1}[index.number] / 14
        assert index.first == pytest.approx(truth, abs=0.01)
        assert index.total == pytest.approx(truth, abs=0.01)
        assert index.first_interval[0] <= truth <= index.first_interval[1]
        assert index.total_interval[0] <= truth <= index.total_interval[1]


def test_sobol_indices_are_those_of_scipy(rng):
    """Which takes only powers of 2; rows with a failed case are left out here."""
    values = rng.normal(size=(5, 64)) + rng.normal(size=64)
    oracle = stats.sobol_indices(
        func={"f_A": values[:1], "f_B": values[1:2], "f_AB": values[2:, None]}, n=64
    )
    outcome = xr.DataArray(values, dims=("matrix", "sample"))
    for index in sobol_indices(outcome, ["a", "b", "c"]):
        i = "abc".index(index.number)
        assert index.first == pytest.approx(np.ravel(oracle.first_order)[i], abs=1e-12)
        assert index.total == pytest.approx(np.ravel(oracle.total_order)[i], abs=1e-12)
    failed = np.concatenate([values, np.full((5, 3), np.nan)], axis=1)
    again = sobol_indices(xr.DataArray(failed, dims=("matrix", "sample")), ["a", "b", "c"])
    assert again == sobol_indices(outcome, ["a", "b", "c"])


def test_sobol_indices_of_an_interaction():
    design = make_design(["a=-1..1", "b=-1..1"], cases=1024, sampler="saltelli")
    found = study(interacting, design, workers=1, block=1024).dataset()
    for index in sobol_indices(found["value"], list(design.targets)):
        assert index.first == pytest.approx(0, abs=0.05)
        assert index.total == pytest.approx(1, abs=0.05)


BOX = """
title = "A box dropped on an edge"
until = 4.0  # near its balance it falls slowly
[mechanism]
file = '''<mujoco model="box"><option gravity="0 0 -9.81"/><worldbody>
  <geom name="floor" type="plane" size="2 2 .1" contype="0" conaffinity="0"/>
  <body name="box"><joint name="x" type="slide" axis="1 0 0"/>
  <joint name="z" type="slide" axis="0 0 1"/><joint name="tilt" type="hinge" axis="0 1 0"/>
  <geom type="box" size=".1 .05 .2" contype="0" conaffinity="0"/>
  <site name="a" pos="-.1 0 -.2"/><site name="b" pos=".1 0 -.2"/>
  <site name="c" pos="-.1 0 .2"/><site name="d" pos=".1 0 .2"/></body></worldbody></mujoco>'''
[start]
q = [0.0, 0.25, 0.0]
[contact]
points = ["a", "b", "c", "d"]
restitution = 0.0
mu_static = 2.0
mu_dynamic = 2.0
"""


def test_probability_of_tipping_of_a_dropped_box(cases):
    """Dropped without spin on a floor where it sticks and does not rebound, it tips if its centre
    is beyond the corner: tilted by more than atan(0.1 / 0.2), which is decided before it falls.
    """
    import stiction

    scene = stiction.scene(BOX)
    design = make_design(["start.q.tilt=0.2..1.2"], cases=cases(5000), sampler="random", seed=2)
    made = study(scene, design, workers=1)
    answer = made.ask("final.z < 0.15")
    edge = np.arctan(0.5)
    tilted = design.values(0, design.count)["start.q.tilt"] > edge
    fell = made.dataset()["final_q"].sel(coordinate="z").values < 0.15
    assert answer.failed == 0
    assert np.array_equal(fell, tilted)
    assert answer.low <= 1.2 - edge <= answer.high
    many = make_design(["start.q.tilt=0.2..1.2"], cases=100_000, sampler="random", seed=3)
    assert answer.low <= np.mean(many.values(0, 100_000)["start.q.tilt"] > edge) <= answer.high
    assert answer == probability(design.count, int(fell.sum()))


def results_of(rng, **variables):
    """Results of 2 + 2 matrices of 64 samples: single numbers, or those of two laws."""
    dims = ("matrix", "sample")
    data = {"status": (dims, np.ones((4, 64), np.int8))}
    for name, (values, units) in variables.items():
        own = (*dims, "law") if values.ndim == 3 else dims
        data[name] = own, values, {"units": units}
    return xr.Dataset(data, {"law": ["newton", "poisson"]})


def test_nothing_matters_for_energies_that_differ_by_rounding(rng):
    """A rod at rest had Sobol indices of its energy, 1e-30 J, above 1."""
    noise, fall = 1e-30 * rng.normal(size=(4, 64)), rng.random((4, 64))
    known = {"energy_initial": (0 * fall + 13.8, "J"), "rest_time": (fall, "s")}
    results = results_of(rng, **known, energy_final=(noise, "J"), friction_loss=(1e20 * noise, "J"))
    assert usual_outcomes(results) == ["rest_time"]
    with pytest.raises(RunError, match="the same in nearly all cases"):
        sobol_indices(outcome_of(results, "energy_final"), ["a", "b"])
    without = results.drop_vars("energy_initial")  # of a user's own function nothing is known
    assert "energy_final" in usual_outcomes(without)


def test_entries_are_shown_where_single_numbers_do_not_differ(rng):
    energy = np.stack([rng.random((4, 64)), np.full((4, 64), 2.0)], axis=-1)
    time = np.full((4, 64), 0.5)
    results = results_of(rng, impact_time=(time, "s"), kinetic_after=(energy, "J"))
    assert usual_outcomes(results) == ["kinetic_after.newton"]
