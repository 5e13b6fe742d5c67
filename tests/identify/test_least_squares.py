"""Least squares: exact factors, ill conditioning, bounds, outliers, recursion."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from stiction._base.errors import InputError
from stiction.identify import RecursiveLeastSquares, solve
from stiction.identify.fit.least_squares import covariance, orthogonal_factor, scaled_condition


def tall(rng, rows=50_000, columns=4, spread=1.0):
    A = rng.normal(size=(rows, columns)) * np.geomspace(1, spread, columns)
    return A, A @ np.arange(1.0, columns + 1) + rng.normal(size=rows)


def test_factor_is_householders(rng):
    """The fast factor equals LAPACK's to rounding, up to signs."""
    A, b = tall(rng, spread=1e6)
    R, z = orthogonal_factor(A, b)
    full = np.linalg.qr(np.column_stack([A, b]), mode="r")
    signs = np.sign(np.diag(full)[:4]) * np.sign(np.diag(R))
    np.testing.assert_allclose(signs[:, None] * R, full[:4, :4], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(signs * z, full[:4, 4], rtol=1e-9, atol=1e-9)


def test_rows_that_differ_from_the_sampled_ones_do_not_spoil_the_factor(rng):
    """The first QR sees every n-th row; here the others hold almost all of one column."""
    A, b = tall(rng)
    step = len(A) // (64 * 4)
    A[::step, 2] *= 1e-9
    R, _ = orthogonal_factor(A, b)
    np.testing.assert_allclose(R.T @ R, A.T @ A, rtol=1e-10, atol=1e-6)


def test_ill_conditioning_costs_digits_once_not_twice():
    """A polynomial of degree 9: condition 1e7 or so. Normal equations lose it, this does not."""
    t = np.linspace(0, 1, 100_000)
    A = np.vander(t, 10)
    b = A @ np.ones(10)
    condition = scaled_condition(A)
    error = np.max(np.abs(solve(A, b).x - 1))
    normal = np.max(np.abs(np.linalg.solve(A.T @ A, A.T @ b) - 1))
    assert error < 50 * condition * np.finfo(float).eps
    assert normal > 1e3 * error


def test_missing_rank_is_named(rng):
    A, b = tall(rng, columns=3)
    A = np.column_stack([A, A[:, 0] - 2 * A[:, 1], np.zeros(len(A))])
    found = solve(A, b)
    assert found.blind.shape[1] == 2
    std = np.sqrt(np.diag(covariance(found.root)))
    assert np.isinf(std[[0, 1, 3, 4]]).all()
    assert np.isfinite(std[2])
    alone = np.sqrt(np.diag(covariance(solve(A[:, :3], b).root)))[2]
    assert std[2] == pytest.approx(alone, rel=1e-6)


def test_covariance_is_that_of_repeated_experiments(rng):
    A = rng.normal(size=(200, 3)) @ np.array([[1, 0.9, 0], [0, 1, 0.5], [0, 0, 1]])
    b = rng.normal(size=(4000, 200))
    x = np.linalg.lstsq(A, b.T, rcond=None)[0]
    np.testing.assert_allclose(covariance(solve(A, b[0]).root), np.cov(x), rtol=0.12, atol=2e-4)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_bounded_fit_is_the_minimum(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(30, 4))
    b = A @ rng.normal(size=4) + 0.1 * rng.normal(size=30)
    positive = np.array([True, True, True, False])
    lower = np.where(positive, 0.0, -np.inf)
    expected = lsq_linear(A, b, bounds=(lower, np.inf), tol=1e-12).x
    np.testing.assert_allclose(solve(A, b, positive=positive).x, expected, atol=1e-6)


@pytest.mark.parametrize("loss", ["huber", "tukey"])
def test_outliers_lose_their_weight(loss, rng):
    A, b = tall(rng, rows=3000, columns=3)
    bad = rng.choice(len(b), 300, replace=False)
    b[bad] += 100.0
    plain, robust = solve(A, b).x, solve(A, b, loss=loss).x
    truth = np.arange(1.0, 4.0)
    assert np.max(np.abs(robust - truth)) < 0.1
    assert np.max(np.abs(robust - truth)) < 0.3 * np.max(np.abs(plain - truth))


def test_recursive_equals_batch(rng):
    """After the same rows, to 1e-9, by single rows, by samples of six and by the compiled scan."""
    A, b = tall(rng, rows=3000, columns=3, spread=1e4)
    batch = solve(A, b).x
    one, six, many = (RecursiveLeastSquares(3) for _ in range(3))
    for row, value in zip(A, b, strict=True):
        one.update(row, value)
    for i in range(0, len(b), 6):
        six.update(A[i : i + 6], b[i : i + 6])
    many.update_many(A, b)
    for found in (one, six, many):
        np.testing.assert_allclose(found.estimate, batch, rtol=1e-9)
    full = solve(A, b)
    assert one.residual == pytest.approx(np.sqrt(full.squares), rel=1e-9)
    np.testing.assert_allclose(one.std, np.sqrt(np.diag(covariance(full.root))), rtol=1e-9)


def test_forgetting_weighs_rows_by_their_age(rng):
    A, b = tall(rng, rows=400, columns=3)
    fade = 0.98
    rls = RecursiveLeastSquares(3, forgetting=fade)
    rls.update_many(A, b)
    w = np.sqrt(fade ** np.arange(len(b) - 1, -1, -1))
    np.testing.assert_allclose(rls.estimate, solve(A * w[:, None], b * w).x, rtol=1e-9)


def test_forgetting_follows_a_change(rng):
    A = rng.normal(size=(4000, 2))
    truth = np.where(np.arange(4000)[:, None] < 2000, [1.0, 2.0], [3.0, -1.0])
    b = np.sum(A * truth, axis=1)
    rls = RecursiveLeastSquares(2, forgetting=0.98)
    rls.update_many(A, b)
    np.testing.assert_allclose(rls.estimate, [3.0, -1.0], atol=1e-6)


def test_an_undetermined_estimate_is_nan():
    rls = RecursiveLeastSquares(2)
    rls.update(np.array([1.0, 2.0]), np.array(1.0))
    assert np.all(np.isnan(rls.estimate))
    with pytest.raises(InputError, match="`forgetting` must lie in"):
        RecursiveLeastSquares(2, forgetting=1.5)
