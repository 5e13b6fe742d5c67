"""Friction cones: the document's edges, and membership against non-negative least squares."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import planar_state
from scipy.optimize import nnls

from stiction.motions import PolyhedralCone


def three_points(mu, rho):
    return planar_state(
        mass=1.0,
        inertia=rho**2,
        points=[[-1, -1], [1, -1], [0, -1]],
        normals=[[0, 1]] * 3,
        mu=mu,
    )


@pytest.mark.parametrize(("mu", "rho"), [(0.25, 1.0), (0.7, 0.4)])
def test_edges_of_the_three_point_example(mu, rho):
    """5.2.2 as printed."""
    expected = [
        [(mu, 1, (mu - 1) / rho), (-mu, 1, -(mu + 1) / rho)],
        [(mu, 1, (mu + 1) / rho), (-mu, 1, -(mu - 1) / rho)],
        [(mu, 1, mu / rho), (-mu, 1, -mu / rho)],
    ]
    np.testing.assert_allclose(three_points(mu, rho).sheets, expected, rtol=0, atol=1e-15)


def test_composite_cone_of_the_example_is_spanned_by_the_outer_sheets():
    state = three_points(0.25, 1.0)
    outer = state.sheets[:2].reshape(-1, 3)
    assert len(state.cone.extreme_edges()) == 4
    assert state.cone.contains(state.sheets.reshape(-1, 3)).all()
    both = PolyhedralCone.from_edges(outer)
    probe = np.random.default_rng(0).normal(size=(2000, 3))
    np.testing.assert_array_equal(state.cone.contains(probe), both.contains(probe))


whole = st.integers(-2, 2).map(float)


@settings(max_examples=300)
@given(st.lists(st.tuples(whole, whole, whole), min_size=0, max_size=7), st.data())
def test_membership_equals_non_negative_least_squares(edges, data):
    """Small whole numbers: rays, lines, sheets, wedges, half-spaces and the whole space occur."""
    edges = np.array(edges).reshape(-1, 3)
    cone = PolyhedralCone.from_edges(edges)
    forces = data.draw(st.lists(st.tuples(whole, whole, whole), min_size=1, max_size=8))
    forces = np.array(forces)
    nonzero = edges[np.any(edges != 0, axis=1)]
    for force, inside in zip(forces, cone.contains(forces), strict=True):
        miss = nnls(nonzero.T, force)[1] if len(nonzero) else np.linalg.norm(force)
        assert inside == (miss < 1e-9)


def test_dimension_and_wholeness():
    eye = np.eye(3)
    assert PolyhedralCone.from_edges(np.zeros((0, 3))).dimension == 0
    assert PolyhedralCone.from_edges(eye[:2]).dimension == 2
    assert not PolyhedralCone.from_edges(eye).everything
    assert PolyhedralCone.from_edges(np.concatenate([eye, -eye.sum(0, keepdims=True)])).everything


@pytest.mark.parametrize("depth", [0.05, 0.2999, 0.3001, 1.0])
def test_a_peg_wedges_when_the_line_between_its_contacts_lies_in_both_cones(depth):
    """Two contacts balance any force if and only if depth / width < friction."""
    state = planar_state(
        mass=1.0,
        inertia=0.4,
        center=(0.1, 0.7),
        points=[[-0.5, -depth], [0.5, 0.0]],
        normals=[[1, 0], [-1, 0]],
        mu=0.3,
    )
    assert state.cone.everything == (depth < 0.3)


def test_a_sliding_contact_has_one_edge():
    state = planar_state(
        mass=1.0, inertia=1.0, points=[[0, -1]], normals=[[0, 1]], mu=0.5, velocity=(1, 0, 0)
    )
    np.testing.assert_allclose(
        state.cone.edges, state.sheets[0, 1:] / np.linalg.norm(state.sheets[0, 1])
    )
