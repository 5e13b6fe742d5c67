"""The studio's charts: the hand stands at the time shown, legends tell the values there."""

import numpy as np
import pytest

import stiction
from stiction.report.run_charts import coordinate_chart
from stiction.studio.bench import Bench
from stiction.studio.plots import _limits, _with_hand, legend


@pytest.fixture(scope="module")
def bench():
    return Bench(stiction.scene("bouncing-ball", until=1.5, samples=61))


@pytest.mark.parametrize("t", [0.0, 0.1234, 1.5])
def test_the_hand_stands_at_the_time_and_bends_no_curve(bench, t):
    chart = coordinate_chart(bench.run, bench.path)
    panel = chart.panels[0]
    x, *curves, hand = _with_hand(panel, chart, t)
    low, high = _limits(panel, curves)
    assert np.all(np.diff(x) >= 0)
    (k,) = np.flatnonzero(hand == high)
    assert x[k - 1] == x[k] == x[k + 1] == t
    assert np.all(np.delete(hand, k) < low)  # nowhere else in sight
    for line, curve in zip(panel.lines, curves, strict=True):
        assert curve[k] == pytest.approx(np.interp(t, chart.x, np.asarray(line.y)))


def test_legends_tell_the_values_of_the_time(bench):
    chart = coordinate_chart(bench.run, bench.path)
    assert "ball.z 1.05 " in legend(chart.panels[0], chart, 0.0).replace("<", " <")
    assert "ball.x" not in legend(chart.panels[0], chart, 0.0)  # it is zero all the time


def test_ghosts_of_the_same_law_are_not_apart(bench):
    bench.ghosts["again"] = bench.run
    assert np.abs(bench.apart()["again"]).max() == 0.0
    bench.ghosts.clear()
