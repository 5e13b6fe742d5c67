"""Every command line and every code block of the manual runs, page by page, from top to bottom.

Commands that take minutes are made lighter here (fewer cases, shorter runs): `LIGHTER` has the
changes, and `--thorough` runs them as written.
"""

import glob
import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import jax
import matplotlib
import pages
import pytest
import stand_ins
import typer

import stiction
from stiction.cli.app import app, main

PAGES = [p for p in pages.pages() if any(b.commands or b.code or b.title for b in pages.blocks(p))]
BLOCKS = [b for page in pages.pages() for b in pages.blocks(page)]

# A command as written -> one that does the same in less time.
LIGHTER = [
    (r"--cases \d+", "--cases 4"),
    (r"--study \d+", "--study 20"),
    (r"--draws \d+", "--draws 2"),
    (r"0\.1:0\.9:(17|60)", "0.1:0.9:2"),
    (r"^(stiction run human-\S+)(.*)$", r"\1\2 --set until=0.02 --set samples=3"),
    (r"^(stiction run jumping-leg)(.*)$", r"\1\2 --set until=0.01 --set samples=11"),
    (r"^(stiction run \S+ --video)(.*)$", r"\1\2 --set until=0.2"),
    (r"(\d):(24)\b", r"\1:3"),
    (
        r"^stiction reproduce (flickinger --chapter 6)$",
        "stiction reproduce flickinger --only 'Figure 6.6'",
    ),
    (
        r"^stiction reproduce (flickinger --chapter 4)$",
        "stiction reproduce flickinger --only 'Figure 4.2'",
    ),
    (r"^stiction reproduce (flickinger)$", "stiction reproduce flickinger --only 'Figure 2.3'"),
    (r"^stiction reproduce (marhefka)$", "stiction reproduce marhefka --only 'Figure 3'"),
    (r"^stiction reproduce (studies)$", "stiction reproduce studies --only 'Study 3'"),
]
# The same for code.
LIGHTER_CODE = [
    (r"(best_posture\(.*direction)\)", r"\1, samples=200, starts=2)"),
]
# Minutes of searching, which tests of their own do with smaller numbers: by `--thorough` only.
HEAVY = re.compile(r"cube-rollouts|square-drops|run\.trc|^stiction posture|--laws$")
# What ran already, on whatever page and into whatever folder: many pages show the same command.
RAN: set[str] = set()
# Started by hand: they wait for somebody.
WAITING = re.compile(r"^stiction (studio|--install-completion)")
# What stands on other pages before a block begins.
PRELUDE = {
    "docs/human-scenes.md": "import stiction",
    "docs/motions.md": "import numpy as np; forces = np.zeros((1, 3))",
}


def _commands() -> list[tuple[pages.Block, str]]:
    return [(b, c) for b in BLOCKS for c in b.commands if c.startswith("stiction ")]


@pytest.mark.parametrize("command", sorted({c for _, c in _commands()}))
def test_every_command_line_has_options_that_exist(command):
    """Also of those that wait for a person or need files that nobody here has."""
    group = typer.main.get_command(app)
    words = shlex.split(command)[1:]
    if ">" in words:
        words = words[: words.index(">")]
    if words[0].startswith("--"):
        return
    assert words[0] in group.commands, f"no command {words[0]}"
    try:
        group.commands[words[0]].make_context(words[0], words[1:])
    except typer.TyperException as error:
        wrong = error.format_message()
        assert re.search("misspelt|restitusion", command), f"{command}: {wrong}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(pages.ROOT)))
def test_a_page_runs(page, tmp_path, monkeypatch, request):
    """Each page in a folder of its own; a block with a title becomes a file there."""
    thorough = request.config.getoption("--thorough")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("builtins.input", lambda _: "")  # a reader who presses Enter
    matplotlib.use("Agg")
    shared = _shared(request)
    name = str(page.relative_to(pages.ROOT))
    space: dict[str, object] = {"__name__": "__manual__"}
    here: set[str] = set()
    exec(PRELUDE.get(name, ""), space)
    blocks = pages.blocks(page)
    for number, block in enumerate(blocks):
        where = f"{block.page}:{block.line}"
        if block.note("not run") is not None or _lacks(block):
            continue
        if block.note("slow") is not None and not thorough:
            continue
        if block.title:
            Path(block.title).parent.mkdir(parents=True, exist_ok=True)
            Path(block.title).write_text(block.text + "\n")
        for command in block.commands:
            if not thorough and _ran(command, blocks[number:], here):
                continue
            _run(command, int(block.note("exit") or 0), shared, thorough, where)
        if block.code:
            code = block.code if thorough else _lighter(block.code, LIGHTER_CODE)
            words = re.findall(r'"([\w./-]+)"', block.code)
            if not stand_ins.prepare(words, shared):
                with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
                    exec(compile(code, where, "exec"), space)


