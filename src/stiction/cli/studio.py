"""`stiction studio`: see a scene in the browser, change it, compare it."""

import time
from pathlib import Path

from stiction.cli.command import Answer, Output, command
from stiction.cli.options import (
    BASE,
    SET,
    Text,
    Texts,
    argument,
    complete_scene,
    flag,
    option,
    read_or_run,
    read_scene,
)
from stiction.cli.terminal import say
from stiction.report import json_text, working

SOURCES = argument(
    None,
    "A scene, a model or the directory of a run; those after the first are shown as ghosts.",
    autocompletion=complete_scene,
)
HOST = option(
    "127.0.0.1", "ADDRESS", "Address to listen on; any but this machine's own needs a token."
)
PORT = option(8080, "PORT", "Port to listen on, or the next that is free.")
QUIET = flag("Do not open a browser.")


@command("Simulate", writes="never")
def studio(
    output: Output,
    sources: list[str] | None = SOURCES,
    set_: Texts = SET,
    base: Text = BASE,
    host: str = HOST,
    port: int = PORT,
    no_browser: bool = QUIET,
) -> Answer:
    """Open a scene in the browser: play it, move its numbers, compare laws, save what you found.

    Examples:
      stiction studio box
      stiction studio robot.urdf --base free
      stiction studio out/box out/box-soft
    """
    from stiction.studio import start_studio

    first, *others = sources or ["box"]
    with working("running"):
        run = read_or_run(first, set_, base) if Path(first).is_dir() else None
        scene = read_scene(first, set_, base) if run is None else run.scene
        ghosts = {Path(name).name: read_or_run(name) for name in others}
    with start_studio(scene, run, ghosts=ghosts, host=host, port=port) as served:
        data = {"address": served.address, "token": served.token}
        if output.json:
            print(json_text(data), flush=True)
        else:
            say(f"studio: {served.address}" + (f"  token: {served.token}" if served.token else ""))
            say("Ctrl-C ends it.")
        if not no_browser:
            import webbrowser

            webbrowser.open(served.address)
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            pass
    return Answer(data, lambda: None)
