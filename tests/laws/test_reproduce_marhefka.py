"""Every figure of marhefka shows what it must."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from stiction.reproduce import foot
from stiction.reproduce.registry import entries


@pytest.mark.slow
@pytest.mark.parametrize("entry", entries("marhefka"), ids=lambda e: e.item)
def test_figure(entry):
    made = entry.make()
    assert made.figure is not None
    assert made.checks
    assert [c.claim for c in made.checks if not c.passed] == []


def test_foot_touches_once_and_lifts_once():
    """The three statements of marhefka Sec. 5, and the books."""
    run = foot.foot_contact()
    assert [what for _, what in run.events] == ["touch", "separation"]
    assert foot.LIFT < run.events[-1][0] < foot.END
    at_events = [np.interp(t, run.time, run.force) for t, _ in run.events]
    assert_allclose(at_events, 0.0, atol=1e-6 * run.force.max())
    assert run.force.min() >= 0
    support = (run.time > 0.3) & (run.time < foot.LIFT)
    assert_allclose(run.depth[support].mean(), 500 / foot.STIFFNESS, rtol=0.1)
    assert run.ledger_error < 1e-8
