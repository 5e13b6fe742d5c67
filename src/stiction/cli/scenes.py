"""`stiction scenes`: the built-in scenes."""

from stiction.cli.command import Answer, Output, command
from stiction.cli.terminal import say


@command("Look", writes="never")
def scenes(output: Output) -> Answer:
    """List the built-in scenes.

    Examples:
      stiction scenes
      stiction run box
    """
    from stiction.scenes import read_scenario, scene_names

    titles = {name: read_scenario(name)[0].title for name in scene_names()}
    width = max(map(len, titles))

    def show() -> None:
        for name, title in titles.items():
            say(f"{name:{width}}  {title}")

    return Answer({"scenes": [{"name": n, "title": t} for n, t in titles.items()]}, show)
