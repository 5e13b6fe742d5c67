"""The studio's charts: the hand stands at the time shown, legends tell the values there."""

from types import SimpleNamespace

import numpy as np
import pytest

import stiction
from stiction.report.charts import Panel
from stiction.report.run_charts import coordinate_chart
from stiction.studio.bench import Bench
from stiction.studio.plots import Plots, _limits, _scales, _with_hand, legend


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


def test_charts_reach_from_the_start_to_the_end_of_the_run(bench):
    """The browser kept the range of the part of a run that it had been shown first."""
    for chart in Plots._made(SimpleNamespace(bench=bench)).values():
        for panel in chart.panels:
            if isinstance(panel, Panel):
                assert _scales(panel, chart)["x"]["range"] == (bench.path.time[0], bench.until)
