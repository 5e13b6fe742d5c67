"""Charts: what is described is what is drawn, in the file and in the page."""

import base64
import io

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from stiction._base.errors import InputError
from stiction.report.charts import Chart, Line, Map, Panel, Timeline
from stiction.report.charts.chart import MOST_ON_MAP, spans_of, spans_where
from stiction.report.charts.draw import draw
from stiction.report.charts.markup import BUCKETS, payload, thin
from stiction.report.page import number, numbers


def unpacked(text):
    return np.frombuffer(base64.b64decode(text), "<f4")


def chart(n=50, **panel):
    x = np.linspace(0, 2, n)
    return Chart(x, [Panel("height [m]", [Line("a", x**2), Line("b", -x, "dots")], **panel)])


def test_the_page_and_the_file_have_the_same_numbers():
    described = chart()
    data = payload(described)["panels"][0]["lines"]
    axis = draw(described).axes[0]
    for line, drawn, sent in zip(described.panels[0].lines, axis.lines, data, strict=True):
        assert_array_equal(drawn.get_ydata(), line.y)
        assert_array_equal(unpacked(sent["y"]), np.float32(line.y))
        assert drawn.get_label() == sent["name"] == line.name
    plt.close("all")


def test_a_stack_is_as_high_as_its_sum():
    x = np.linspace(0, 1, 20)
    parts = [Line("a", 1 + x), Line("b", 2 - x)]
    axis = draw(Chart(x, [Panel("share", parts, stacked=True)])).axes[0]
    top = axis.collections[-1].get_paths()[0].vertices[:, 1].max()
    assert top == pytest.approx(3.0)
    plt.close("all")


def test_a_long_curve_is_thinned_and_keeps_its_extremes():
    """One sample in a million that stands out is still there."""
    x = np.linspace(0, 1, 300_000)
    y = np.sin(20 * x)
    y[123_457], y[222_222] = 9.0, -7.0
    long = Chart(x, [Panel("", [Line("a", y)])])
    kept = thin(long)
    assert len(kept) <= 4 * BUCKETS
    assert y[kept].max() == 9.0
    assert y[kept].min() == -7.0
    assert (kept[0], kept[-1]) == (0, len(x) - 1)
    assert len(unpacked(payload(long)["x"])) == len(kept)


def test_rare_peaks_do_not_flatten_the_rest():
    y = np.ones(1000)
    y[500] = 1e6
    low, high = Panel("force [N]", [Line("", y)], bulk=True).range()
    assert low < 0 < 1 < high < 10


def test_rounding_is_no_mountain():
    noise = 1e-16 * np.random.default_rng(0).normal(size=100)
    low, high = Panel("error [J]", [Line("", noise)], least=1e-8).range()
    assert high - low == pytest.approx(1e-8)
    assert Panel("", [Line("", np.arange(3.0))], least=1e-8).range() is None


@pytest.mark.parametrize("y", [np.zeros(3), np.zeros((10, 2))])
def test_a_line_of_another_length_is_refused(y):
    with pytest.raises(InputError, match="must have 10 values"):
        Chart(np.arange(10.0), [Panel("", [Line("wrong", y)])])


def test_an_axis_that_goes_back_is_refused():
    with pytest.raises(InputError, match="never decrease"):
        Chart(np.array([0.0, 2.0, 1.0]), [Panel("", [Line("a", np.zeros(3))])])


def test_spans_tell_when_a_state_changed():
    time, states = np.arange(6.0), np.array([0, 0, 1, 1, 1, 2])
    starts, ends, values = spans_of(time, states)
    assert_array_equal(starts, [0, 2, 5])
    assert_array_equal(ends, [2, 5, 5])
    assert_array_equal(values, [0, 1, 2])
    assert spans_where(time, states == 1) == [(2.0, 5.0)]
    rows = Timeline(
        {"tip": (starts, ends, values)}, {0: ("open", -2), 1: ("stick", 0), 2: ("slip", 1)}
    )
    sent = payload(Chart(time, [rows]))["panels"][0]
    assert_allclose(unpacked(sent["rows"][0][1]).reshape(-1, 3)[:, 2], values)


def test_numbers_at_rounding_level_print_as_zero():
    assert number(-3.1e-17) == "0"
    assert number(2e-10) == "2e-10"
    assert number(1e-9, scale=1e6) == "0"
    assert numbers((1e-14, -2.5)) == "0, -2.5"
    assert number(float("nan")) == "nan"


def test_a_map_has_the_same_numbers_in_the_page_and_in_the_file():
    x, y = np.linspace(0, 1, 5), np.array([0.0, 1.0, 4.0])
    values = x + y[:, None]
    values[1, 2] = np.nan
    described = Chart(x, [Map("height", y, values, "sum [1]")], "width")
    sent = payload(described)["panels"][0]
    assert_array_equal(unpacked(sent["values"]), np.float32(values).ravel())
    assert_allclose(sent["span"], [0.0, 5.0])
    assert_allclose(sent["extents"], [[-0.125, 1.125], [-0.5, 5.5]])  # half a cell around
    (drawn, *_) = draw(described).axes[0].collections
    assert_array_equal(np.ma.filled(drawn.get_array(), np.nan).reshape(3, 5), values)
    plt.close("all")


@pytest.mark.parametrize("points", [True, False])
def test_a_large_map_is_thinned_to_what_a_page_carries(points):
    n = 10 * MOST_ON_MAP if points else 700
    x = np.arange(float(n))
    large = Map("", x, x if points else x + x[:, None])
    kept, less = large.thinned(x)
    assert less.points == points
    assert less.values.size <= MOST_ON_MAP
    wanted = kept if points else kept + less.y[:, None]
    assert_array_equal(less.values, wanted)


@pytest.mark.parametrize("kind", ["points", "cells", "dots"])
def test_a_picture_of_many_points_is_a_small_file(kind, rng):
    """As shapes, 150 bytes each, a million cases made an SVG of 150 MB."""
    n = 20_000
    x = np.linspace(0, 1, n)
    panel = {
        "points": lambda: Map("y", x, rng.random(n)),
        "cells": lambda: Map("y", np.arange(100.0), rng.random((100, 200))),
        "dots": lambda: Panel("y", [Line("a", rng.random(n), "dots")]),
    }[kind]()
    figure = draw(Chart(x[:200] if kind == "cells" else x, [panel], "axis"))
    file = io.StringIO()
    figure.savefig(file, format="svg")
    plt.close("all")
    assert len(file.getvalue()) < 600_000
    assert "axis" in file.getvalue()  # words are still words
