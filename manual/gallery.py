"""The gallery: pictures, each with the command that made it; `python -m manual gallery`."""

import os
import shlex
import shutil
import tempfile
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

from manual import DOCS, head

WIDTH = 640  # px of a picture
GIF_WIDTH = 320
COLORS = 128
FRAMES = 60  # of an animation
PICTURES = DOCS / "images" / "gallery"


def groups() -> list[dict[str, Any]]:
    """What is in the gallery."""
    return tomllib.loads((Path(__file__).parent / "gallery.toml").read_text())["group"]


def page() -> str:
    """The page of the gallery."""
    lines = [head("gallery")]
    for group in groups():
        lines += [f"## {group['title']}\n", '<div class="grid-pictures" markdown>\n']
        for picture in group["picture"]:
            suffix = Path(picture["file"]).suffix
            path = f"images/gallery/{picture['name']}{suffix}"
            commands = picture["command"].strip()
            lines += [
                '<div class="picture" markdown>\n',
                '<figure markdown="span">',
                f"![{picture['title']}]({path})",
                f"<figcaption>{picture['title']}</figcaption>",
                "</figure>\n",
                f"```console\n{commands}\n```\n",
                "</div>\n",
            ]
        lines.append("</div>\n")
    return "\n".join(lines)


def main(names: list[str]) -> None:
    """Make all pictures anew, or those that are named."""
    os.environ.setdefault("MUJOCO_GL", "egl")  # before MuJoCo is imported
    wanted = [p for g in groups() for p in g["picture"] if not names or p["name"] in names]
    PICTURES.mkdir(parents=True, exist_ok=True)
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        walk = files("stiction.reproduce") / "walk"
        for name in ("motion.mot", "plates.mot"):
            shutil.copy(str(walk / name), name)
        done: set[str] = set()
        for picture in wanted:
            for command in picture["command"].strip().splitlines():
                if command not in done:
                    run(command)
                    done.add(command)
            made = Path(picture["file"])
            target = PICTURES / f"{picture['name']}{made.suffix}"
            shrink(made, target)
            print(f"{picture['name']}: {target.stat().st_size / 1e3:.0f} kB", flush=True)
        os.chdir(here)


def run(command: str) -> None:
    """Run a command line in this process."""
    from stiction.cli.app import main as stiction

    try:
        stiction(shlex.split(command)[1:])
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"{command}: exit status {end.code}") from None


def shrink(source: Path, target: Path) -> None:
    """A picture as small as it can be and still be looked at."""
    from PIL import Image, ImageSequence

    with Image.open(source) as image:
        if source.suffix == ".gif":
            frames = [f.convert("RGB") for f in ImageSequence.Iterator(image)]
            every = -(-len(frames) // FRAMES)
            size = (GIF_WIDTH, GIF_WIDTH * image.height // image.width)
            kept = [f.resize(size, Image.LANCZOS) for f in frames[::every]]
            palette = kept[len(kept) // 2].quantize(COLORS)
            kept = [f.quantize(palette=palette, dither=Image.Dither.NONE) for f in kept]
            duration = image.info.get("duration", 66) * every
            kept[0].save(target, save_all=True, append_images=kept[1:], duration=duration, loop=0)
            return
        plain = Image.new("RGB", image.size, "white")
        plain.paste(image, mask=image.getchannel("A") if image.mode == "RGBA" else None)
        if plain.width > WIDTH:
            plain = plain.resize((WIDTH, WIDTH * plain.height // plain.width), Image.LANCZOS)
        # Thin lines are few pixels: a palette by frequency would lose their colours.
        rare = plain.quantize(COLORS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        rare.save(target, optimize=True)
