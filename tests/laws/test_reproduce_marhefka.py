"""Every figure of marhefka shows what it must."""

import pytest

from stiction.reproduce.registry import entries


@pytest.mark.slow
@pytest.mark.parametrize("entry", entries("marhefka"), ids=lambda e: e.item)
def test_figure(entry):
    made = entry.make()
    assert made.figure is not None
    assert made.checks
    assert [c.claim for c in made.checks if not c.passed] == []
