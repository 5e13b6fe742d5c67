"""Ways to run the player: its JavaScript under Node, its page in a browser without a screen."""

import io
import json
import shutil
import subprocess
from importlib import resources, util

import matplotlib.image
import pytest

NODE = shutil.which("node")
NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
needs_node = pytest.mark.skipif(NODE is None, reason="Node is not installed")
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None or util.find_spec("playwright") is None,
    reason="Chromium or Playwright is not installed",
)

PATIENCE = 180_000  # ms: pictures are drawn in software, perhaps on a busy machine
FLAGS = ["--no-sandbox", "--disable-quic"]
WEBGL = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
NO_WEBGL = ["--disable-gpu", "--disable-3d-apis"]


def node(files, code):
    """Run the named files of the player and then `code`; what it returns."""
    folder = resources.files("stiction.report.player") / "js"
    program = "\n".join((folder / f"{name}.js").read_text() for name in files)
    script = f"{program}\nconsole.log(JSON.stringify((() => {{ {code} }})()));"
    run = subprocess.run([NODE, "-e", script], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


class Browser:
    """Chromium by Playwright, one tab at a time; `errors` are what its console complained of."""

    def __init__(self, *, webgl=True):
        from playwright.sync_api import sync_playwright

        self._playwright = sync_playwright().start()
        flags = [*FLAGS, *(WEBGL if webgl else NO_WEBGL)]
        self._browser = self._playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        self.errors = []

    def close(self):
        """End the browser."""
        self._browser.close()
        self._playwright.stop()

    def tab(self, *, dark=False, width=900, height=700):
        """A new tab with settings of its own."""
        scheme, size = "dark" if dark else "light", {"width": width, "height": height}
        page = self._browser.new_page(viewport=size, color_scheme=scheme)
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda e: self.errors.append(str(e)))
        page.on("console", lambda m: m.type == "error" and self.errors.append(m.text))
        return page

    def open(self, page, **options):
        """Show a file."""
        if hasattr(self, "page"):
            self.page.close()
        self.errors.clear()
        self.page = self.tab(**options)
        self.page.goto(page.as_uri())
        self.settle()

    def settle(self):
        """Wait for two pictures: one to draw, one to be sure that it was shown."""
        self.run(
            "new Promise((d) => requestAnimationFrame(() => requestAnimationFrame(() => d())))"
        )

    def wait(self, seconds):
        """Let the page go on for a while."""
        self.page.wait_for_timeout(1000 * seconds)

    def run(self, code):
        """Evaluate JavaScript in the page, waiting for promises; its value."""
        return self.page.evaluate(code)

    def picture(self, **options):
        """What is seen, as an array of red, green and blue in [0, 1]."""
        data = self.page.screenshot(**options)
        return matplotlib.image.imread(io.BytesIO(data), format="png")[..., :3]
