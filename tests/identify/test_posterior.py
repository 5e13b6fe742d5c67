"""Laplace's test and sampling against densities with closed forms; laws told apart or not."""

import numpy as np
import pytest
from scipy import stats

from stiction.identify.fit.posterior import NOT_NORMAL, not_normal, sample
from stiction.identify.fit.ranking import rank
from stiction.identify.result import Identification, Parameter


def test_a_normal_density_passes_whatever_its_axes(rng):
    L = np.linalg.cholesky([[4.0, 1.9], [1.9, 1.0]])
    precision = np.linalg.inv(L @ L.T)
    density = lambda x: -0.5 * float((x - 3) @ precision @ (x - 3))  # noqa: E731
    assert not_normal(density, np.full(2, 3.0), L) == pytest.approx(0.0, abs=1e-9)


def test_a_skewed_density_fails():
    """Of a gamma density with shape 3 the mode is 2 and the curvature there 1/2."""
    density = lambda x: 2 * np.log(x[0]) - x[0] if x[0] > 0 else -np.inf  # noqa: E731
    assert not_normal(density, np.array([2.0]), np.array([[np.sqrt(2.0)]])) > NOT_NORMAL


def test_walkers_may_begin_where_nothing_is_possible():
    """Half of them do here; draws are those of half a normal density, without a warning."""
    density = lambda x: -0.5 * x[0] ** 2 if x[0] > 0 else -np.inf  # noqa: E731
    with np.errstate(invalid="raise"):
        draws = sample(density, np.array([0.0]), np.array([[1.0]]), count=12_000)[:, 0]
    assert draws.min() > 0
    assert np.mean(draws) == pytest.approx(np.sqrt(2 / np.pi), abs=4 * 0.6 / np.sqrt(1200))


@pytest.mark.parametrize("shape", [1.0, 3.0])
def test_draws_follow_a_gamma_density(shape):
    """Shape 1 is a density that falls from its bound on, as that of a parameter near zero."""

    def density(x):
        return (shape - 1) * np.log(x[0]) - x[0] if x[0] > 0 else -np.inf

    draws = sample(density, np.array([shape]), np.array([[1.0]]), count=12_000)[:, 0]
    # Of 12,000 draws about a tenth are independent of each other.
    error = 4 * np.sqrt(shape / 1200)
    assert np.mean(draws) == pytest.approx(shape, abs=error)
    for part in (0.025, 0.5, 0.975):
        below = float(np.mean(draws < stats.gamma.ppf(part, shape)))
        assert below == pytest.approx(part, abs=4 * np.sqrt(part * (1 - part) / 1200))


def test_draws_do_not_mind_scales():
    """A normal density a million times as long as wide."""
    density = lambda x: -0.5 * (x[0] ** 2 + (1e6 * (x[1] - 1e-6 * x[0])) ** 2)  # noqa: E731
    draws = sample(density, np.zeros(2), np.diag([1.0, 1e-6]), count=12_000)
    assert np.std(draws[:, 0]) == pytest.approx(1.0, rel=0.1)
    assert np.std(draws[:, 1] - 1e-6 * draws[:, 0]) == pytest.approx(1e-6, rel=0.1)


def test_samples_are_what_is_drawn_from():
    values = np.array([1.0, 2.0, 4.0])
    known = Parameter(2.0, 1.0, (0.5, 4.0))
    found = Identification({"mu": known}, np.eye(1), 0.0, {}, 1.0, [], "", samples={"mu": values})
    drawn = found.draws(300)["mu"]
    assert set(drawn) == set(values)


def test_laws_are_told_apart_by_the_scatter_of_their_difference(rng):
    common = 5 + rng.standard_normal(200)  # what all laws miss alike says nothing
    losses = {
        "worse": common + 1.0 + 0.5 * rng.standard_normal(200),
        "alike": common + 0.01 + 0.5 * rng.standard_normal(200),
        "best": common - 0.05,
    }
    told = rank(losses, "impacts")
    assert told.best == "best"
    assert [row["told_apart"] for row in told.rows] == [False, False, True]
    assert "cannot tell it from alike" in told.sentence
    assert "speak against worse" in told.sentence
