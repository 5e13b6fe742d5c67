"""The fragment that goes into a page: whole, well formed, and with nothing from elsewhere."""

import json
import re
from html.parser import HTMLParser

import pytest

from stiction.report.page import Report
from stiction.report.player.payload import payload

VOID = {"meta", "img", "br", "input", "link", "path"}


class Checker(HTMLParser):
    """Every element is closed in its turn; collects attributes and the text of scripts."""

    def __init__(self, text):
        super().__init__()
        self.open, self.attributes, self.scripts, self.problems = [], [], [], []
        self.feed(text)
        self.close()
        self.problems += [f"<{tag}> is not closed" for tag in self.open]

    def handle_starttag(self, tag, attrs):
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes nothing")

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)


def test_fragment_is_well_formed_and_holds_the_data(make_animation):
    a = make_animation(caption="A <caption> & more")
    page = Checker(a.to_html())
    assert not page.problems
    (data,) = [text for attributes, text in page.scripts if attributes.get("type")]
    assert json.loads(data) == payload(a)
    assert "A &lt;caption&gt; &amp; more" in a.to_html()


def test_fragment_refers_to_nothing_outside_itself(make_animation):
    text = make_animation().to_html()
    assert not re.search(r"https?:|//[a-z]+\.|url\(|@import|importScripts|fetch\(|XMLHttp", text)
    assert not [a for a in Checker(text).attributes if a[0] in ("src", "href")]


def test_words_of_an_event_cannot_end_the_script(make_animation):
    from stiction.report.player import Mark

    nasty = "</script><script>alert(1)</script>"
    a = make_animation(events=[Mark(1.0, nasty, nasty)])
    page = Checker(a.to_html())
    assert not page.problems
    assert nasty not in a.to_html()
    data = next(json.loads(t) for attributes, t in page.scripts if attributes.get("type"))
    assert data["events"]["kinds"] == [nasty]


def test_report_carries_the_player_once_for_any_number_of_animations(make_animation, tmp_path):
    report = Report("Two motions")
    report.animation(make_animation())
    report.animation(make_animation(n=20))
    text = report.write(tmp_path / "report.html").read_text()
    assert text.count("class Player") == 1
    assert text.count('class="stiction-player"') == 2
    assert not Checker(text.replace("<!doctype html>", "")).problems


def test_data_of_a_minute_with_twenty_bodies_stays_small(make_animation):
    """2000 frames x 20 bodies x 7 numbers x 4 bytes, a third more in base 64: 1.5 MB."""
    import numpy as np

    from stiction.report.player import Animation, Shape

    n = 60_000
    p, q = np.zeros((n, 20, 3)), np.tile([1.0, 0, 0, 0], (n, 20, 1))
    shapes = [Shape("sphere", [0.1], None, b) for b in range(20)]
    a = Animation(np.linspace(0, 60, n), shapes, p, q)
    assert len(a.to_html(with_player=False)) == pytest.approx(1.5e6, rel=0.03)
    assert len(a.to_html()) - len(a.to_html(with_player=False)) < 60_000
