"""The page of a run in a real browser: clock, charts, events, folding, small and dark screens."""

import re

import numpy as np
import pytest

import stiction
from stiction.report.charts import Chart, Line, Map, Panel
from stiction.report.page import Report
from stiction.report.player import Animation, Mark, Shape
from stiction.report.run import run_page

from .browser import Browser, needs_chromium

pytestmark = [needs_chromium, pytest.mark.slow]


@pytest.fixture(scope="module")
def browser():
    made = Browser()
    yield made
    made.close()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A box that is thrown, bounces and rests long before the end."""
    run = stiction.scene("box").run(until=3.0, samples=121)
    return run, run_page(run).write(tmp_path_factory.mktemp("page") / "report.html")


def player_time(browser):
    return float(browser.run("document.querySelector('.sp-track').getAttribute('aria-valuenow')"))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_fits_and_complains_of_nothing(browser, page, width, dark):
    browser.open(page[1], dark=dark, width=width, height=800)
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert not browser.errors
    lightness = browser.picture()[:, :5].mean()
    assert lightness < 0.3 if dark else lightness > 0.9
    assert browser.run("document.querySelectorAll('.stiction-chart canvas').length") > 8


def test_the_clock_is_shared(browser, page):
    """A click on a row of the events, or on a chart, sends the player there; hands follow."""
    run, path = page
    browser.open(path, width=1280, height=900)
    events = run.events()
    row = browser.page.locator("h2:has-text('Events') + .scroll tr[data-t]").nth(4)
    row.click()
    browser.settle()
    assert player_time(browser) == pytest.approx(events[4].time, abs=1e-3)
    assert "now" in row.get_attribute("class")
    fall = browser.page.locator("h2:has-text('Where the energy went') + .scroll tr[data-t]")
    fall.nth(1).click()  # the first impact
    browser.settle()
    assert player_time(browser) == pytest.approx(events[0].time, abs=1e-3)
    browser.wait(0.4)
    told = browser.page.locator(".stiction-chart").first.locator(".u-legend").inner_text()
    k = np.searchsorted(run.time, events[0].time)
    height = float(re.search(r"box\.z\s*([-\d.]+)", told)[1])
    assert height == pytest.approx(float(run.q[k][2]), abs=0.05)
    chart = browser.page.locator(".stiction-chart .u-over").first
    chart.click(position={"x": 100, "y": 50})
    browser.settle()
    scale = "[...document.querySelectorAll('.u-over')].map((u) => u.clientWidth)[0]"
    end = browser.run("Number(document.querySelector('.sp-track').getAttribute('aria-valuemax'))")
    assert player_time(browser) == pytest.approx(100 / browser.run(scale) * end, abs=0.01)
    hands = browser.run(
        "[...document.querySelectorAll('.sc-hand')].filter((h) => !h.hidden)"
        ".map((h) => new DOMMatrix(getComputedStyle(h).transform).e)"
    )
    assert len(hands) > 8
    assert np.ptp(hands[:2]) < 25  # the axes of some charts are a little wider
    assert hands[0] == pytest.approx(100, abs=1)


def test_what_follows_after_rest_is_folded(browser, page):
    run, path = page
    browser.open(path, width=1280, height=900)
    rest = stiction.engines.rest_time(run)
    end = "Number(document.querySelector('.sp-track').getAttribute('aria-valuemax'))"
    assert browser.run(end) == pytest.approx(1.05 * rest + 0.1, abs=1e-3)
    browser.page.get_by_text("after rest", exact=True).click()
    browser.settle()
    assert browser.run(end) == pytest.approx(3.0)


def test_time_slows_at_impacts(browser, page):
    run, path = page
    browser.open(path, width=1280, height=900)
    browser.run(f"stictionClock.set({run.events()[0].time - 0.001})")
    browser.settle()
    start = player_time(browser)
    browser.page.locator(".sp-play").click()
    browser.wait(0.25)
    browser.page.locator(".sp-play").click()
    browser.settle()
    assert 0 < player_time(browser) - start < 0.12  # a quarter of a second, less than half of it


def test_a_drag_zooms_all_charts_and_a_double_click_shows_all(browser, page):
    browser.open(page[1], width=1280, height=900)
    box = browser.page.locator(".stiction-chart .u-over").first.bounding_box()
    mouse = browser.page.mouse
    before = browser.page.locator(".stiction-chart").nth(1).screenshot()
    mouse.move(box["x"] + 60, box["y"] + 40)
    mouse.down()
    mouse.move(box["x"] + 200, box["y"] + 40, steps=5)
    mouse.up()
    browser.settle()
    assert browser.page.locator(".stiction-chart").nth(1).screenshot() != before
    mouse.dblclick(box["x"] + 100, box["y"] + 40)
    browser.settle()
    mouse.move(5, 5)
    browser.settle()
    assert not browser.errors


@pytest.mark.parametrize("cells", [True, False], ids=["cells", "points"])
def test_pointing_at_a_map_reads_it(browser, tmp_path, cells):
    x = np.linspace(0, 4, 5)
    y = np.linspace(0, 2, 3) if cells else np.array([0.0, 1.0, 1.5, 1.0, 2.0])
    values = x + 10 * y[:, None] if cells else x + 10 * y
    report = Report("Map")
    report.chart(Chart(x, [Map("height", y, values, "sum")], "width"))
    browser.open(report.write(tmp_path / "map.html"), width=900, height=700)
    box = browser.page.locator(".u-over").bounding_box()
    low, high = ((-0.5, 4.5), (-0.5, 2.5)) if cells else ((-0.08, 4.08), (-0.04, 2.04))
    right = box["x"] + box["width"] * (3 - low[0]) / (low[1] - low[0])
    down = box["y"] + box["height"] * (high[1] - 1) / (high[1] - high[0])
    browser.page.mouse.move(right, down)
    browser.settle()
    assert browser.page.locator(".sc-read").inner_text() == "width 3, height 1: 13"
    assert not browser.errors


def test_a_hundred_bodies_and_ten_thousand_events_stay_small_and_smooth(browser, tmp_path):
    rng, n, bodies = np.random.default_rng(0), 3000, 100
    time = np.linspace(0, 20, n)
    positions = rng.uniform(-3, 3, (bodies, 3)) + 0.3 * np.sin(time[:, None, None] + np.arange(3))
    positions[..., 2] += 4
    quaternions = np.tile([1.0, 0, 0, 0], (n, bodies, 1))
    marks = [Mark(t, "impact", "tip") for t in np.sort(rng.uniform(0, 20, 10_000))]
    impulses = np.zeros((10_000, 7))
    impulses[:, 0], impulses[:, 6] = [m.time for m in marks], 1.0
    shapes = [Shape("box", [0.1, 0.1, 0.1], None, b) for b in range(bodies)]
    forces = np.concatenate([positions, np.ones_like(positions)], axis=-1)
    more = {"events": marks, "impulses": impulses, "forces": forces}
    report = Report("Many")
    report.animation(Animation(time, shapes, positions, quaternions, **more))
    for part in (0, 2):  # and a curve for each coordinate, through all events
        lines = [Line(f"{b}", np.repeat(positions[:, b, part], 7)) for b in range(bodies)]
        report.chart(Chart(np.repeat(time, 7), [Panel("place [m]", lines)]))
    path = report.write(tmp_path / "many.html")
    assert path.stat().st_size < 5e6
    browser.open(path, width=900, height=700)
    spent = browser.run(
        """(() => {
          const player = stictionPlayer.players[0], times = [];
          for (let i = 0; i < 20; i++) {
            const start = performance.now();
            player.t = i; player.paint();
            times.push(performance.now() - start);
          }
          return times.sort((a, b) => a - b)[10];
        })()"""
    )
    assert spent < 50  # ms a picture, drawn in software: more than 20 a second
    assert not browser.errors
