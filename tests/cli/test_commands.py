"""What holds for all commands: help, JSON, exit status, standard streams, completion."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import typer
from helpers_cli import NEWTON_HOPPER, assert_envelope

import stiction
from stiction.cli.app import COMMANDS, app

GROUP = typer.main.get_command(app)
NAMES = [function.__name__ for function in COMMANDS]
UNIT = re.compile(r"\[[^\]]+\]")


def stiction_process(
    *arguments: str, redirect: str = "", env: dict | None = None, **options
) -> subprocess.Popen:
    """`stiction ARGUMENTS` in a process of its own."""
    # A shell's background job ignores Ctrl-C, and so would its children.
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    code += "from stiction.cli.app import main; main()"
    env = os.environ | {"PYTHONPATH": str(Path(stiction.__file__).parents[1])} | (env or {})
    shell = ["sh", "-c", f'exec "$@" {redirect}', "sh"]
    program = [*shell, sys.executable, "-c", code, *arguments]
    return subprocess.Popen(program, text=True, env=env, **options)


# Help ---------------------------------------------------------------------------------------------


def as_one_line(text: str) -> str:
    """Rendered help without boxes, line breaks and spaces: words may be broken anywhere."""
    return re.sub(r"[\s│╭╮╰╯─]", "", text)


@pytest.mark.parametrize("name", NAMES)
def test_help_shows_every_word_and_unit_of_every_option(cli, monkeypatch, name):
    """`[m/s]` looks like markup, and was eaten in 18 places."""
    monkeypatch.setenv("COLUMNS", "400")  # an option on one line
    shown = as_one_line(cli(name, "--help").out)
    for parameter in GROUP.commands[name].params:
        wanted = parameter.help.replace("\\[", "[")
        assert as_one_line(wanted) in shown


def test_options_have_units():
    """There is something to be shown."""
    helps = [p.help.replace("\\[", "[") for c in GROUP.commands.values() for p in c.params]
    assert sum(bool(UNIT.search(text)) for text in helps) > 18


@pytest.mark.parametrize("name", NAMES)
def test_every_help_page_has_examples_that_parse(cli, name):
    """The examples name options that exist, with values that can be read."""
    text = GROUP.commands[name].epilog
    lines = [line.strip().replace("\\[", "[") for line in text.splitlines()[1:] if line.strip()]
    assert lines
    for line in lines:
        program, command, *arguments = shlex.split(line)
        assert program == "stiction"
        GROUP.commands[command].make_context(command, arguments)


def test_commands_stand_in_groups_and_short_options_work(cli):
    out = cli("-h").out
    for panel in ("Simulate", "Contact parameters", "People", "Agility", "Look", "Documents"):
        assert f"─ {panel} ─" in out
    assert cli("run", "-h").out == cli("run", "--help").out
    assert "-o" in cli("run", "-h").out


def test_one_word_for_one_thing():
    """The same option means the same in every command that has it."""
    words = {}
    for name, command in GROUP.commands.items():
        for parameter in command.params:
            for word in parameter.opts:
                words.setdefault(word, {})[name] = parameter
    for word in ("--out", "--force", "--json", "--plot", "--base"):
        assert len({p.help for p in words[word].values()}) == 1, word
    models = {"run", "impact", "motions", "gait", "grf", "capability", "posture", "info"}
    models |= {"study", "studio", "compare"}
    assert set(words["--base"]) == models
    assert set(words["-o"]) == set(NAMES) - {"info", "scenes", "studio", "version"}
    assert set(words["--json"]) == set(NAMES)
    for gone in ("--friction", "--dynamic-friction"):
        assert gone not in words


def test_versions(cli):
    assert cli("--version").out.strip() == stiction.__version__
    assert f"stiction {stiction.__version__}" in cli("version").out


def test_shells_complete_commands_and_scenes(tmp_path):
    (tmp_path / "box-of-mine.toml").write_text("")
    (tmp_path / "box.txt").write_text("")

    def completed(words: str) -> list[str]:
        asked = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
        env = {**asked, "_STICTION_COMPLETE": "complete_bash"}
        done = stiction_process(env=env, stdout=subprocess.PIPE, cwd=tmp_path)
        return done.communicate()[0].split()

    assert completed("stiction resti") == ["restitution"]
    assert completed("stiction run bo") == ["bouncing-ball", "box", "box-of-mine.toml"]
    assert "--set" in completed("stiction run --s")


# JSON ---------------------------------------------------------------------------------------------

QUICK = ("--set", "until=0.05", "--set", "samples=5")


def inputs(folder: Path) -> None:
    """Small files for the commands that read some."""
    (folder / "hopper.xml").write_text(NEWTON_HOPPER)
    force = np.concatenate([np.full(600, 700.0), np.full(60, 1700.0), np.zeros(300)])
    (folder / "f.txt").write_text("\n".join(f"{f:g}" for f in [*force, *np.full(600, 700.0)]))
    columns = ",".join(f"base.{a}" for a in ("x", "y", "z", "qw", "qx", "qy", "qz"))
    rows = [f"{k / 60:.5f},0,0,0.9957589,1,0,0,0" for k in range(40)]
    (folder / "stand.csv").write_text("\n".join([f"time,{columns}", *rows]))


# Arguments of a request that succeeds. `impact` takes long and `studio` does not end: these two
# have tests of their own.
REQUESTS = {
    "run": ("rod", *QUICK),
    "compare": ("rod", *QUICK, "--vary", "contact.restitution=0.2,0.4"),
    "study": ("rod", *QUICK, "--vary", "contact.restitution=0.2:0.4:2"),
    "motions": ("three-points",),
    "restitution": ("--alpha", "0.4", "--speed", "1"),
    "translate": ("--to", "mujoco", "--stiffness", "1e5", "--alpha", "0.2"),
    "identify": ("--setup", "single-point", "--simulate", "1"),
    "gait": ("stand.csv", "--model", "human"),
    "grf": ("stand.csv", "--model", "human"),
    "jump": ("f.txt", "--rate", "600"),
    "capability": ("hopper.xml", "--feet", "toe", "--direction", "0,0,1"),
    "posture": ("hopper.xml", "--feet", "toe", "--direction", "0,0,1", "--samples", "50"),
    "info": ("box",),
    "scenes": (),
    "version": (),
    "reproduce": ("erdmann", "--only", "Table 1"),
}


@pytest.fixture
def quick_search(monkeypatch):
    """A search for postures that finds the start: the real one takes long to compile."""
    from stiction import agility

    def search(stance, limits, direction, *, guess, **options):
        effort, force = np.zeros(stance.mechanism.nu), np.zeros((stance.contacts.count, 2))
        found = agility.Optimum(np.asarray(guess), 1.0, effort, force, ["motor push"], 0.0, 2)
        return agility.PostureSearch([found], 50, 40, 0.9, 2, 2)

    monkeypatch.setattr(agility, "best_posture", search)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("impact", "studio")])
def test_json_of_every_command_has_one_envelope(cli, tmp_path, quick_search, name):
    inputs(tmp_path)
    outcome = cli(name, *REQUESTS[name], "--json")
    assert outcome.status == 0, outcome.err
    assert_envelope(outcome.json, name)


def test_a_posture_is_printed_and_drawn(cli, tmp_path, quick_search):
    inputs(tmp_path)
    outcome = cli("posture", *REQUESTS["posture"], "--plot")
    assert outcome.status == 0, outcome.err
    assert "motor push" in outcome.out
    made = {p.name for p in (tmp_path / "out" / "posture-hopper").iterdir()}
    assert {"posture.json", "postures.png", "report.html", "stiction.json"} <= made


BAD = {
    "run": ("no-such-scene",),
    "compare": ("no-such-scene", "box"),
    "study": ("no-such-scene", "--vary", "contact.restitution=0.2:0.4:2"),
    "studio": ("no-such-scene",),
    "impact": ("box", "--q", "1,2"),
    "motions": (),
    "restitution": ("--speed", "1"),
    "translate": (),
    "identify": (),
    "gait": ("absent.csv", "--model", "human"),
    "grf": ("absent.csv", "--model", "human"),
    "jump": ("absent.txt",),
    "capability": ("box",),
    "posture": ("box", "--direction", "up"),
    "info": ("absent.xml",),
    "scenes": ("extra",),
    "version": ("--loud",),
    "reproduce": ("newton",),
}


@pytest.mark.parametrize("name", NAMES)
def test_an_error_is_one_json_object_too(cli, tmp_path, name):
    plain = cli(name, *BAD[name])
    outcome = cli(name, *BAD[name], "--json")
    assert (outcome.status, outcome.err) == (2, plain.err)
    answer = outcome.json
    assert answer["schema"] == f"stiction.{name}/1"
    assert answer["success"] is False
    assert answer["error"]["kind"] == "input"
    assert f"stiction: {answer['error']['message']}\n" == plain.err
    assert plain.out == ""
    assert list(tmp_path.iterdir()) == []


# Standard streams and signals ---------------------------------------------------------------------


def test_a_full_disk_behind_standard_output_is_one_line():
    with open("/dev/full", "w") as full:
        done = stiction_process("scenes", "--json", stdout=full, stderr=subprocess.PIPE)
        err = done.communicate()[1]
    assert done.returncode == 1
    assert err == "stiction: output: No space left on device\n"


def test_errors_do_not_go_to_standard_output_where_standard_error_is_closed():
    done = stiction_process("run", "no-such-scene", redirect="2>&-", stdout=subprocess.PIPE)
    assert done.communicate()[0] == ""
    assert done.returncode == 2


def test_ctrl_c_is_one_line_and_status_130(tmp_path):
    """While it waits for rows of a log that never come."""
    setup = ("--setup", "single-point", "--online")
    done = stiction_process(
        "identify", "-", *setup, cwd=tmp_path,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert done.stdout.readline().split()[:2] == ["t", "[s]"]  # it is at work
    time.sleep(0.2)
    done.send_signal(signal.SIGINT)
    out, err = done.communicate()
    assert (done.returncode, out, err) == (130, "", "stiction: interrupted\n")


def test_json_of_a_run_that_failed_has_error_and_answer(cli):
    few = ("--set", "samples=21", "--set", "solver.max_steps=40")
    outcome = cli("run", "double-pendulum", *few, "--json")
    assert outcome.status == 1
    answer = json.loads(outcome.out)
    assert answer["error"]["kind"] == "run"
    assert "max_steps" in answer["error"]["message"]
    assert answer["t_end"] > 0
    assert any(name.endswith("report.html") for name in answer["files"])
