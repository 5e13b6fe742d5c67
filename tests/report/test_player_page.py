"""The player in a real browser: what is seen and what the controls do."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from stiction.report.page import Report
from stiction.report.player import Animation, Mark, Shape

from .browser import Browser, needs_chromium

pytestmark = [needs_chromium, pytest.mark.slow]


@pytest.fixture(scope="module", params=[True, False], ids=["webgl", "canvas"])
def browser(request):
    """One browser that draws with WebGL (in software) and one that has none."""
    made = Browser(webgl=request.param)
    yield made
    made.close()


def three_balls(**options):
    """Red left, green right, blue above; the blue one sinks."""
    time = np.linspace(0, 1, 61)
    positions = np.zeros((61, 3, 3))
    positions[:, :2] = [(-1, 0, 0.3), (1, 0, 0.3)]
    positions[:, 2, 2] = 1.6 - 0.5 * time
    quaternions = np.tile([1.0, 0, 0, 0], (61, 3, 1))
    colors = [(0.9, 0.1, 0.1, 1), (0.1, 0.7, 0.1, 1), (0.1, 0.2, 0.9, 1)]
    shapes = [Shape("sphere", [0.2], c, b) for b, c in enumerate(colors)]
    return Animation(time, shapes, positions, quaternions, view="side", **options)


def page(folder, *animations):
    report = Report("Balls")
    for animation in animations:
        report.animation(animation)
    return report.write(folder / "page.html")


def center_of(image, channel):
    """Middle of the pixels in which one colour is far above the others, as (right, up)."""
    others = [c for c in range(3) if c != channel]
    strong = image[..., channel] - image[..., others].max(axis=-1) > 0.25
    rows, columns = np.nonzero(strong)
    assert len(rows) > 200
    return np.array([columns.mean(), -rows.mean()])


def centers(browser):
    browser.settle()
    box = browser.run("""(({left, top, width, height}) => [left, top, width, height])(
        document.querySelector(".sp-stage").getBoundingClientRect())""")
    left, top, width, height = map(round, box)
    image = browser.picture()[top : top + height, left : left + width]
    return [center_of(image, c) for c in range(3)]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_things_are_seen_where_they_are(browser, tmp_path, dark):
    browser.open(page(tmp_path, three_balls()), dark=dark)
    red, green, blue = centers(browser)
    metre = (green - red)[0] / 2
    assert metre > 80  # fills a good part of the picture
    # Shading shifts a ball's middle by a few pixels; the camera looks down by 0.1 rad.
    assert_allclose((green - red)[1], 0, atol=4)
    assert_allclose(blue - (red + green) / 2, [0, 1.3 * metre * np.cos(0.1)], atol=8)
    corner = browser.picture()[5, 5].mean()
    assert corner < 0.3 if dark else corner > 0.7
    press(browser, "End")
    assert_allclose(centers(browser)[2] - blue, [0, -0.5 * metre * np.cos(0.1)], atol=8)


def press(browser, key, **more):
    """A key on the player, and the time that it shows thereafter."""
    options = {"key": key, "bubbles": True} | more
    browser.run(f"""document.querySelector(".stiction-player").dispatchEvent(
        new KeyboardEvent("keydown", {json.dumps(options)}))""")
    browser.settle()
    return shown_time(browser)


def shown_time(browser):
    return float(browser.run("document.querySelector('.sp-track').getAttribute('aria-valuenow')"))


EVENTS = [Mark(0.2, "impact"), Mark(0.5, "stick", "left heel"), Mark(0.8, "impact")]


def test_keys_step_jump_and_play(browser, tmp_path):
    browser.open(page(tmp_path, three_balls(events=EVENTS), three_balls()))
    assert browser.run("document.querySelectorAll('.sp-stage canvas').length") == 2
    assert shown_time(browser) == 0
    assert press(browser, "ArrowRight") == pytest.approx(1 / 60, abs=1e-3)
    assert press(browser, "ArrowLeft") == 0
    assert press(browser, "ArrowLeft") == 0
    jumps = [press(browser, "ArrowRight", shiftKey=True) for _ in range(4)]
    assert jumps == [0.2, 0.5, 0.8, 0.8]
    assert press(browser, "ArrowLeft", shiftKey=True) == 0.5
    assert press(browser, "End") == 1
    assert press(browser, "Home") == 0
    speed = "document.querySelector('.sp-speed').value"
    press(browser, "ArrowDown")
    assert browser.run(speed) == "0.5"
    press(browser, "ArrowUp")
    press(browser, "ArrowUp")
    press(browser, "ArrowUp")
    press(browser, "ArrowUp")
    assert browser.run(speed) == "4"
    assert press(browser, " ") < 1
    for _ in range(40):  # a busy machine draws few pictures, and time goes on with them
        browser.wait(0.5)
        if shown_time(browser) == 1:
            break
    browser.wait(0.5)
    assert shown_time(browser) == 1  # 1 s at 4 times the speed is over, and stays over
    press(browser, "ArrowDown")
    press(browser, "ArrowDown")
    press(browser, " ")  # again, from the start
    browser.wait(0.3)
    paused = press(browser, " ")
    assert 0 < paused < 1
    browser.wait(0.2)
    assert shown_time(browser) == paused


def test_mouse_scrubs_explains_turns_and_zooms(browser, tmp_path):
    browser.open(page(tmp_path, three_balls(events=EVENTS)))
    left, top, width = browser.run("""(({left, top, width}) => [left, top, width])(
        document.querySelector(".sp-track").getBoundingClientRect())""")
    y = top + 10
    mouse = browser.page.mouse
    mouse.move(left + 0.5 * width, y)
    assert browser.run("document.querySelector('.sp-tip').textContent") == (
        "0.5000 s  stick: left heel"
    )
    mouse.move(left + 0.25 * width, y)
    mouse.down()
    mouse.move(left + 0.75 * width, y)
    mouse.up()
    red, green, blue = centers(browser)
    assert shown_time(browser) == pytest.approx(0.75, abs=0.01)
    assert browser.run("document.querySelector('.sp-legend').textContent") == "impact 2stick 1"

    # A wheel over a player that has the focus brings things nearer; dragging turns them round.
    browser.run("document.querySelector('.stiction-player').focus()")
    mouse.move(450, 300)
    mouse.wheel(0, -150)
    near_red, near_green, _ = centers(browser)
    assert (near_green - near_red)[0] == pytest.approx(1.25 * (green - red)[0], rel=0.05)
    mouse.down()
    mouse.move(500, 300)
    mouse.up()
    turned_red, turned_green, _ = centers(browser)
    assert 0 < (turned_green - turned_red)[0] < 0.95 * (near_green - near_red)[0]
    assert press(browser, "r") == pytest.approx(0.75, abs=0.01)
    assert_allclose(centers(browser), [red, green, blue], atol=2)
    assert not browser.errors
