"""The studio in a real browser: sliders, ghosts, events, two people, a token."""

import re
import subprocess
import sys

import pytest

import stiction
from report.browser import Browser, needs_chromium
from stiction.report.page import number

pytest.importorskip("viser")
pytest.importorskip("mjviser")
pytestmark = [needs_chromium, pytest.mark.slow]

SERVE = """
import sys, stiction
from stiction.studio import start_studio
scene = stiction.scene("bouncing-ball", until=1.5, samples=61)
with start_studio(scene, host=sys.argv[1], port=8931) as studio:
    print(studio.address, studio.token, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(scope="module")
def browser():
    made = Browser()
    yield made
    made.close()


@pytest.fixture(scope="module")
def served():
    yield from serve("127.0.0.1")


def serve(host):
    """A studio in a process of its own: its address and token."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, host],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    while not (line := process.stdout.readline()).startswith("http"):
        assert line, "the studio did not start"
    yield line.split()
    process.stdin.close()
    process.wait(timeout=30)


@pytest.fixture
def studio(browser, served):
    browser.errors.clear()
    page = browser.tab(width=1000, height=640)
    page.goto(served[0])
    page.get_by_text("events; ends at").wait_for()
    yield page
    page.close()


def told(page):
    return page.get_by_text("events; ends at").inner_text()


def slide(page, label, value):
    """Type a value into the field beside a slider."""
    row = page.locator("label", has_text=label).locator("xpath=ancestor::div[.//input][1]")
    field = row.locator("input").last
    field.fill(str(value))
    field.press("Enter")


def test_a_named_scene_is_shown_without_complaint(browser, studio):
    assert "A ball let go one metre above the floor" in studio.locator("body").inner_text()
    assert studio.locator("canvas").count() > 2  # the scene and its charts
    assert not browser.errors


def test_a_moved_slider_ends_where_the_command_line_ends(browser, studio):
    before = told(studio)
    slide(studio, "restitution", 0.25)
    run = stiction.scene("bouncing-ball", until=1.5, samples=61).run(contact={"restitution": 0.25})
    wanted = f"ball.z {number(float(run.q[-1][2]), 5)}"
    studio.get_by_text(wanted).wait_for()
    assert told(studio) != before
    studio.get_by_text("Undo").click()
    studio.wait_for_function(
        "(text) => document.body.innerText.includes(text)", arg=before.split("\n")[-1]
    )
    assert not browser.errors


def test_a_bad_value_is_told_and_the_run_stays(browser, studio):
    slide(studio, "friction, dynamic", 1.4)
    studio.get_by_text("Not run:").wait_for()
    assert "mu_dynamic" in studio.locator("body").inner_text()
    assert "events; ends at" in told(studio)


def test_ghosts_appear_and_tell_how_far_they_end(browser, studio):
    studio.get_by_label("ghost: compliant").check()
    studio.get_by_text(re.compile(r"compliant: ends \S+ away")).wait_for()
    assert not browser.errors


def test_an_event_seeks(browser, studio):
    first = stiction.scene("bouncing-ball", until=1.5, samples=61).run().events()[0]
    studio.get_by_role("button", name="next").click()
    field = studio.locator("label", has_text="time [s]")
    field = field.locator("xpath=ancestor::div[.//input][1]").locator("input").last
    studio.wait_for_function("(e) => Number(e.value) > 0", arg=field.element_handle())
    assert float(field.input_value()) == pytest.approx(first.time, abs=1e-3)
    assert not browser.errors


def test_two_browsers_do_not_mix(browser, studio, served):
    other = browser.tab(width=1000, height=640)
    other.goto(served[0])
    other.get_by_text("events; ends at").wait_for()
    before = told(studio)
    slide(other, "restitution", 0.1)
    other.wait_for_function(
        "(text) => !document.body.innerText.includes(text)", arg=before.split("\n")[-1]
    )
    other.close()
    assert told(studio) == before  # neither changed nor ended by the other


def test_elsewhere_than_on_this_machine_a_token_is_asked_for(browser):
    for address, token in serve("127.0.0.2"):
        page = browser.tab(width=1000, height=640)
        page.goto(address)
        page.get_by_role("button", name="Enter").wait_for()
        assert "events; ends at" not in page.locator("body").inner_text()
        slide(page, "token", "guess")
        page.get_by_role("button", name="Enter").click()
        page.get_by_text("Not the token").wait_for()
        slide(page, "token", token)
        page.get_by_role("button", name="Enter").click()
        page.get_by_text("events; ends at").wait_for()
        page.close()
