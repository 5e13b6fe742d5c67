"""`stiction reproduce ma`: every table and figure is made, and shows what it must."""

import numpy as np
import pytest

from stiction.reproduce import ma
from stiction.reproduce.registry import entries

ITEMS = {e.item: e for e in entries("ma")}


def test_all_items_are_there():
    figures = [f"Figure {i}" for i in (*range(8, 13), *range(15, 22))]
    assert list(ITEMS) == ["Table 1", "Table 2", *figures]


@pytest.mark.slow
@pytest.mark.parametrize("item", ITEMS)
def test_item_shows_what_it_must(item):
    made = ITEMS[item].make()
    assert made.checks
    failed = [(c.claim, c.value, c.expected) for c in made.checks if not c.passed]
    assert not failed
    assert (made.figure is not None) == item.startswith("Figure")


def test_a_misprinted_test_would_be_noticed():
    """The recomputed statistics depend on every printed number."""
    wrong = ma.TABLE_1.copy()
    wrong[4, 0] += 200.0
    assert abs(ma._scatter(wrong)[0] - ma.SCATTER_1[0]) > ma.ROUNDING
    assert np.all(np.abs(ma._scatter(ma.TABLE_1) - ma.SCATTER_1) < ma.ROUNDING)