def _run(command: str, status: int, shared: Path | None, thorough: bool, where: str) -> None:
    """Run a command line in this process; a redirection and patterns are done as a shell would."""
    if not command.startswith("stiction ") or WAITING.match(command):
        return
    if HEAVY.search(command) and not thorough:
        return
    if not thorough:
        command = _lighter(command, LIGHTER)
    words = shlex.split(command)[1:]
    if stand_ins.prepare(words, shared):
        return
    target = None
    if ">" in words:
        target, words = words[words.index(">") + 1], words[: words.index(">")]
    words = [f for w in words for f in (sorted(glob.glob(w)) or [w])]
    if target is None and "--video" not in words:
        with pytest.raises(SystemExit) as end:
            main([*words, *(["--force"] if _writes(words) else [])])
        assert (end.value.code or 0) == status, f"{where}: {command}"
        return
    source = str(Path(stiction.__file__).parents[1])
    made = subprocess.run(
        [sys.executable, "-m", "stiction", *words],
        env=os.environ | {"PYTHONPATH": source, "MUJOCO_GL": "egl"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == status, f"{where}: {command}: {made.stderr}"
    if target is not None:
        Path(target).write_text(made.stdout)


def _ran(command: str, blocks: list[pages.Block], here: set[str]) -> bool:
    """Whether a command ran already, and nothing from here on needs what it would write.

    `here` has those of this page: what they wrote is still there.
    """
    words, needed = shlex.split(command), re.compile("out/")
    if "--out" in words:
        at = words.index("--out")
        needed = re.compile(rf"(?<![\w-]){re.escape(words[at + 1])}(?![\w-])")
        words = words[:at] + words[at + 2 :]
    texts = [b.text.replace(command, "") for b in blocks]
    own = any(word == ">" or Path(word).is_file() for word in words)  # a file of this page
    alike = shlex.join(words)
    again = alike in RAN and not own and not any(needed.search(text) for text in texts)
    again = again or command in here
    RAN.add(alike)
    here.add(command)
    return again


def _lighter(text: str, changes: list[tuple[str, str]]) -> str:
    for pattern, lighter in changes:
        text = re.sub(pattern, lighter, text)
    return text


def _writes(words: list[str]) -> bool:
    """Whether the command takes --force: a page may write into one folder twice."""
    group = typer.main.get_command(app)
    if words[0] not in group.commands or "--force" in words:
        return False
    return any("--force" in p.opts for p in group.commands[words[0]].params)


def _lacks(block: pages.Block) -> bool:
    """Whether an extra that a block needs is not installed."""
    packages = {"studies": "zarr", "video": "imageio_ffmpeg", "studio": "viser", "c3d": "ezc3d"}
    needed = block.note("needs")
    return needed is not None and importlib.util.find_spec(packages[needed]) is None


def _shared(request: pytest.FixtureRequest) -> Path | None:
    try:
        return request.getfixturevalue("shared_data")
    except pytest.skip.Exception:
        return None


@pytest.mark.parametrize(
    "block",
    [b for b in BLOCKS if b.language == "toml" and "…" not in b.text],
    ids=lambda b: f"{b.page}:{b.line}",
)
def test_every_file_of_fields_has_fields_that_exist(block):
    """Whole setups and scenarios; pieces of files are read only."""
    from stiction.identify.setups import KINDS
    from stiction.motions.files import PlanarProblem
    from stiction.scenes.scenario import Scenario

    data = tomllib.loads(block.text)
    if "kind" in data:
        known = KINDS[data["kind"]].setup.model_fields
    elif "mechanism" in data:
        known = Scenario.model_fields
    elif "contacts" in data:
        known = PlanarProblem.model_fields
    else:
        return
    assert set(data) <= set(known)


def test_the_comments_before_blocks_are_those_that_mean_something():
    known = {"not", "exit", "needs", "slow"}
    notes = [n for b in BLOCKS if b.commands or b.code for n in b.notes]
    assert {n.split(" ")[0].strip(":") for n in notes} <= known
