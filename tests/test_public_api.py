"""The public surface: every name exists, is documented, and has one import path."""

import importlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import stiction

BIN = str(Path(sys.executable).parent)


@pytest.mark.parametrize("name", [n for n in stiction.__all__ if not n.startswith("__")])
def test_every_public_name_exists_and_is_documented(name):
    assert getattr(stiction, name).__doc__


def test_public_names_are_exported_by_their_folder():
    for name, module in stiction._PUBLIC.items():
        source = importlib.import_module(module)
        assert name in getattr(source, "__all__", [name]), f"{name} is not in {module}.__all__"


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'simulat'"):
        stiction.simulat  # noqa: B018


def test_folders_are_there_without_being_imported_one_by_one():
    code = "import stiction; stiction.laws.HuntCrossley; print('laws' in dir(stiction))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "True"


def test_the_package_runs_as_a_module():
    command = [sys.executable, "-m", "stiction", "--version"]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    assert out.stdout.strip() == stiction.__version__


USER = """
import stiction

arm = stiction.load("double-pendulum")
stiction.mass_matrix(arm, arm.q_reference)
run = stiction.scene("box").run(until=1.0)
first: float = run.events()[0].time
stiction.laws.HuntCrossley
stiction.mass_matrix(arm, "nonsense")  # wrong
stiction.not_there  # wrong
"""


@pytest.mark.skipif(shutil.which("pyright", path=BIN) is None, reason="pyright is not installed")
def test_type_checkers_see_the_names_and_their_arguments(tmp_path):
    """Right uses pass; a name that is not there and an argument of the wrong type do not."""
    source = Path(stiction.__file__).parents[1]
    settings = {"extraPaths": [str(source)], "pythonVersion": "3.11"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    (tmp_path / "user.py").write_text(USER)
    command = [f"{BIN}/pyright", "--outputjson", "--pythonpath", sys.executable, "user.py"]
    out = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    found = json.loads(out.stdout)["generalDiagnostics"]
    wrong = [i for i, line in enumerate(USER.splitlines()) if line.endswith("# wrong")]
    assert [d["range"]["start"]["line"] for d in found if d["severity"] == "error"] == wrong


def test_importing_stiction_stays_light():
    """`import stiction` and `stiction --help` load neither JAX nor MuJoCo."""
    code = (
        "import sys, stiction, stiction.cli.app;"
        "print([m for m in ('jax', 'mujoco', 'matplotlib', 'xarray', 'scipy') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_a_run_with_its_report_needs_no_tables_of_others(tmp_path):
    """pandas, Dask and xarray take longer to import than most runs to compute."""
    code = (
        "import sys, atexit; from stiction.cli.app import main;"
        "heavy = ('pandas', 'dask', 'xarray', 'pyarrow', 'scipy.stats', 'scipy.optimize');"
        "atexit.register(lambda: print([m for m in heavy if m in sys.modules], file=sys.stderr));"
        "main(['run', 'double-pendulum', '--json', '--out', 'out'])"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (tmp_path / "out" / "trajectory.nc").is_file()
    assert done.stderr.splitlines()[-1] == "[]"


def test_no_file_is_a_giant():
    """One idea a file: files over 450 lines hold more than one."""
    package = Path(stiction.__file__).parent
    long = {
        p.name: n for p in package.rglob("*.py") if (n := len(p.read_text().splitlines())) > 450
    }
    assert not long
