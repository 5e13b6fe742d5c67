"""The public surface: every name exists, is documented, and has one import path."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import stiction


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


def test_importing_stiction_stays_light():
    """`import stiction` and `stiction --help` load neither JAX nor MuJoCo."""
    code = (
        "import sys, stiction, stiction.cli.app;"
        "print([m for m in ('jax', 'mujoco', 'matplotlib', 'xarray', 'scipy') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_no_file_is_a_giant():
    """One idea a file: files over 450 lines hold more than one."""
    package = Path(stiction.__file__).parent
    long = {
        p.name: n for p in package.rglob("*.py") if (n := len(p.read_text().splitlines())) > 450
    }
    assert not long
