"""Caches of compiled programs: damage heals, and a place that cannot be written is no obstacle."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import warp as wp

from stiction._base import waiting
from stiction.engines import kernel_cache

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


@pytest.fixture
def kernels(tmp_path, monkeypatch):
    """A cache of its own, with the kernel in it: its folder."""
    wp.init()
    monkeypatch.setattr(wp.config, "kernel_cache_dir", str(tmp_path))
    monkeypatch.setattr(kernel_cache, "_loaded", set())
    launch()
    (folder,) = tmp_path.glob("wp_*")
    return folder


def launch() -> list[float]:
    add_one.module.unload()
    kernel_cache._loaded.clear()
    kernel_cache.load_kernel(add_one, "cpu")
    x = wp.zeros(2, dtype=float, device="cpu")
    wp.launch(add_one, dim=2, inputs=[x], device="cpu")
    return x.numpy().tolist()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100])


def change(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[300:700] = bytes(b ^ 0xFF for b in content[300:700])
    path.write_bytes(content)


@pytest.mark.parametrize("damage", [cut, change, Path.unlink, lambda p: p.write_bytes(b"")])
@pytest.mark.parametrize("suffix", [".o", ".meta"])
def test_damaged_kernels_are_made_anew(kernels, damage, suffix):
    """A changed byte of the program would end the process, or worse, change its numbers."""
    (path,) = kernels.glob(f"*{suffix}")
    whole = path.read_bytes()
    damage(path)
    assert launch() == [1.0, 1.0]
    assert path.read_bytes() == whole


def test_a_kernel_cache_that_cannot_be_written_is_left_for_another(kernels, monkeypatch):
    monkeypatch.setattr(wp.config, "kernel_cache_dir", "/proc/nowhere")
    assert launch() == [1.0, 1.0]
    assert wp.config.kernel_cache_dir != "/proc/nowhere"


def test_kernels_that_take_long_to_compile_say_so(kernels, monkeypatch, capfd):
    """As after an installation: `make demo` was silent for a minute."""
    monkeypatch.setattr(waiting, "PATIENCE", 0.0)
    monkeypatch.setattr(waiting.ANNOUNCER, "told", False)
    kernel_cache._remove(kernels)
    assert launch() == [1.0, 1.0]
    assert "stiction: compiling" in capfd.readouterr().err


def test_whole_kernels_are_not_made_again(kernels):
    before = {p.name: p.stat().st_mtime_ns for p in kernels.iterdir()}
    launch()
    assert {p.name: p.stat().st_mtime_ns for p in kernels.iterdir()} == before
