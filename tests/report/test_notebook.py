"""What notebooks show, without a notebook."""

import html
import re

import pytest

import stiction
from stiction._base.errors import InputError


@pytest.fixture(scope="module")
def scene():
    return stiction.scene("bouncing-ball", until=0.6, samples=31)


@pytest.fixture(scope="module")
def run(scene):
    return scene.run()


def test_a_scene_and_its_run_show_themselves(scene, run):
    assert "ball: 7 coordinates" in scene._repr_html_().replace("bouncing-ball", "ball")
    table = run._repr_html_()
    assert "A ball let go one metre above the floor" in table
    assert "1 impact" in table


def test_the_page_is_shown_in_a_frame_of_its_own(run):
    shown = run.show()._repr_html_()
    inside = html.unescape(re.search(r'srcdoc="(.*?)"', shown, re.DOTALL).group(1))
    assert inside.startswith("<!doctype html>")
    assert "stiction-player" in inside


def test_a_chart_is_drawn_by_its_name(run):
    import matplotlib.pyplot as plt

    axes = run.plot("energy")
    total = next(line for line in axes[0].lines if line.get_label() == "total")
    assert total.get_ydata() == pytest.approx(run.energy)
    plt.close("all")
    with pytest.raises(InputError, match="coordinates"):
        run.plot("coordinate")
