"""Table 1 row by row, and each row against Coulomb's law itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stiction.motions import validity_intervals

INF = np.inf
ALWAYS, NEVER = (-INF, INF), (INF, -INF)

# v·v_f, t_c·v_f, F_i·v_f at c = 0, then I+ and I- as printed; c_i = -F/t = -2 in rows 3 and 4.
TABLE_1 = {
    1: (0.8, 0.5, 1.0, NEVER, ALWAYS),
    2: (-0.8, 0.5, 1.0, ALWAYS, NEVER),
    3: (0.0, 0.5, 1.0, (-INF, -2.0), (-2.0, INF)),
    4: (0.0, -0.5, -1.0, (-2.0, INF), (-INF, -2.0)),
    5: (0.0, 0.0, 1.0, NEVER, ALWAYS),
    6: (0.0, 0.0, -1.0, ALWAYS, NEVER),
    7: (0.0, 0.0, 0.0, ALWAYS, ALWAYS),
}


@pytest.mark.parametrize("row", TABLE_1)
def test_row_of_table_1(row):
    sliding, along, force, plus, minus = TABLE_1[row]
    got = validity_intervals(np.array([sliding]), np.array([along]), np.array([force]))
    assert tuple(got[0][0]) == plus
    assert tuple(got[1][0]) == minus


small = st.sampled_from([-1.5, -0.5, 0.0, 0.25, 2.0])


@given(small, small, small, st.floats(-10, 10))
def test_an_edge_is_valid_where_its_friction_opposes_the_sliding(sliding, along, force, c):
    """Friction along +v_f needs sliding (or, at rest, its acceleration force + c along) <= 0."""
    plus, minus = validity_intervals(np.array([sliding]), np.array([along]), np.array([force]))
    sense = sliding if sliding else force + c * along
    assert (plus[0, 0] <= c <= plus[0, 1]) == (sense <= 0)
    assert (minus[0, 0] <= c <= minus[0, 1]) == (sense >= 0)


@given(small, small, small)
def test_mirroring_exchanges_the_edges(sliding, along, force):
    plus, minus = validity_intervals(np.array([sliding]), np.array([along]), np.array([force]))
    mirrored = validity_intervals(np.array([-sliding]), np.array([-along]), np.array([-force]))
    np.testing.assert_array_equal(mirrored[0], minus)
    np.testing.assert_array_equal(mirrored[1], plus)
