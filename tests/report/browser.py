"""Ways to run the player: its JavaScript under Node, its page in a browser without a screen."""

import base64
import fcntl
import io
import json
import os
import shutil
import subprocess
from importlib import resources

import matplotlib.image
import pytest

NODE = shutil.which("node")
NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
needs_node = pytest.mark.skipif(NODE is None, reason="Node is not installed")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-quic",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
]
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
    """Chromium with fresh settings, spoken to through two pipes (its DevTools protocol)."""

    def __init__(self, profile, *, webgl):
        commands, self._write = os.pipe()
        self._read, answers = os.pipe()
        # The browser listens on descriptor 3 and answers on 4; ours must be out of the way first.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (commands, answers)]
        command = [CHROMIUM, *FLAGS, *(WEBGL if webgl else NO_WEBGL), f"--user-data-dir={profile}"]
        self._process = subprocess.Popen(
            [*command, "about:blank"],
            preexec_fn=lambda: [os.dup2(end, 3 + i) for i, end in enumerate(ends)],
            pass_fds=(3, 4),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        for end in (commands, answers, *ends):
            os.close(end)
        self._rest, self._count, self._session = b"", 0, None

    def close(self):
        """End the browser."""
        self._session = None
        self.send("Browser.close")
        self._process.wait(timeout=20)
        os.close(self._write)
        os.close(self._read)

    def send(self, method, **parameters):
        """One command; its answer."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self._rest:
                part = os.read(self._read, 1 << 20)
                assert part, "the browser is gone"
                self._rest += part
            text, _, self._rest = self._rest.partition(b"\0")
            answer = json.loads(text)
            if answer.get("id") == self._count:
                assert "error" not in answer, answer
                return answer["result"]

    def open(self, page, *, dark=False, width=900, height=700):
        """Show a file."""
        self._session = None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.send("Emulation.setDeviceMetricsOverride", **size)
        self.send("Page.navigate", url=page.as_uri())
        self.run(
            "new Promise((done) => (document.readyState === 'complete' ? done()"
            " : addEventListener('load', () => done())))"
        )
        self.settle()

    def settle(self):
        """Wait for two pictures: one to draw, one to be sure that it was shown."""
        self.run(
            "new Promise((d) => requestAnimationFrame(() => requestAnimationFrame(() => d())))"
        )

    def wait(self, seconds):
        """Let the page go on for a while."""
        self.run(f"new Promise((done) => setTimeout(done, {1000 * seconds}))")

    def run(self, code):
        """Evaluate JavaScript in the page, waiting for promises; its value."""
        answer = self.send(
            "Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def mouse(self, kind, x, y, **more):
        """A mouse event: Pressed, Released, Moved or Wheel."""
        self.send("Input.dispatchMouseEvent", type=f"mouse{kind}", x=x, y=y, **more)

    def picture(self):
        """What is seen, as an array of red, green and blue in [0, 1]."""
        data = base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])
        return matplotlib.image.imread(io.BytesIO(data), format="png")[..., :3]
