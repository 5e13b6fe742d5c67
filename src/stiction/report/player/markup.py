"""The player's HTML: program, style and data in one fragment that needs nothing else."""

import functools
import html
import json
from importlib import resources
from typing import TYPE_CHECKING

from stiction.report.player.payload import payload

if TYPE_CHECKING:
    from stiction.report.player.animation import Animation

# In the order in which they need each other; they share one scope.
PROGRAM = ("maths", "shapes", "scene", "camera", "shaders", "webgl", "canvas", "player")


def fragment(animation: "Animation", *, with_player: bool) -> str:
    """A figure with the animation's data, and the call that turns it into a player."""
    # "<" would end the script element early, were it part of a text.
    data = json.dumps(payload(animation), separators=(",", ":"), allow_nan=False)
    data = data.replace("<", "\\u003c")
    caption = f"<figcaption>{html.escape(animation.caption)}</figcaption>"
    return (
        (player() if with_player else "")
        + '<figure class="stiction-player">'
        + f'<script type="application/json">{data}</script>'
        + "<noscript>This animation needs JavaScript.</noscript>"
        + (caption if animation.caption else "")
        + "</figure>"
        + "<script>stictionPlayer.mount(document.currentScript.previousElementSibling)</script>"
    )


@functools.cache
def player() -> str:
    """The player's style and program; more than one on a page does no harm."""
    folder = resources.files("stiction.report.player") / "js"
    style = (folder / "player.css").read_text("utf-8")
    clock = resources.files("stiction.report.charts") / "js" / "clock.js"
    files = [clock, *(folder / f"{name}.js" for name in PROGRAM)]
    program = "\n".join(file.read_text("utf-8") for file in files)
    return (
        f"<style>{style}</style>"
        f'<script>if (!window.stictionPlayer) (() => {{\n"use strict";\n{program}}})();</script>'
    )
