"""Caches of compiled programs: damage heals, and a place that cannot be written is no obstacle."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import warp as wp

from stiction._base import waiting
from stiction.engines import kernels

PROGRAM = """
import sys
import stiction._base.arrays
import jax
print(float(jax.jit(lambda x: jax.numpy.sin(x) + 2.0)(1.0)))
"""


def run(program: str, **environment: str) -> subprocess.CompletedProcess:
    known = {k: v for k, v in os.environ.items() if k not in ("STICTION_CACHE", "XDG_CACHE_HOME")}
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True, text=True, env=known | environment, timeout=120, check=False,
    )  # fmt: skip


def programs(folder: Path) -> dict[str, int]:
    return {p.name: p.stat().st_size for p in folder.glob("*-cache")}


def test_a_damaged_program_is_made_anew(tmp_path):
    first = run(PROGRAM, STICTION_CACHE=str(tmp_path))
    whole = programs(tmp_path)
    assert whole
    for path in tmp_path.glob("*-cache"):
        path.write_bytes(path.read_bytes()[:40])
    second = run(PROGRAM, STICTION_CACHE=str(tmp_path))
    assert (second.returncode, second.stdout, second.stderr) == (0, first.stdout, first.stderr)
    assert programs(tmp_path).keys() == whole.keys()
    assert min(programs(tmp_path).values()) > 40


@pytest.mark.parametrize("place", [{"XDG_CACHE_HOME": "/proc/nowhere"}, {"HOME": "/dev/null"}])
def test_without_a_place_nothing_is_kept_and_nothing_said(place):
    done = run(PROGRAM, **place)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


@wp.kernel
def add_one(x: wp.array(dtype=float)):  # type: ignore[valid-type]
    i = wp.tid()
    x[i] = x[i] + 1.0


COMPILED = {"enable_backward": False}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache of its own with a small kernel in it, which stands for those of the core."""
    wp.init()
    monkeypatch.setattr(wp.config, "kernel_cache_dir", str(tmp_path))
    monkeypatch.setattr(kernels.core, "part", lambda *_, **__: sys.modules[__name__])
    launch()
    (folder,) = tmp_path.iterdir()
    return folder


def launch() -> list[float]:
    module = wp.Module(__name__)
    wp.set_module_options({**COMPILED, "block_dim": 1}, module)
    kernel = wp.Kernel(add_one.func, key="add_one", module=module)
    kernels.load_programs("small", "double", "cpu", module)
    x = wp.zeros(2, dtype=float, device="cpu")
    wp.launch(kernel, dim=2, inputs=[x], device="cpu")
    return x.numpy().tolist()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100])


def change(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[300:700] = bytes(b ^ 0xFF for b in content[300:700])
    path.write_bytes(content)


@pytest.mark.parametrize("damage", [cut, change, Path.unlink, lambda p: p.write_bytes(b"")])
@pytest.mark.parametrize("suffix", [".o", ".meta"])
def test_damaged_kernels_are_made_anew(folder, damage, suffix):
    """A changed byte of the program would end the process, or worse, change its numbers."""
    (path,) = folder.glob(f"*{suffix}")
    whole = path.read_bytes()
    damage(path)
    assert launch() == [1.0, 1.0]
    assert path.read_bytes() == whole


def test_kernels_work_where_nothing_can_be_written(folder, monkeypatch):
    monkeypatch.setattr(wp.config, "kernel_cache_dir", "/proc/nowhere")
    assert launch() == [1.0, 1.0]


def test_kernels_that_take_long_to_compile_say_so(folder, monkeypatch, capfd):
    """As after an installation: `make demo` was silent for a minute."""
    monkeypatch.setattr(waiting, "PATIENCE", 0.0)
    monkeypatch.setattr(waiting.ANNOUNCER, "told", False)
    shutil.rmtree(folder)
    assert launch() == [1.0, 1.0]
    assert "stiction: compiling" in capfd.readouterr().err


def test_whole_kernels_are_not_made_again(folder):
    before = {p.name: p.stat().st_mtime_ns for p in folder.iterdir()}
    launch()
    assert {p.name: p.stat().st_mtime_ns for p in folder.iterdir()} == before


def test_other_sources_are_other_kernels(folder, monkeypatch):
    monkeypatch.setattr(kernels, "_identity", lambda: "changed")
    launch()
    assert len(list(folder.parent.iterdir())) == 2
