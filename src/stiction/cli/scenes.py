"""`stiction scenes`: the built-in scenes."""

from stiction.cli.options import Json
from stiction.cli.output import print_json


def scenes(json: Json = False) -> None:
    """List the built-in scenes."""
    from stiction.scenes.library import scene_names
    from stiction.scenes.read import read_scenario

    titles = {name: read_scenario(name)[0].title for name in scene_names()}
    if json:
        print_json({"scenes": [{"name": n, "title": t} for n, t in titles.items()]})
        return
    width = max(map(len, titles))
    for name, title in titles.items():
        print(f"{name:{width}}  {title}")
