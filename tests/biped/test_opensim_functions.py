"""Coordinate functions: their defining properties, whatever the implementation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.interpolate import CubicSpline

from stiction.biped.opensim.functions import (
    Term,
    constant,
    identity,
    natural_spline,
    simm_spline,
    tabulate,
)

X = np.array([-2.0, -1.1, -0.4, 0.3, 0.9, 2.2])
Y = np.array([0.3, -0.2, 0.5, 0.1, 0.4, -0.6])


def test_simm_spline_goes_through_its_points_with_two_derivatives():
    spline = simm_spline(X, Y)
    assert_allclose(spline(X), Y, atol=1e-14)
    for order in (1, 2):
        inner = X[1:-1]
        assert_allclose(spline(inner - 1e-9, order), spline(inner + 1e-9, order), atol=1e-6)


def test_simm_spline_ends_with_the_cubic_through_four_points():
    """[Forsythe1977]'s end condition: the third derivative is that cubic's."""
    spline = simm_spline(X, Y)
    for ends, at in ((slice(0, 4), X[0] + 1e-6), (slice(-4, None), X[-1] - 1e-6)):
        cubic = np.polyfit(X[ends], Y[ends], 3)
        assert_allclose(spline(at, 3), 6 * cubic[0], rtol=1e-8)


def test_simm_spline_reproduces_a_cubic():
    cubic = np.poly1d([0.3, -0.2, 0.5, 1.0])
    spline = simm_spline(X, cubic(X))
    x = np.linspace(-2, 2.2, 50)
    assert_allclose(spline(x), cubic(x), atol=1e-13)


@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_splines_are_straight_outside_their_points(n):
    spline = simm_spline(X[:n], Y[:n])
    for end, away in ((X[0], -1), (X[n - 1], 1)):
        slope = spline(end + 1e-12 * away, 1)
        for distance in (0.1, 1.0, 30.0):
            at = end + away * distance
            expected = spline(end) + slope * away * distance
            assert_allclose(spline(at), expected, rtol=1e-12)


def test_natural_splines_have_no_high_derivatives_at_their_ends():
    assert_allclose(
        natural_spline(X, Y, degree=3)(X), CubicSpline(X, Y, bc_type="natural")(X), atol=1e-14
    )
    x = np.linspace(-2, 2, 9)
    y = np.sin(x)
    quintic = natural_spline(x, y, degree=5)
    assert_allclose(quintic(x), y, atol=1e-12)
    for end in (-2.0, 2.0):
        for outside in (0.0, 0.3):
            at = end + np.sign(end) * (1e-9 + outside)
            assert_allclose(quintic(at, 3), 0, atol=1e-6)


@settings(max_examples=30)
@given(st.lists(st.floats(-2, 2), min_size=3, max_size=3))
def test_the_table_evaluates_every_function_at_once(q):
    polynomial = simm_spline(X, Y)
    terms = [
        constant(0.7),
        identity("b"),
        Term(polynomial, {"a": 1.0}),
        Term(polynomial, {"a": 0.5, "c": -2.0}).scaled(3.0),
    ]
    values = tabulate(terms, ("a", "b", "c"))(jnp.asarray(q))
    mixed = 0.5 * q[0] - 2 * q[2]
    expected = [0.7, q[1], polynomial(q[0]), 3 * polynomial(mixed)]
    assert_allclose(values, expected, atol=1e-12)


def test_second_derivatives_come_through_the_table():
    table = tabulate([Term(simm_spline(X, Y), {"a": 1.0})], ("a",))
    second = jax.jacfwd(jax.jacfwd(table))
    for x in (-3.0, -1.5, 0.0, 1.7, 4.0):
        expected = simm_spline(X, Y)(x, 2)
        assert_allclose(second(jnp.array([x]))[0, 0, 0], expected, atol=1e-12)
