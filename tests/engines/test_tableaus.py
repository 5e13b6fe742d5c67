"""The numbers of the Runge-Kutta methods are those that diffrax has."""

import diffrax
import numpy as np
import pytest

from stiction.engines.tableaus import TABLEAUS

PEERS = {"tsit5": diffrax.Tsit5, "dopri5": diffrax.Dopri5, "dopri8": diffrax.Dopri8,
         "kvaerno5": diffrax.Kvaerno5}  # fmt: skip


@pytest.mark.parametrize("name", PEERS)
def test_numbers_are_those_of_diffrax(name):
    mine, theirs = TABLEAUS[name], PEERS[name].tableau
    np.testing.assert_array_equal(mine.b_error, theirs.b_error)
    np.testing.assert_array_equal(mine.nodes, [0.0, *theirs.c])
    for i, row in enumerate(theirs.a_lower):
        np.testing.assert_array_equal(mine.a[i + 1, : len(row)], row)
    diagonal = 0 * mine.b_error if theirs.a_diagonal is None else theirs.a_diagonal
    np.testing.assert_array_equal(np.diag(mine.a), diagonal)


@pytest.mark.parametrize("name", PEERS)
def test_stages_are_at_their_nodes(name):
    """Each row of a sums to its node, and the errors to zero."""
    t = TABLEAUS[name]
    np.testing.assert_allclose(t.a.sum(axis=1), t.nodes, atol=1e-13)
    assert abs(t.b_error.sum()) < 1e-13
